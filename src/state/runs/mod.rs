//! Runs as documents: the page that lists them, and a run that is shown as it was generated.

mod history;
mod models_to_verify;
mod opened;
mod other_formats;
mod verification;

use std::path::PathBuf;

use crate::export::json::RunFile;
use crate::state::{AppState, Effect};

pub use history::{History, HistoryLimits, KeptRun};
pub(in crate::state) use opened::HiddenSession;
pub use opened::OpenedRun;
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

/// A user action on runs, or the result of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum RunCommand {
    ShowPage(Page),
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
    /// Return to what was on screen before the run was opened.
    Close,
    /// Continue with the prompt and the settings of the opened run.
    UseSettings,
    /// Generate the opened run again and compare.
    Verify,
    /// Verify it in other number formats.
    VerifyIn(OtherFormats),
    /// Stop verifying, or drop the result.
    EndVerification,

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
    /// The history was read.
    Listed(Result<Vec<KeptRun>, String>),
    /// A run of the history changed: it is new, different or, without a run, gone.
    Changed {
        file: String,
        run: Option<KeptRun>,
    },
    /// A request failed.
    Failed {
        title: &'static str,
        error: String,
    },
}

/// What the state requests from the folder of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
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

impl AppState {
    pub(super) fn apply_to_runs(&mut self, command: RunCommand) -> Vec<Effect> {
        match command {
            RunCommand::ShowPage(page) => self.show_page(page),
            RunCommand::Open(path) => {
                self.history.verifies = false;
                vec![Effect::Runs(RunRequest::Read(path))]
            }
            RunCommand::OpenKept(file) => {
                self.history.verifies = false;
                vec![Effect::Runs(RunRequest::ReadKept(file))]
            }
            RunCommand::VerifyKept(file) => {
                self.history.verifies = true;
                vec![Effect::Runs(RunRequest::ReadKept(file))]
            }
            RunCommand::Read { name, run } => self.show_run(&name, run),
            RunCommand::Close => self.close_run(),
            RunCommand::UseSettings => self.use_settings_of_run(),
            RunCommand::Verify => self.verify(),
            RunCommand::VerifyIn(formats) => self.verify_in(formats),
            RunCommand::EndVerification => self.end_verification(),
            command => self.apply_to_history(command),
        }
    }

    fn show_page(&mut self, page: Page) -> Vec<Effect> {
        self.page = page;
        if page == Page::History && self.history.runs.is_none() {
            return vec![Effect::Runs(RunRequest::List)];
        }
        Vec::new()
    }
}
