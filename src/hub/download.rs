//! A download as a whole: what is wanted, what of it is here, whether it fits, and one file after the
//! other.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::cache::Shelf;
use super::carry::Source;
use super::journey::{DownloadProgress, Journey, Order, Stage, whole_seconds};
use super::model_files::ModelFiles;
use super::patience::{Halt, Persistence, Sign};
use super::repository::{Listing, RemoteFile};
use super::{Hub, HubError};

/// So much of the disk stays free, for everything else that writes.
const MARGIN: u64 = 100_000_000;

/// What is to be downloaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The repository: "Qwen/Qwen3-0.6B-GGUF".
    pub repository: String,
    /// The file in it, by its path, its name or its quantisation; of several parts the first. Where
    /// none is given, it is the repository's only model, or the only one that was begun.
    pub file: Option<String>,
}

/// How a download ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// All is here and right.
    Done {
        /// What to open: a GGUF file, or a folder.
        path: PathBuf,
    },
    /// It was paused; asked for again, it goes on from there, in another session too.
    Paused {
        /// How many bytes of it are kept.
        n_bytes_kept: u64,
    },
    /// It was cancelled, and the part of a file that had come was deleted.
    Cancelled,
}

/// Why a download failed.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct DownloadFailure {
    /// The reason.
    #[source]
    pub error: HubError,
    /// How many bytes of it are kept; asked for again, it goes on from there.
    pub n_bytes_kept: u64,
}

impl Hub {
    /// Brings a model into the cache. `watch` hears about twenty times a second how far it has come,
    /// and says whether to go on.
    pub fn download(
        &self,
        wanted: &Wanted,
        watch: &mut dyn FnMut(&DownloadProgress) -> Order,
    ) -> Result<Outcome, DownloadFailure> {
        let mut journey = Journey::new(watch);
        let fail = |error, n_bytes_kept| DownloadFailure {
            error,
            n_bytes_kept,
        };
        let plan = match self.plan(wanted, &mut journey) {
            Ok(plan) => plan,
            Err(halt) => return self.halted(wanted, halt),
        };
        match self.follow(&plan, &mut journey) {
            Ok(()) => Ok(Outcome::Done {
                path: plan.shelf.opened_path(&plan.listing.commit, &plan.model),
            }),
            Err(Halt::Failed(error)) => Err(fail(error, plan.n_bytes_here())),
            Err(Halt::Ordered(Order::Cancel)) => {
                plan.discard().map_err(|error| fail(error, 0))?;
                Ok(Outcome::Cancelled)
            }
            Err(Halt::Ordered(_)) => Ok(Outcome::Paused {
                n_bytes_kept: plan.n_bytes_here(),
            }),
        }
    }

    /// How a download ends that does not know yet what it consists of: all parts of the repository's
    /// files count as its own.
    fn halted(&self, wanted: &Wanted, halt: Halt) -> Result<Outcome, DownloadFailure> {
        let fail = |error| DownloadFailure {
            error,
            n_bytes_kept: self.n_bytes_kept(&wanted.repository),
        };
        match halt {
            Halt::Failed(error) => Err(fail(error)),
            Halt::Ordered(Order::Cancel) => {
                self.discard(&wanted.repository).map_err(fail)?;
                Ok(Outcome::Cancelled)
            }
            Halt::Ordered(_) => Ok(Outcome::Paused {
                n_bytes_kept: self.n_bytes_kept(&wanted.repository),
            }),
        }
    }

    /// How many bytes are kept of a repository's files that are not whole. Asks nobody.
    pub fn n_bytes_kept(&self, repository: &str) -> u64 {
        let parts = self.shelf(repository).parts().into_iter();
        parts
            .filter_map(|(path, _)| Some(fs::metadata(path).ok()?.len()))
            .sum()
    }

    /// Deletes what is kept of a repository's files that are not whole, unless it is being brought
    /// right now. Asks nobody.
    pub fn discard(&self, repository: &str) -> Result<(), HubError> {
        let shelf = self.shelf(repository);
        for (path, checksum) in shelf.parts() {
            if let Ok(_lock) = shelf.lock(&checksum, repository) {
                remove(&path)?;
            }
        }
        Ok(())
    }

