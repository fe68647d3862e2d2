//! Everything that the window and the Hub's threads say to each other.

use std::path::PathBuf;

use crate::hub::{CachedModel, DownloadProgress, KeptDownload, Repository, Wanted};

/// What the window asks for. There is no reply; the answer comes as events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DownloadRequest {
    /// Look for models whose names contain these words. A newer search, or a newer question for
    /// files, ends the one before it, and that one is not answered.
    Search {
        /// The words.
        query: String,
        /// The most repositories to find.
        n_max: usize,
    },
    /// Say which models a repository has, and how large they are.
    Files {
        /// Its name.
        repository: String,
    },
    /// Say which models are on this computer, and which downloads were not finished. Nobody is contacted.
    Cached,
    /// Bring a model; one after the other. One that was paused, in this session or an earlier one,
    /// goes on from what is kept.
    Download(Wanted),
    /// Stop, and keep what has come.
    Pause(Wanted),
    /// Stop, and delete what has not become a whole file.
    Cancel(Wanted),
}

/// What the Hub's threads report. Of one download, in the order in which it happened.
#[derive(Debug, Clone, PartialEq)]
pub enum DownloadEvent {
    /// A search has ended.
    Found {
        /// What was searched for.
        query: String,
        /// The repositories, the most downloaded first and without sizes; or why there are none.
        repositories: Result<Vec<Repository>, String>,
    },
    /// A repository's models are known.
    FilesListed {
        /// Its name.
        repository: String,
        /// What is known of it, with the sizes of its models; or why it is not.
        found: Result<Repository, String>,
    },
    /// The models on this computer are known.
    CachedListed {
        /// The models; or why they are not known.
        models: Result<Vec<CachedModel>, String>,
        /// The downloads that were not finished, in this session or an earlier one.
        kept: Vec<KeptDownload>,
    },
    /// A download has come further.
    Progress {
        /// Which.
        wanted: Wanted,
        /// How far.
        progress: DownloadProgress,
    },
    /// A download is whole and right.
    Done {
        /// Which.
        wanted: Wanted,
        /// What to open.
        path: PathBuf,
    },
    /// A download was paused.
    Paused {
        /// Which.
        wanted: Wanted,
        /// How many bytes of it are kept.
        n_bytes_kept: u64,
    },
    /// A download was cancelled, and its parts are gone.
    Cancelled {
        /// Which.
        wanted: Wanted,
    },
    /// A download failed. Asked for again, it goes on from what is kept.
    Failed {
        /// Which.
        wanted: Wanted,
        /// Why, fit to be shown.
        reason: String,
        /// How many bytes of it are kept.
        n_bytes_kept: u64,
    },
    /// A thread has died of a fault of ours; a new `Downloads` can be started.
    Panicked {
        /// What the fault said.
        message: String,
    },
}
