//! Futures: many short continuations of one text, drawn to see what could follow it.

use super::{FinishReason, GenerationConfig, PromptForm};
use crate::decoding::{SelectorState, TokenId};

/// Which continuations to draw from a text.
#[derive(Debug, Clone, PartialEq)]
pub struct FuturesPlan {
    /// The text that they follow: the prompt, then generated tokens.
    pub text: Vec<TokenId>,
    /// How many tokens of the text are the prompt's.
    pub n_prompt: usize,
    /// The form of the prompt, which also applies to a guidance prompt.
    pub form: PromptForm,
    /// What the selector had learned at the last token of the text.
    pub selector_state: SelectorState,
    /// The settings of the pane. Its limit on new tokens does not apply.
    pub config: GenerationConfig,
    pub n_futures: usize,
    /// The length of each future, unless it ends earlier.
    pub n_tokens: usize,
    /// The most futures that are drawn together.
    pub width: usize,
}

impl FuturesPlan {
    /// The width to use unless there is a reason for another. Wider batches are hardly faster, and
    /// their results arrive later (see assets/BENCHMARKS.md).
    pub const DEFAULT_WIDTH: usize = 64;

    /// Returns the seed of a future, counted from 0: the pane's seed plus its index, wrapping. So
    /// future 0 is what the pane itself writes, and any future can be reproduced by giving its seed
    /// to the pane.
    pub const fn seed_of(&self, index: usize) -> u64 {
        self.config.seed.wrapping_add(index as u64)
    }
}

/// One continuation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Future {
    /// Its place among the futures of its plan, from 0.
    pub index: usize,
    pub tokens: Vec<TokenId>,
    /// Why it ended. `MaxTokens` if it has the requested length.
    pub finish: FinishReason,
    /// Whether its grammar accepts it. `None` without a grammar.
    pub grammar_complete: Option<bool>,
}

/// What a request for futures reports: more of them are complete, in the order of their indices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnFutures(pub Vec<Future>);
