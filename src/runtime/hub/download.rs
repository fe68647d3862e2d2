//! Downloads a model: chooses its files, checks the disk space, and fetches one file after another.

use std::path::PathBuf;

use super::cache::RepoCache;
use super::environment::Barrier;
use super::fetch::Source;
use super::model_files::ModelFiles;
use super::partial::discard_outdated;
use super::progress::{
    DownloadControl, DownloadPhase, DownloadProgress, ProgressReporter, whole_seconds,
};
use super::repository::{Listing, RemoteFile};
use super::retry::{CallEvent, Interruption, RetryPolicy};
use super::{Hub, HubError};
use crate::generation::Openness;

/// Bytes of disk space to leave free for other programs.
const MARGIN: u64 = 100_000_000;

/// Which model to download.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DownloadTarget {
    /// The repository, such as "Qwen/Qwen3-0.6B-GGUF".
    pub repository: String,
    /// The model in the repository: the path or name of a file (the first one if it is split), a
    /// quantization, or `safetensors` for the folder. If `None`, the most complete partial download
    /// is resumed, or else the repository's only model is downloaded.
    pub file: Option<String>,
}

/// How a download ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// All files are downloaded and verified.
    Done {
        /// The path to open: a GGUF file, or a folder.
        path: PathBuf,
    },
    /// The download was paused. Requesting it again resumes it, even after a restart.
    Paused {
        /// Downloaded bytes kept on disk.
        n_bytes_kept: u64,
    },
    /// The download was cancelled and its partial files were deleted.
    Cancelled,
}

/// Why a download failed.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct DownloadFailure {
    #[source]
    pub error: HubError,
    /// Downloaded bytes kept on disk, from which the next attempt resumes.
    pub n_bytes_kept: u64,
}

impl Hub {
    /// Downloads a model into the cache. Without a connection, returns the model if it is there
    /// already. `watch` is called about twenty times per second with the
    /// progress and decides whether to continue.
    pub fn download(
        &self,
        wanted: &DownloadTarget,
        watch: &mut dyn FnMut(&DownloadProgress) -> DownloadControl,
    ) -> Result<Outcome, DownloadFailure> {
        if let Err(HubError::Barred(barrier @ Barrier::Offline { .. })) = self.http() {
            return self.download_offline(wanted, barrier);
        }
        let mut reporter = ProgressReporter::new(watch);
        match self.fetch_model(wanted, &mut reporter) {
            Ok(path) => Ok(Outcome::Done { path }),
            Err(Interruption::Failed(error)) if is_offline(&error) => {
                match self.cached_model(wanted) {
                    Ok(Some(cached)) => Ok(Outcome::Done { path: cached.path }),
                    _ => self.interrupted(wanted, Interruption::Failed(error)),
                }
            }
            Err(interruption) => self.interrupted(wanted, interruption),
        }
    }

    /// Returns the model if it is in the cache.
    fn download_offline(
        &self,
        wanted: &DownloadTarget,
        barrier: Barrier,
    ) -> Result<Outcome, DownloadFailure> {
        let fail = |error| DownloadFailure {
            error,
            n_bytes_kept: self.n_bytes_kept(wanted),
        };
        match self.cached_model(wanted).map_err(fail)? {
            Some(cached) => Ok(Outcome::Done { path: cached.path }),
            None => Err(fail(HubError::NotCached {
                repository: wanted.repository.clone(),
                barrier,
                folder: self.cache_folder().to_owned(),
            })),
        }
    }

    fn fetch_model(
        &self,
        wanted: &DownloadTarget,
        reporter: &mut ProgressReporter<'_>,
    ) -> Result<PathBuf, Interruption> {
        let plan = self.plan(wanted, reporter)?;
        let before = self.started_downloads.remember(wanted, &plan.files);
        discard_outdated(&before, &plan.files, &plan.cache)?;
        self.fetch_files(&plan, reporter)?;
        self.started_downloads.forget(wanted);
        Ok(plan.cache.model_path(&plan.listing.commit, &plan.model))
    }

    fn interrupted(
        &self,
        wanted: &DownloadTarget,
        interruption: Interruption,
    ) -> Result<Outcome, DownloadFailure> {
        let fail = |error| DownloadFailure {
            error,
            n_bytes_kept: self.n_bytes_kept(wanted),
        };
        match interruption {
            Interruption::Failed(error) => Err(fail(error)),
            Interruption::Requested(DownloadControl::Cancel) => {
                self.discard(wanted).map_err(fail)?;
                Ok(Outcome::Cancelled)
            }
            Interruption::Requested(_) => Ok(Outcome::Paused {
                n_bytes_kept: self.n_bytes_kept(wanted),
            }),
        }
    }

