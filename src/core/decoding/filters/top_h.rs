//! Top-H: keep the most likely tokens until they hold a share of the entropy.

use serde::{Deserialize, Serialize};

use crate::decoding::dialect::Dialect;
use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::FilterSpec;
use crate::decoding::setting::{ParamSpec, field};
use crate::decoding::{Candidates, Filter, FilterKind, StageContext};

/// How many of the most likely candidates are considered, as in transformers.
pub(in crate::decoding) const N_CONSIDERED: usize = 100;

/// The relative rounding error of a sum of entropy terms.
const ROUNDING: f64 = 1e-9;

/// Sums the entropy terms −p·ln p, most likely candidate first, and keeps candidates as long as the
/// sum is at most `h` times the entropy. The most likely one always stays, and only the 100 most
/// likely ones are considered, with their probabilities renormalized. 0 has no effect.
///
/// This is the rule of transformers (`TopHLogitsWarper`). The paper instead bounds the entropy of
/// the tokens that stay, renormalized.
///
/// Potraghloo, Azizi, Kundu, Pedram 2025, "Top-H Decoding: Adapting the Creativity and Coherence
/// with Bounded Entropy in Text Generation".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TopH {
    /// The share of the entropy to keep, 0 to 1.
    pub h: f32,
}

impl TopH {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["top-h"],
        chip: "top-h",
        name: "Top-H",
        summary: "Keeps a share of the entropy",
        help: "Keeps the most likely tokens, out of the first 100, as long as their entropy terms \
               add up to at most this share of the entropy.",
        formula: "keep tokens, the most likely first, while Σ −p ln p ≤ h · H",
        edges: &[
            "Only the 100 most likely tokens are considered, with their probabilities scaled to add up to 1, and the most likely one always stays.",
            "This is the rule of transformers. The paper bounds the entropy of the tokens that stay instead.",
        ],
        source: "Potraghloo, Azizi, Kundu, Pedram 2025, \"Top-H Decoding: Adapting the Creativity and \
                 Coherence with Bounded Entropy in Text Generation\", arXiv 2509.02510",
        params: &[ParamSpec {
            neutral: Some(0.0),
            usual: 0.4..=0.4,
            ..ParamSpec::new(field!(Real, Filter::TopH.h))
        }],
        tool_keys: &[(&[Dialect::Transformers], &["top_h"])],
        ..FilterSpec::new(FilterKind::TopH, || Filter::TopH(Self { h: 0.4 }))
    };
}

impl FilterRule for TopH {
    fn apply(&self, _context: StageContext<'_>, candidates: &mut Candidates) {
        let softmax = candidates.softmax();
        let head = candidates.head(N_CONSIDERED).iter();
        let probs: Vec<f64> = head.map(|next| softmax.prob(next.logit)).collect();
        let mass: f64 = probs.iter().sum();
        let terms = probs.iter().map(|prob| match prob / mass {
            share if share > 0.0 => -share * share.ln(),
            _ => 0.0,
        });
        let entropy: f64 = terms.clone().sum();
        let most = f64::from(self.h) * entropy * (1.0 + ROUNDING);
        let sums = terms.scan(0.0, |sum, term| {
            *sum += term;
            Some(*sum)
        });
        let n_possible = probs.iter().take_while(|prob| **prob > 0.0).count();
        let n_kept = sums.take(n_possible).take_while(|sum| *sum <= most).count();
        candidates.keep_head(n_kept);
    }

    fn is_neutral(&self) -> bool {
        self.h <= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::TopH;
    use crate::decoding::Filter;
    use crate::decoding::testing::check_filter;

    #[test]
    fn tokens_stay_while_their_entropy_is_within_the_share() {
        // The entropy is 1.75 bits: 0.5, 0.5, 0.375 and 0.375.
        let p = [0.125, 0.25, 0.5, 0.125];
        let best = [0.0, 0.0, 1.0, 0.0];
        let two = [0.0, 1.0 / 3.0, 2.0 / 3.0, 0.0];
        let three = [1.0 / 7.0, 2.0 / 7.0, 4.0 / 7.0, 0.0];
        for (h, probs, expected) in [
            (0.0, p, p),
            (0.1, p, best),
            (0.57, p, best),
            (0.58, p, two),
            (0.78, p, two),
            (0.79, p, three),
            (1.0, p, p),
            // A sure token has no entropy, and stays.
            (0.4, [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]),
            (1.0, [0.5, 0.0, 0.5, 0.0], [0.5, 0.0, 0.5, 0.0]),
        ] {
            check_filter(&Filter::TopH(TopH { h }), &probs, &expected);
        }
    }

    #[test]
    fn only_the_100_most_likely_are_considered() {
        let mut expected = [0.0; 300];
        expected[..100].fill(0.01);
        check_filter(
            &Filter::TopH(TopH { h: 1.0 }),
            &[1.0 / 300.0; 300],
            &expected,
        );
    }
}
