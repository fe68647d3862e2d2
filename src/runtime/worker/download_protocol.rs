//! The messages between the window and the Hub threads.

use std::path::PathBuf;

use crate::hub::{CachedModel, DownloadProgress, DownloadTarget, PartialDownload, Repository};

/// What the window asks for. Requests return nothing; answers arrive as events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DownloadRequest {
    /// Search for models whose names contain these words. A newer search cancels this one, which
    /// then gets no answer.
    Search {
        query: String,
        /// The maximum number of repositories to find.
        n_max: usize,
    },
    /// List the models in a repository with their sizes. A newer request of this kind or a newer
    /// search cancels this one, which then gets no answer.
    Files { repository: String },
    /// List the models and unfinished downloads on this computer. Does not use the network.
    Cached,
    /// Download a model after those already queued. A paused download continues with what was kept,
    /// even from an earlier session.
    Download(DownloadTarget),
    /// Stop a download and keep its partial files.
    Pause(DownloadTarget),
    /// Stop a download and delete its partial files.
    Cancel(DownloadTarget),
}

/// What the Hub threads report. The events of one download arrive in order.
#[derive(Debug, Clone, PartialEq)]
pub enum DownloadEvent {
    /// The answer to [`DownloadRequest::Search`].
    Found {
        query: String,
        /// The repositories without sizes, most downloaded first, or why the search failed.
        repositories: Result<Vec<Repository>, String>,
    },
    /// The answer to [`DownloadRequest::Files`].
    FilesListed {
        repository: String,
        /// The repository with the sizes of its models, or why it could not be listed.
        found: Result<Repository, String>,
    },
    /// The answer to [`DownloadRequest::Cached`].
    CachedListed {
        /// The models, or why the cache could not be read.
        models: Result<Vec<CachedModel>, String>,
        /// Unfinished downloads from this or an earlier session.
        kept: Vec<PartialDownload>,
    },
    /// A download advanced.
    Progress {
        wanted: DownloadTarget,
        progress: DownloadProgress,
    },
    /// A download is complete and verified.
    Done {
        wanted: DownloadTarget,
        /// The file or folder to open.
        path: PathBuf,
    },
    /// A download was paused.
    Paused {
        wanted: DownloadTarget,
        /// The size of what is kept, in bytes.
        n_bytes_kept: u64,
    },
    /// A download was cancelled, and its partial files were deleted.
    Cancelled { wanted: DownloadTarget },
    /// A download failed. The same request continues with what is kept.
    Failed {
        wanted: DownloadTarget,
        /// Can be shown to the user.
        reason: String,
        /// The size of what is kept, in bytes.
        n_bytes_kept: u64,
    },
    /// A download was refused before its weights were fetched, because the model does not open.
    Refused {
        wanted: DownloadTarget,
        /// Can be shown to the user.
        reason: String,
    },
    /// A thread has panicked, which is a bug. A new `Downloads` can be started.
    Panicked {
        /// The message of the panic.
        message: String,
    },
}
