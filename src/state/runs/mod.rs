//! Runs as documents: the page that lists them, and a run that is shown as it was generated.

mod history;
mod models_to_verify;
mod opened;
mod other_formats;
mod verification;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use crate::export::json::RunFile;
use crate::generation::{FinishReason, Generation};
use crate::interop::Messages;
use crate::interop::api::RecordedRequest;
use crate::lab::{LabResult, LabTab};
use crate::state::panes::run_end::TextsBefore;
use crate::state::{
    Effect, ListenSettings, Listening, Models, Notices, Panes, Repetition, ViewChoices,
    unix_time_secs,
};

pub use history::{History, HistoryLimits, KeptRun, RunOrigin};
pub(in crate::state) use opened::{HiddenSession, what_if_words};
pub use opened::{OpenedRun, RequestView};
pub use other_formats::{FormatTrial, OtherFormats};
pub use verification::Verification;

/// A page of the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Page {
    /// The prompt, the panes and the dock.
    #[default]
    Write,
    /// Experiments over many runs.
    Lab,
    /// The saved runs.
    History,
    /// The lessons. A running lesson is shown on the first page.
    Lessons,
}

impl Page {
    /// All pages, from left to right.
    pub const ALL: [Self; 4] = [Self::Write, Self::Lab, Self::History, Self::Lessons];

    /// Returns the label in the top bar.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "Write",
            Self::Lab => "Lab",
            Self::History => "History",
            Self::Lessons => "Lessons",
        }
    }
}

/// The runs: the current one, the saved ones, and the one that is shown as it was generated.
#[derive(Debug, Clone, PartialEq)]
pub struct Runs {
    /// The saved runs.
    pub history: History,
    pub limits: HistoryLimits,
    /// The endpoint through which other programs ask, and their requests.
    pub listening: Listening,
    /// The run that is shown as it was generated.
    pub opened: Option<OpenedRun>,
    /// The rerun that verifies the opened run.
    pub verification: Option<Verification>,
    /// The number formats of that rerun, if they differ from the user's.
    pub(in crate::state) format_trial: Option<FormatTrial>,
    /// The number of the latest run. A run that is continued keeps its number, and so replaces its
    /// entry in the history.
    pub(in crate::state) number: u64,
    /// When the run on screen finished, in seconds since 1970. `None` if it has not, or nothing says.
    pub(in crate::state) finished_at: Option<u64>,
    /// The texts that the current run of all panes replaces.
    pub(in crate::state) texts_before: Option<TextsBefore>,
    /// Why the last run changed nothing.
    pub(in crate::state) repetition: Option<Repetition>,
}

impl Runs {
    /// Creates the state at startup; the history has not been read yet.
    pub(in crate::state) fn new(limits: HistoryLimits, listen: ListenSettings) -> Self {
        Self {
            history: History::default(),
            limits,
            listening: Listening::new(listen),
            opened: None,
            verification: None,
            format_trial: None,
            number: 0,
            finished_at: None,
            texts_before: None,
            repetition: None,
        }
    }

    /// Returns the request to keep the texts on screen, if they are a finished run. A text that
    /// paused after a single step is not finished.
    pub(in crate::state) fn keep(&self, panes: &Panes) -> Option<Effect> {
        let is_finished = |finish: Option<&FinishReason>| {
            finish.is_some_and(|finish| *finish != FinishReason::Paused)
        };
        let mut written = panes.texts().filter(|text| !text.steps.is_empty());
        let has_finished = written.any(|text| is_finished(text.finish.as_ref()));
        (!panes.is_running() && has_finished).then(|| self.keep_as_it_is())
    }

    /// Returns the request to keep the texts on screen, finished or not.
    pub(in crate::state) fn keep_as_it_is(&self) -> Effect {
        Effect::Runs(RunRequest::Keep {
            number: self.number,
            finished_at: self.finished_at.unwrap_or_else(unix_time_secs),
            limits: self.limits,
        })
    }
}

