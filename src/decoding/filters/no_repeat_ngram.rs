//! No-repeat n-gram: never write the same run of tokens twice.

use serde::{Deserialize, Serialize};

use super::Window;
use crate::decoding::{Candidates, History, Rule, StageContext, TokenId};

/// Rules out each token that would end a run of `n` tokens which occurs in the window already.
/// 0 does nothing, 1 forbids every token that occurred.
///
/// Paulus, Xiong, Socher 2017, "A Deep Reinforced Model for Abstractive Summarization".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoRepeatNgram {
    /// The length of a run.
    pub n: u32,
    /// Where it looks.
    #[serde(flatten)]
    pub window: Window,
}

impl NoRepeatNgram {
    /// The tokens that would repeat a run.
    pub fn banned(&self, history: History<'_>) -> Vec<TokenId> {
        let tokens = self.window.of(history);
        let n = self.n as usize;
        let beginning = n.checked_sub(1).and_then(|n| tokens.len().checked_sub(n));
        let Some(beginning) = beginning.and_then(|at| tokens.get(at..)) else {
            return Vec::new();
        };
        tokens
            .windows(n)
            .filter(|run| run.starts_with(beginning))
            .filter_map(|run| run.last().copied())
            .collect()
    }
}

impl Rule for NoRepeatNgram {
    fn name(&self) -> &'static str {
        "No-repeat n-gram"
    }

    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        candidates.rule_out(&self.banned(context.history));
    }

    fn is_neutral(&self) -> bool {
        self.n == 0 || self.window.last_n == Some(0)
    }

    fn complaint(&self) -> Option<String> {
        None
    }

    fn words(&self) -> String {
        format!("{self}{}", self.window.words())
    }
}

impl std::fmt::Display for NoRepeatNgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no-repeat {}", self.n)
    }
}

#[cfg(test)]
mod tests {
    use super::NoRepeatNgram;
    use crate::decoding::Filter;
    use crate::decoding::filters::Window;
    use crate::decoding::testing::check_filter_after;

    #[test]
    fn what_would_repeat_a_run_is_ruled_out() {
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
