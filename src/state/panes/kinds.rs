//! Which tokens of a pane's text are of which kind, evaluated once per token.

use crate::analysis::token_kinds::{TokenKind, TokenKinds};
use crate::generation::Generation;
use crate::state::TextMark;

/// The kinds of the tokens of one text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PaneKinds {
    /// Marks the text up to the last evaluated step.
    mark: TextMark,
    /// One entry per evaluated step.
    tokens: Vec<TokenKinds>,
    /// One entry per kind, in the order of [`TokenKind::ALL`].
    counts: [KindCount; TokenKind::ALL.len()],
}

/// How many tokens of a text are of a kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KindCount {
    pub n: usize,
    /// How many others may be of it, because the record does not tell.
    pub n_unknown: usize,
}

impl PaneKinds {
    /// Returns how many tokens are evaluated: all of the text, unless it was too long for one frame.
    pub const fn n_tokens(&self) -> usize {
        self.tokens.len()
    }

    /// Returns how many tokens are of a kind; `None` for every token.
    pub fn count(&self, kind: Option<TokenKind>) -> KindCount {
        let every = KindCount {
            n: self.n_tokens(),
            n_unknown: 0,
        };
        let of = |kind| self.counts.get(kind as usize).copied();
        kind.map_or(every, |kind| of(kind).unwrap_or_default())
    }

    /// Returns whether a step is of a kind; `None` for every token.
    pub fn contains(&self, step: usize, kind: Option<TokenKind>) -> bool {
        let kinds = self.tokens.get(step);
        kinds.is_some_and(|kinds| kind.is_none_or(|kind| kinds.contains(kind)))
    }

    /// Returns the steps of a kind, first to last; `None` for every token.
    pub fn steps(&self, kind: Option<TokenKind>) -> impl DoubleEndedIterator<Item = usize> {
        (0..self.tokens.len()).filter(move |step| self.contains(*step, kind))
    }

    /// Returns the first step of a kind after this one, or the last one before it. Without a step to
    /// begin from, returns the first or the last one of the text.
    pub fn next(
        &self,
        kind: Option<TokenKind>,
        from: Option<usize>,
        is_after: bool,
    ) -> Option<usize> {
        let mut steps = self.steps(kind);
        if is_after {
            steps.find(|step| from.is_none_or(|from| *step > from))
        } else {
            steps.rfind(|step| from.is_none_or(|from| *step < from))
        }
    }

    /// Evaluates the steps that were added since the last update, while `has_time` returns true.
    /// Returns whether all steps are evaluated.
    pub fn update(
        &mut self,
        text: Option<&Generation>,
        has_time: &mut impl FnMut() -> bool,
    ) -> bool {
        let Some(text) = text else {
            *self = Self::default();
            return true;
        };
        if !self.mark.is_beginning_of(text) {
            *self = Self::default();
        }
        while self.tokens.len() < text.steps.len() && has_time() {
            let kinds = TokenKinds::of(text, self.tokens.len());
            for (kind, count) in TokenKind::ALL.into_iter().zip(&mut self.counts) {
                count.n += usize::from(kinds.contains(kind));
                count.n_unknown += usize::from(kinds.is_unknown(kind));
            }
            self.tokens.push(kinds);
        }
        self.mark = TextMark::of(text, self.tokens.len());
        self.tokens.len() == text.steps.len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{KindCount, PaneKinds};
    use crate::analysis::token_kinds::TokenKind::{Changed, NotFirst, Unlikely};
    use crate::decoding::Picked;
    use crate::generation::testing::generation;

    #[test]
    fn the_kinds_of_a_growing_text_are_counted_once_per_token() {
        let words = [(" a", 0.9), (" fox", 0.01), (" ran", 0.6), (" by", 0.02)];
        let mut text = generation(&words);
        Arc::make_mut(&mut text.steps[2].trace).draw.picked = Picked::ByBeams;
        let mut begun = text.clone();
        begun.steps.truncate(2);
        let mut kinds = PaneKinds::default();
        assert!(kinds.update(Some(&begun), &mut || true));
        assert_eq!(kinds.count(Some(Unlikely)).n, 1);
        let mut times = [true, false].into_iter();
        assert!(!kinds.update(Some(&text), &mut || times.next().unwrap()));
        assert_eq!(kinds.n_tokens(), 3);
        assert!(kinds.update(Some(&text), &mut || true));
        let count = |n, n_unknown| KindCount { n, n_unknown };
        assert_eq!(kinds.count(Some(Unlikely)), count(2, 0));
        assert_eq!(kinds.count(None), count(4, 0));
        assert_eq!(kinds.count(Some(Changed)).n_unknown, 1);
        assert!(kinds.contains(3, Some(NotFirst)) && !kinds.contains(0, Some(NotFirst)));
        // Another text starts over.
        assert!(kinds.update(Some(&generation(&[(" a", 0.9)])), &mut || true));
        assert_eq!(kinds.count(Some(Unlikely)), count(0, 0));
        assert!(kinds.update(None, &mut || true));
        assert_eq!(kinds, PaneKinds::default());
    }

    #[test]
    fn the_next_of_a_kind_is_found_in_both_directions() {
        let words = [(" a", 0.9), (" fox", 0.01), (" ran", 0.6), (" by", 0.02)];
        let mut kinds = PaneKinds::default();
        kinds.update(Some(&generation(&words)), &mut || true);
        let kind = Some(Unlikely);
        for (from, is_after, expected) in [
            (None, true, Some(1)),
            (None, false, Some(3)),
            (Some(0), true, Some(1)),
            (Some(1), true, Some(3)),
            (Some(3), true, None),
            (Some(3), false, Some(1)),
            (Some(1), false, None),
        ] {
            assert_eq!(kinds.next(kind, from, is_after), expected, "{from:?}");
        }
        assert_eq!(kinds.next(None, Some(1), true), Some(2));
        assert_eq!(kinds.steps(kind).collect::<Vec<_>>(), [1, 3]);
    }
}
