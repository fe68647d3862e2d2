//! Compares a recorded text with the same text generated again.

use super::plan::given;
use crate::decoding::{Evidence, TokenId};
use crate::generation::{Generation, Step};

/// How a text compares with its replay.
#[derive(Debug, Clone, PartialEq)]
pub struct TextReplay {
    /// The largest logit difference at each step, up to the first different token.
    pub gaps: Vec<f32>,
    /// `None` if all tokens are the same.
    pub first_difference: Option<Difference>,
    /// Whether all recorded numbers are bit-identical.
    pub is_identical: bool,
}

/// The first step at which two texts have different tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The index of the step, from 0.
    pub step: usize,
    /// `None` if the text had ended.
    pub then: Option<TokenId>,
    /// `None` if the text has ended.
    pub now: Option<TokenId>,
    /// How far apart the logits of the two tokens were in the recorded text, if both are recorded.
    pub logit_gap: Option<f32>,
}

impl TextReplay {
    /// Compares a recorded text with its replay, which may still be running: a replay without a
    /// finish reason is compared as far as it goes.
    pub fn of(then: &Generation, now: &Generation) -> Self {
        let n_given = given(then).len();
        let mut replay = Self {
            gaps: Vec::new(),
            first_difference: None,
            is_identical: true,
        };
        let n_steps = match now.finish {
            Some(_) => then.steps.len().max(now.steps.len()),
            None => now.steps.len().min(then.steps.len()),
        };
        for index in 0..n_steps {
            let steps = (then.steps.get(index), now.steps.get(index));
            if let (Some(then), Some(now)) = steps {
                replay.gaps.push(largest_gap(then, now));
                replay.is_identical &= is_identical(then, now, index < n_given);
            }
            let token = |step: Option<&Step>| step.map(|step| step.token);
            let (token_then, token_now) = (token(steps.0), token(steps.1));
            if token_then != token_now {
                replay.is_identical = false;
                replay.first_difference = Some(Difference {
                    step: index,
                    then: token_then,
                    now: token_now,
                    logit_gap: logit_gap(steps.0, token_then, token_now),
                });
                break;
            }
        }
        replay
    }

    /// Returns the largest logit difference of all steps.
    pub fn largest_gap(&self) -> f32 {
        self.gaps.iter().copied().fold(0.0, f32::max)
    }
}

/// Returns the largest difference between logits that both steps recorded.
fn largest_gap(then: &Step, now: &Step) -> f32 {
    let (then, now) = (&then.trace.raw, &now.trace.raw);
    let gap = |(place, candidate): (usize, &crate::decoding::RankedCandidate)| {
        let in_place = now.head.get(place);
        let in_place = in_place.filter(|other| other.token == candidate.token);
        let other = in_place.map(|other| other.logit);
        let other = other.or_else(|| logit(now, candidate.token))?;
        Some((candidate.logit - other).abs())
    };
    let gaps = then.head.iter().enumerate().filter_map(gap);
    gaps.filter(|gap| gap.is_finite()).fold(0.0, f32::max)
}

/// Returns whether both steps recorded the same numbers. The draw of a token that is given again is
/// ignored.
fn is_identical(then: &Step, now: &Step, is_given: bool) -> bool {
    let same_draft = then.draft == now.draft;
    let (then, now) = (&then.trace, &now.trace);
    let (a, b) = (&then.raw, &now.raw);
    let same_distribution = a.head == b.head
        && a.log_sum_exp.to_bits() == b.log_sum_exp.to_bits()
        && a.entropy_nats.to_bits() == b.entropy_nats.to_bits()
        && a.n_candidates == b.n_candidates
        && then.raw_rank == now.raw_rank
        && then.raw_prob.to_bits() == now.raw_prob.to_bits();
    let same_choice = || {
        then.draw == now.draw
            && then.survivors == now.survivors
            && then.head_final_probs == now.head_final_probs
            && then.selector_state == now.selector_state
            && then.grammar == now.grammar
    };
    let same_stages = then.stages == now.stages && then.mixture == now.mixture;
    same_distribution && (is_given || same_stages && same_choice() && same_draft)
}

fn logit_gap(step: Option<&Step>, then: Option<TokenId>, now: Option<TokenId>) -> Option<f32> {
    let raw = &step?.trace.raw;
    Some((logit(raw, then?)? - logit(raw, now?)?).abs())
}

fn logit(raw: &Evidence, token: TokenId) -> Option<f32> {
    let mut head = raw.head.iter();
    let found = head.find(|candidate| candidate.token == token);
    found.map(|candidate| candidate.logit)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Difference, TextReplay};
    use crate::generation::testing::generation;

    #[test]
    fn a_text_is_identical_to_itself() {
        let text = generation(&[(" the", 0.5), (" fox", 0.2)]);
        let replay = TextReplay::of(&text, &text);
        assert!(replay.is_identical);
        assert_eq!(replay.gaps, [0.0, 0.0]);
        assert_eq!(replay.first_difference, None);
    }

    #[test]
    fn a_changed_logit_is_measured_and_a_changed_token_ends_the_comparison() {
        let then = generation(&[(" the", 0.5), (" fox", 0.2), (" house", 0.1)]);
        let mut now = then.clone();
        Arc::make_mut(&mut now.steps[0].trace).raw.head[1].logit += 0.25;
        let replay = TextReplay::of(&then, &now);
        assert!(!replay.is_identical && replay.first_difference.is_none());
        assert!((replay.largest_gap() - 0.25).abs() < 1e-6);

        let other = generation(&[(" the", 0.5), (" a", 0.2), (" house", 0.1)]);
        let replay = TextReplay::of(&then, &other);
        let Some(Difference {
            step, logit_gap, ..
        }) = replay.first_difference
        else {
            panic!("the second token differs");
        };
        assert_eq!((step, replay.gaps.len()), (1, 2));
        assert!(logit_gap.is_some());
    }

    #[test]
    fn a_text_that_ends_early_differs_where_it_ends_unless_it_is_still_running() {
        let then = generation(&[(" the", 0.5), (" fox", 0.2)]);
        let mut now = then.clone();
        now.steps.pop();
        let found = TextReplay::of(&then, &now).first_difference.unwrap();
        assert_eq!((found.step, found.now, found.logit_gap), (1, None, None));
        now.finish = None;
        assert_eq!(TextReplay::of(&then, &now).first_difference, None);
    }
}
