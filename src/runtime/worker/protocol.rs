//! The messages between the window and the engine thread.

use std::sync::Arc;
use std::time::Duration;

use super::{BesideUpdate, ModelSource, OtherModel, PaneModelUpdate};
use crate::decoding::TokenId;
use crate::engine::{
    AnyPlan, ComputeChoice, CpuThreads, DeviceChoice, JobPlan, JobUpdate, Progress,
};
use crate::generation::RecommendedSampling;
use crate::generation::{
    ChatMessage, ChatSupport, Continuation, GenerationConfig, GenerationId, ModelInfo,
    ModelOutline, PromptCheck, PromptRecord, PromptText, PromptToken, Vocabulary,
};

/// One pane's part of a request to generate.
#[derive(Debug, Clone, PartialEq)]
pub struct PaneRequest {
    /// The id that its events carry.
    pub id: GenerationId,
    pub config: GenerationConfig,
    /// The pane's own model, which must be loaded; `None` for the main model.
    pub model: Option<ModelSource>,
    /// The text that it continues, if not the prompt alone.
    pub continuation: Continuation,
}

/// What the window asks for. Requests return nothing; answers arrive as events.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Load a model in place of the current one. All generations are stopped first.
    LoadModel(ModelSource),
    /// Load a model while the current one stays in use, and put it in place of the current one as
    /// soon as nothing is being written. Any later request to load or unload the main model, and
    /// [`Request::CancelLoading`], cancels it.
    LoadBeside(ModelSource),
    /// Load a second model, which drafts for the first or guides it, or unload it, so that the one
    /// that comes with the first takes its place. All generations are stopped first.
    LoadSecondModel(Option<ModelSource>),
    /// Load a model for panes besides the main one. It stays until it is unloaded, even if the main
    /// one changes. Generations pause meanwhile.
    LoadPaneModel(ModelSource),
    /// Cancel loading the model of a pane, or unload it. Generations with it are stopped first.
    UnloadPaneModel(ModelSource),
    /// Cancel the load of the main or second model in progress, if any.
    CancelLoading,
    /// Free the model and its memory. All generations are stopped first.
    UnloadModel,
    /// Report what a model is and how much memory it needs, without loading it.
    Inspect(ModelSource),
    /// Use this device and these settings for models loaded from now on.
    SetCompute(ComputeChoice),
    /// Report the available devices.
    ListDevices,
    /// Report the tokens of a prompt. Only the newest of several waiting requests is answered.
    Tokenize {
        prompt: PromptText,
        /// `None` for the main model.
        model: Option<ModelSource>,
    },
    /// Render a chat with the main model’s template and tokenize it, without reading it. The answer is
    /// a [`Progress::Started`] with its prompt or a failure, and nothing follows.
    Render { id: GenerationId, chat: PromptText },
    /// Compare a recorded prompt with what a model's tokenizer and chat template make of its text.
    CheckPrompt {
        prompt: Arc<PromptRecord>,
        /// `None` for the main model.
        model: Option<ModelSource>,
    },
    /// Prefill the prompt once per model and continue it in all of these panes. They join the batch
    /// of the panes that are already decoding with the same model.
    Generate {
        prompt: PromptText,
        panes: Vec<PaneRequest>,
        /// The memory that each step may use to record more than the head of its distribution.
        n_detail_bytes: usize,
    },
    /// Continue texts that already exist. They follow the recorded prompt, token for token.
    Continue {
        prompt: Arc<PromptRecord>,
        panes: Vec<PaneRequest>,
    },
    /// Report how many of these tokens are in the KV cache of a model, `None` for the main one.
    CountCached {
        tokens: Vec<TokenId>,
        model: Option<ModelSource>,
    },
    /// Limit the memory of the prompts and texts that stay in the KV cache for reuse. All loaded
    /// models share it.
    LimitPrefixCache { n_max_bytes: u64 },
    /// Wait this long between two decode steps. Zero is full speed. Step times exclude the wait.
    SetPace { interval: Duration },
    /// Run a job of an experiment. It waits while a pane is being generated. Jobs of different models
    /// take turns.
    RunJob {
        id: GenerationId,
        plan: AnyPlan,
        /// The model of panes that does it, which must be loaded; `None` for the main model.
        model: Option<ModelSource>,
        /// Another model that the job needs, which is loaded for it and freed at its end.
        other: Option<OtherModel>,
    },
    /// Stop a job, or cancel loading its other model.
    StopJob(GenerationId),
    /// Score a given text under the settings of these panes, token by token. Their continuations
    /// are not used.
    Score {
        text: String,
        /// Score only this many tokens from the beginning of the text.
        n_first: Option<usize>,
        panes: Vec<PaneRequest>,
        /// As for [`Request::Generate`].
        n_detail_bytes: usize,
    },
    /// Score an answer to a message under the settings of these panes, as if they had written it.
    /// Their continuations are not used.
    ScoreAnswer {
        prompt: PromptText,
        answer: ChatMessage,
        panes: Vec<PaneRequest>,
        /// As for [`Request::Generate`].
        n_detail_bytes: usize,
    },
    /// Stop one generation.
    Stop(GenerationId),
    /// Stop all generations.
    StopAll,
    /// Stop all generations but these.
    StopAllExcept(Vec<GenerationId>),
}

