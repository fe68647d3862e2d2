//! The requests that continue texts.

use std::sync::Arc;

use crate::decoding::TokenId;
use crate::generation::{OriginChange, PromptRecord};
use crate::state::servers::Addressed;

/// The prompt of a text, and the request that continues it.
pub(in crate::state) type ContinueRequest = (Arc<PromptRecord>, Addressed);

/// How a text is continued.
#[derive(Debug, Default)]
pub(in crate::state) struct Extension {
    /// How many of its steps stay.
    pub n_kept: usize,
    pub by_hand: Vec<TokenId>,
    /// Whether `by_hand` holds the tokens of another pane's text, which this pane only reads.
    pub reads: bool,
    pub pause_after: Option<usize>,
    /// How many steps the text shows in step mode; the next one is only previewed.
    pub n_shown: Option<usize>,
    /// What makes it a branch, a new text beside its parent. `None` if the text just grows.
    pub branches_by: Option<OriginChange>,
}
