//! All that the window shows, without a window: commands in, effects out.
//!
//! This module knows no widget, no thread and no file. What must be done outside it is an `Effect`,
//! and what happened there comes back as a `Command` or an engine's event.

mod app_state;
mod apply;
mod by_hand;
mod chain_words;
mod change;
mod command;
mod comparison;
mod compute;
mod dialect_words;
mod events;
mod fork_words;
mod hand_preset;
mod hub;
mod hub_rows;
mod lints;
mod model_status;
mod models;
mod notice;
mod open_models;
mod pane;
mod paste;
mod presets;
mod prompt;
mod restore;
mod review;
mod settings;
mod solo;
#[cfg(test)]
pub(crate) mod tests;
mod undo;
mod view;
mod what_if;

pub use app_state::AppState;
pub use by_hand::{ByHand, HAND_SCORES, HAND_TOKENS, HandDraws, HandToken};
pub use chain_words::describe;
pub use command::{Command, Document, Effect, PathPurpose, PinMove};
pub use compute::{DeviceRow, ThreadChoice};
pub use dialect_words::{why_it_parts, why_they_part};
pub use fork_words::{ForkWords, fork_words};
pub use hand_preset::HandPreset;
pub use hub::{HubCommand, HubState, ModelsTab};
pub use hub_rows::{HubRow, HubRowStatus};
pub use model_status::{ModelStatus, ReadyModel};
pub use models::{MAX_RECENT, ModelRow, ModelRowStatus, Models, RecentModel};
pub use notice::{Notice, NoticeAction, NoticeKind, capital};
pub use open_models::ModelsCommand;
pub(crate) use open_models::now_secs;
pub use pane::{Pane, PaneId, PaneStatus};
pub use paste::{Paste, PasteCommand};
pub use presets::PresetCommand;
pub use prompt::{PromptLength, PromptMode, PromptReading};
pub use settings::{MAX_PANES, Restored, Settings};
pub use view::{DockTab, PictureFormat, Pin, Plot, ScoreMeasure, ThemeChoice, Tint, ViewChoices};
pub use what_if::{Fate, Imagined, WhatIfWords, WhatIfs};
