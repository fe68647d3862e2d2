//! Top-p, or nucleus: keep the fewest most likely tokens that hold a share of the probability.

use serde::{Deserialize, Serialize};

use crate::decoding::Candidates;

/// Keeps candidates from the most likely on until their probabilities sum to at least `p`; the one
/// that reaches it stays. 1 keeps everything, 0 keeps the most likely one.
///
/// Holtzman, Buys, Du, Forbes, Choi 2019, "The Curious Case of Neural Text Degeneration".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TopP {
    /// The share of the probability that must be held, 0 to 1.
    pub p: f32,
}

impl TopP {
    pub(crate) fn apply(self, candidates: &mut Candidates) {
        if self.is_neutral() {
            return;
        }
        let softmax = candidates.softmax();
        let (mut n_seen, mut held, mut n_asked) = (0, 0.0, 64);
        loop {
            for candidate in candidates.head(n_asked).iter().skip(n_seen) {
                n_seen += 1;
                held += softmax.prob(candidate.logit);
                if held >= f64::from(self.p) {
                    candidates.keep_head(n_seen);
                    return;
                }
            }
            if n_seen == candidates.n_kept() {
                return;
            }
            n_asked *= 2;
        }
    }

    pub(crate) fn is_neutral(self) -> bool {
        self.p >= 1.0
    }

    pub(crate) fn complaint(self) -> Option<String> {
        (!(0.0..=1.0).contains(&self.p)).then(|| "Top-p lies between 0 and 1".to_owned())
    }
}
