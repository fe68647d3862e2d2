//! Models from the Hugging Face Hub: search, download into the shared cache folder, and list what
//! is there. Nothing uses the network until the user asks for it. `local` lists what other programs
//! have on this computer.
//!
//! All requests are plain HTTP (`http`), set up as the environment says (`environment`, `proxy`).
//! A file is requested one range of bytes after another (`fetch`), each in a task that can be
//! aborted (`call`) and retried after transient failures (`retry`). Its checksum is verified
//! (`checksum`), and it is stored in the layout that other tools expect (`cache`). `partial` finds
//! and deletes unfinished downloads.
//!
//! What opens is marked from what the Hub says about a repository (`marks`), then checked from the
//! first bytes of its files before anything large is fetched (`preview`).
//!
//! This module knows neither the engine nor the window: what opens is decided by functions that are
//! handed in (`openable`), and its result is a path.

mod api;
mod cache;
mod call;
mod checksum;
mod client;
mod download;
mod environment;
mod error;
mod fetch;
mod http;
mod links;
mod local;
mod marks;
mod model_files;
mod openable;
mod partial;
mod pasted;
mod preview;
mod progress;
mod proxy;
mod recommended;
mod repository;
mod retry;
mod space;
mod speed;
mod walk;

pub use cache::{CachedModel, PartialDownload};
pub use client::{Hub, HubConfig, cache_folder};
pub use download::{DownloadFailure, DownloadTarget, Outcome};
pub use environment::Barrier;
pub use error::HubError;
pub use links::Links;
pub use local::{LocalModel, LocalModels, ModelProgram, local_models, models_in_folder};
pub use model_files::{ModelFiles, ModelFormat};
pub use openable::Openable;
pub use progress::{DownloadControl, DownloadPhase, DownloadProgress, ProgressThrottle};
pub use recommended::{RECOMMENDED, RecommendedModel};
pub use repository::Repository;
