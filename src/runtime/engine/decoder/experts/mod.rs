//! Mixtures of experts: which experts each token uses, and the rows that each expert computes.
//!
//! Both backends share the choice, which is made on the CPU in 32 bits.

mod choice;
mod weights;

pub(super) use choice::{ExpertRows, route};
pub(super) use weights::{ExpertLayer, OwnNorms, StoredExpert};
