//! The KV cache: what it costs and saves, measured by generating one text with it and without it.

pub(crate) mod command;
mod document;
mod figures;
mod job;
mod kept;
mod page;
mod picture;
mod plan;
mod plot;
mod record;
mod state;

pub use document::CacheDocument;
pub use figures::CacheLab;
#[cfg(test)]
pub(crate) use figures::testing;
pub(super) use page::TAB;
pub(crate) use picture::cache_drawing;
pub use plan::{CacheFacts, CachePlan, CacheSample, CacheStage, CacheUpdate, PaneCost};
pub use record::CacheRecord;
pub use state::{CacheProgress, CacheRun, CacheSettings, CacheTab, cache_blocking_reason};
