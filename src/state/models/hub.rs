//! The Hugging Face Hub: the search, the list of results and the downloads.

use std::path::PathBuf;

use crate::generation::Openness;
use crate::state::{Effect, ModelsCommand, Notice, Notices, capitalize};
use crate::worker::{
    CachedModel, DownloadEvent, DownloadProgress, DownloadRequest, DownloadTarget, PartialDownload,
    Repository,
};

/// The maximum number of search results.
const MAX_RESULTS: usize = 30;

/// The tabs of the models dialog.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ModelsTab {
    /// A few small models to start with.
    Recommended,
    /// Models that can be opened without a download.
    #[default]
    OnThisComputer,
    /// Search results from the Hub.
    HuggingFace,
    /// Models that run elsewhere.
    Servers,
}

impl ModelsTab {
    /// All tabs, from left to right.
    pub const ALL: [Self; 4] = [
        Self::Recommended,
        Self::OnThisComputer,
        Self::HuggingFace,
        Self::Servers,
    ];

    /// Returns the label on the tab.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recommended => "Recommended",
            Self::OnThisComputer => "On this computer",
            Self::HuggingFace => "Hugging Face",
            Self::Servers => "Servers",
        }
    }
}

/// The state of the models dialog's tabs, and of all downloads.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HubState {
    pub tab: ModelsTab,
    /// The text in the search box.
    pub query: String,
    pub(in crate::state) search: Search,
    /// The expanded repository and its files; at most one is expanded.
    pub(in crate::state) expanded: Option<(String, Listing)>,
    /// What the search field names, if that is a model rather than words.
    pub(in crate::state) named: Option<DownloadTarget>,
    /// The downloads of this session, finished ones included.
    pub(in crate::state) downloads: Vec<Download>,
    /// The models in the cache folder.
    pub(in crate::state) cached: Vec<CachedModel>,
    /// The unfinished downloads in the cache folder, as of the last listing.
    pub(in crate::state) kept: Vec<PartialDownload>,
}

impl HubState {
    /// Returns whether a download is waiting or running.
    pub(in crate::state) fn is_downloading(&self) -> bool {
        let is_active = |download: &Download| {
            let stage = &download.stage;
            matches!(stage, DownloadStage::Waiting | DownloadStage::Running(_))
        };
        self.downloads.iter().any(is_active)
    }

    /// Forgets everything in the current models folder, because another folder replaces it.
    pub(in crate::state) fn forget_downloads(&mut self) {
        self.downloads.clear();
        self.cached.clear();
        self.kept.clear();
    }
}

/// The state of the search.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::state) enum Search {
    #[default]
    Idle,
    /// Waiting for the answer to this query.
    Pending(String),
    Found(Vec<Repository>),
    /// Failed, with the error message.
    Failed(String),
}

/// The files of a repository.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) enum Listing {
    /// Waiting for the answer.
    Pending,
    Found(Repository),
    /// Failed, with the error message.
    Failed(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) struct Download {
    pub wanted: DownloadTarget,
    pub stage: DownloadStage,
}

/// The progress of a download.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) enum DownloadStage {
    /// Queued behind another download.
    Waiting,
    Running(DownloadProgress),
    /// Paused, with this many bytes kept.
    Paused(u64),
    /// Failed, with the error message and the number of bytes kept.
    Failed(String, u64),
    /// Finished; the model is at this path.
    Done(PathBuf),
}

/// A user action in the Hub's part of the dialog, or a report from the download threads.
#[derive(Debug, Clone, PartialEq)]
pub enum HubCommand {
    /// Search for the text in the search box.
    Search,
    /// Expand this repository, or collapse it if it is expanded.
    ToggleFiles(String),
    /// Start or resume this download.
    Download(DownloadTarget),
    /// Pause this download and keep its partial files.
    Pause(DownloadTarget),
    /// Cancel this download and delete its partial files.
    Cancel(DownloadTarget),
    /// A report from the download threads.
    Event(DownloadEvent),
}

impl HubState {
    /// Applies a command. `dialog_open` says whether the rows of the downloads are visible.
    pub(in crate::state) fn apply(
        &mut self,
        command: HubCommand,
        dialog_open: bool,
        notices: &mut Notices,
    ) -> Vec<Effect> {
        match command {
            HubCommand::Search => self.search_hub(),
            HubCommand::ToggleFiles(repository) => self.toggle_repository(repository),
            HubCommand::Download(wanted) => {
                self.set_download(&wanted, DownloadStage::Waiting);
                vec![Effect::Hub(DownloadRequest::Download(wanted))]
            }
            HubCommand::Pause(wanted) => vec![Effect::Hub(DownloadRequest::Pause(wanted))],
            HubCommand::Cancel(wanted) => vec![Effect::Hub(DownloadRequest::Cancel(wanted))],
            HubCommand::Event(event) => self.on_download_event(event, dialog_open, notices),
        }
    }

    fn search_hub(&mut self) -> Vec<Effect> {
        let query = self.query.trim().to_owned();
        if query.is_empty() {
            return Vec::new();
        }
        self.tab = ModelsTab::HuggingFace;
        self.expanded = None;
        self.named = DownloadTarget::parse(&query);
        if let Some(named) = &self.named {
            self.search = Search::Idle;
            return self.toggle_repository(named.repository.clone());
        }
        self.search = Search::Pending(query.clone());
        let n_max = MAX_RESULTS;
        vec![Effect::Hub(DownloadRequest::Search { query, n_max })]
    }

