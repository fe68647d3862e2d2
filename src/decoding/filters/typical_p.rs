//! Typical-p: keep the tokens that are about as surprising as one would expect.

use serde::{Deserialize, Serialize};

use crate::decoding::rules::TypicalRule;
use crate::decoding::{Candidate, Candidates, Rule, StageContext, TokenId};

/// Keeps candidates from the most typical on until their probabilities sum to `p`. How typical one
/// is, is how near its surprise −ln p comes to the entropy of all; so the most likely one may go.
/// 1 keeps everything, 0 keeps the most typical one.
///
/// Meister, Pimentel, Wiher, Cotterell 2022, "Locally Typical Sampling".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TypicalP {
    /// The share of the probability that must be held, 0 to 1.
    pub p: f32,
}

impl Rule for TypicalP {
    fn name(&self) -> &'static str {
        "Typical-p"
    }

    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let rule = context.rules.typical;
        let softmax = candidates.softmax();
        let by_likelihood = rule == TypicalRule::Passed && some_at_zero(candidates);
        let center = if by_likelihood {
            softmax.max_logit
        } else {
            (softmax.log_sum_exp - softmax.entropy_nats) as f32
        };
        let place = |logit: f32| (center - logit).abs();
        // In 32 bits, as the engines compare them, so that a sum exactly at the bar reaches it.
        let enough = |held: f64| match rule {
            TypicalRule::Passed => held as f32 > self.p,
            _ => held as f32 >= self.p,
        };
        let Some(last) = last_kept(candidates, place, enough) else {
            return;
        };
        let with_ties = rule == TypicalRule::ReachedWithTies;
        let stays = |candidate: Candidate| {
            let place = place(candidate.logit);
            place < last.0 || (place <= last.0 && (with_ties || candidate.token <= last.1))
        };
        // A little lower than the lowest that stays, so that rounding loses none.
        let bar = (center - last.0 * 1.001 - 0.001).max(f32::MIN);
        let kept = candidates.gather(bar, stays);
        let n_least = context.rules.min_keep as usize;
        if kept.len() < n_least {
            candidates.keep_these(&nearest(candidates, place, n_least));
        } else {
            candidates.keep_these(&kept);
        }
    }

    fn is_neutral(&self) -> bool {
        self.p >= 1.0
    }

    fn complaint(&self) -> Option<String> {
        (!(0.0..=1.0).contains(&self.p)).then(|| "Typical-p lies between 0 and 1".to_owned())
    }

    fn cuts(&self) -> bool {
        true
    }
}

/// Whether the probability of any candidate is 0 in the 32 bits in which llama.cpp has it: one that
/// is ruled out, or so far below the others that its share rounds to 0.
fn some_at_zero(candidates: &mut Candidates) -> bool {
    /// 2^-150 is half of the smallest share in 32 bits, and a half rounds to the even 0.
    const LN_ZERO: f64 = -150.0 * std::f64::consts::LN_2;
    let bar = candidates.softmax().log_sum_exp + LN_ZERO;
    candidates
        .iter()
        .any(|candidate| f64::from(candidate.logit) <= bar)
}

/// The place and the token with which the sum of probabilities, from the smallest place on and of
/// equals from the lowest id on, is enough; nothing where all of them are not.
fn last_kept(
    candidates: &mut Candidates,
    place: impl Fn(f32) -> f32 + Copy,
    enough: impl Fn(f64) -> bool,
) -> Option<(f32, TokenId)> {
    let softmax = candidates.softmax();
    let shelf = candidates.shelf(place, &enough)?;
    let mut members: Vec<_> = shelf
        .members
        .iter()
        .map(|member| (place(member.logit), member.token, member.logit))
        .collect();
    members.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut held = shelf.below;
    let crossing = members.iter().find(|(_, _, logit)| {
        held += softmax.prob(*logit);
        enough(held)
    });
    // Where rounding kept the sum of a shelf a hair above that of its parts, the last of it.
    let (place, token, _) = crossing.or(members.last())?;
    Some((*place, *token))
}

