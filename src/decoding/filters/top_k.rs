//! Top-k: keep a fixed number of the most likely tokens.

use serde::{Deserialize, Serialize};

use crate::decoding::rules::Ties;
use crate::decoding::{Candidates, Rule, StageContext};

/// Keeps the `k` most likely candidates, of equals the ones with the lowest ids; 0 keeps all.
///
/// Fan, Lewis, Dauphin 2018, "Hierarchical Neural Story Generation".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopK {
    /// How many stay.
    pub k: u32,
}

impl Rule for TopK {
    fn name(&self) -> &'static str {
        "Top-k"
    }

    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let k = self.k as usize;
        match (context.rules.top_k_ties, candidates.head(k).last()) {
            (Ties::All, Some(last)) => {
                let bar = last.logit;
                candidates.keep_from(bar);
            }
            _ => candidates.keep_head(k),
        }
    }

    fn is_neutral(&self) -> bool {
        self.k == 0
    }

    fn complaint(&self) -> Option<String> {
        None
    }

    fn cuts(&self) -> bool {
        true
    }
}

impl std::fmt::Display for TopK {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "top-k {}", self.k)
    }
}

#[cfg(test)]
mod tests {
    use super::TopK;
    use crate::decoding::Filter;
    use crate::decoding::testing::check_filter;

    #[test]
    fn the_k_most_likely_stay() {
        let p = [0.1, 0.2, 0.3, 0.4];
        for (k, probs, expected) in [
            (1, p, [0.0, 0.0, 0.0, 1.0]),
            (3, p, [0.0, 2.0 / 9.0, 3.0 / 9.0, 4.0 / 9.0]),
            (4, p, p),
            (99, p, p),
            (0, p, p),
            // Of equals the lowest ids stay.
            (2, [0.25; 4], [0.5, 0.5, 0.0, 0.0]),
            // A token of probability zero is a candidate like any other.
            (2, [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0]),
        ] {
            check_filter(&Filter::TopK(TopK { k }), &probs, &expected);
        }
    }

    #[test]
    fn one_candidate_stays() {
        check_filter(&Filter::TopK(TopK { k: 3 }), &[1.0], &[1.0]);
    }
}
