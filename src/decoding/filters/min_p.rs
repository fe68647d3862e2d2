//! Min-p: keep the tokens that are at least `p` times as likely as the best one.

use serde::{Deserialize, Serialize};

use crate::decoding::Candidates;

/// Drops every candidate less likely than `p` times the best; one exactly there stays.
///
/// The bar follows the model's confidence: high when one token dominates, low when many are
/// plausible. 0 keeps everything; above 1 only the most likely token stays.
///
/// Nguyen et al. 2024, "Turning Up the Heat: Min-p Sampling for Creative and Coherent LLM Outputs".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MinP {
    /// The share of the best candidate's probability, 0 to 1.
    pub p: f32,
}

impl MinP {
    pub(crate) fn apply(self, candidates: &mut Candidates) {
        if self.is_neutral() {
            return;
        }
        let bar = candidates.best().logit + self.p.ln();
        candidates.retain(|candidate| candidate.logit >= bar);
    }

    pub(crate) fn is_neutral(self) -> bool {
        self.p <= 0.0
    }

    pub(crate) fn complaint(self) -> Option<String> {
        (!(0.0..=1.0).contains(&self.p)).then(|| "Min-p lies between 0 and 1".to_owned())
    }
}
