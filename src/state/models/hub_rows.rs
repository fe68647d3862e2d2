//! The rows of the Hub's models: their text and the actions they offer.

use super::hub::{DownloadStage, Listing, Search};
use crate::generation::{ByteSize, MemoryNeed, Openness};
use crate::state::{Command, HubCommand, HubState, ModelsCommand, capitalize};
use crate::worker::{
    CacheType, DownloadPhase, DownloadProgress, DownloadTarget, ModelFiles, ModelFormat,
    RECOMMENDED, RecommendedModel, Repository,
};

/// A row in the list: a repository, or a model on the Hub.
#[derive(Debug, Clone, PartialEq)]
pub struct HubRow {
    pub name: String,
    /// The number of parameters, if known.
    pub n_params: Option<u64>,
    /// The downloads of the last month, if known.
    pub n_downloads: Option<u64>,
    /// Everything else known about it: license, quantization, size, or why it does not open.
    pub facts: String,
    /// Whether it opens, for a search result.
    pub openness: Option<Openness>,
    /// Whether this is a file of the repository above it.
    pub indented: bool,
    pub status: HubRowStatus,
}

/// The status of a row, with the actions it offers.
#[derive(Debug, Clone, PartialEq)]
pub enum HubRowStatus {
    /// The model can be downloaded.
    Available {
        /// Empty if unknown.
        size: String,
        download: Command,
    },
    /// A repository with files to choose from.
    Repository {
        expanded: bool,
        /// Expands or collapses it.
        toggle: Command,
    },
    Downloading {
        /// Between 0 and 1.
        fraction: f32,
        /// Bytes received and the speed.
        words: String,
        /// The remaining time; empty if unknown.
        left: String,
        pause: Command,
        cancel: Command,
    },
    /// The download was paused or failed.
    Interrupted {
        /// Why, and how many bytes are kept.
        words: String,
        /// Whether it failed rather than being paused.
        failed: bool,
        resume: Command,
        discard: Command,
    },
    /// The model is on this computer.
    Downloaded { open: Command },
    /// It does not open.
    NotYet {
        /// Shows a repository that has the same model as GGUF, if one was found.
        show_gguf: Option<Command>,
    },
}

impl HubState {
    /// Returns the rows of a few small models to start with, for panes whose texts have at most
    /// `n_tokens`.
    pub(in crate::state) fn recommended_rows(
        &self,
        cache: CacheType,
        n_panes: usize,
        n_tokens: usize,
    ) -> Vec<HubRow> {
        let rows = RECOMMENDED.iter().map(|model| {
            let wanted = DownloadTarget {
                repository: model.repository.to_owned(),
                file: Some(model.file.to_owned()),
            };
            let size = ByteSize(model.n_bytes()).to_string();
            let memory = format!(
                "{} of memory",
                ByteSize(memory_of(model, cache, n_panes, n_tokens))
            );
            HubRow {
                name: model.name.to_owned(),
                n_params: Some(u64::from(model.n_weights_millions) * 1_000_000),
                n_downloads: None,
                facts: [model.quantization, &memory, model.license, model.why].join(" · "),
                openness: None,
                indented: false,
                status: self.hub_status(&wanted, size),
            }
        });
        rows.collect()
    }

    /// Returns the rows of the unfinished downloads that have no row elsewhere.
    pub fn kept_rows(&self) -> Vec<HubRow> {
        let kept = self.kept.iter();
        let mut rows: Vec<HubRow> = kept
            .filter(|kept| {
                let mut downloads = self.downloads.iter();
                !downloads.any(|download| {
                    let is_done = matches!(download.stage, DownloadStage::Done(_));
                    download.wanted.repository == kept.repository && !is_done
                })
            })
            .map(|kept| {
                let wanted = DownloadTarget {
                    repository: kept.repository.clone(),
                    file: None,
                };
                let words = format!("Paused. {}.", kept_words(kept.n_bytes));
                unfinished_row(&wanted, interrupted(&wanted, words, false))
            })
            .collect();
        for download in &self.downloads {
            let wanted = &download.wanted;
            let is_done = matches!(download.stage, DownloadStage::Done(_));
            if wanted.file.is_none() || !is_done && !self.has_row(wanted) {
                rows.push(unfinished_row(
                    wanted,
                    self.hub_status(wanted, String::new()),
                ));
            }
        }
        rows
    }

