//! Where the texts of panes that continue the same prompt diverge.

use crate::decoding::TokenId;
use crate::generation::{FinishReason, Generation, Step};

/// Where several texts diverge, if they do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Divergence {
    /// Fewer than two texts have begun.
    NothingToCompare,
    /// The texts are identical up to the length of the shortest one.
    Agree {
        /// The number of tokens that all texts share.
        n_shared: usize,
    },
    /// The texts diverge.
    At {
        /// The index of the first step at which they differ.
        step: usize,
        /// The panes, by index, grouped by their token at that step; panes whose text had ended
        /// form a group too. The first group contains the first pane that reached the step.
        groups: Vec<Vec<usize>>,
    },
}

/// Finds the first step at which the generations differ.
///
/// A text that ended by itself diverges from texts that continue there. A text that is still
/// running, was stopped or reached a limit is not compared beyond its last step.
pub fn first_divergence(generations: &[Option<&Generation>]) -> Divergence {
    let mut tracker = DivergenceTracker::default();
    tracker.follow(generations);
    tracker.divergence(generations)
}

/// Finds the divergence of growing texts incrementally: no step is compared twice.
///
/// Every text is compared with the longest one, which has a token wherever any text has one. So the
/// texts diverge at the first step where one of them differs from the longest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DivergenceTracker {
    /// The index of the longest text.
    longest: usize,
    /// For each text, the length of the prefix that it shares with the longest one.
    n_shared: Vec<usize>,
}

impl DivergenceTracker {
    /// Compares the steps that were added since the last call. The texts must be the same ones, in
    /// the same order, and none may have become shorter.
    pub fn follow(&mut self, generations: &[Option<&Generation>]) {
        self.n_shared.resize(generations.len(), 0);
        self.follow_longest(generations);
        for (index, n_shared) in self.n_shared.iter_mut().enumerate() {
            let longest = steps_from(generations, self.longest, *n_shared);
            *n_shared += if index == self.longest {
                longest.count()
            } else {
                let own = steps_from(generations, index, *n_shared);
                let pairs = own.zip(longest);
                pairs
                    .take_while(|(own, other)| own.token == other.token)
                    .count()
            };
        }
    }

    fn follow_longest(&mut self, generations: &[Option<&Generation>]) {
        let n_steps = |index: usize| {
            let generation = generations.get(index).copied().flatten();
            generation.map_or(0, |generation| generation.steps.len())
        };
        let mut longest = self.longest;
        for index in 0..generations.len() {
            if n_steps(index) > n_steps(longest) {
                longest = index;
            }
        }
        if longest != self.longest {
            // Two texts share at least the shorter of the prefixes that they share with a third.
            let n_known = self.n_shared.get(longest).copied().unwrap_or(0);
            for n_shared in &mut self.n_shared {
                *n_shared = n_known.min(*n_shared);
            }
            self.longest = longest;
        }
    }

    /// Returns where the texts diverge. They must be the ones last passed to [`Self::follow`].
    pub fn divergence(&self, generations: &[Option<&Generation>]) -> Divergence {
        let lengths = || present(generations).map(|(_, text)| text.steps.len());
        if lengths().count() < 2 {
            return Divergence::NothingToCompare;
        }
        let longest = generations.get(self.longest).copied().flatten();
        let diverging_steps = present(generations).filter_map(|(index, text)| {
            let step = *self.n_shared.get(index)?;
            let differs = Content::at(text, step)? != Content::at(longest?, step)?;
            differs.then_some(step)
        });
        match diverging_steps.min() {
            Some(step) => Divergence::At {
                step,
                groups: groups_at(generations, step),
            },
            None => Divergence::Agree {
                n_shared: lengths().min().unwrap_or(0),
            },
        }
    }
}

/// Returns the steps of a text from step `start` on.
fn steps_from<'a>(
    generations: &[Option<&'a Generation>],
    index: usize,
    start: usize,
) -> impl Iterator<Item = &'a Step> {
    let generation = generations.get(index).copied().flatten();
    generation
        .into_iter()
        .flat_map(move |generation| generation.steps.range(start..))
}

/// Iterates over the texts that have at least one token, with their indices.
fn present<'a>(
    generations: &'a [Option<&'a Generation>],
) -> impl Iterator<Item = (usize, &'a Generation)> {
    generations
        .iter()
        .enumerate()
        .filter_map(|(index, generation)| Some((index, (*generation)?)))
        .filter(|(_, generation)| !generation.steps.is_empty())
}

