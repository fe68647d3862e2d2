//! Everything that the window and the engine's thread say to each other.

use std::path::PathBuf;
use std::sync::Arc;

use crate::generation::{
    FinishReason, GenerationConfig, GenerationId, ModelInfo, PromptRecord, Step, Vocabulary,
};

/// Where a model comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelSource {
    /// The one inside the program.
    Embedded,
    /// A GGUF file, or a folder with `config.json`, `tokenizer.json` and safetensors.
    Path(PathBuf),
}

/// One pane's part of a request to generate.
#[derive(Debug, Clone, PartialEq)]
pub struct PaneRequest {
    /// The name under which its events come.
    pub id: GenerationId,
    /// How it is to write.
    pub config: GenerationConfig,
}

/// What the window asks for. There is no reply; the answer comes as events.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Load a model in place of the one that is there. All generations end first.
    LoadModel(ModelSource),
    /// Say how the model would read this text.
    Tokenize {
        /// The text.
        text: String,
    },
    /// Read the prompt once and continue it in all these panes together. Panes that are already
    /// writing go on; the new ones join their batch.
    Generate {
        /// The text to continue.
        prompt: String,
        /// Who continues it.
        panes: Vec<PaneRequest>,
    },
    /// End one generation.
    Stop(GenerationId),
    /// End all generations.
    StopAll,
}

/// What the engine's thread reports, in the order in which it happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Loading has come this far, between 0 and 1.
    ModelLoading {
        /// The part that is done.
        fraction: f32,
    },
    /// The model is ready.
    ModelLoaded {
        /// What it is.
        info: Arc<ModelInfo>,
        /// What its tokens stand for.
        vocabulary: Arc<Vocabulary>,
    },
    /// The model could not be loaded; the one before it, if any, is still there.
    ModelFailed {
        /// Why, fit to be shown.
        error: String,
    },
    /// How the model reads a text.
    Tokenized {
        /// The text, so that a late answer is told from the newest.
        text: String,
        /// How many tokens it has, with those that the model puts in front; or why it has none.
        n_tokens: Result<usize, String>,
    },
    /// The prompt is being read.
    Reading {
        /// For whom.
        ids: Vec<GenerationId>,
        /// How many tokens have been read.
        n_read: usize,
        /// How many there are.
        n_tokens: usize,
    },
    /// The prompt was read, and writing begins.
    Started {
        /// Who writes.
        ids: Vec<GenerationId>,
        /// What was read.
        prompt: Arc<PromptRecord>,
    },
    /// One pane wrote one token.
    Stepped {
        /// Who.
        id: GenerationId,
        /// What, and how it came about.
        step: Box<Step>,
    },
    /// One pane ended. A failure is a reason like any other; what was written is kept.
    Finished {
        /// Who.
        id: GenerationId,
        /// Why.
        reason: FinishReason,
    },
    /// The thread has died of a fault of ours. All generations and the model are gone; a new worker
    /// can be started.
    Panicked {
        /// What the fault said.
        message: String,
    },
}
