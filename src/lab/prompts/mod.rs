//! A list of prompts, each continued in all panes.

mod document;
mod page;
mod state;
#[cfg(test)]
mod tests;

pub use document::PromptsDocument;
pub(super) use page::TAB;
pub use state::{BatchPane, BatchRun, BatchText, PromptsCommand, PromptsSettings, PromptsTab};
