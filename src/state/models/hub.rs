//! Models from the Hugging Face Hub: what was searched for, what is offered, what is on its way.

use std::path::PathBuf;

use crate::state::{AppState, Effect, ModelsCommand, Notice, capital};
use crate::worker::{
    CachedModel, DownloadEvent, DownloadProgress, DownloadRequest, KeptDownload, Repository, Wanted,
};

/// The most repositories that a search shows.
const N_FOUND: usize = 30;

/// Addresses of models begin so.
const ADDRESSES: [&str; 4] = [
    "https://huggingface.co/",
    "http://huggingface.co/",
    "huggingface.co/",
    "hf.co/",
];

/// The parts of the dialog.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ModelsTab {
    /// A few small models to begin with.
    Recommended,
    /// What can be opened at once.
    #[default]
    OnThisComputer,
    /// What a search has found.
    HuggingFace,
}

impl ModelsTab {
    /// All, from left to right.
    pub const ALL: [Self; 3] = [Self::Recommended, Self::OnThisComputer, Self::HuggingFace];

    /// The words on the tab.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recommended => "Recommended",
            Self::OnThisComputer => "On this computer",
            Self::HuggingFace => "Hugging Face",
        }
    }
}

/// What is known of the Hub.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HubState {
    /// The part of the dialog that is shown.
    pub tab: ModelsTab,
    /// What is typed into the search box.
    pub query: String,
    /// What became of it.
    pub(in crate::state) search: Search,
    /// The repository whose files are shown, and what is known of them.
    pub(in crate::state) unfolded: Option<(String, Listing)>,
    /// What is on its way, or was.
    pub(in crate::state) downloads: Vec<Download>,
    /// The models in the cache folder.
    pub(in crate::state) cached: Vec<CachedModel>,
    /// The downloads that were not finished, as the cache folder was seen last.
    pub(in crate::state) kept: Vec<KeptDownload>,
}

/// A search.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::state) enum Search {
    /// Nothing was asked yet.
    #[default]
    Idle,
    /// The Hub was asked.
    Asked(String),
    /// It has answered.
    Found(Vec<Repository>),
    /// It has not.
    Failed(String),
}

/// The files of a repository.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) enum Listing {
    /// The Hub was asked.
    Asked,
    /// It has answered.
    Found(Repository),
    /// It has not.
    Failed(String),
}

/// A download.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) struct Download {
    pub wanted: Wanted,
    pub stage: DownloadStage,
}

/// How far a download has come.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) enum DownloadStage {
    /// It waits for those before it.
    Waiting,
    /// It is under way.
    Going(DownloadProgress),
    /// It was stopped, and so many bytes are kept.
    Paused(u64),
    /// It failed for this reason, and so many bytes are kept.
    Failed(String, u64),
    /// It is here.
    Done(PathBuf),
}

/// What is asked of the Hub's part of the dialog.
#[derive(Debug, Clone, PartialEq)]
pub enum HubCommand {
    /// Look for what is typed.
    Search,
    /// Show the files of this repository, or fold them away.
    Unfold(String),
    /// Bring this, or go on with it.
    Download(Wanted),
    /// Stop it, and keep what has come.
    Pause(Wanted),
    /// Stop it, and keep nothing.
    Cancel(Wanted),
    /// What the Hub's threads report.
    Event(DownloadEvent),
}

impl AppState {
    pub(in crate::state) fn apply_to_hub(&mut self, command: HubCommand) -> Vec<Effect> {
        match command {
            HubCommand::Search => self.search_hub(),
            HubCommand::Unfold(repository) => self.unfold(repository),
            HubCommand::Download(wanted) => {
                self.set_download(&wanted, DownloadStage::Waiting);
                vec![Effect::Hub(DownloadRequest::Download(wanted))]
            }
            HubCommand::Pause(wanted) => vec![Effect::Hub(DownloadRequest::Pause(wanted))],
            HubCommand::Cancel(wanted) => vec![Effect::Hub(DownloadRequest::Cancel(wanted))],
            HubCommand::Event(event) => self.on_download_event(event),
        }
    }

    fn search_hub(&mut self) -> Vec<Effect> {
        let query = self.hub.query.trim().to_owned();
        if query.is_empty() {
            return Vec::new();
        }
        self.hub.tab = ModelsTab::HuggingFace;
        self.hub.unfolded = None;
        if let Some(repository) = repository_in(&query) {
            self.hub.search = Search::Idle;
            return self.unfold(repository);
        }
        self.hub.search = Search::Asked(query.clone());
        let n_max = N_FOUND;
        vec![Effect::Hub(DownloadRequest::Search { query, n_max })]
    }

