//! Why the engine could not do what it was asked.

use super::ChatError;
use crate::decoding::DecodingError;
use crate::engine::candle_models;
use crate::generation::ByteSize;

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

    /// The threads of the processor's cores could not be started.
    #[error("no threads could be started to compute with: {source}")]
    ThreadsMissing {
        /// What the system said.
        source: std::io::Error,
    },

    /// Instructions were asked for that the processor lacks.
    #[error("{reason}")]
    InstructionsMissing {
        /// Which, and what there is instead.
        reason: String,
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

    /// A file that is shorter than its own header says.
    #[error("this file stops in the middle: {}\n{path}", .n_bytes.of(*.n_needed))]
    FileCutOff {
        /// How long it is.
        n_bytes: ByteSize,
        /// How long it should be.
        n_needed: ByteSize,
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

    /// A model in several files of which one is not there.
    #[error("there is no {name} in this folder, where other parts of the model are\n{path}")]
    PartMissing {
        /// The file's name.
        name: String,
        /// The folder.
        path: String,
    },

    /// A model that needs a part which our decoder does not have.
    #[error("this model needs {feature}, which Quartet does not have yet\n{path}")]
    FeatureMissing {
        /// The part: "rotary scaling \"yarn\"".
        feature: String,
        /// The file that asks for it.
        path: String,
    },

    /// Weights that are stored in a way for which we have no arithmetic.
    #[error(
        "{tensor} is stored as {stored_as}, which Quartet does not read; take {instead}\n{path}"
    )]
    TypeUnknown {
        /// The first tensor that is.
        tensor: String,
        /// What the file format calls it: `IQ4_XS`.
        stored_as: String,
        /// What would do.
        instead: &'static str,
        /// The weights' file.
        path: String,
    },

    /// The weights do not fit into memory.
    #[error("there is not enough memory for {} of weights\n{path}", ByteSize(*.n_bytes as u64))]
    MemoryShort {
        /// How many bytes were asked for at once.
        n_bytes: usize,
        /// The weights' file.
        path: String,
    },

    /// A model of a family that we do not have.
    #[error(
        "Quartet can't read this kind of model yet: {architecture}. It reads {known}; and through \
         candle-transformers, with less, {}",
        candle_models::KNOWN
    )]
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

    /// A token that the model's table does not have: one that only the tokenizer knows, or a fault of
    /// ours.
    #[error("token {token} is not in the model's vocabulary of {n_vocab}")]
    TokenUnknown {
        /// The token.
        token: u32,
        /// How many tokens the model has.
        n_vocab: usize,
    },

    /// The chat template gives no prompt.
    #[error(transparent)]
    Chat(#[from] ChatError),

    /// A computation on the device failed.
    #[error("the computation failed: {0}")]
    Compute(#[from] candle_core::Error),
}

impl EngineError {
    /// A file whose content is not what it should be.
    pub(super) fn malformed(what: &'static str, reason: impl Into<String>, path: &str) -> Self {
        Self::FileMalformed {
            what,
            reason: reason.into(),
            path: path.to_owned(),
        }
    }
}
