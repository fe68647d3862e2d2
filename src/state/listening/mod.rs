//! The endpoint through which other programs ask, and their requests as the history lists them.
//!
//! The endpoint itself belongs to the window’s application, which reports here what happens.

mod again;
mod asked_again;
mod opened;
mod refused;
mod tasks;

use std::collections::VecDeque;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

pub(in crate::state) use self::again::write_again;
pub use self::asked_again::{AnswerAgain, AskedAgain};
pub(in crate::state) use self::asked_again::{ask_again, note, on_read, stop_asking};
pub(in crate::state) use self::opened::of_request;
pub use self::refused::RefusedRequest;
pub(in crate::state) use self::tasks::{read_tasks, use_tasks};
use crate::interop::api::ApiModel;
use crate::listen::{AnsweredRequest, ListenError, OpenRequest, Outcome};
use crate::state::{
    Effect, HistoryLimits, Models, Notice, Notices, RunOrigin, RunRequest, Runs, unix_time_secs,
};

/// How many refused requests are listed.
const MAX_REFUSED: usize = 100;

/// What the user chose about the endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListenSettings {
    pub port: u16,
    /// Whether the endpoint opens when the window does.
    pub at_start: bool,
    /// Whether requests are kept in the history, rather than until the window is closed.
    pub keeps: bool,
}

impl Default for ListenSettings {
    fn default() -> Self {
        Self {
            port: 8080,
            at_start: false,
            keeps: true,
        }
    }
}

/// Whether the endpoint is open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ListenStatus {
    #[default]
    Off,
    /// It was asked to open.
    Opening,
    On {
        address: SocketAddr,
    },
    /// It could not be opened.
    Failed {
        /// Can be shown to the user.
        error: String,
        /// The next port, if this one is in use.
        next_port: Option<u16>,
    },
}

/// The endpoint of the window.
#[derive(Debug, Clone, PartialEq)]
pub struct Listening {
    pub settings: ListenSettings,
    pub status: ListenStatus,
    /// The requests that wait or are being answered, in the order in which they arrived.
    pub open: Vec<OpenRequest>,
    /// The requests for which nothing was written, the latest first.
    pub refused: VecDeque<RefusedRequest>,
    /// The requests that are asked again.
    pub again: AskedAgain,
    /// How many requests there were since the window was opened, without those that are open.
    n_closed: usize,
    /// The model that answers.
    model: Option<ApiModel>,
}

/// A user action on the endpoint, or what became of it.
#[derive(Debug, Clone, PartialEq)]
pub enum ListenCommand {
    /// Open the endpoint, or close it.
    Switch(bool),
    /// Open it on another port.
    ListenOn(u16),
    /// It was opened, or could not be.
    Opened(Result<SocketAddr, ListenError>),
    /// These requests are open.
    Changed(Vec<OpenRequest>),
    /// These requests are no longer open.
    Answered(Vec<AnsweredRequest>),
    /// Copy the address that programs use.
    CopyAddress,
    /// Copy a command that asks something.
    CopyTest,
    /// Keep requests in the history from now on, or until the window is closed.
    Keep(bool),
    /// Show the requests.
    ShowRequests,
}

/// What the endpoint must do.
#[derive(Debug, Clone, PartialEq)]
pub enum ListenRequest {
    /// Open on this port, and answer with this model.
    Open { port: u16, model: Option<ApiModel> },
    /// Answer with another model from now on, or refuse requests.
    SetModel(Option<ApiModel>),
    /// Stop what is being written, and close.
    Close,
}

impl Listening {
    /// Creates the state at startup.
    pub(in crate::state) fn new(settings: ListenSettings) -> Self {
        Self {
            settings,
            status: ListenStatus::Off,
            open: Vec::new(),
            refused: VecDeque::new(),
            again: AskedAgain::default(),
            n_closed: 0,
            model: None,
        }
    }

    /// Returns the request to open the endpoint when the window opens, if the user chose that.
    pub(in crate::state) fn first_request(&mut self) -> Option<Effect> {
        self.settings.at_start.then(|| self.switch_on())
    }

    /// Returns the address that programs use, if the endpoint is open.
    pub const fn address(&self) -> Option<SocketAddr> {
        match self.status {
            ListenStatus::On { address } => Some(address),
            _ => None,
        }
    }

    /// Returns whether the switch is on.
    pub const fn is_on(&self) -> bool {
        matches!(self.status, ListenStatus::On { .. } | ListenStatus::Opening)
    }

    /// Returns how many requests there were since the window was opened.
    pub const fn n_requests(&self) -> usize {
        self.n_closed + self.open.len()
    }

    /// Returns the address that ends in `/v1`, which programs are given.
    pub fn url(&self) -> Option<String> {
        self.address().map(|address| format!("http://{address}/v1"))
    }

