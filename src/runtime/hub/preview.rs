//! Checks whether a model opens before it is downloaded: fetches the first bytes of its files, no
//! more of them than the check asks for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Hub;
use super::http::FileAddress;
use super::marks::best;
use super::model_files::{ModelFiles, ModelFormat};
use super::progress::DownloadControl;
use super::repository::Listing;
use super::retry::{CallEvent, Interruption, RetryPolicy};
use crate::generation::{CheckDepth, Openness, RemoteCheck, RemoteFile, RemoteModel};

/// The fewest bytes that are fetched of a file, unless it is shorter.
const N_FIRST_BYTES: u64 = 64 << 10;

/// The most bytes by which a start grows at once, unless the check asks for more.
const N_MAX_STEP: u64 = 4 << 20;

/// How much a check may take. Beyond it, the answer stays open.
#[derive(Debug, Clone, Copy)]
struct Budget {
    n_bytes: u64,
    time: Duration,
}

impl Budget {
    /// Enough for a configuration.
    const MARK: Self = Self {
        n_bytes: 2 << 20,
        time: Duration::from_secs(10),
    };

    /// Enough for the headers and the tokenizers of all models that people use: those of large
    /// vocabularies take 35 MB.
    const DOWNLOAD: Self = Self {
        n_bytes: 128 << 20,
        time: Duration::from_mins(2),
    };
}

/// A check that is under way.
struct Preview<'a> {
    hub: &'a Hub,
    commit: &'a str,
    model: RemoteModel,
    n_bytes_left: u64,
    ends_at: Option<Instant>,
    retry_policy: RetryPolicy,
}

impl Hub {
    /// Refines the marks of a listed repository by the configuration of its models.
    pub(super) fn refine_marks(
        &self,
        listing: &mut Listing,
        observe: &mut dyn FnMut(&CallEvent<'_>) -> DownloadControl,
    ) -> Result<(), Interruption> {
        for format in [ModelFormat::Safetensors, ModelFormat::Gguf] {
            let models = listing.repository.models.iter();
            let mut of_format = models.filter(|model| model.format == format);
            // All GGUF files of a repository are of the same architecture, so one is enough.
            let Some(model) = of_format.find(|model| !model.openness.is_refused()) else {
                continue;
            };
            let checked = self.check(
                listing,
                model,
                (CheckDepth::Configuration, Budget::MARK),
                observe,
            );
            let openness = match checked {
                Ok(RemoteCheck::Opens { text_only: true }) => Openness::OpensAsTextOnly,
                Ok(RemoteCheck::Opens { text_only: false }) => Openness::Opens,
                Ok(RemoteCheck::Refused(reason)) => Openness::NotYet {
                    reason: reason.lines().next().unwrap_or_default().to_owned(),
                },
                Err(stop @ Interruption::Requested(_)) => return Err(stop),
                // The marks stay as they were.
                Ok(RemoteCheck::Undecided(_)) | Err(Interruption::Failed(_)) => continue,
            };
            let models = listing.repository.models.iter_mut();
            for model in models.filter(|model| model.format == format) {
                // That a model reads images as well may be known only from its task.
                let is_finer = model.openness != Openness::OpensAsTextOnly;
                if is_finer || openness.is_refused() {
                    model.openness = openness.clone();
                }
            }
        }
        let marks = listing.repository.models.iter();
        if let Some(best) = best(marks.map(|model| &model.openness)) {
            listing.repository.openness = best;
        }
        Ok(())
    }

    /// Returns why a model certainly doesn't open, or `None`.
    pub(super) fn reason_against(
        &self,
        listing: &Listing,
        model: &ModelFiles,
        observe: &mut dyn FnMut(&CallEvent<'_>) -> DownloadControl,
    ) -> Result<Option<String>, Interruption> {
        let how = (CheckDepth::Headers, Budget::DOWNLOAD);
        Ok(match self.check(listing, model, how, observe)? {
            RemoteCheck::Refused(reason) => Some(reason),
            RemoteCheck::Opens { .. } | RemoteCheck::Undecided(_) => None,
        })
    }

    fn check(
        &self,
        listing: &Listing,
        model: &ModelFiles,
        (depth, budget): (CheckDepth, Budget),
        observe: &mut dyn FnMut(&CallEvent<'_>) -> DownloadControl,
    ) -> Result<RemoteCheck, Interruption> {
        let mut preview = Preview {
            hub: self,
            commit: &listing.commit,
            model: RemoteModel {
                gguf: model.file().map(str::to_owned),
                ..listing.files.clone()
            },
            n_bytes_left: budget.n_bytes,
            ends_at: Instant::now().checked_add(budget.time),
            retry_policy: match depth {
                CheckDepth::Configuration => RetryPolicy::Never,
                CheckDepth::Headers => RetryPolicy::Transient,
            },
        };
        loop {
            match (self.config.openable.check)(&preview.model, depth) {
                RemoteCheck::Undecided(wanted) if preview.extend(&wanted, observe)? => {}
                decided => return Ok(decided),
            }
        }
    }
}

impl Preview<'_> {
    /// Fetches more of these files. Returns `false` if that is nothing or would exceed the budget.
    fn extend(
        &mut self,
        wanted: &BTreeMap<String, u64>,
        observe: &mut dyn FnMut(&CallEvent<'_>) -> DownloadControl,
    ) -> Result<bool, Interruption> {
        let mut has_grown = false;
        for (path, n_wanted) in wanted {
            let Some(file) = self.model.files.get(path).cloned() else {
                return Ok(false);
            };
            let n_known = file.start.len() as u64;
            let end = end_of_step(&file, *n_wanted);
            let is_late = self.ends_at.is_some_and(|end| Instant::now() >= end);
            let n_bytes = end.saturating_sub(n_known);
            if is_late || n_bytes > self.n_bytes_left {
                return Ok(false);
            }
            if n_bytes == 0 {
                continue;
            }
            self.n_bytes_left -= n_bytes;
            let address = FileAddress {
                repository: self.model.repository.clone(),
                commit: self.commit.to_owned(),
                path: path.clone(),
            };
            let range = n_known..end;
            let more = self
                .hub
                .fetch_range(&address, range, self.retry_policy, observe)?;
            if let Some(file) = self.model.files.get_mut(path) {
                Arc::make_mut(&mut file.start).extend_from_slice(&more);
            }
            has_grown = true;
        }
        Ok(has_grown)
    }
}

/// Returns up to where a file is fetched when `n_wanted` of its bytes are needed: somewhat further,
/// since a check that needs more asks again.
fn end_of_step(file: &RemoteFile, n_wanted: u64) -> u64 {
    let n_known = file.start.len() as u64;
    let grown = n_known + (3 * n_known).clamp(N_FIRST_BYTES, N_MAX_STEP);
    n_wanted.max(grown).min(file.n_bytes)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{RemoteFile, end_of_step};

    #[test]
    fn a_start_grows_in_steps_up_to_the_end_of_the_file() {
        let step = |n_known: usize, n_wanted, n_bytes| {
            let start = Arc::new(vec![0; n_known]);
            end_of_step(&RemoteFile { n_bytes, start }, n_wanted)
        };
        assert_eq!(step(0, 10, 700), 700);
        assert_eq!(step(0, 10, 1 << 30), 64 << 10);
        assert_eq!(step(64 << 10, (64 << 10) + 1, 1 << 30), 256 << 10);
        assert_eq!(step(8 << 20, (8 << 20) + 1, 1 << 30), 12 << 20);
        assert_eq!(step(0, 30 << 20, 1 << 30), 30 << 20);
        assert_eq!(step(100, 101, 100), 100);
    }
}
