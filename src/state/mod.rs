//! Everything that the window shows, without a window: commands in, effects out.
//!
//! This module knows no widget, thread or file. Work to be done outside it is an `Effect`; the results
//! come back as a `Command` or as an engine event.

mod app_state;
mod apply;
mod by_hand;
mod command;
mod events;
mod models;
mod notice;
mod panes;
mod prompt;
mod settings;
#[cfg(test)]
pub(crate) mod tests;
mod view;
mod words;

pub use app_state::AppState;
pub use by_hand::{ByHand, HAND_SCORES, HAND_TOKENS, HandDraws, HandPreset, HandToken};
pub use command::{Command, Document, Effect, PathPurpose, PinMove};
pub(crate) use models::now_secs;
pub use models::{
    DeviceRow, HubCommand, HubRow, HubRowStatus, HubState, MAX_RECENT, ModelRow, ModelRowStatus,
    ModelStatus, Models, ModelsCommand, ModelsTab, ReadyModel, RecentModel, ThreadChoice,
};
pub use notice::{Notice, NoticeAction, NoticeKind, capital};
pub use panes::{
    Fate, Imagined, Pane, PaneId, PaneStatus, Paste, PasteCommand, PresetCommand, WhatIfWords,
    WhatIfs,
};
pub use prompt::{PromptLength, PromptMode, PromptReading};
pub use settings::{MAX_PANES, Restored, Settings};
pub use view::{DockTab, PictureFormat, Pin, Plot, ScoreMeasure, ThemeChoice, Tint, ViewChoices};
pub use words::{DivergenceWords, describe, divergence_words, why_it_parts, why_they_part};