/// A user action on runs, or the result of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum RunCommand {
    ShowPage(Page),
    /// Read the history, unless it is known.
    List,
    /// Show the run in this file.
    Open(PathBuf),
    /// Show a run of the history, by its file name.
    OpenKept(String),
    /// Show a run of the history, and generate it again to compare.
    VerifyKept(String),
    /// A run was read.
    Read {
        /// What to call it if it has no title.
        name: String,
        run: Result<Box<RunFile>, String>,
    },
    /// The messages of a chat were read.
    MessagesRead {
        /// The name of their file.
        name: String,
        messages: Result<Messages, String>,
    },
    /// Results of an experiment were read.
    ResultRead {
        /// What to call them.
        name: String,
        result: LabResult,
        /// In seconds since 1970.
        finished_at: u64,
    },
    /// Return to what was on screen before the run was opened.
    Close,
    /// Continue with the prompt and the settings of the opened run.
    UseSettings,
    /// Write the opened answer to a request again in four settings.
    WriteAgain,
    /// Show the fields of the opened request, or its JSON.
    ShowRequestAs(RequestView),
    /// Change a field of the opened request, to see what would have been written.
    SetRequestField {
        name: String,
        value: Value,
    },
    /// Copy a command that asks the same as the opened request.
    CopyRequest,
    /// Generate the opened run again and compare.
    Verify,
    /// Verify it in other number formats.
    VerifyIn(OtherFormats),
    /// Stop verifying, or drop the result.
    EndVerification,

    /// Answer the requests of these runs again, and compare.
    AskAgain(Vec<String>),
    /// Stop answering them.
    StopAsking,
    /// A run was read to be answered again.
    ReadToAsk {
        file: String,
        run: Result<Box<RunFile>, String>,
    },
    /// Ask the prompts of these runs as the tasks of an experiment.
    UseAsTasks {
        files: Vec<String>,
        tab: LabTab,
    },
    /// The prompts of runs were read as tasks, a line each.
    TasksRead {
        tasks: String,
        tab: LabTab,
        /// How many runs could not be read.
        n_unread: usize,
    },

    /// Select a run of the history.
    Select(String),
    /// Pin a run, so that it is kept whatever the limits say, or unpin it.
    Pin {
        file: String,
        pinned: bool,
    },
    /// Edit the name of a run.
    BeginRename(String),
    /// Rename the run as typed.
    Rename,
    CancelRename,
    Delete(String),
    /// Copy the selected run to this file.
    Export(PathBuf),
    /// A run was copied to this file.
    Exported(PathBuf),
    /// Bring back a run that was deleted.
    Restore(String),
    /// Bring back the run that was deleted last.
    UndoDelete,
    /// The history was read.
    Listed(Result<Vec<KeptRun>, String>),
    /// A run of the history changed: it is new, different or, without a run, gone.
    Changed {
        file: String,
        run: Option<KeptRun>,
    },
    /// A run is held in memory until the window is closed.
    Held {
        run: KeptRun,
    },
    /// The texts on screen could not be added to the history.
    NotKept {
        /// Why not, and where.
        error: String,
    },
    /// Another request failed.
    Failed {
        title: &'static str,
        error: String,
    },
}

/// What the state requests from the folder of runs.
#[derive(Debug, Clone, PartialEq)]
pub enum RunRequest {
    /// Read a run file.
    Read(PathBuf),
    /// Read a run of the history.
    ReadKept(String),
    /// Keep the texts on screen as a run, in place of any run with the same number.
    Keep {
        number: u64,
        finished_at: u64,
        limits: HistoryLimits,
    },
    /// Keep the results of this tab.
    KeepResult {
        tab: LabTab,
        finished_at: u64,
        /// The time in the name of their file, which is replaced if it exists.
        named_at: u64,
        limits: HistoryLimits,
    },
    /// Keep the texts that answer a program’s request.
    KeepAnswer {
        texts: Vec<Generation>,
        request: Box<RecordedRequest>,
        finished_at: u64,
        /// Whether they are written to the folder, rather than returned.
        in_history: bool,
        limits: HistoryLimits,
    },
    /// Read a run to answer its request again, unless this is its content.
    ReadToAsk {
        file: String,
        content: Option<Arc<[u8]>>,
    },
    /// Read the prompts of these runs as tasks. Some are held in memory.
    ReadTasks {
        runs: Vec<(String, Option<Arc<[u8]>>)>,
        tab: LabTab,
    },
    /// Read what the history shows of each run.
    List,
    Pin {
        file: String,
        pinned: bool,
    },
    Rename {
        file: String,
        title: Option<String>,
    },
    Delete(String),
    Restore(String),
    /// Copy a run to this file, indented or as it is.
    Export {
        file: String,
        path: PathBuf,
        indented: bool,
    },
}

/// What verifying a run needs besides the runs.
pub(super) struct RunContext<'a> {
    pub panes: &'a Panes,
    pub models: &'a mut Models,
    pub view: &'a mut ViewChoices,
    pub notices: &'a mut Notices,
    /// The last id given to a pane or a generation.
    pub last_id: &'a mut u64,
}
