//! The Hub's models as they are listed: words, and what can be done with each.

use super::hub::{DownloadStage, Listing, Search};
use crate::generation::ByteSize;
use crate::state::{AppState, Command, HubCommand, ModelsCommand};
use crate::worker::{DownloadProgress, ModelFiles, RECOMMENDED, Repository, Stage, Wanted};

/// One model of the Hub.
#[derive(Debug, Clone, PartialEq)]
pub struct HubRow {
    /// What it is called.
    pub name: String,
    /// How many weights it has, where that is known.
    pub n_params: Option<u64>,
    /// How often it was downloaded in the last month, where that is known.
    pub n_downloads: Option<u64>,
    /// What else is known of it.
    pub facts: String,
    /// Whether it is a file of the repository above it.
    pub indented: bool,
    /// What becomes of it.
    pub status: HubRowStatus,
}

/// What becomes of a model of the Hub.
#[derive(Debug, Clone, PartialEq)]
pub enum HubRowStatus {
    /// It can be brought.
    Offered {
        /// Its size, where that is known.
        size: String,
        /// What brings it.
        get: Command,
    },
    /// It has files to choose from.
    Repository {
        /// Whether they are shown.
        unfolded: bool,
        /// What shows them or folds them away.
        unfold: Command,
    },
    /// It is on its way.
    Going {
        /// The part that is here, between 0 and 1.
        fraction: f32,
        /// How much is here, and how fast it comes.
        words: String,
        /// How long it will take.
        left: String,
        /// What stops it, and keeps what has come.
        pause: Command,
        /// What stops it, and keeps nothing.
        cancel: Command,
    },
    /// It stopped on its way.
    Halted {
        /// Why, and how much is kept.
        words: String,
        /// Whether something went wrong.
        failed: bool,
        /// What goes on with it.
        resume: Command,
        /// What throws away what is kept.
        discard: Command,
    },
    /// It is on this computer.
    Here {
        /// What opens it.
        open: Command,
    },
}

impl AppState {
    /// A few small models to begin with.
    pub fn recommended_rows(&self) -> Vec<HubRow> {
        let rows = RECOMMENDED.iter().map(|model| {
            let wanted = Wanted {
                repository: model.repository.to_owned(),
                file: Some(model.file.to_owned()),
            };
            let size = ByteSize(model.n_bytes()).to_string();
            HubRow {
                name: model.name.to_owned(),
                n_params: Some(u64::from(model.n_weights_millions) * 1_000_000),
                n_downloads: None,
                facts: [model.quantization, &size, model.license, model.why].join(" · "),
                indented: false,
                status: self.hub_status(&wanted, size),
            }
        });
        rows.collect()
    }

