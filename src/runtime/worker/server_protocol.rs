//! The messages between the window and the thread of a server.

use std::sync::Arc;

use super::PaneRequest;
use crate::engine::{JobUpdate, Progress};
use crate::generation::{GenerationId, ModelInfo, PromptRecord, PromptText, Vocabulary};
use crate::servers::{ListPlan, ServerInfo};

/// What the window requests from a server. Requests return nothing; answers arrive as events.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerRequest {
    /// Find out what the server is and what it serves. The first request for a text does so too.
    Connect,
    /// Let the server read the prompt, and continue it in all of these panes at the same time.
    Generate {
        prompt: PromptText,
        panes: Vec<PaneRequest>,
    },
    /// Continue texts that already exist, after a lost connection or another stop.
    Continue {
        prompt: Arc<PromptRecord>,
        panes: Vec<PaneRequest>,
    },
    /// Answer a list of prompts. It is a job: its reports are [`ListReport`]s.
    ///
    /// [`ListReport`]: crate::servers::ListReport
    AnswerList {
        id: GenerationId,
        plan: Arc<ListPlan>,
    },
    /// Stop one text or list, and close its connections.
    Stop(GenerationId),
    /// Stop all texts. Lists go on.
    StopAll,
}

/// What the thread of a server reports. The events of one text arrive in order.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerEvent {
    /// The server answered.
    Connected {
        server: Arc<ServerInfo>,
        /// What a run records about it.
        model: Arc<ModelInfo>,
        /// How many log-probabilities it is asked for at each token.
        n_probs: usize,
    },
    /// The answer to [`ServerRequest::Connect`] if the server can't be used. Texts that were
    /// requested end with the same error.
    ConnectFailed {
        /// Can be shown to the user.
        error: String,
    },
    /// A text advanced, as with a model on this computer.
    Progress(Progress),
    /// The server has named more tokens. This is the vocabulary known so far.
    Vocabulary(Arc<Vocabulary>),
    /// How the server's own sampler deviates from this pane's settings.
    Noted {
        id: GenerationId,
        /// One sentence each.
        notes: Vec<String>,
        /// The settings that it lacks or applies otherwise.
        not_applied: Vec<String>,
    },
    /// A list of prompts advanced.
    Job { id: GenerationId, update: JobUpdate },
    /// A thread has panicked, which is a bug. A new `ServerWorker` can be started.
    Panicked {
        /// The message of the panic.
        message: String,
    },
}