    /// Returns whether the download is a recommended model, or a file of the expanded repository.
    fn has_row(&self, wanted: &DownloadTarget) -> bool {
        let is_wanted = |repository: &str, file: &str| {
            (wanted.repository == repository) && wanted.file.as_deref() == Some(file)
        };
        let mut recommended = RECOMMENDED.iter();
        recommended.any(|model| is_wanted(model.repository, model.file)) || self.shows_file(wanted)
    }

    /// Returns whether the download is a file of the expanded repository.
    pub(in crate::state) fn shows_file(&self, wanted: &DownloadTarget) -> bool {
        let Some((repository, Listing::Found(found))) = &self.expanded else {
            return false;
        };
        let mut models = found.models.iter();
        wanted.repository == *repository
            && models.any(|model| wanted.file.as_deref() == Some(model.name()))
    }

    /// Returns the rows of the search results, with the files of the expanded repository.
    pub fn found_rows(&self) -> Vec<HubRow> {
        let mut rows = Vec::new();
        let found = match &self.search {
            Search::Found(repositories) => repositories.as_slice(),
            _ => &[],
        };
        for repository in found {
            rows.push(self.repository_row(&repository.name, Some(repository)));
            rows.extend(self.file_rows(&repository.name));
        }
        // A repository that was opened by its URL has no search result above it.
        if let Some((name, _)) = &self.expanded
            && !found.iter().any(|repository| repository.name == *name)
        {
            rows.push(self.repository_row(name, None));
            rows.extend(self.file_rows(name));
        }
        rows
    }

    /// Returns the sentence about the search, and whether it is an error.
    pub fn search_words(&self) -> (String, bool) {
        let listing = self.expanded.as_ref().map(|(_, listing)| listing);
        match (&self.search, listing) {
            (_, Some(Listing::Failed(reason))) | (Search::Failed(reason), _) => {
                (reason.clone(), true)
            }
            (_, Some(Listing::Pending)) => ("Listing files".to_owned(), false),
            (Search::Pending(query), _) => (format!("Searching for ‘{query}’"), false),
            (Search::Found(found), _) if found.is_empty() => {
                ("Nothing on the Hub has this name".to_owned(), false)
            }
            (Search::Idle, None) => {
                let words =
                    "Type a name above and press Enter. Quartet stays offline until you do.";
                (words.to_owned(), false)
            }
            _ => (String::new(), false),
        }
    }

    fn repository_row(&self, name: &str, known: Option<&Repository>) -> HubRow {
        let expanded = self.expanded.as_ref();
        let expanded = expanded.filter(|(expanded, _)| expanded == name);
        let listed = match expanded {
            Some((_, Listing::Found(repository))) => Some(repository),
            _ => known,
        };
        let openness = listed.map(|listed| &listed.openness);
        if let (Some(listed), Some(Openness::NotYet { reason })) = (listed, openness) {
            return HubRow {
                name: name.to_owned(),
                n_params: None,
                n_downloads: None,
                facts: capitalize(reason),
                openness: openness.cloned(),
                indented: false,
                status: HubRowStatus::NotYet {
                    show_gguf: self.same_as_gguf(listed),
                },
            };
        }
        HubRow {
            name: name.to_owned(),
            n_params: listed.and_then(|listed| listed.n_params),
            n_downloads: listed.map(|listed| listed.n_downloads),
            facts: listed.map_or_else(String::new, repository_facts),
            openness: openness.cloned(),
            indented: false,
            status: HubRowStatus::Repository {
                expanded: expanded.is_some(),
                toggle: Command::Hub(HubCommand::ToggleFiles(name.to_owned())),
            },
        }
    }

    /// Returns the command that shows a search result with GGUF files of the same model.
    fn same_as_gguf(&self, repository: &Repository) -> Option<Command> {
        let Search::Found(found) = &self.search else {
            return None;
        };
        let bases = &repository.base_models;
        let other = found.iter().find(|other| {
            let mut models = other.models.iter();
            other.name != repository.name
                && !other.openness.is_refused()
                && models.any(|model| model.format == ModelFormat::Gguf)
                && other.base_models.iter().any(|base| bases.contains(base))
        })?;
        let show = HubCommand::ToggleFiles(other.name.clone());
        Some(Command::Hub(show))
    }

