//! A download as a whole: what is wanted, what of it is here, whether it fits, and one file after the
//! other.

use std::path::PathBuf;

use super::cache::Shelf;
use super::carry::Source;
use super::journey::{DownloadProgress, Journey, Order, Stage, whole_seconds};
use super::kept::drop_outdated;
use super::model_files::ModelFiles;
use super::patience::{Halt, Persistence, Sign};
use super::repository::{Listing, RemoteFile};
use super::{Hub, HubError};

/// So much of the disk stays free, for everything else that writes.
const MARGIN: u64 = 100_000_000;

/// What is to be downloaded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    /// The repository: "Qwen/Qwen3-0.6B-GGUF".
    pub repository: String,
    /// The model in it, by the file's path, its last part or its quantisation (of several parts the
    /// first), or `safetensors` for the folder. Where none is given, it is the one that was begun, of
    /// several the one that has come furthest, or else the repository's only model.
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
        match self.bring(wanted, &mut journey) {
            Ok(path) => Ok(Outcome::Done { path }),
            Err(halt) => self.halted(wanted, halt),
        }
    }

    fn bring(&self, wanted: &Wanted, journey: &mut Journey<'_>) -> Result<PathBuf, Halt> {
        let plan = self.plan(wanted, journey)?;
        let before = self.begun.remember(wanted, &plan.files);
        drop_outdated(&before, &plan.files, &plan.shelf)?;
        self.follow(&plan, journey)?;
        self.begun.forget(wanted);
        Ok(plan.shelf.opened_path(&plan.listing.commit, &plan.model))
    }

    fn halted(&self, wanted: &Wanted, halt: Halt) -> Result<Outcome, DownloadFailure> {
        let fail = |error| DownloadFailure {
            error,
            n_bytes_kept: self.n_bytes_kept(wanted),
        };
        match halt {
            Halt::Failed(error) => Err(fail(error)),
            Halt::Ordered(Order::Cancel) => {
                self.discard(wanted).map_err(fail)?;
                Ok(Outcome::Cancelled)
            }
            Halt::Ordered(_) => Ok(Outcome::Paused {
                n_bytes_kept: self.n_bytes_kept(wanted),
            }),
        }
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
        let here: Vec<u64> = files.map(|file| plan.shelf.n_bytes_here_of(file)).collect();
        let mut n_here: u64 = here.iter().sum();
        let n_bytes_total: u64 = plan.files.iter().map(|file| file.n_bytes).sum();
        journey.plan(n_here, n_bytes_total);
        plan.shelf.prepare()?;
        self.check_space(n_bytes_total.saturating_sub(n_here))?;
        for (file, n_bytes_here) in plan.files.iter().zip(here) {
            let n_bytes_elsewhere = n_here.saturating_sub(n_bytes_here);
            if !plan.shelf.has(file) {
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

/// The model that is meant.
fn choose<'a>(
    listing: &'a Listing,
    file: Option<&str>,
    shelf: &Shelf,
) -> Result<&'a ModelFiles, HubError> {
    let models = &listing.repository.models;
    let meant = match file {
        Some(name) => ModelFiles::called(models, name),
        None => furthest(listing, shelf).map_or_else(|| models.iter().collect(), |one| vec![one]),
    };
    match meant.as_slice() {
        &[model] => Ok(model),
        [] => Err(nothing_meant(listing, file)),
        several => Err(HubError::ChoiceNeeded {
            repository: listing.repository.name.clone(),
            names: several.iter().map(|it| it.name().to_owned()).collect(),
        }),
    }
}

/// The model that was begun; of several the one that has come furthest.
fn furthest<'a>(listing: &'a Listing, shelf: &Shelf) -> Option<&'a ModelFiles> {
    let parts = shelf.parts();
    let models = listing.repository.models.iter();
    let begun = models.filter_map(|model| Some((listing.n_bytes_begun(model, &parts)?, model)));
    let furthest = begun.max_by_key(|(n_bytes, _)| *n_bytes);
    furthest.map(|(_, model)| model)
}

fn nothing_meant(listing: &Listing, file: Option<&str>) -> HubError {
    let repository = listing.repository.name.clone();
    match file.map(str::to_owned) {
        Some(file) if listing.has_large_file(&file) => HubError::FileUnopenable { file },
        Some(file) => HubError::FileMissing { repository, file },
        None => HubError::NothingToOpen {
            repository,
            needed: "it needs a GGUF file, or config.json, tokenizer.json and safetensors",
        },
    }
}