    fn plan(
        &self,
        wanted: &DownloadTarget,
        reporter: &mut ProgressReporter<'_>,
    ) -> Result<Plan, Interruption> {
        reporter.stage(DownloadPhase::Asking).go_on()?;
        let mut observe = |event: &CallEvent<'_>| match event {
            CallEvent::Received(_) => reporter.stage(DownloadPhase::Asking),
            CallEvent::Retrying(error, left) => reporter.stage(DownloadPhase::Waiting {
                reason: error.to_string(),
                seconds: whole_seconds(*left),
            }),
        };
        let listing = self.list(&wanted.repository, RetryPolicy::Transient, &mut observe)?;
        let cache = self.repo_cache(&wanted.repository);
        let model = choose(&listing, wanted.file.as_deref(), &cache)?.clone();
        let files = self.remote_files(&listing, &model, &mut observe)?;
        // A model of which something is here was checked before that was downloaded.
        let mut weights = files.iter().filter(|file| is_weights(&file.path));
        if weights.all(|file| cache.n_bytes_present(file) == 0)
            && let Some(reason) = self.reason_against(&listing, &model, &mut observe)?
        {
            return Err(HubError::Unopenable { reason }.into());
        }
        Ok(Plan {
            listing,
            model,
            files,
            cache,
        })
    }

    fn fetch_files(
        &self,
        plan: &Plan,
        reporter: &mut ProgressReporter<'_>,
    ) -> Result<(), Interruption> {
        let commit = &plan.listing.commit;
        let files = plan.files.iter();
        // Read once, because another program may be appending to the same partial file.
        let here: Vec<u64> = files.map(|file| plan.cache.n_bytes_present(file)).collect();
        let mut n_here: u64 = here.iter().sum();
        let n_bytes_total: u64 = plan.files.iter().map(|file| file.n_bytes).sum();
        reporter.plan(n_here, n_bytes_total);
        plan.cache.prepare()?;
        self.check_space(n_bytes_total.saturating_sub(n_here))?;
        for (file, n_bytes_here) in plan.files.iter().zip(here) {
            let n_bytes_elsewhere = n_here.saturating_sub(n_bytes_here);
            if !plan.cache.has(file) {
                reporter.begin(&file.path, n_bytes_elsewhere, n_bytes_here);
                let source = Source {
                    repository: &plan.listing.repository.name,
                    commit,
                    file,
                };
                self.fetch_file(source, &plan.cache, reporter)?;
            }
            plan.cache.publish(commit, &file.path, &file.checksum)?;
            n_here = n_bytes_elsewhere + file.n_bytes;
        }
        Ok(plan.cache.set_main(commit)?)
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

/// The model to download, with everything needed to fetch its files.
struct Plan {
    listing: Listing,
    model: ModelFiles,
    files: Vec<RemoteFile>,
    cache: RepoCache,
}

/// Returns whether a call failed because there is no connection.
const fn is_offline(error: &HubError) -> bool {
    matches!(
        error,
        HubError::NameUnresolved { .. }
            | HubError::Unreachable { .. }
            | HubError::ProxyUnreachable { .. }
    )
}

/// Returns whether a file holds weights.
fn is_weights(path: &str) -> bool {
    [".gguf", ".safetensors"]
        .iter()
        .any(|end| path.ends_with(end))
}

/// Returns the model that `file` names, or the one to resume if it is `None`.
fn choose<'a>(
    listing: &'a Listing,
    file: Option<&str>,
    cache: &RepoCache,
) -> Result<&'a ModelFiles, HubError> {
    let models = &listing.repository.models;
    let meant = match file {
        Some(name) => ModelFiles::matching(models, name),
        None => most_complete(listing, cache).map_or_else(|| openable(models), |one| vec![one]),
    };
    match meant.as_slice() {
        &[model] => Ok(model),
        [] => Err(no_match_error(listing, file)),
        several => Err(HubError::ChoiceNeeded {
            repository: listing.repository.name.clone(),
            names: several.iter().map(|it| it.name().to_owned()).collect(),
        }),
    }
}

/// Returns the models that may open, or all of them if none may.
fn openable(models: &[ModelFiles]) -> Vec<&ModelFiles> {
    let is_open = |model: &&ModelFiles| !model.openness.is_refused();
    if models.iter().any(|model| is_open(&model)) {
        models.iter().filter(is_open).collect()
    } else {
        models.iter().collect()
    }
}

/// Returns the partially downloaded model with the most bytes on disk.
fn most_complete<'a>(listing: &'a Listing, cache: &RepoCache) -> Option<&'a ModelFiles> {
    let parts = cache.partial_files();
    let models = listing.repository.models.iter();
    let partial =
        models.filter_map(|model| Some((listing.n_partial_bytes_of(model, &parts)?, model)));
    let most_complete = partial.max_by_key(|(n_bytes, _)| *n_bytes);
    most_complete.map(|(_, model)| model)
}

fn no_match_error(listing: &Listing, file: Option<&str>) -> HubError {
    let repository = listing.repository.name.clone();
    match file.map(str::to_owned) {
        Some(file) if listing.has_large_file(&file) => HubError::FileUnopenable { file },
        Some(file) => HubError::FileMissing { repository, file },
        None => HubError::NothingToOpen {
            repository,
            reason: match &listing.repository.openness {
                Openness::NotYet { reason } => reason.clone(),
                _ => "it needs a GGUF file, or config.json, tokenizer.json and safetensors"
                    .to_owned(),
            },
        },
    }
}
