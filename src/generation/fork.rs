//! Where panes that continue one prompt part.

use super::{FinishReason, Generation};
use crate::decoding::TokenId;

/// How far panes agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fork {
    /// There are fewer than two texts to compare.
    NothingToCompare,
    /// They are the same at every step, each as far as it has come.
    Agree {
        /// How many tokens all of them share.
        n_shared: usize,
    },
    /// They part.
    Part {
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
pub fn first_fork(generations: &[Option<&Generation>]) -> Fork {
    let present: Vec<(usize, &Generation)> = generations
        .iter()
        .enumerate()
        .filter_map(|(index, generation)| generation.map(|generation| (index, generation)))
        .filter(|(_, generation)| !generation.steps.is_empty())
        .collect();
    if present.len() < 2 {
        return Fork::NothingToCompare;
    }
    let lengths = || present.iter().map(|(_, text)| text.steps.len());
    let longest = lengths().max().unwrap_or(0);
    let mut by_step = (0..longest).map(|step| (step, groups_at(&present, step)));
    match by_step.find(|(_, groups)| groups.len() > 1) {
        Some((step, groups)) => Fork::Part { step, groups },
        None => Fork::Agree {
            n_shared: lengths().min().unwrap_or(0),
        },
    }
}

/// The panes by what they hold at a step, those that hold nothing left out.
fn groups_at(present: &[(usize, &Generation)], step: usize) -> Vec<Vec<usize>> {
    let mut groups: Vec<(Held, Vec<usize>)> = Vec::new();
    for (index, generation) in present {
        let Some(held) = Held::at(generation, step) else {
            continue;
        };
        match groups.iter_mut().find(|(other, _)| *other == held) {
            Some((_, group)) => group.push(*index),
            None => groups.push((held, vec![*index])),
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
    use super::{Fork, first_fork};
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

    fn fork(texts: &[Generation]) -> Fork {
        let texts: Vec<Option<&Generation>> = texts.iter().map(Some).collect();
        first_fork(&texts)
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
        assert_eq!(fork(&texts), Fork::Part { step: 1, groups });
        assert_eq!(fork(&texts[..1]), Fork::NothingToCompare);
        let [first, _, third] = texts;
        assert_eq!(fork(&[first, third]), Fork::Agree { n_shared: 2 });
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
            assert_eq!(fork(&texts), Fork::Part { step: 2, groups }, "{finish:?}");
            let [first, second, _] = texts;
            assert_eq!(fork(&[first, second]), Fork::Agree { n_shared: 1 });
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
            assert_eq!(fork(&texts), Fork::Part { step: 1, groups });
            let [first, _, third] = texts;
            assert_eq!(fork(&[first, third]), Fork::Agree { n_shared: 1 });
        }
    }
}
