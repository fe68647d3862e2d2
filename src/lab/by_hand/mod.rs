//! The X-ray of logits that the user sets by hand.

mod page;
mod state;

pub(super) use page::TAB;
pub use state::ByHandTab;
