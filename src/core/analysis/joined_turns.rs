//! The answers of a conversation as one text, for plots over all turns.

use crate::generation::{Generation, Step, StepTime, Steps};

/// The answers of a conversation, joined in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct JoinedTurns {
    /// A text with the steps of all answers, under the prompt and the settings of the last one. The
    /// time of a step is what was spent on writing up to it.
    pub text: Generation,
    /// The index of the first step of each turn.
    pub starts: Vec<usize>,
}

impl JoinedTurns {
    /// Joins the answers of a conversation up to this one.
    pub fn of(last: &Generation) -> Self {
        let turns = last.turns();
        let (first, later) = turns.split_first().unwrap_or((&last, &[]));
        let first = Self {
            text: (*first).clone(),
            starts: vec![0],
        };
        later
            .iter()
            .fold(first, |joined, next| joined.followed_by(next))
    }

    /// Appends the answer of the next turn.
    #[must_use]
    pub fn followed_by(&self, next: &Generation) -> Self {
        let written_secs = self.text.steps.last().map_or(0.0, |step| step.time.at_secs);
        let mut steps: Steps = self.text.steps.clone();
        for step in &next.steps {
            steps.push(Step {
                time: StepTime {
                    at_secs: written_secs + step.time.at_secs,
                    ..step.time
                },
                ..step.clone()
            });
        }
        let mut starts = self.starts.clone();
        starts.push(self.text.steps.len());
        Self {
            text: Generation {
                steps,
                previous_turn: None,
                ..next.clone()
            },
            starts,
        }
    }

    /// Returns the index of a step of a turn in the joined text. `None` if there is no such step.
    pub fn index_of(&self, turn: usize, step: usize) -> Option<usize> {
        let start = self.starts.get(turn)?;
        let end = self.starts.get(turn + 1).copied();
        let index = start + step;
        (index < end.unwrap_or(self.text.steps.len())).then_some(index)
    }

    /// Returns the turn of a step of the joined text, and its index there.
    pub fn turn_at(&self, index: usize) -> Option<(usize, usize)> {
        self.text.steps.get(index)?;
        let turn = self
            .starts
            .partition_point(|start| *start <= index)
            .checked_sub(1)?;
        Some((turn, index - self.starts.get(turn)?))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::JoinedTurns;
    use crate::generation::Generation;
    use crate::generation::testing::answer_to;

    #[test]
    fn answers_are_joined_and_their_steps_found_again() {
        let answer = |pieces: &[(&str, f64)], before: Option<&Generation>| {
            answer_to("Hi", Vec::new(), pieces).following(before.cloned().map(Arc::new))
        };
        let first = answer(&[(" a", 0.5), (" b", 0.5)], None);
        let empty = answer(&[], Some(&first));
        let last = answer(&[(" c", 0.5), (" d", 0.5), (" e", 0.5)], Some(&empty));
        let joined = JoinedTurns::of(&last);
        assert_eq!(joined.text.text(), " a b c d e");
        assert_eq!(joined.starts, [0, 2, 2]);
        assert_eq!(joined.text.previous_turn, None);
        let times: Vec<f64> = joined
            .text
            .steps
            .iter()
            .map(|step| step.time.at_secs)
            .collect();
        assert!(times.is_sorted(), "{times:?}");
        let at = |turn: &Generation, step: usize| turn.steps.get(step).unwrap().time.at_secs;
        let expected = at(&first, 1) + at(&last, 2);
        assert!((times[4] - expected).abs() < 1e-12, "{times:?}");
        for (turn, text) in last.turns().into_iter().enumerate() {
            for step in 0..text.steps.len() {
                let index = joined.index_of(turn, step).unwrap();
                assert_eq!(joined.turn_at(index), Some((turn, step)));
            }
            assert_eq!(joined.index_of(turn, text.steps.len()), None);
        }
        assert_eq!((joined.index_of(3, 0), joined.turn_at(5)), (None, None));
    }
}