/// The `n` with the smallest places, in the order of their ids.
fn nearest(candidates: &Candidates, place: impl Fn(f32) -> f32, n: usize) -> Vec<Candidate> {
    let mut all: Vec<_> = candidates.iter().collect();
    all.sort_by(|a, b| place(a.logit).total_cmp(&place(b.logit)));
    all.truncate(n);
    all.sort_unstable_by_key(|candidate| candidate.token);
    all
}

impl std::fmt::Display for TypicalP {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "typical-p {}", self.p)
    }
}

#[cfg(test)]
mod tests {
    use super::TypicalP;
    use crate::decoding::rules::{Rules, TypicalRule};
    use crate::decoding::testing::{apply_with, check_filter, check_filter_with, logits_of};
    use crate::decoding::{Candidates, Filter};

    fn typical(p: f32) -> Filter {
        Filter::TypicalP(TypicalP { p })
    }

    #[test]
    fn the_most_typical_stay_even_where_the_best_goes() {
        let third = 1.0 / 3.0;
        for (p, probs, expected) in [
            (0.5, [0.97, 0.01, 0.01, 0.01], [1.0, 0.0, 0.0, 0.0]),
            (0.5, [0.4, 0.2, 0.2, 0.2], [0.0, third, third, third]),
            (0.0, [0.4, 0.2, 0.2, 0.2], [0.0, 1.0, 0.0, 0.0]),
            (1.0, [0.4, 0.2, 0.2, 0.2], [0.4, 0.2, 0.2, 0.2]),
            // Of equals the lowest ids stay, and a sum that is met is enough.
            (0.5, [0.25; 4], [0.5, 0.5, 0.0, 0.0]),
            (0.5, [0.0, 0.5, 0.5, 0.0], [0.0, 1.0, 0.0, 0.0]),
        ] {
            check_filter(&typical(p), &probs, &expected);
        }
    }

    #[test]
    fn a_sum_that_is_the_bar_reaches_it() {
        let mut expected = [0.0; 10];
        expected[..5].fill(0.2);
        check_filter(&typical(0.5), &[0.1; 10], &expected);
    }

    #[test]
    fn engines_stop_at_different_places() {
        let third = 1.0 / 3.0;
        for (rule, expected) in [
            (TypicalRule::Reached, [0.5, 0.5, 0.0, 0.0]),
            (TypicalRule::Passed, [third, third, third, 0.0]),
            (TypicalRule::ReachedWithTies, [0.25; 4]),
        ] {
            let rules = Rules {
                typical: rule,
                ..Rules::default()
            };
            check_filter_with(rules, &typical(0.5), &[0.25; 4], &expected);
        }
    }

    #[test]
    fn in_llama_cpp_an_impossible_candidate_turns_it_into_a_top_p() {
        let rules = Rules {
            typical: TypicalRule::Passed,
            ..Rules::default()
        };
        let probs = [0.4, 0.2, 0.2, 0.2, 0.0];
        let expected = [2.0 / 3.0, 1.0 / 3.0, 0.0, 0.0, 0.0];
        check_filter_with(rules, &typical(0.5), &probs, &expected);
    }

    #[test]
    fn in_llama_cpp_so_does_one_whose_probability_rounds_to_zero() {
        let rules = Rules {
            typical: TypicalRule::Passed,
            ..Rules::default()
        };
        // The best has 0.4: one that lies 102 nats below it still has a share in 32 bits.
        for (nats_below, expected) in [(102.0, &[1, 2, 3][..]), (110.0, &[0, 1])] {
            let mut logits = logits_of(&[0.4, 0.2, 0.2, 0.2]);
            logits.push(logits[0] - nats_below);
            let mut candidates = Candidates::from_logits(&logits).unwrap();
            apply_with(rules, &typical(0.5), &[], &mut candidates);
            let kept: Vec<u32> = candidates
                .iter()
                .map(|candidate| candidate.token.0)
                .collect();
            assert_eq!(kept, expected, "{nats_below}");
        }
    }
}
