//! Models from the Hugging Face Hub: search, download into the shared cache folder, and list what
//! is there. Nothing uses the network until the user asks for it.
//!
//! hf-hub makes every request: it handles endpoints, tokens, redirects, TLS and proxies, and parses
//! the Hub's responses. Its own downloads restart after a lost connection, can't be cancelled, and
//! check neither checksums nor disk space. So we request one range of bytes after another
//! (`fetch`), each on a thread that can be abandoned (`call`), retry after transient failures
//! (`retry`), verify the checksum (`checksum`), and store the file in the layout that other tools
//! expect (`cache`). `partial` finds and deletes unfinished downloads.
//!
//! This module knows neither the engine nor the window; its result is a path.

mod cache;
mod call;
mod checksum;
mod client;
mod download;
mod error;
mod fetch;
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
