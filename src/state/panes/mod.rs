//! The panes: their settings and texts, undo, presets, pasted settings, and what is derived from
//! them (divergence, lints, what-if).

pub(super) mod all;
pub(super) mod comparison;
mod edit;
mod grammar;
pub(super) mod hand_picks;
mod kinds;
pub(super) mod lints;
pub(super) mod measures;
pub(super) mod pairs;
pub(super) mod pane;
pub(super) mod paste;
pub(super) mod presets;
pub(super) mod review;
pub(super) mod run_end;
pub(super) mod solo;
pub(super) mod step_draws;
pub(super) mod undo;
pub(super) mod watermark;
mod what_if;
pub(super) mod why;

pub use all::Panes;
pub use kinds::{KindCount, PaneKinds};
pub use pairs::ComparedPair;
pub use pane::{Pane, PaneId, PaneStatus};
pub use paste::{Paste, PasteCommand};
pub use presets::PresetCommand;
pub use run_end::Repetition;
pub use step_draws::N_STEP_DRAWS;
pub use undo::Undo;
pub use what_if::{WhatIfSummary, WhatIfToken, WhatIfs};
