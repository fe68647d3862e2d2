//! Writing a text again whose evidence was not kept, token by token, to map it again.

use crate::decoding::Need::{DraftRows, Memory, SecondModel, SecondRow, TokenIds, WholeVocabulary};
use crate::decoding::{Host, TokenId};
use crate::generation::{GenerationConfig, PromptRecord, PromptText, Step};

/// A text whose choices are repeated one at a time.
pub(super) const REWRITTEN: Host = Host {
    offers: &[DraftRows, TokenIds],
    refusals: &[
        (Memory, "with <what>, generate the text again on Write"),
        (SecondRow, "with <what>, generate the text again on Write"),
        (SecondModel, "with <what>, generate the text again on Write"),
        (
            WholeVocabulary,
            "with <what>, generate the text again on Write",
        ),
    ],
};

/// A text to write again.
#[derive(Debug, Clone, PartialEq)]
pub struct RewritePlan {
    pub prompt: PromptText,
    /// The tokens after the prompt.
    pub tokens: Vec<TokenId>,
    /// The settings that chose them.
    pub config: GenerationConfig,
    /// The memory in which each step records more than the head of its distribution.
    pub n_detail_bytes: usize,
}

/// What the job reports.
#[derive(Debug, Clone, PartialEq)]
pub enum RewriteUpdate {
    /// The prompt was read.
    Started(Box<PromptRecord>),
    /// The next token was written, with its evidence.
    Stepped(Box<Step>),
}
