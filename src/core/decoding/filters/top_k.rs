//! Top-k: keep a fixed number of the most likely tokens.

use serde::{Deserialize, Serialize};

use crate::decoding::dialect::Dialect;
use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::{FilterSpec, Usage};
use crate::decoding::rules::{Rules, Ties};
use crate::decoding::setting::{Limits, ParamSpec, Scale, field};
use crate::decoding::{Candidates, Filter, FilterKind, StageContext};

/// Keeps the `k` most likely candidates. Among equally likely ones, those with the lowest ids stay,
/// unless [`Ties`] says otherwise. 0 keeps all.
///
/// Fan, Lewis, Dauphin 2018, "Hierarchical Neural Story Generation".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopK {
    /// How many candidates stay.
    pub k: u32,
}

impl TopK {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["top-k"],
        chip: "top-k",
        name: "Top-k",
        summary: "Keeps the k most likely",
        help: "Keeps this many of the most likely tokens and drops the rest.",
        formula: "keep the k tokens with the highest logits",
        edges: &[
            "Among equally likely tokens, those with the lowest ids stay. In transformers and vLLM every token as likely as the k-th stays, so more than k can stay.",
            "0 keeps all tokens.",
        ],
        example: Some(|| Filter::TopK(Self { k: 3 })),
        source: "Fan, Lewis, Dauphin 2018, \"Hierarchical Neural Story Generation\", arXiv \
                 1805.04833",
        usage: Usage::Common,
        params: &[ParamSpec {
            unit: "tokens",
            range: 1.0..=1000.0,
            limits: Limits::AtLeast(0.0),
            neutral: Some(0.0),
            usual: 20.0..=100.0,
            decimals: 0,
            scale: Scale::Logarithmic,
            ..ParamSpec::new(field!(Count, Filter::TopK.k))
        }],
        tool_keys: &[(
            &[Dialect::LlamaCpp, Dialect::Ollama, Dialect::Transformers],
            &["top_k"],
        )],
        llama_samplers: &["top_k", "k"],
        ..FilterSpec::new(FilterKind::TopK, || Filter::TopK(Self { k: 40 }))
    };
}

impl FilterRule for TopK {
    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let k = self.k as usize;
        match (context.rules.top_k_ties, candidates.head(k).last()) {
            (Ties::All, Some(last)) => {
                let threshold = last.logit;
                candidates.keep_from(threshold);
            }
            _ => candidates.keep_head(k),
        }
    }

    fn is_neutral(&self) -> bool {
        self.k == 0
    }

    fn leaves_one(&self, rules: Rules) -> bool {
        self.k == 1 && rules.top_k_ties == Ties::LowestIds
    }
}

#[cfg(test)]
mod tests {
    use super::TopK;
    use crate::decoding::Filter;
    use crate::decoding::testing::check_filter;

    #[test]
    fn the_k_most_likely_tokens_stay() {
        let p = [0.1, 0.2, 0.3, 0.4];
        for (k, probs, expected) in [
            (1, p, [0.0, 0.0, 0.0, 1.0]),
            (3, p, [0.0, 2.0 / 9.0, 3.0 / 9.0, 4.0 / 9.0]),
            (4, p, p),
            (99, p, p),
            (0, p, p),
            // Among equals the lowest ids stay.
            (2, [0.25; 4], [0.5, 0.5, 0.0, 0.0]),
            // A token of probability zero is a candidate like any other.
            (2, [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0]),
        ] {
            check_filter(&Filter::TopK(TopK { k }), &probs, &expected);
        }
    }

    #[test]
    fn a_single_candidate_stays() {
        check_filter(&Filter::TopK(TopK { k: 3 }), &[1.0], &[1.0]);
    }
}
