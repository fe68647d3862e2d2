//! Why the engine could not do what it was asked.

use crate::decoding::DecodingError;

/// Why the engine could not do what it was asked. Every message is fit to be shown.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The prompt holds no token to continue from.
    #[error("the prompt is empty, and this model needs a beginning")]
    PromptEmpty,

    /// The prompt does not fit.
    #[error("{n_tokens} tokens, the model reads {n_max} at most")]
    PromptTooLong {
        /// How many tokens the prompt has.
        n_tokens: usize,
        /// How many may stand before the first generated one.
        n_max: usize,
    },

    /// A sequence would outgrow the context.
    #[error("the context of {n_max} tokens is full")]
    ContextFull {
        /// How many tokens the model reads.
        n_max: usize,
    },

    /// The model's scores cannot be drawn from.
    #[error("{source} for token {position}")]
    NoDraw {
        /// Which generated token it would have been, counted from 1.
        position: usize,
        /// What is wrong with the scores.
        source: DecodingError,
    },

    /// A file or folder that is not there or cannot be read.
    #[error("{what} could not be read: {source}\n{path}")]
    FileUnreadable {
        /// What was looked for: "The model's weights".
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
        /// Where.
        path: String,
    },

    /// A file whose content is not what it should be.
    #[error("{what} could not be understood: {reason}\n{path}")]
    FileMalformed {
        /// What was read: "The model's configuration".
        what: &'static str,
        /// Why not.
        reason: String,
        /// Where.
        path: String,
    },

    /// A folder without one of the files that a model needs.
    #[error("there is no {what} in this folder\n{path}")]
    FileMissing {
        /// The file's usual name.
        what: &'static str,
        /// The folder.
        path: String,
    },

    /// A model of a family that we do not have.
    #[error("Quartet does not know the architecture {architecture:?}; it knows {known}")]
    UnknownArchitecture {
        /// How the file names it.
        architecture: String,
        /// What would do.
        known: &'static str,
    },

    /// The tokenizer belongs to another model.
    #[error(
        "the tokenizer has {n_tokenizer} tokens, the model {n_model}: they do not belong together"
    )]
    TokenizerMismatch {
        /// Entries of the tokenizer.
        n_tokenizer: usize,
        /// Rows of the model's embedding table.
        n_model: usize,
    },

    /// The tokenizer failed on a text.
    #[error("the text could not be split into tokens: {reason}")]
    TokenizerFailed {
        /// What it said.
        reason: String,
    },

    /// A sequence that is not open; a fault of ours.
    #[error("sequence {0} is not open")]
    SequenceUnknown(u64),

    /// A computation on the device failed.
    #[error("the computation failed: {0}")]
    Compute(#[from] candle_core::Error),
}