    fn toggle_repository(&mut self, repository: String) -> Vec<Effect> {
        let expanded = self.expanded.take();
        if expanded.is_some_and(|(name, _)| name == repository) {
            return Vec::new();
        }
        self.expanded = Some((repository.clone(), Listing::Pending));
        vec![Effect::Hub(DownloadRequest::Files { repository })]
    }

    fn on_download_event(
        &mut self,
        event: DownloadEvent,
        dialog_open: bool,
        notices: &mut Notices,
    ) -> Vec<Effect> {
        match event {
            DownloadEvent::Found {
                query,
                repositories,
            } => {
                if self.search == Search::Pending(query) {
                    self.search = match repositories {
                        Ok(repositories) => Search::Found(repositories),
                        Err(reason) => Search::Failed(capitalize(&reason)),
                    };
                }
            }
            DownloadEvent::FilesListed { repository, found } => {
                if let Some((name, listing)) = &mut self.expanded
                    && *name == repository
                {
                    *listing = match found {
                        Ok(repository) => Listing::Found(repository),
                        Err(reason) => Listing::Failed(capitalize(&reason)),
                    };
                }
            }
            DownloadEvent::CachedListed { models, kept } => {
                if let Ok(models) = &models {
                    // A downloaded model may have been deleted since.
                    let exists = |path: &PathBuf| models.iter().any(|model| model.path == *path);
                    self.downloads.retain(|download| match &download.stage {
                        DownloadStage::Done(path) => exists(path),
                        _ => true,
                    });
                }
                // An error means that there is no cache folder, so nothing is cached.
                self.cached = models.unwrap_or_default();
                self.kept = kept;
            }
            DownloadEvent::Progress { wanted, progress } => {
                self.set_download(&wanted, DownloadStage::Running(progress));
            }
            DownloadEvent::Done { wanted, path } => {
                self.set_download(&wanted, DownloadStage::Done(path));
                return vec![Effect::Hub(DownloadRequest::Cached)];
            }
            DownloadEvent::Paused {
                wanted,
                n_bytes_kept,
            } => {
                self.set_download(&wanted, DownloadStage::Paused(n_bytes_kept));
            }
            DownloadEvent::Cancelled { wanted } => {
                self.downloads.retain(|download| download.wanted != wanted);
                return vec![Effect::Hub(DownloadRequest::Cached)];
            }
            DownloadEvent::Failed {
                wanted,
                reason,
                n_bytes_kept,
            } => {
                let notice = self.fail_download(&wanted, &reason, n_bytes_kept);
                if !dialog_open {
                    notices.notify(notice);
                }
            }
            DownloadEvent::Refused { wanted, reason } => {
                let is_visible = dialog_open && self.shows_file(&wanted);
                let notice = self.refuse_download(&wanted, &reason);
                if !is_visible {
                    notices.notify(notice);
                }
            }
            DownloadEvent::Panicked { message } => {
                notices.notify(self.on_downloads_lost(&message));
            }
        }
        Vec::new()
    }

    fn set_download(&mut self, wanted: &DownloadTarget, stage: DownloadStage) {
        let downloads = &mut self.downloads;
        match downloads
            .iter_mut()
            .find(|download| download.wanted == *wanted)
        {
            Some(download) => download.stage = stage,
            None => downloads.push(Download {
                wanted: wanted.clone(),
                stage,
            }),
        }
    }

    /// Shows the failure in the download's row. Returns the notice for a closed dialog.
    fn fail_download(
        &mut self,
        wanted: &DownloadTarget,
        reason: &str,
        n_bytes_kept: u64,
    ) -> Notice {
        let reason = capitalize(reason);
        let stage = DownloadStage::Failed(reason.clone(), n_bytes_kept);
        self.set_download(wanted, stage);
        let show = crate::state::Command::Models(ModelsCommand::ShowDialog);
        let title = format!("{} was not downloaded", wanted.repository);
        Notice::error(title, reason).with_action("Show models", show)
    }

    /// Marks the model as one that does not open. Returns the notice for when its row is not
    /// visible.
    fn refuse_download(&mut self, wanted: &DownloadTarget, reason: &str) -> Notice {
        self.downloads.retain(|download| download.wanted != *wanted);
        if let Some((name, Listing::Found(found))) = &mut self.expanded
            && *name == wanted.repository
        {
            let reason = reason.lines().next().unwrap_or_default().to_owned();
            let file = wanted.file.as_deref();
            for model in &mut found.models {
                if file.is_none_or(|file| file == model.name()) {
                    let reason = reason.clone();
                    model.openness = Openness::NotYet { reason };
                }
            }
        }
        let title = format!("{} was not downloaded", wanted.repository);
        Notice::error(title, capitalize(reason))
    }

    fn on_downloads_lost(&mut self, message: &str) -> Notice {
        for download in &mut self.downloads {
            let n_bytes_kept = match &download.stage {
                DownloadStage::Waiting => 0,
                DownloadStage::Running(progress) => progress.n_bytes,
                _ => continue,
            };
            let reason = "The download stopped unexpectedly".to_owned();
            download.stage = DownloadStage::Failed(reason, n_bytes_kept);
        }
        self.search = Search::Idle;
        self.expanded = None;
        let body = format!("Partial files are kept. The error was: {message}");
        Notice::error("The downloads stopped unexpectedly", body)
    }
}