    fn plan(&self, wanted: &Wanted, journey: &mut Journey<'_>) -> Result<Plan, Halt> {
        journey.stage(Stage::Asking).go_on()?;
        let mut tell = |sign: &Sign<'_>| match sign {
            Sign::Bytes(_) => journey.stage(Stage::Asking),
            Sign::Pause(error, left) => journey.stage(Stage::Waiting {
                reason: error.to_string(),
                seconds: whole_seconds(*left),
            }),
        };
        let listing = self.list(&wanted.repository, Persistence::Again, &mut tell)?;
        let shelf = self.shelf(&wanted.repository);
        let model = choose(&listing, wanted.file.as_deref(), &shelf)?.clone();
        let files = self.remote_files(&listing, &model, &mut tell)?;
        Ok(Plan {
            listing,
            model,
            files,
            shelf,
        })
    }

    fn follow(&self, plan: &Plan, journey: &mut Journey<'_>) -> Result<(), Halt> {
        let commit = &plan.listing.commit;
        let files = plan.files.iter();
        // Asked of the disk once: another program can make a part grow meanwhile.
        let here: Vec<u64> = files.map(|file| plan.n_bytes_here_of(file)).collect();
        let mut n_here: u64 = here.iter().sum();
        let n_bytes_total: u64 = plan.files.iter().map(|file| file.n_bytes).sum();
        journey.plan(n_here, n_bytes_total);
        plan.shelf.prepare()?;
        self.check_space(n_bytes_total.saturating_sub(n_here))?;
        for (file, n_bytes_here) in plan.files.iter().zip(here) {
            let n_bytes_elsewhere = n_here.saturating_sub(n_bytes_here);
            if !plan.is_here(file) {
                journey.begin(&file.path, n_bytes_elsewhere, n_bytes_here);
                let source = Source {
                    repository: &plan.listing.repository.name,
                    commit,
                    file,
                };
                self.carry(source, &plan.shelf, journey)?;
            }
            plan.shelf.publish(commit, &file.path, &file.checksum)?;
            n_here = n_bytes_elsewhere + file.n_bytes;
        }
        Ok(plan.shelf.refer(commit)?)
    }

    fn check_space(&self, n_bytes: u64) -> Result<(), HubError> {
        let folder = self.cache_folder();
        let needed = n_bytes + MARGIN;
        match (self.config.free_bytes)(folder) {
            Some(free) if n_bytes > 0 && free < needed => Err(HubError::DiskTooFull {
                needed,
                free,
                folder: folder.to_owned(),
            }),
            _ => Ok(()),
        }
    }
}

/// What a download consists of.
struct Plan {
    listing: Listing,
    model: ModelFiles,
    files: Vec<RemoteFile>,
    shelf: Shelf,
}

impl Plan {
    /// A content that has its name is right: it got it after its checksum.
    fn is_here(&self, file: &RemoteFile) -> bool {
        let blob = self.shelf.blob(&file.checksum);
        fs::metadata(blob).is_ok_and(|blob| blob.len() == file.n_bytes)
    }

    fn n_bytes_here_of(&self, file: &RemoteFile) -> u64 {
        if self.is_here(file) {
            return file.n_bytes;
        }
        let incomplete = self.shelf.incomplete(&file.checksum);
        fs::metadata(incomplete).map_or(0, |part| part.len().min(file.n_bytes))
    }

    fn n_bytes_here(&self) -> u64 {
        self.files
            .iter()
            .map(|file| self.n_bytes_here_of(file))
            .sum()
    }

    /// Deletes what has not become a whole file.
    fn discard(&self) -> Result<(), HubError> {
        let files = self.files.iter();
        let mut parts = files.map(|file| self.shelf.incomplete(&file.checksum));
        parts.try_for_each(|part| remove(&part))
    }
}

fn remove(path: &Path) -> Result<(), HubError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(HubError::writing(path, error)),
        _ => Ok(()),
    }
}

/// The model that is meant.
fn choose<'a>(
    listing: &'a Listing,
    file: Option<&str>,
    shelf: &Shelf,
) -> Result<&'a ModelFiles, HubError> {
    let repository = listing.repository.name.clone();
    let models = &listing.repository.models;
    if let Some(file) = file {
        let file_name = file.to_owned();
        let missing = || {
            if listing.has_large_file(file) {
                HubError::FileUnopenable { file: file_name }
            } else {
                HubError::FileMissing {
                    repository,
                    file: file_name,
                }
            }
        };
        return models
            .iter()
            .find(|model| model.is_meant_by(file))
            .ok_or_else(missing);
    }
    let parts = shelf.parts();
    let mut begun = models
        .iter()
        .filter(|model| listing.is_begun(model, &parts));
    if let (Some(model), None) = (begun.next(), begun.next()) {
        return Ok(model);
    }
    match models.as_slice() {
        [model] => Ok(model),
        [] => Err(HubError::NothingToOpen {
            repository,
            needed: "it needs a GGUF file, or config.json, tokenizer.json and safetensors",
        }),
        several => Err(HubError::ChoiceNeeded {
            repository,
            files: several
                .iter()
                .filter_map(|model| model.file().map(str::to_owned))
                .collect(),
        }),
    }
}
