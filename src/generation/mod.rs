//! What was asked and what happened: plain data, and the figures computed from it.
//!
//! This module knows no model, no thread and no window; it names only `decoding`.

pub mod by_hand;
mod byte_size;
mod config;
pub mod dialects;
mod finish;
mod fork;
mod id;
mod implementation;
mod linter;
mod listing;
mod metrics;
mod model;
mod outline;
mod pane_spec;
mod piece;
pub mod preset;
mod prompt;
mod record;
#[cfg(test)]
pub(crate) mod testing;
mod token_search;
mod vocabulary;
mod what_if;
pub mod x_ray;

pub use byte_size::ByteSize;
pub use config::{EndOfText, GenerationConfig, Limits};
pub use finish::FinishReason;
pub use fork::{Agreement, Fork, first_fork};
pub use id::GenerationId;
pub use implementation::Implementation;
pub use linter::{Importance, Lint, Remedy, Tally, lint_chain};
pub(crate) use listing::{in_sentence, listed};
pub use metrics::{Metrics, SpeedPoint, speed_series};
pub use model::ModelInfo;
pub use outline::{MemoryNeed, ModelOutline};
pub use pane_spec::{GRAMMAR, PaneSettings, PaneSpecError};
pub use piece::{Piece, PieceKind};
pub use prompt::{ChatRecord, ChatSupport, PromptForm, PromptText, PromptToken};
pub use record::{Generation, PromptRecord, Step, StepTime};
pub use vocabulary::Vocabulary;
pub use what_if::WhatIfReader;
