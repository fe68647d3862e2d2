//! Everything that the window and the engine's thread say to each other.

use std::path::PathBuf;
use std::sync::Arc;

use crate::engine::{ComputeChoice, CpuThreads, DeviceChoice};
use crate::generation::RecommendedSampling;
use crate::generation::{
    ChatSupport, FinishReason, GenerationConfig, GenerationId, ModelInfo, ModelOutline,
    PromptRecord, PromptText, PromptToken, Step, Vocabulary,
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
    /// End the loading that is under way, if there is one.
    CancelLoading,
    /// Let go of the model and of its memory. All generations end first.
    UnloadModel,
    /// Say what a model is and what it would take, without loading it.
    Inspect(PathBuf),
    /// Load models to compute like this from now on.
    ComputeWith(ComputeChoice),
    /// Say which devices there are.
    ListDevices,
    /// Say how the model would read this prompt.
    Tokenize {
        /// A text, or a message for the chat template.
        prompt: PromptText,
    },
    /// Read the prompt once and continue it in all these panes together. Panes that are already
    /// writing go on; the new ones join their batch.
    Generate {
        /// The text to continue, or the message to answer.
        prompt: PromptText,
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
        /// Whether it can be talked to.
        chat: ChatSupport,
        /// How its author would choose its tokens, where the files say so.
        recommended_sampling: Option<Arc<RecommendedSampling>>,
        /// What of its files could not be read although it works without, and why.
        unread: Option<String>,
    },
    /// The model could not be loaded; the one before it, if any, is still there.
    ModelFailed {
        /// Why, fit to be shown.
        error: String,
    },
    /// The loading was cancelled; the model before it, if any, is still there.
    /// Each request to load ends with this or with one of the two above, in the order of the requests.
    LoadingCancelled,
    /// There is no model any more, as was asked.
    ModelUnloaded,
    /// What a model is and what it would take.
    Inspected {
        /// Where it is.
        path: PathBuf,
        /// What its files say; or why it can't be loaded.
        found: Result<ModelOutline, String>,
        /// How many bytes of memory are free.
        n_free_bytes: u64,
    },
    /// The devices that there are.
    DevicesListed(Devices),
    /// The device that was asked for is not there; the next model is loaded for the processor.
    DeviceMissing {
        /// What was asked for: "CUDA 0".
        name: String,
        /// Why it is not there.
        reason: String,
    },
    /// How the model reads a prompt.
    Tokenized {
        /// The prompt, so that a late answer is told from the newest.
        prompt: PromptText,
        /// Its tokens, with those that the model puts in front and those of the chat template; or why
        /// it has none.
        tokens: Result<Vec<PromptToken>, String>,
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

/// The devices that there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Devices {
    /// Those that answer, the processor first.
    pub choices: Vec<DeviceChoice>,
    /// Whether this build knows graphics processors at all.
    pub build_knows_accelerators: bool,
    /// How many threads can compute on the processor.
    pub cpu_threads: CpuThreads,
}
