//! Temperature: flatten or sharpen the distribution.

use serde::{Deserialize, Serialize};

use crate::decoding::Candidates;

/// Divides every logit by the temperature. Below 1 the likely get likelier, above 1 the unlikely
/// do; 1 changes nothing, and 0 leaves the most likely candidate alone.
///
/// Ackley, Hinton, Sejnowski 1985, "A Learning Algorithm for Boltzmann Machines".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Temperature {
    /// The divisor, 0 or more.
    pub temperature: f32,
}

impl Temperature {
    pub(crate) fn apply(self, candidates: &mut Candidates) {
        if self.temperature <= 0.0 {
            candidates.keep_head(1);
        } else if !self.is_neutral() {
            // Below the best, so that a tiny temperature overflows towards −∞ and never to +∞.
            let best = candidates.best().logit;
            candidates.map_logits(|candidate| (candidate.logit - best) / self.temperature);
        }
    }

    #[expect(
        clippy::float_cmp,
        reason = "exactly 1 is the one value that does nothing"
    )]
    pub(crate) fn is_neutral(self) -> bool {
        self.temperature == 1.0
    }

    pub(crate) fn complaint(self) -> Option<String> {
        let possible = self.temperature.is_finite() && self.temperature >= 0.0;
        (!possible).then(|| "Temperature is 0 or more".to_owned())
    }
}