    /// Returns the rows of a repository's files, first those that the search field names. If the Hub
    /// can't be asked, these are the files in the cache.
    fn file_rows(&self, repository: &str) -> Vec<HubRow> {
        let models: Vec<&ModelFiles> = match &self.expanded {
            Some((name, _)) if name != repository => return Vec::new(),
            Some((_, Listing::Found(found))) => found.models.iter().collect(),
            Some((_, Listing::Failed(_))) => {
                let cached = self.cached.iter();
                let here = cached.filter(|cached| cached.repository == repository);
                here.map(|cached| &cached.model).collect()
            }
            Some((_, Listing::Pending)) | None => return Vec::new(),
        };
        let (named, others): (Vec<&ModelFiles>, Vec<&ModelFiles>) = models
            .into_iter()
            .partition(|model| self.names(repository, model));
        let rows = named.into_iter().chain(others).map(|model| {
            let wanted = DownloadTarget {
                repository: repository.to_owned(),
                file: Some(model.name().to_owned()),
            };
            let size = model.n_bytes.map(|n_bytes| ByteSize(n_bytes).to_string());
            let size = size.unwrap_or_default();
            let facts = [model.quantization.as_deref().unwrap_or_default(), &size];
            let facts: Vec<&str> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
            let mut row = HubRow {
                name: file_words(model),
                n_params: None,
                n_downloads: None,
                facts: facts.join(" · "),
                openness: None,
                indented: true,
                status: self.hub_status(&wanted, size.clone()),
            };
            if let (HubRowStatus::Available { .. }, Openness::NotYet { reason }) =
                (&row.status, &model.openness)
            {
                row.facts = capitalize(reason);
                row.openness = Some(model.openness.clone());
                row.status = HubRowStatus::NotYet { show_gguf: None };
            }
            row
        });
        rows.collect()
    }

    /// Returns whether the search field names this model of a repository.
    fn names(&self, repository: &str, model: &ModelFiles) -> bool {
        let named = self.named.as_ref();
        let named = named.filter(|named| named.repository == repository);
        let file = named.and_then(|named| named.file.as_deref());
        file.is_some_and(|file| model.is_named(file))
    }

    fn hub_status(&self, wanted: &DownloadTarget, size: String) -> HubRowStatus {
        let command = |make: fn(DownloadTarget) -> HubCommand| Command::Hub(make(wanted.clone()));
        let mut downloads = self.downloads.iter();
        let stage = downloads.find(|download| download.wanted == *wanted);
        match stage.map(|download| &download.stage) {
            Some(DownloadStage::Waiting) => HubRowStatus::Downloading {
                fraction: 0.0,
                words: "Waiting for another download".to_owned(),
                left: String::new(),
                pause: command(HubCommand::Pause),
                cancel: command(HubCommand::Cancel),
            },
            Some(DownloadStage::Running(progress)) => HubRowStatus::Downloading {
                fraction: fraction(progress),
                words: progress_words(progress),
                left: left_words(progress),
                pause: command(HubCommand::Pause),
                cancel: command(HubCommand::Cancel),
            },
            Some(DownloadStage::Paused(n_kept)) => {
                interrupted(wanted, format!("Paused. {}.", kept_words(*n_kept)), false)
            }
            Some(DownloadStage::Failed(reason, n_kept)) => {
                interrupted(wanted, format!("{reason}. {}.", kept_words(*n_kept)), true)
            }
            Some(DownloadStage::Done(path)) => HubRowStatus::Downloaded {
                open: Command::Models(ModelsCommand::Open(path.clone())),
            },
            None => match self.open_cached(wanted) {
                Some(open) => HubRowStatus::Downloaded { open },
                None => HubRowStatus::Available {
                    size,
                    download: command(HubCommand::Download),
                },
            },
        }
    }

