//! Models from the Hugging Face Hub: finding them, bringing them into the cache folder that other
//! tools share, and listing those that are there. Nothing is contacted before something is asked.
//!
//! hf-hub makes every request: it knows the address, the token, the redirects, TLS and proxies, and
//! what the Hub's answers mean. Ours is what it does not do. Its own downloads begin anew after each
//! break, can't be left, check nothing and see no disk, so we ask it for one range of bytes after
//! another (`carry`), each on a thread that can be left (`attempt`), again after a break (`patience`),
//! and put them into the cache as other tools lay it out (`cache`), after the checksum (`checksum`).
//! What a download that was left keeps, and what goes with it, `kept` knows.
//!
//! It knows neither the engine nor the window: it ends with a path.

mod attempt;
mod cache;
mod carry;
mod checksum;
mod client;
mod download;
mod error;
mod journey;
mod kept;
mod model_files;
mod patience;
mod recommended;
mod repository;
mod space;
mod speed;

pub use cache::{CachedModel, KeptDownload};
pub use client::{Hub, HubConfig};
pub use download::{DownloadFailure, Outcome, Wanted};
pub use error::HubError;
pub use journey::{DownloadProgress, Order, Pace, Stage};
pub use model_files::{ModelFiles, ModelFormat};
pub use recommended::{RECOMMENDED, RecommendedModel};
pub use repository::Repository;