impl Request {
    /// Requests a job of the main model that needs no other one.
    pub fn run_job(id: GenerationId, plan: impl JobPlan) -> Self {
        Self::run_job_on(None, id, plan)
    }

    /// Requests a job of a model of panes, or of the main one, that needs no other model.
    pub fn run_job_on(model: Option<ModelSource>, id: GenerationId, plan: impl JobPlan) -> Self {
        Self::RunJob {
            id,
            plan: AnyPlan::new(plan),
            model,
            other: None,
        }
    }
}

/// What the engine thread reports, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A model is being loaded.
    ModelLoading {
        /// The fraction loaded so far, between 0 and 1.
        fraction: f32,
    },
    /// The model is ready.
    ModelLoaded {
        info: Arc<ModelInfo>,
        vocabulary: Arc<Vocabulary>,
        chat: ChatSupport,
        /// The author's recommended sampling settings, if the files contain any.
        recommended_sampling: Option<Arc<RecommendedSampling>>,
        /// Why an optional file could not be loaded, if there was such a problem.
        load_warning: Option<String>,
        /// The second model that comes with it.
        second: Option<Arc<ModelInfo>>,
    },
    /// The model could not be loaded. The previous model, if any, stays loaded.
    ModelFailed {
        /// Can be shown to the user.
        error: String,
    },
    /// The load was cancelled. The previous model, if any, stays loaded.
    ///
    /// Each request to load ends with this event or one of the two above, in the order of the
    /// requests.
    LoadingCancelled,
    /// The model of [`Request::LoadBeside`] advanced. Each request ends with an update that says how.
    Beside(BesideUpdate),
    /// The model was unloaded on request.
    ModelUnloaded,
    /// A second model is being loaded.
    SecondModelLoading {
        /// The fraction loaded so far, between 0 and 1.
        fraction: f32,
    },
    /// The answer to [`Request::LoadSecondModel`]: the second model, if there is one now, or why it
    /// can't be used. In that case the previous one stays. A new model has no second one at first.
    SecondModel(Result<Option<Arc<ModelInfo>>, String>),
    /// Sent instead of [`Event::SecondModel`] if loading was cancelled. The previous one stays.
    SecondModelCancelled,
    /// The model of a pane is being loaded, was loaded, or is gone. Each request to load ends with
    /// an update that says how.
    PaneModel {
        source: ModelSource,
        update: PaneModelUpdate,
    },
    /// The answer to [`Request::Inspect`].
    Inspected {
        source: ModelSource,
        /// What the files contain, or why the model cannot be loaded.
        found: Result<Box<ModelOutline>, String>,
        /// The free memory in bytes.
        n_free_bytes: u64,
    },
    /// The answer to [`Request::ListDevices`].
    DevicesListed(Devices),
    /// The chosen device is not available. The next model is loaded on the CPU.
    DeviceUnavailable {
        /// The chosen device: "CUDA 0".
        name: String,
        reason: String,
    },
    /// The answer to [`Request::Tokenize`].
    Tokenized {
        /// The prompt of the request, which distinguishes a late answer from the newest.
        prompt: PromptText,
        /// The model of the request.
        model: Option<ModelSource>,
        /// The tokens, including those that the tokenizer and the chat template add, or why the
        /// prompt cannot be tokenized.
        tokens: Result<Vec<PromptToken>, String>,
    },
    /// The answer to [`Request::CheckPrompt`].
    PromptChecked {
        prompt: Arc<PromptRecord>,
        /// The model of the request.
        model: Option<ModelSource>,
        check: PromptCheck,
    },
    /// The answer to [`Request::CountCached`].
    CachedCounted { n_tokens: usize, n_cached: usize },
    /// A generation advanced.
    Progress(Progress),
    /// A job advanced.
    Job { id: GenerationId, update: JobUpdate },
    /// The thread has panicked, which is a bug. All generations and the model are lost, but a new
    /// worker can be started.
    Panicked {
        /// The message of the panic.
        message: String,
    },
}

impl From<Progress> for Event {
    fn from(progress: Progress) -> Self {
        Self::Progress(progress)
    }
}

/// The devices that a model can run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Devices {
    /// The available devices, the CPU first.
    pub choices: Vec<DeviceChoice>,
    /// Whether this build includes GPU support.
    pub build_supports_gpus: bool,
    /// Why a launcher started this build instead of one with GPU support, if it did.
    pub launcher_reason: Option<String>,
    pub cpu_threads: CpuThreads,
}
