//! Where panes that continue one prompt part.

use crate::decoding::TokenId;
use crate::generation::{FinishReason, Generation, Step};

/// How far panes agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Divergence {
    /// There are fewer than two texts to compare.
    NothingToCompare,
    /// They are the same at every step, each as far as it has come.
    Agree {
        /// How many tokens all of them share.
        n_shared: usize,
    },
    /// They part.
    At {
        /// The index of the first step at which they differ.
        step: usize,
        /// The panes that took the same token there, or that had come to their end, by index; the
        /// first group holds the first pane that counts there.
        groups: Vec<Vec<usize>>,
    },
}

/// Finds the first step at which the generations differ.
///
/// A text that came to its own end parts from those that go on there. One that is still being
/// written, was stopped or ran into a limit says nothing of the steps that it lacks.
pub fn first_divergence(generations: &[Option<&Generation>]) -> Divergence {
    let mut agreement = Agreement::default();
    agreement.follow(generations);
    agreement.divergence(generations)
}

/// How many steps each of several texts shares with the longest of them, kept while they grow, so
/// that no step is compared twice.
///
/// The longest holds a token wherever any text does, so the texts part where one first parts from
/// it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agreement {
    /// The place of the longest text.
    longest: usize,
    /// How many of its first tokens each text shares with the longest, by place.
    n_shared: Vec<usize>,
}

impl Agreement {
    /// Compares what the texts have gained since the last call. They are the same texts at the same
    /// places, none of them shorter than it was.
    pub fn follow(&mut self, generations: &[Option<&Generation>]) {
        self.n_shared.resize(generations.len(), 0);
        self.follow_longest(generations);
        for (place, n_shared) in self.n_shared.iter_mut().enumerate() {
            let longest = steps_from(generations, self.longest, *n_shared);
            *n_shared += if place == self.longest {
                longest.len()
            } else {
                let own = steps_from(generations, place, *n_shared);
                let pairs = own.iter().zip(longest);
                pairs
                    .take_while(|(own, other)| own.token == other.token)
                    .count()
            };
        }
    }

    fn follow_longest(&mut self, generations: &[Option<&Generation>]) {
        let n_steps = |place: usize| steps_from(generations, place, 0).len();
        let mut longest = self.longest;
        for place in 0..generations.len() {
            if n_steps(place) > n_steps(longest) {
                longest = place;
            }
        }
        if longest != self.longest {
            // What two texts share with a third they share with each other.
            let n_known = self.n_shared.get(longest).copied().unwrap_or(0);
            for n_shared in &mut self.n_shared {
                *n_shared = n_known.min(*n_shared);
            }
            self.longest = longest;
        }
    }

    /// Where the texts part; those that [`Self::follow`] was called with last.
    pub fn divergence(&self, generations: &[Option<&Generation>]) -> Divergence {
        let lengths = || present(generations).map(|(_, text)| text.steps.len());
        if lengths().count() < 2 {
            return Divergence::NothingToCompare;
        }
        let longest = generations.get(self.longest).copied().flatten();
        let parting = present(generations).filter_map(|(place, text)| {
            let step = *self.n_shared.get(place)?;
            let parts = Held::at(text, step)? != Held::at(longest?, step)?;
            parts.then_some(step)
        });
        match parting.min() {
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

/// The steps of the text at a place, without those before `start`.
fn steps_from<'a>(
    generations: &[Option<&'a Generation>],
    place: usize,
    start: usize,
) -> &'a [Step] {
    let generation = generations.get(place).copied().flatten();
    generation
        .and_then(|generation| generation.steps.get(start..))
        .unwrap_or_default()
}

/// The texts that have begun, with their places.
fn present<'a>(
    generations: &'a [Option<&'a Generation>],
) -> impl Iterator<Item = (usize, &'a Generation)> {
    generations
        .iter()
        .enumerate()
        .filter_map(|(place, generation)| Some((place, (*generation)?)))
        .filter(|(_, generation)| !generation.steps.is_empty())
}

/// The panes by what they hold at a step, those that hold nothing left out.
fn groups_at(generations: &[Option<&Generation>], step: usize) -> Vec<Vec<usize>> {
    let mut groups: Vec<(Held, Vec<usize>)> = Vec::new();
    for (place, generation) in present(generations) {
        let Some(held) = Held::at(generation, step) else {
            continue;
        };
        match groups.iter_mut().find(|(other, _)| *other == held) {
            Some((_, group)) => group.push(place),
            None => groups.push((held, vec![place])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// What a text holds at a step.
#[derive(Clone, Copy, PartialEq)]
enum Held {
    Token(TokenId),
    /// It came to its own end before.
    End,
}

impl Held {
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
    use super::{Agreement, Divergence, first_divergence};
    use crate::generation::testing::generation;
    use crate::generation::{FinishReason, Generation};

    /// A text of these words that ended for this reason.
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
    fn texts_part_where_they_take_other_tokens() {
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
    fn a_text_that_was_stopped_hides_no_fork_behind_its_end() {
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
    fn a_text_that_came_to_its_end_parts_from_those_that_go_on() {
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

    /// The first so many tokens of each text.
    fn begun(texts: &[Generation], n_steps: [usize; 3]) -> Vec<Generation> {
        let begun = texts.iter().zip(n_steps).map(|(text, n_steps)| {
            let mut text = text.clone();
            if n_steps < text.steps.len() {
                text.finish = None;
            }
            text.steps.truncate(n_steps);
            text
        });
        begun.collect()
    }

    #[test]
    fn texts_that_grow_part_where_they_would_if_they_were_compared_anew() {
        let end = || Some(FinishReason::EndOfText);
        let whole = [
            text(&[" a", " house", " fox", "."], end()),
            text(&[" a", " house", " fox", ".", " the"], None),
            text(&[" a", " house", ".", " fox"], end()),
        ];
        for growth in [
            [[0, 0, 0], [1, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]],
            [[3, 0, 0], [3, 4, 0], [3, 5, 1], [4, 5, 2], [4, 5, 4]],
            [[0, 0, 2], [0, 1, 3], [0, 4, 4], [4, 4, 4], [4, 5, 4]],
        ] {
            let mut agreement = Agreement::default();
            for n_steps in growth {
                let texts = begun(&whole, n_steps);
                let texts: Vec<Option<&Generation>> = texts.iter().map(Some).collect();
                agreement.follow(&texts);
                assert_eq!(
                    agreement.divergence(&texts),
                    first_divergence(&texts),
                    "{n_steps:?}"
                );
            }
        }
        let groups = vec![vec![0, 1], vec![2]];
        assert_eq!(divergence(&whole), Divergence::At { step: 2, groups });
    }

    #[test]
    fn what_was_compared_is_not_looked_at_again() {
        let texts = || [(); 2].map(|()| text(&[" a", " house", " fox"], None));
        let mut agreement = Agreement::default();
        agreement.follow(&texts().each_ref().map(Some));
        let mut changed = texts();
        changed[0].steps[1].token = changed[0].steps[0].token;
        let changed = changed.each_ref().map(Some);
        agreement.follow(&changed);
        assert_eq!(
            agreement.divergence(&changed),
            Divergence::Agree { n_shared: 3 }
        );
    }
}
