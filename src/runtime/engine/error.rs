//! Why the engine could not do what it was asked to do.

use super::ChatError;
use crate::decoding::{DecodingError, GrammarError, Refusal};
use crate::engine::candle_models;
use crate::generation::ByteSize;
use crate::generation::UnspelledThought;
use crate::generation::formatting::io_words;

/// Why the engine could not do what it was asked to do. Every message can be shown to the user.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The prompt has no tokens to continue.
    #[error("the prompt is empty; write something for the model to continue")]
    PromptEmpty,

    #[error("the prompt has {n_tokens} tokens, but the model reads at most {n_max}")]
    PromptTooLong { n_tokens: usize, n_max: usize },

    /// The prompt is so long that it is not even tokenized.
    #[error("the prompt has {n_bytes}, but the model reads at most {n_max} tokens")]
    PromptTooLarge { n_bytes: ByteSize, n_max: usize },

    /// The same for a text that is scored, fitted or compared.
    #[error("the text has {n_bytes}, but the model reads at most {n_max} tokens")]
    TextTooLarge { n_bytes: ByteSize, n_max: usize },

    /// A text to be scored has no token that follows another one.
    #[error("the text has no token to score; it needs at least two words")]
    NothingToScore,

    #[error("the text has {n_tokens} tokens; the model reads at most {n_max}")]
    TextTooLong { n_tokens: usize, n_max: usize },

    /// An experiment can't run on this text.
    #[error("{reason}")]
    JobRefused { reason: String },

    /// The settings need something that this use of them does not offer.
    #[error(transparent)]
    Refused(#[from] Refusal),

    /// The prompt that guides a given text leaves it no room.
    #[error(
        "with the prompt that guides it, the text has {n_tokens} tokens; the context holds at most \
         {n_max}"
    )]
    GuideTooLong { n_tokens: usize, n_max: usize },

    /// A sweep was requested over settings with different guidance.
    #[error("the swept settings use different guidance; choose the same for all")]
    SeveralGuides,

    /// A pane needs a second model, and none is loaded.
    #[error(
        "these settings need a second model with the same vocabulary; choose one in the settings of \
         the pane, or with --draft-model"
    )]
    NoSecondModel,

    /// A comparison was requested without a model to compare with.
    #[error("there is no other model to compare with; choose one first")]
    NoOtherModel,

    /// A second model has a different vocabulary.
    #[error("{name} has a different vocabulary from {main}: {difference}")]
    OtherVocabulary {
        name: String,
        main: String,
        difference: String,
    },

    /// Drafts from the first layers were requested of a model that can't stop after them.
    #[error("this model can’t draft with its first layers alone; choose other drafts")]
    LayersUnavailable,

    /// Drafts from the first layers were requested of a model that has no layers beyond them.
    #[error("the model has {n_layers} layers, so drafts must use fewer")]
    TooManyLayers { n_layers: usize },

    /// Drafts from a multi-token-prediction head were requested of a model that has none.
    #[error(
        "this model has no multi-token-prediction head, or can’t run it here; choose other drafts"
    )]
    NoMtpHead,

    /// The logits of early layers were requested of a model that only returns the last ones.
    #[error("this model can’t show its early layers; choose other guidance")]
    NoEarlyExits,

    /// The logits of an early layer were requested that the model lacks, or that is its last.
    #[error(
        "the model has {n_layers} layers, so the early ones are 0 to {}; layer {layer} is not one of them",
        n_layers.saturating_sub(1)
    )]
    NoSuchLayer { layer: usize, n_layers: usize },

    /// A thinking budget can't find the end of a thought.
    #[error(transparent)]
    UnspelledThought(#[from] UnspelledThought),

    /// A sequence would outgrow the context.
    #[error("the context of {n_max} tokens is full")]
    ContextFull { n_max: usize },

    /// No token can be sampled from the logits.
    #[error("{source} for token {position}")]
    SamplingFailed {
        /// The position among the generated tokens, counted from 1.
        position: usize,
        source: DecodingError,
    },

    /// The grammar can't be used, or can't be followed any further.
    #[error(transparent)]
    Grammar(#[from] GrammarError),

    #[error("the compute threads could not be started: {}", io_words(.source))]
    ThreadsUnavailable { source: std::io::Error },

    /// The CPU lacks the instruction set that was requested.
    #[error("{reason}")]
    UnsupportedInstructions {
        /// Names the instruction set and lists the available ones.
        reason: String,
    },

    /// A file or folder does not exist or cannot be read.
    #[error("{what} could not be read: {}\n{path}", io_words(.source))]
    FileUnreadable {
        /// The subject of the message: "The model's weights".
        what: &'static str,
        source: std::io::Error,
        path: String,
    },

    /// A file has invalid content.
    #[error("{what} could not be understood: {reason}\n{path}")]
    FileMalformed {
        /// The subject of the message: "The model's configuration".
        what: &'static str,
        reason: String,
        path: String,
    },

    /// A file is shorter than its header says.
    #[error("this file is incomplete: {}; download it again\n{path}", .n_bytes.of(*.n_needed))]
    FileTruncated {
        n_bytes: ByteSize,
        n_needed: ByteSize,
        path: String,
    },

    /// A file that is usually small would take too much memory.
    #[error("{what} has {n_bytes}, but at most {n_max} are read\n{path}")]
    FileTooLarge {
        /// The subject of the message: "The model's configuration".
        what: &'static str,
        n_bytes: ByteSize,
        n_max: ByteSize,
        path: String,
    },

    /// A folder lacks one of the files that a model needs.
    #[error("there is no {what} in this {place}\n{path}")]
    FileMissing {
        /// The file's usual name.
        what: &'static str,
        /// "folder" or "repository".
        place: &'static str,
        /// The path of the folder.
        path: String,
    },

    /// A folder has a format that Quartet does not read.
    #[error("{reason}\n{path}")]
    OtherFormat {
        /// What it is, and what to open instead.
        reason: String,
        /// The path of the folder or its configuration.
        path: String,
    },

    /// One file of a split model is missing.
    #[error("there is no {name} in this {place}, but other parts of the model are here\n{path}")]
    PartMissing {
        name: String,
        /// "folder" or "repository".
        place: &'static str,
        /// The path of the folder.
        path: String,
    },

    /// A model uses a feature that our decoder does not implement.
    #[error("this model needs {feature}, which Quartet does not support yet\n{path}")]
    UnsupportedFeature {
        /// A noun phrase: "rotary scaling \"yarn\"".
        feature: String,
        /// The file that requires it.
        path: String,
    },

    /// A tensor is stored in a type that our kernels do not support.
    #[error(
        "{tensor} is stored as {stored_as}, which Quartet does not support; use {instead}\n{path}"
    )]
    UnsupportedTensorType {
        /// The first such tensor of the file.
        tensor: String,
        /// The type as the file format names it: `Q4_0_4_4`.
        stored_as: String,
        /// A file of the same model that works.
        instead: &'static str,
        path: String,
    },

    /// The weights do not fit into memory.
    #[error("there is not enough memory for {} of weights\n{path}", ByteSize(*.n_bytes as u64))]
    OutOfMemory {
        /// The size of the allocation that failed.
        n_bytes: usize,
        path: String,
    },

    /// A model of a family that Quartet does not implement.
    #[error(
        "Quartet does not support this architecture yet: {architecture}. It supports {known}; and, \
         with fewer features, through candle-transformers: {}",
        candle_models::KNOWN
    )]
    UnsupportedArchitecture {
        /// As the file names it.
        architecture: String,
        /// The families that our own decoder implements.
        known: &'static str,
    },

    /// The tokenizer belongs to another model.
    #[error(
        "the tokenizer has {n_tokenizer} tokens, but the model has {n_model}; they do not belong \
         together"
    )]
    TokenizerMismatch {
        n_tokenizer: usize,
        /// Rows of the model's embedding table.
        n_model: usize,
    },

    #[error("the text could not be tokenized: {reason}")]
    TokenizerFailed { reason: String },

    /// A sequence was used that is not open. This is a bug.
    #[error("sequence {0} is not open")]
    UnknownSequence(u64),

    /// A token has no row in the model's embedding table: either only the tokenizer knows it, or
    /// this is a bug.
    #[error("token {token} is not in the model’s vocabulary of {n_vocab} tokens")]
    UnknownToken { token: u32, n_vocab: usize },

    /// The chat template could not be rendered.
    #[error(transparent)]
    Chat(#[from] ChatError),

    /// A computation on the device failed.
    #[error("{}", computation_failure(.0))]
    Compute(#[from] candle_core::Error),
}

/// What went wrong on a GPU, by the name of the driver's error.
const GPU_FAILURES: [(&str, &str); 8] = [
    (
        "CUDA_ERROR_OUT_OF_MEMORY",
        "the GPU is out of memory; close other programs that use it, open a smaller model, or use the \
         CPU",
    ),
    (
        "CUBLAS_STATUS_ALLOC_FAILED",
        "the GPU is out of memory; close other programs that use it, open a smaller model, or use the \
         CPU",
    ),
    (
        "CUDA_ERROR_INSUFFICIENT_DRIVER",
        "the GPU’s driver is older than this program; update the driver, or use the CPU",
    ),
    (
        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        "the GPU’s driver is older than this program; update the driver, or use the CPU",
    ),
    (
        "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        "the GPU’s driver was updated; restart the computer, or use the CPU",
    ),
    (
        "CUDA_ERROR_NO_BINARY_FOR_GPU",
        "the GPU is of a kind that this program was not built for; use the CPU",
    ),
    (
        "CUDA_ERROR_NOT_FOUND",
        "the GPU can’t compute in this number format; choose the precision f32, or use the CPU",
    ),
    // Once a kernel has failed, every later call fails too.
    (
        "CUDA_ERROR_",
        "the GPU stopped working; restart Quartet, or use the CPU",
    ),
];

/// Says what went wrong in a computation, and what to do about it if it was the GPU.
fn computation_failure(error: &candle_core::Error) -> String {
    let details = without_backtrace(error);
    let known = GPU_FAILURES.iter().find_map(|(name, sentence)| {
        let (_, rest) = details.split_once(name)?;
        let is_of_name = |c: char| c.is_ascii_uppercase() || c == '_';
        let (rest, _) = rest.split_once(|c| !is_of_name(c)).unwrap_or((rest, ""));
        Some(format!("{sentence} ({name}{rest})"))
    });
    known.unwrap_or_else(|| format!("the computation failed: {details}"))
}

/// Returns candle's message alone. If `RUST_BACKTRACE` is set, candle appends a backtrace to it.
pub(super) fn without_backtrace(error: &candle_core::Error) -> String {
    let message = error.to_string();
    match message.split_once("\n   0: ") {
        Some((message, _)) => message.to_owned(),
        None => message,
    }
}

impl EngineError {
    pub(super) fn malformed(what: &'static str, reason: impl Into<String>, path: &str) -> Self {
        Self::FileMalformed {
            what,
            reason: reason.into(),
            path: path.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::backtrace::Backtrace;

    use super::EngineError;

    fn message(details: &str) -> String {
        EngineError::from(candle_core::Error::Msg(details.to_owned())).to_string()
    }

    #[test]
    fn failures_of_the_gpu_say_what_to_do() {
        let memory =
            message("DriverError(CUDA_ERROR_OUT_OF_MEMORY, \"out of memory\")\n   0: main");
        assert!(
            memory.starts_with("the GPU is out of memory; close"),
            "{memory}"
        );
        assert!(memory.ends_with(" (CUDA_ERROR_OUT_OF_MEMORY)"), "{memory}");
        let lost = message("DriverError(CUDA_ERROR_ILLEGAL_ADDRESS, \"an illegal memory access\")");
        assert!(
            lost.starts_with("the GPU stopped working; restart"),
            "{lost}"
        );
        assert!(lost.ends_with(" (CUDA_ERROR_ILLEGAL_ADDRESS)"), "{lost}");
        let other = message("shape mismatch");
        assert_eq!(other, "the computation failed: shape mismatch");
    }

    #[test]
    fn a_backtrace_is_not_part_of_the_message() {
        let error = candle_core::Error::WithBacktrace {
            inner: Box::new(candle_core::Error::Msg("shape mismatch".to_owned())),
            backtrace: Box::new(Backtrace::force_capture()),
        };
        assert!(error.to_string().lines().count() > 2);
        let message = EngineError::from(error.context("layer 3")).to_string();
        assert!(message.starts_with("the computation failed: layer 3"));
        assert!(message.ends_with("shape mismatch"), "{message}");
    }
}