    /// Returns a command that asks something, to try it.
    pub fn test(&self) -> Option<String> {
        let url = self.url()?;
        let body = r#"{"prompt": "Once upon a time", "max_tokens": 40}"#;
        Some(format!("curl {url}/completions -d '{body}'"))
    }

    /// Returns the model that answers, or would if the endpoint were open.
    pub(in crate::state) const fn model(&self) -> Option<&ApiModel> {
        self.model.as_ref()
    }

    fn switch_on(&mut self) -> Effect {
        self.status = ListenStatus::Opening;
        Effect::Listen(ListenRequest::Open {
            port: self.settings.port,
            model: self.model.clone(),
        })
    }

    /// Lets the endpoint answer with the main model, once it has changed.
    pub(in crate::state) fn follow(&mut self, models: &Models) -> Option<Effect> {
        let ready = models
            .main
            .ready()
            .map(|model| (&model.info, &model.vocabulary));
        let second = models.second.info();
        let same = match (&self.model, ready) {
            (Some(served), Some((info, _))) => {
                served.info == *info && served.second.as_ref() == second
            }
            (None, None) => true,
            _ => false,
        };
        if same {
            return None;
        }
        self.model = ready.map(|(info, vocabulary)| ApiModel {
            info: info.clone(),
            vocabulary: vocabulary.clone(),
            second: second.cloned(),
            loaded_at: unix_time_secs(),
            tool_calls: models
                .main
                .ready()
                .and_then(|model| model.chat.tool_calls()),
        });
        let set = ListenRequest::SetModel(self.model.clone());
        self.is_on().then_some(Effect::Listen(set))
    }

    /// Notes that the endpoint was opened, or why not.
    fn on_opened(&mut self, opened: Result<SocketAddr, ListenError>) -> Option<Effect> {
        if self.status != ListenStatus::Opening {
            // It was switched off meanwhile.
            return None;
        }
        self.status = match opened {
            Ok(address) => ListenStatus::On { address },
            Err(error) => ListenStatus::Failed {
                next_port: match error {
                    ListenError::PortInUse { port } => port.checked_add(1),
                    ListenError::Refused { .. } => None,
                },
                error: error.to_string(),
            },
        };
        None
    }

    /// Lists requests that are no longer open. Returns the requests to keep their texts.
    fn on_answered(
        &mut self,
        answered: Vec<AnsweredRequest>,
        limits: HistoryLimits,
    ) -> Vec<Effect> {
        self.n_closed += answered.len();
        let mut effects = Vec::new();
        for AnsweredRequest {
            client,
            asked,
            outcome,
            ..
        } in answered
        {
            self.open.retain(|open| open.client.number != client.number);
            match outcome {
                Outcome::Written { texts, request }
                    if texts.iter().any(|text| !text.steps.is_empty()) =>
                {
                    effects.push(Effect::Runs(RunRequest::KeepAnswer {
                        texts,
                        request: Box::new(request),
                        finished_at: unix_time_secs(),
                        in_history: self.settings.keeps,
                        limits,
                    }));
                }
                outcome => RefusedRequest::list(&mut self.refused, &client, asked, &outcome),
            }
        }
        self.refused.truncate(MAX_REFUSED);
        effects
    }

    /// Applies a command.
    pub(in crate::state) fn apply(
        &mut self,
        command: ListenCommand,
        limits: HistoryLimits,
        notices: &mut Notices,
    ) -> Vec<Effect> {
        match command {
            ListenCommand::Switch(true) => vec![self.switch_on()],
            ListenCommand::Switch(false) => {
                self.status = ListenStatus::Off;
                vec![Effect::Listen(ListenRequest::Close)]
            }
            ListenCommand::ListenOn(port) => {
                self.settings.port = port;
                vec![self.switch_on()]
            }
            ListenCommand::Opened(opened) => self.on_opened(opened).into_iter().collect(),
            ListenCommand::Changed(open) => {
                self.open = open;
                Vec::new()
            }
            ListenCommand::Answered(answered) => self.on_answered(answered, limits),
            ListenCommand::CopyAddress => copy(self.url(), "Address copied", notices),
            ListenCommand::CopyTest => copy(self.test(), "Command copied", notices),
            ListenCommand::Keep(keeps) => {
                self.settings.keeps = keeps;
                Vec::new()
            }
            // The runs know which page is shown.
            ListenCommand::ShowRequests => Vec::new(),
        }
    }
}

fn copy(text: Option<String>, done: &str, notices: &mut Notices) -> Vec<Effect> {
    let Some(text) = text else {
        return Vec::new();
    };
    notices.notify(Notice::done(done));
    vec![Effect::CopyText(text)]
}

impl Runs {
    /// Applies a command about the endpoint.
    pub(in crate::state) fn listen(
        &mut self,
        command: ListenCommand,
        notices: &mut Notices,
    ) -> Vec<Effect> {
        if command == ListenCommand::ShowRequests {
            self.history.origin = RunOrigin::Programs;
        }
        self.listening.apply(command, self.limits, notices)
    }
}