    /// Returns the command that opens this model from the cache folder, if it is there.
    fn open_cached(&self, wanted: &DownloadTarget) -> Option<Command> {
        let mut cached = self.cached.iter();
        let model = cached.find(|cached| {
            let name = cached.model.name();
            cached.repository == wanted.repository && wanted.file.as_deref() == Some(name)
        })?;
        Some(Command::Models(ModelsCommand::Open(model.path.clone())))
    }
}

/// Returns how much memory a model takes with this cache type and panes whose texts have
/// at most `n_tokens`, in bytes.
fn memory_of(model: &RecommendedModel, cache: CacheType, n_panes: usize, n_tokens: usize) -> u64 {
    let n_head_bytes = cache.n_bytes(model.head_dim as usize) as u64;
    let need = MemoryNeed {
        n_weight_bytes: model.n_bytes(),
        n_cache_bytes_per_token: u64::from(model.n_kv_heads) * n_head_bytes,
        n_state_bytes: 0,
        keeps_checkpoints: false,
        n_vocab: model.n_vocab as usize,
    };
    need.n_bytes(n_panes, n_tokens)
}

fn interrupted(wanted: &DownloadTarget, words: String, failed: bool) -> HubRowStatus {
    HubRowStatus::Interrupted {
        words,
        failed,
        resume: Command::Hub(HubCommand::Download(wanted.clone())),
        discard: Command::Hub(HubCommand::Cancel(wanted.clone())),
    }
}

/// Returns the row of a download that has no row elsewhere. For one from an earlier session, only
/// the repository is known.
fn unfinished_row(wanted: &DownloadTarget, status: HubRowStatus) -> HubRow {
    let from_earlier = || "Started in an earlier session".to_owned();
    HubRow {
        name: wanted.repository.clone(),
        n_params: None,
        n_downloads: None,
        facts: wanted.file.clone().unwrap_or_else(from_earlier),
        openness: None,
        indented: false,
        status,
    }
}

fn repository_facts(repository: &Repository) -> String {
    let mut facts: Vec<String> = repository.license.clone().into_iter().collect();
    if repository.is_gated {
        facts.push("gated: accept its terms on the Hub first".to_owned());
    }
    let mut kinds: Vec<&str> = repository.models.iter().map(ModelFiles::kind).collect();
    kinds.dedup();
    facts.push(kinds.join(", "));
    facts.join(" · ")
}

fn file_words(model: &ModelFiles) -> String {
    match model.file() {
        Some(file) if model.paths.len() > 1 => format!("{file} and its other parts"),
        Some(file) => file.to_owned(),
        None => "Whole repository (safetensors)".to_owned(),
    }
}

fn fraction(progress: &DownloadProgress) -> f32 {
    progress.n_bytes as f32 / progress.n_bytes_total.max(1) as f32
}

#[expect(clippy::cast_sign_loss, reason = "a speed is never negative")]
fn progress_words(progress: &DownloadProgress) -> String {
    let received = || ByteSize(progress.n_bytes).of(ByteSize(progress.n_bytes_total));
    match &progress.stage {
        DownloadPhase::Asking => "Contacting the Hub".to_owned(),
        DownloadPhase::Receiving => match progress.bytes_per_second {
            Some(speed) => format!("{}  {}/s", received(), ByteSize(speed as u64)),
            None => received(),
        },
        DownloadPhase::Waiting { reason, seconds } => {
            format!("{reason}; retrying in {seconds} s")
        }
        DownloadPhase::Verifying => "Verifying the file".to_owned(),
    }
}

fn left_words(progress: &DownloadProgress) -> String {
    match (&progress.stage, progress.seconds_left) {
        (DownloadPhase::Receiving, Some(seconds @ ..90)) => format!("about {seconds} s left"),
        (DownloadPhase::Receiving, Some(seconds @ 90..5_400)) => {
            format!("about {} min left", (seconds + 30) / 60)
        }
        (DownloadPhase::Receiving, Some(seconds)) => {
            format!("about {} h left", (seconds + 1_800) / 3_600)
        }
        _ => String::new(),
    }
}

fn kept_words(n_bytes: u64) -> String {
    match n_bytes {
        0 => "Nothing has been downloaded yet".to_owned(),
        n => format!("{} downloaded; it resumes from there", ByteSize(n)),
    }
}