    /// The downloads that were not finished and have no row of their own elsewhere, and those of them
    /// that go on.
    pub fn kept_rows(&self) -> Vec<HubRow> {
        let kept = self.hub.kept.iter();
        let mut rows: Vec<HubRow> = kept
            .filter(|kept| {
                let mut downloads = self.hub.downloads.iter();
                !downloads.any(|download| {
                    let is_done = matches!(download.stage, DownloadStage::Done(_));
                    download.wanted.repository == kept.repository && !is_done
                })
            })
            .map(|kept| {
                let wanted = Wanted {
                    repository: kept.repository.clone(),
                    file: None,
                };
                let words = format!("Paused. {}.", kept_words(kept.n_bytes));
                unfinished_row(&wanted, halted(&wanted, words, false))
            })
            .collect();
        for download in &self.hub.downloads {
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

    /// Whether it is recommended, or a file of the repository that is unfolded.
    fn has_row(&self, wanted: &Wanted) -> bool {
        let is_it = |repository: &str, file: &str| {
            (wanted.repository == repository) && wanted.file.as_deref() == Some(file)
        };
        let mut recommended = RECOMMENDED.iter();
        recommended.any(|model| is_it(model.repository, model.file))
            || matches!(
                &self.hub.unfolded,
                Some((repository, Listing::Found(found)))
                    if found.models.iter().any(|model| is_it(repository, model.name()))
            )
    }

    /// What a search has found, with the files of the repository that is unfolded.
    pub fn found_rows(&self) -> Vec<HubRow> {
        let mut rows = Vec::new();
        let found = match &self.hub.search {
            Search::Found(repositories) => repositories.as_slice(),
            _ => &[],
        };
        for repository in found {
            rows.push(self.repository_row(&repository.name, Some(repository)));
            rows.extend(self.file_rows(&repository.name));
        }
        // What was asked for by its address stands alone.
        if let Some((name, _)) = &self.hub.unfolded
            && !found.iter().any(|repository| repository.name == *name)
        {
            rows.push(self.repository_row(name, None));
            rows.extend(self.file_rows(name));
        }
        rows
    }

    /// What there is to say about the search, and whether something went wrong.
    pub fn search_words(&self) -> (String, bool) {
        let listing = self.hub.unfolded.as_ref().map(|(_, listing)| listing);
        match (&self.hub.search, listing) {
            (_, Some(Listing::Failed(reason))) | (Search::Failed(reason), _) => {
                (reason.clone(), true)
            }
            (_, Some(Listing::Asked)) => ("Asking which files there are".to_owned(), false),
            (Search::Asked(query), _) => (format!("Searching for ‘{query}’"), false),
            (Search::Found(found), _) if found.is_empty() => {
                ("Nothing was found that Quartet can open.".to_owned(), false)
            }
            (Search::Idle, None) => {
                let words = "Type a name above and press Enter. Nothing is asked before that.";
                (words.to_owned(), false)
            }
            _ => (String::new(), false),
        }
    }

    fn repository_row(&self, name: &str, known: Option<&Repository>) -> HubRow {
        let unfolded = self.hub.unfolded.as_ref();
        let unfolded = unfolded.filter(|(unfolded, _)| unfolded == name);
        let listed = match unfolded {
            Some((_, Listing::Found(repository))) => Some(repository),
            _ => known,
        };
        HubRow {
            name: name.to_owned(),
            n_params: None,
            n_downloads: listed.map(|listed| listed.n_downloads),
            facts: listed.map_or_else(String::new, repository_facts),
            indented: false,
            status: HubRowStatus::Repository {
                unfolded: unfolded.is_some(),
                unfold: Command::Hub(HubCommand::Unfold(name.to_owned())),
            },
        }
    }

    fn file_rows(&self, repository: &str) -> Vec<HubRow> {
        let Some((name, Listing::Found(found))) = &self.hub.unfolded else {
            return Vec::new();
        };
        if name != repository {
            return Vec::new();
        }
        let rows = found.models.iter().map(|model| {
            let wanted = Wanted {
                repository: repository.to_owned(),
                file: Some(model.name().to_owned()),
            };
            let size = model.n_bytes.map(|n_bytes| ByteSize(n_bytes).to_string());
            let size = size.unwrap_or_default();
            let facts = [model.quantization.as_deref().unwrap_or_default(), &size];
            let facts: Vec<&str> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
            HubRow {
                name: file_words(model),
                n_params: None,
                n_downloads: None,
                facts: facts.join(" · "),
                indented: true,
                status: self.hub_status(&wanted, size.clone()),
            }
        });
        rows.collect()
    }

    fn hub_status(&self, wanted: &Wanted, size: String) -> HubRowStatus {
        let command = |make: fn(Wanted) -> HubCommand| Command::Hub(make(wanted.clone()));
        let mut downloads = self.hub.downloads.iter();
        let stage = downloads.find(|download| download.wanted == *wanted);
        match stage.map(|download| &download.stage) {
            Some(DownloadStage::Waiting) => HubRowStatus::Going {
                fraction: 0.0,
                words: "Waiting for the download before it".to_owned(),
                left: String::new(),
                pause: command(HubCommand::Pause),
                cancel: command(HubCommand::Cancel),
            },
            Some(DownloadStage::Going(progress)) => HubRowStatus::Going {
                fraction: fraction(progress),
                words: progress_words(progress),
                left: left_words(progress),
                pause: command(HubCommand::Pause),
                cancel: command(HubCommand::Cancel),
            },
            Some(DownloadStage::Paused(n_kept)) => {
                halted(wanted, format!("Paused. {}.", kept_words(*n_kept)), false)
            }
            Some(DownloadStage::Failed(reason, n_kept)) => {
                halted(wanted, format!("{reason}. {}.", kept_words(*n_kept)), true)
            }
            Some(DownloadStage::Done(path)) => HubRowStatus::Here {
                open: Command::Models(ModelsCommand::Open(path.clone())),
            },
            None => match self.cached(wanted) {
                Some(open) => HubRowStatus::Here { open },
                None => HubRowStatus::Offered {
                    size,
                    get: command(HubCommand::Download),
                },
            },
        }
    }

    /// What opens a model that is in the cache folder already.
    fn cached(&self, wanted: &Wanted) -> Option<Command> {
        let mut cached = self.hub.cached.iter();
        let model = cached.find(|cached| {
            let name = cached.model.name();
            cached.repository == wanted.repository && wanted.file.as_deref() == Some(name)
        })?;
        Some(Command::Models(ModelsCommand::Open(model.path.clone())))
    }
}

fn halted(wanted: &Wanted, words: String, failed: bool) -> HubRowStatus {
    HubRowStatus::Halted {
        words,
        failed,
        resume: Command::Hub(HubCommand::Download(wanted.clone())),
        discard: Command::Hub(HubCommand::Cancel(wanted.clone())),
    }
}

/// A download that has no row elsewhere. Of one that was begun earlier only the repository is known.
fn unfinished_row(wanted: &Wanted, status: HubRowStatus) -> HubRow {
    let begun_earlier = || "Begun earlier".to_owned();
    HubRow {
        name: wanted.repository.clone(),
        n_params: None,
        n_downloads: None,
        facts: wanted.file.clone().unwrap_or_else(begun_earlier),
        indented: false,
        status,
    }
}

fn repository_facts(repository: &Repository) -> String {
    let mut facts: Vec<String> = repository.license.clone().into_iter().collect();
    if repository.is_gated {
        facts.push("asks for consent on the Hub".to_owned());
    }
    let mut kinds: Vec<&str> = repository.models.iter().map(ModelFiles::kind).collect();
    kinds.dedup();
    facts.push(kinds.join(", "));
    facts.join(" · ")
}

fn file_words(model: &ModelFiles) -> String {
    match model.file() {
        Some(file) if model.paths.len() > 1 => format!("{file} and its parts"),
        Some(file) => file.to_owned(),
        None => "The whole folder, safetensors".to_owned(),
    }
}

fn fraction(progress: &DownloadProgress) -> f32 {
    progress.n_bytes as f32 / progress.n_bytes_total.max(1) as f32
}

#[expect(clippy::cast_sign_loss, reason = "a speed is never negative")]
fn progress_words(progress: &DownloadProgress) -> String {
    let here = || ByteSize(progress.n_bytes).of(ByteSize(progress.n_bytes_total));
    match &progress.stage {
        Stage::Asking => "Asking the Hub".to_owned(),
        Stage::Receiving => match progress.bytes_per_second {
            Some(speed) => format!("{}  {}/s", here(), ByteSize(speed as u64)),
            None => here(),
        },
        Stage::Waiting { reason, seconds } => {
            format!("{reason}; tried again in {seconds} s")
        }
        Stage::Verifying => "Checking that the file is whole and right".to_owned(),
    }
}

fn left_words(progress: &DownloadProgress) -> String {
    match (&progress.stage, progress.seconds_left) {
        (Stage::Receiving, Some(seconds @ ..90)) => format!("about {seconds} s left"),
        (Stage::Receiving, Some(seconds @ 90..5_400)) => {
            format!("about {} min left", (seconds + 30) / 60)
        }
        (Stage::Receiving, Some(seconds)) => format!("about {} h left", (seconds + 1_800) / 3_600),
        _ => String::new(),
    }
}

fn kept_words(n_bytes: u64) -> String {
    match n_bytes {
        0 => "Nothing is kept yet".to_owned(),
        n => format!("{} are kept; it goes on from there", ByteSize(n)),
    }
}
