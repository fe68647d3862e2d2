//! What a verification shows: who chose each token, or how far the numbers moved.

use super::{GapData, ProvenData};
use crate::analysis::replay::{Comparison, Verdict};
use crate::generation::Generation;

/// The plot of a verification.
#[derive(Debug, Clone, PartialEq)]
pub enum VerifiedData {
    /// Nothing moved, or the file contradicts itself.
    Proven(ProvenData),
    Gaps(GapData),
}

impl VerifiedData {
    /// Chooses the plot for a verdict on these texts, one per pane; earlier turns are left out. `now` is
    /// empty if they were not generated again.
    pub fn of(verdict: &Verdict, then: &[&Generation], now: &[&Generation]) -> Self {
        let is_identical = verdict.comparison == Some(Comparison::Identical);
        if is_identical || verdict.contradiction.is_some() {
            return Self::Proven(ProvenData::of(verdict, then.iter().copied()));
        }
        let texts = then.iter().copied().zip(now.iter().copied());
        Self::Gaps(GapData::of(verdict, texts))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::VerifiedData;
    use crate::analysis::replay::{Replayed, TextPlaces, Verdict, WordsCheck};
    use crate::generation::testing::generation;

    #[test]
    fn only_numbers_that_moved_are_plotted_over_the_tokens() {
        let then = generation(&[(" a", 0.5), (" fox", 0.5)]);
        let mut other = then.clone();
        Arc::make_mut(&mut other.model).device = "CPU with 8-bit inputs".to_owned();
        other.steps.pop();
        for (now, has_moved) in [(&then, false), (&other, true)] {
            let verdict = Verdict::of(Replayed {
                then: &[&then],
                now: &[now],
                places: TextPlaces::default(),
                words: &[WordsCheck::Equal],
                allows_others: false,
                has_branches: false,
            });
            let data = VerifiedData::of(&verdict, &[&then], &[now]);
            assert_eq!(matches!(data, VerifiedData::Gaps(_)), has_moved);
        }
    }
}
