//! No-repeat n-gram: never generate the same n tokens in a row twice.

use serde::{Deserialize, Serialize};

use super::Window;
use super::window::reads_its_window;
use crate::decoding::dialect::Dialect;
use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::{FilterSpec, Phase, Ranking};
use crate::decoding::setting::{Limits, ParamSpec, field};
use crate::decoding::{Candidates, Filter, FilterKind, History, StageContext, TokenId};

/// Bans each token that would complete an n-gram that the window already contains. 0 has no effect,
/// and 1 bans every token that has appeared.
///
/// Paulus, Xiong, Socher 2017, "A Deep Reinforced Model for Abstractive Summarization".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoRepeatNgram {
    /// The length of an n-gram, in tokens.
    pub n: u32,
    /// The part of the text in which n-grams count.
    #[serde(flatten)]
    pub window: Window,
}

impl NoRepeatNgram {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["no-repeat", "no-repeat-ngram"],
        chip: "no-repeat",
        name: "No-repeat n-gram",
        summary: "Bans repeated n-grams",
        help: "Bans every token that would complete a sequence of this many tokens that has already \
               appeared.",
        formula: "logit = −∞ if the token would complete n tokens that have appeared",
        edges: &[
            "0 is off, and 1 bans every token that has appeared.",
            "If no possible token would be left, nothing is banned.",
        ],
        source: "Paulus, Xiong, Socher 2017, \"A Deep Reinforced Model for Abstractive \
                 Summarization\", arXiv 1705.04304",
        phase: Phase::Adjust,
        ranking: Ranking::Changes,
        looks_back: true,
        params: &[ParamSpec {
            unit: "tokens",
            range: 0.0..=10.0,
            limits: Limits::AtLeast(0.0),
            neutral: Some(0.0),
            usual: 3.0..=5.0,
            decimals: 0,
            ..ParamSpec::new(field!(Count, Filter::NoRepeatNgram.n))
        }],
        tool_keys: &[(&[Dialect::Transformers], &["no_repeat_ngram_size"])],
        ..FilterSpec::new(FilterKind::NoRepeatNgram, || {
            Filter::NoRepeatNgram(Self {
                n: 3,
                window: Window::ALL,
            })
        })
    };

    /// Returns the tokens that would repeat an n-gram.
    pub fn banned(&self, history: History<'_>) -> Vec<TokenId> {
        let tokens = self.window.of(history);
        let n = self.n as usize;
        let prefix = n.checked_sub(1).and_then(|n| tokens.len().checked_sub(n));
        let Some(prefix) = prefix.and_then(|start| tokens.get(start..)) else {
            return Vec::new();
        };
        tokens
            .windows(n)
            .filter(|ngram| ngram.starts_with(prefix))
            .filter_map(|ngram| ngram.last().copied())
            .collect()
    }
}

impl FilterRule for NoRepeatNgram {
    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        candidates.rule_out(&self.banned(context.history));
    }

    fn is_neutral(&self) -> bool {
        self.n == 0 || self.window.is_empty()
    }

    fn only_lowers(&self) -> bool {
        true
    }

    reads_its_window!();
}

#[cfg(test)]
mod tests {
    use super::NoRepeatNgram;
    use crate::decoding::Filter;
    use crate::decoding::filters::Window;
    use crate::decoding::testing::check_filter_after;

    #[test]
    fn a_token_that_would_repeat_an_ngram_is_banned() {
        let third = 1.0 / 3.0;
        for (n, history, expected) in [
            (0, &[1, 1][..], [0.25; 4]),
            (1, &[1, 1], [third, 0.0, third, third]),
            (2, &[0, 1, 2, 0], [third, 0.0, third, third]),
            (2, &[0, 1, 0, 2, 0], [0.5, 0.0, 0.0, 0.5]),
            (3, &[0, 1, 2, 0, 1], [third, third, 0.0, third]),
            (3, &[1], [0.25; 4]),
            (3, &[], [0.25; 4]),
            (2, &[3], [0.25; 4]),
        ] {
            let window = Window::ALL;
            let filter = Filter::NoRepeatNgram(NoRepeatNgram { n, window });
            check_filter_after(&filter, history, &[0.25; 4], &expected);
        }
    }
}
