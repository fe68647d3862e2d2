//! The Lab: experiments over many runs.
//!
//! An experiment is a folder with everything that belongs to it, and a line in the list below. The
//! rest of the window knows only what the list generates: the tabs, their state, their commands and
//! their saved settings.

mod again;
mod axis_form;
mod experiment;
mod frame;
mod kept;
mod kept_pieces;
mod list;
mod open_pane;
mod shown_picture;
#[cfg(test)]
mod tests;

/// Votes between texts whose settings are hidden.
pub mod blind;

/// The X-ray of logits that the user sets by hand.
pub mod by_hand;

/// What the KV cache costs and saves.
pub mod cache;

/// The settings under which a text is most likely.
pub mod fit;

/// Which parts of a prompt mattered.
pub mod influence;

/// Two models that read the same text.
pub mod models;

/// Many prompts.
pub mod prompts;

/// How far a text stays the same under other settings.
pub mod stability;

/// Many settings and seeds.
pub mod sweep;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use axis_form::{AxisForm, SavedAxis};
pub use experiment::{Experiment, Group, MadeBy, NoCommand, NoResult, NoSettings, ResultFacts};
pub(crate) use frame::{lab_keys_ui, lab_ui, run_command};
pub use kept::KeptResult;

use crate::state::{AppState, Effect, JobRun};

list::experiments! {
    /// Many settings and seeds.
    #[default]
    Sweep, sweep: SweepTab;
    /// Many prompts.
    Prompts, prompts: PromptsTab;
    /// Votes between texts whose settings are hidden.
    Blind, blind: BlindTest;
    /// Which parts of a prompt mattered.
    Influence, influence: InfluenceTab;
    /// How far a text stays the same under other settings.
    Stability, stability: StabilityTab;
    /// The settings under which a text is most likely.
    Fit, fit: FitTab;
    /// What the KV cache costs and saves.
    Cache, cache: CacheTab;
    /// Two models that read the same text.
    Models, models: ModelsTab;
    /// The X-ray of logits that the user sets by hand.
    ByHand, by_hand: ByHandTab;
}
