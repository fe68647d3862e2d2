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
        let some_impossible = softmax.n_possible < candidates.n_kept();
        let by_likelihood = rule == TypicalRule::Passed && some_impossible;
        let typical_surprise = softmax.log_sum_exp - softmax.entropy_nats;
        let place = |logit: f32| {
            if by_likelihood {
                softmax.max_logit - logit
            } else {
                (typical_surprise - f64::from(logit)).abs() as f32
            }
        };
        let candidate = |entry: u64| Candidate {
            token: TokenId(entry as u32),
            logit: candidates
                .logit(TokenId(entry as u32))
                .unwrap_or(f32::NEG_INFINITY),
        };
        // No place is below zero, so its bits grow with it; of equals the lowest ids come first.
        let mut order: Vec<u64> = candidates
            .iter()
            .map(|candidate| {
                u64::from(place(candidate.logit).to_bits()) << 32 | u64::from(candidate.token.0)
            })
            .collect();
        let n_kept = n_in_order(&mut order, |held: f64, entry| {
            let held = held + softmax.prob(candidate(entry).logit);
            let enough = match rule {
                TypicalRule::Passed => held > f64::from(self.p),
                _ => held >= f64::from(self.p),
            };
            (held, enough)
        });
        let n_kept = n_kept.max(context.rules.min_keep as usize).min(order.len());
        let Some(&last) = order.get(n_kept.saturating_sub(1)) else {
            return;
        };
        let with_ties = rule == TypicalRule::ReachedWithTies;
        let mut kept: Vec<Candidate> = order
            .iter()
            .enumerate()
            .filter(|(rank, entry)| *rank < n_kept || (with_ties && *entry >> 32 <= last >> 32))
            .map(|(_, entry)| candidate(*entry))
            .collect();
        kept.sort_unstable_by_key(|candidate| candidate.token);
        candidates.keep_these(&kept);
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

/// Sorts as much of the beginning as it takes until `add` says that it is enough, and gives the
/// number of entries up to there; all of them where it is never enough.
fn n_in_order(order: &mut [u64], mut add: impl FnMut(f64, u64) -> (f64, bool)) -> usize {
    let (mut sum, mut start, mut n_asked) = (0.0, 0, 256);
    while let Some(rest) = order.get_mut(start..).filter(|rest| !rest.is_empty()) {
        let n = n_asked.min(rest.len());
        if n < rest.len() {
            rest.select_nth_unstable(n);
        }
        let Some(next) = rest.get_mut(..n) else { break };
        next.sort_unstable();
        for (rank, entry) in (start + 1..).zip(next.iter()) {
            let (more, enough) = add(sum, *entry);
            sum = more;
            if enough {
                return rank;
            }
        }
        start += n;
        n_asked *= 4;
    }
    order.len()
}

impl std::fmt::Display for TypicalP {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "typical-p {}", self.p)
    }
}

#[cfg(test)]
mod tests {
    use super::TypicalP;
    use crate::decoding::Filter;
    use crate::decoding::rules::{Rules, TypicalRule};
    use crate::decoding::testing::{check_filter, check_filter_with};

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
}
