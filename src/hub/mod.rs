//! Models from the Hugging Face Hub: search, download into the shared cache folder, and list what
//! is there. Nothing uses the network until the user asks for it.
//!
//! hf-hub handles the cache, and every request for a file: redirects, TLS, proxies and
//! content-addressed storage. It would read lists of any length, so `json` requests them instead.
//! Its own downloads restart after a lost connection, can't be cancelled, and check neither
//! checksums nor disk space. So we request one range of bytes after another (`fetch`), each in a
//! task that can be aborted (`call`), retry after transient failures (`retry`), verify the checksum
//! (`checksum`), and store the file in the layout that other tools expect (`cache`). `partial`
//! finds and deletes unfinished downloads.
//!
//! This module knows neither the engine nor the window; its result is a path.

mod cache;
mod call;
mod checksum;
mod client;
mod download;
mod error;
mod fetch;
mod json;
mod model_files;
mod partial;
mod progress;
mod recommended;
mod repository;
mod retry;
mod space;
mod speed;

pub use cache::{CachedModel, PartialDownload};
pub use client::{Hub, HubConfig, cache_folder};
pub use download::{DownloadFailure, DownloadTarget, Outcome};
pub use error::HubError;
pub use model_files::{ModelFiles, ModelFormat};
pub use progress::{DownloadControl, DownloadPhase, DownloadProgress, ProgressThrottle};
pub use recommended::{RECOMMENDED, RecommendedModel};
pub use repository::Repository;