    fn unfold(&mut self, repository: String) -> Vec<Effect> {
        if self
            .hub
            .unfolded
            .take()
            .is_some_and(|(name, _)| name == repository)
        {
            return Vec::new();
        }
        self.hub.unfolded = Some((repository.clone(), Listing::Asked));
        vec![Effect::Hub(DownloadRequest::Files { repository })]
    }

    fn on_download_event(&mut self, event: DownloadEvent) -> Vec<Effect> {
        match event {
            DownloadEvent::Found {
                query,
                repositories,
            } => {
                if self.hub.search == Search::Asked(query) {
                    self.hub.search = match repositories {
                        Ok(repositories) => Search::Found(repositories),
                        Err(reason) => Search::Failed(capital(&reason)),
                    };
                }
            }
            DownloadEvent::FilesListed { repository, found } => {
                if let Some((name, listing)) = &mut self.hub.unfolded
                    && *name == repository
                {
                    *listing = match found {
                        Ok(repository) => Listing::Found(repository),
                        Err(reason) => Listing::Failed(capital(&reason)),
                    };
                }
            }
            DownloadEvent::CachedListed { models, kept } => {
                if let Ok(models) = &models {
                    // What was brought may have been taken away since.
                    let is_here = |path: &PathBuf| models.iter().any(|model| model.path == *path);
                    self.hub.downloads.retain(|download| match &download.stage {
                        DownloadStage::Done(path) => is_here(path),
                        _ => true,
                    });
                }
                // Without a cache folder there is nothing in it.
                self.hub.cached = models.unwrap_or_default();
                self.hub.kept = kept;
            }
            DownloadEvent::Progress { wanted, progress } => {
                self.set_download(&wanted, DownloadStage::Going(progress));
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
                self.hub
                    .downloads
                    .retain(|download| download.wanted != wanted);
                return vec![Effect::Hub(DownloadRequest::Cached)];
            }
            DownloadEvent::Failed {
                wanted,
                reason,
                n_bytes_kept,
            } => {
                self.fail_download(&wanted, &reason, n_bytes_kept);
            }
            DownloadEvent::Panicked { message } => self.on_downloads_lost(&message),
        }
        Vec::new()
    }

    fn set_download(&mut self, wanted: &Wanted, stage: DownloadStage) {
        let downloads = &mut self.hub.downloads;
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

    /// The row says so; a notice says it where the row is not on the screen.
    fn fail_download(&mut self, wanted: &Wanted, reason: &str, n_bytes_kept: u64) {
        let reason = capital(reason);
        let stage = DownloadStage::Failed(reason.clone(), n_bytes_kept);
        self.set_download(wanted, stage);
        if !self.models.dialog_open {
            let show = crate::state::Command::Models(ModelsCommand::ShowDialog);
            let title = format!("{} was not downloaded", wanted.repository);
            self.notify(Notice::error(title, reason).with_action("Show models", show));
        }
    }

    fn on_downloads_lost(&mut self, message: &str) {
        for download in &mut self.hub.downloads {
            let n_bytes_kept = match &download.stage {
                DownloadStage::Waiting => 0,
                DownloadStage::Going(progress) => progress.n_bytes,
                _ => continue,
            };
            let reason = "The download stopped unexpectedly".to_owned();
            download.stage = DownloadStage::Failed(reason, n_bytes_kept);
        }
        self.hub.search = Search::Idle;
        self.hub.unfolded = None;
        let body = format!("What has come is kept. It said: {message}");
        self.notify(Notice::error("Downloading stopped unexpectedly", body));
    }
}

/// The repository that an address or a whole name stands for.
fn repository_in(query: &str) -> Option<String> {
    let address = ADDRESSES.iter().find_map(|start| query.strip_prefix(start));
    let mut parts = address.unwrap_or(query).trim_matches('/').split('/');
    let (owner, name) = (parts.next()?, parts.next()?);
    let is_name = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
    // After the name an address may go on: /tree/main, /blob/main/FILE.
    let whole = address.is_some() || parts.next().is_none();
    (is_name(owner) && is_name(name) && whole).then(|| format!("{owner}/{name}"))
}

#[cfg(test)]
mod tests {
    use super::repository_in;

    #[test]
    fn an_address_or_a_whole_name_is_a_repository_and_words_are_not() {
        let name = "Qwen/Qwen3-0.6B-GGUF";
        for query in [
            name,
            "https://huggingface.co/Qwen/Qwen3-0.6B-GGUF",
            "https://huggingface.co/Qwen/Qwen3-0.6B-GGUF/blob/main/a.gguf",
            "hf.co/Qwen/Qwen3-0.6B-GGUF/",
        ] {
            assert_eq!(repository_in(query).as_deref(), Some(name), "{query}");
        }
        for query in [
            "qwen",
            "small stories",
            "read/write models",
            "/",
            "a/b/c",
            "huggingface.co/x",
        ] {
            assert_eq!(repository_in(query), None, "{query}");
        }
    }
}
