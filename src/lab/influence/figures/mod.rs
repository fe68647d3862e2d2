//! What leaving out a part of a text changes: the parts, the divergence of two distributions, and the
//! results in words.

mod distribution;
mod parts;
mod results;

pub(crate) use distribution::LnProbs;
pub(super) use parts::parts_of;
pub use results::{ChosenLikelihood, InfluenceResults};
pub(super) use results::{WHAT_IT_IS, bits_words};