/// Groups the panes by their content at a step; panes that have not reached the step are left out.
fn groups_at(generations: &[Option<&Generation>], step: usize) -> Vec<Vec<usize>> {
    let mut groups: Vec<(Content, Vec<usize>)> = Vec::new();
    for (index, generation) in present(generations) {
        let Some(content) = Content::at(generation, step) else {
            continue;
        };
        match groups.iter_mut().find(|(other, _)| *other == content) {
            Some((_, group)) => group.push(index),
            None => groups.push((content, vec![index])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// What a text contains at a step.
#[derive(Clone, Copy, PartialEq)]
enum Content {
    Token(TokenId),
    /// The text ended by itself before this step.
    End,
}

impl Content {
    /// Returns `None` if the text has not reached this step, or never will because it was cut
    /// short.
    fn at(generation: &Generation, step: usize) -> Option<Self> {
        if let Some(step) = generation.steps.get(step) {
            return Some(Self::Token(step.token));
        }
        let ended = matches!(
            generation.finish,
            Some(FinishReason::EndOfText | FinishReason::StopString { .. })
        );
        ended.then_some(Self::End)
    }
}

#[cfg(test)]
mod tests {
    use super::{Divergence, DivergenceTracker, first_divergence};
    use crate::generation::testing::generation;
    use crate::generation::{FinishReason, Generation};

    /// A text of these words with this finish reason.
    fn text(words: &[&str], finish: Option<FinishReason>) -> Generation {
        let pieces: Vec<(&str, f64)> = words.iter().map(|word| (*word, 0.5)).collect();
        Generation {
            finish,
            ..generation(&pieces)
        }
    }

    fn divergence(texts: &[Generation]) -> Divergence {
        let texts: Vec<Option<&Generation>> = texts.iter().map(Some).collect();
        first_divergence(&texts)
    }

    #[test]
    fn texts_diverge_at_the_first_different_token() {
        let limit = || Some(FinishReason::MaxTokens);
        let texts = [
            text(&[" a", " house"], limit()),
            text(&[" a", " fox"], limit()),
            text(&[" a", " house"], limit()),
        ];
        let groups = vec![vec![0, 2], vec![1]];
        assert_eq!(divergence(&texts), Divergence::At { step: 1, groups });
        assert_eq!(divergence(&texts[..1]), Divergence::NothingToCompare);
        let [first, _, third] = texts;
        assert_eq!(
            divergence(&[first, third]),
            Divergence::Agree { n_shared: 2 }
        );
    }

    #[test]
    fn a_text_that_was_cut_short_does_not_hide_a_later_divergence() {
        for finish in [
            None,
            Some(FinishReason::Cancelled),
            Some(FinishReason::MaxTokens),
            Some(FinishReason::ContextFull),
        ] {
            let texts = [
                text(&[" a"], finish.clone()),
                text(&[" a", " little", " fox"], None),
                text(&[" a", " little", " house"], None),
            ];
            let groups = vec![vec![1], vec![2]];
            assert_eq!(
                divergence(&texts),
                Divergence::At { step: 2, groups },
                "{finish:?}"
            );
            let [first, second, _] = texts;
            assert_eq!(
                divergence(&[first, second]),
                Divergence::Agree { n_shared: 1 }
            );
        }
    }

    #[test]
    fn a_text_that_ended_diverges_from_texts_that_continue() {
        let stop = Some(FinishReason::StopString {
            stop: "a".to_owned(),
        });
        for finish in [Some(FinishReason::EndOfText), stop] {
            let texts = [
                text(&[" a"], finish),
                text(&[" a", " fox"], None),
                text(&[" a"], None),
            ];
            let groups = vec![vec![0], vec![1]];
            assert_eq!(divergence(&texts), Divergence::At { step: 1, groups });
            let [first, _, third] = texts;
            assert_eq!(
                divergence(&[first, third]),
                Divergence::Agree { n_shared: 1 }
            );
        }
    }

    /// The first `n_steps` tokens of each text.
    fn prefixes(texts: &[Generation], n_steps: [usize; 3]) -> Vec<Generation> {
        let prefixes = texts.iter().zip(n_steps).map(|(text, n_steps)| {
            let mut text = text.clone();
            if n_steps < text.steps.len() {
                text.finish = None;
            }
            text.steps.truncate(n_steps);
            text
        });
        prefixes.collect()
    }

    #[test]
    fn tracking_growing_texts_agrees_with_comparing_from_scratch() {
        let end = || Some(FinishReason::EndOfText);
        let full = [
            text(&[" a", " house", " fox", "."], end()),
            text(&[" a", " house", " fox", ".", " the"], None),
            text(&[" a", " house", ".", " fox"], end()),
        ];
        for growth in [
            [[0, 0, 0], [1, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]],
            [[3, 0, 0], [3, 4, 0], [3, 5, 1], [4, 5, 2], [4, 5, 4]],
            [[0, 0, 2], [0, 1, 3], [0, 4, 4], [4, 4, 4], [4, 5, 4]],
        ] {
            let mut tracker = DivergenceTracker::default();
            for n_steps in growth {
                let texts = prefixes(&full, n_steps);
                let texts: Vec<Option<&Generation>> = texts.iter().map(Some).collect();
                tracker.follow(&texts);
                assert_eq!(
                    tracker.divergence(&texts),
                    first_divergence(&texts),
                    "{n_steps:?}"
                );
            }
        }
        let groups = vec![vec![0, 1], vec![2]];
        assert_eq!(divergence(&full), Divergence::At { step: 2, groups });
    }

    #[test]
    fn compared_steps_are_not_compared_again() {
        let texts = || [(); 2].map(|()| text(&[" a", " house", " fox"], None));
        let mut tracker = DivergenceTracker::default();
        tracker.follow(&texts().each_ref().map(Some));
        let mut changed = texts();
        changed[0].steps[1].token = changed[0].steps[0].token;
        let changed = changed.each_ref().map(Some);
        tracker.follow(&changed);
        assert_eq!(
            tracker.divergence(&changed),
            Divergence::Agree { n_shared: 3 }
        );
    }
}
