//! A list of prompts, each continued in all panes.

mod page;
mod state;
#[cfg(test)]
mod tests;

pub(super) use page::TAB;
pub use state::{BatchPane, BatchRun, BatchText, PromptsCommand, PromptsSettings, PromptsTab};
