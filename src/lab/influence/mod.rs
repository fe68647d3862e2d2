//! Which parts of a text mattered: each token, word or sentence is left out in turn, and the model's
//! predictions are compared with those for the whole text.

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
#[cfg(test)]
mod tests;

pub use document::InfluenceDocument;
pub use figures::{ChosenLikelihood, InfluenceResults};
pub use kept::KeptInfluence;
pub(super) use page::TAB;
pub use plan::{
    AsItIs, CandidateShift, Influence, InfluenceFacts, InfluencePlan, InfluenceText,
    InfluenceUpdate, LeftOut, TopToken,
};
pub use record::InfluenceRecord;
pub use state::{InfluenceForm, InfluenceRun, InfluenceSettings, InfluenceTab, InfluenceTarget};
