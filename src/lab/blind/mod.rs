//! The blind test: texts without names, and the votes between them.

mod document;
mod figures;
mod page;
mod picture;
mod plot;
mod record;
mod state;
#[cfg(test)]
mod tests;

pub use document::VotesDocument;
pub use figures::{BlindText, BlindVote, Choice, PRIOR_SPREAD, Strength, Strengths, next_shown};
pub(super) use page::TAB;
pub use record::VotesRecord;
pub use state::{
    BLIND_VOTES, BlindCommand, BlindResults, BlindRun, BlindSettings, BlindTest, ShownText,
};
