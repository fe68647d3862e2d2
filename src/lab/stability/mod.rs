//! How far a text stays the same under other settings.

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
#[cfg(test)]
mod tests;

pub use document::StabilityDocument;
pub(super) use page::TAB;
pub(crate) use picture::stability_drawing;
pub use plan::{RewritePlan, RewriteUpdate};
pub use plot::StabilityPlot;
pub use record::render_stability;
pub use state::{StabilityAxes, StabilityCommand, StabilityRun, StabilityScope, StabilityTab};
