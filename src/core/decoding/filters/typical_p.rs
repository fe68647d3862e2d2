//! Typical-p: keep the tokens that are about as surprising as expected.

use serde::{Deserialize, Serialize};

use crate::decoding::candidates::{RunningSum, SUM_ROUNDING};
use crate::decoding::dialect::Dialect;
use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::{FilterSpec, Ranking};
use crate::decoding::rules::TypicalRule;
use crate::decoding::setting::{ParamSpec, field};
use crate::decoding::{Candidate, Candidates, Filter, FilterKind, StageContext, TokenId};

/// Up to this many candidates are sorted and summed as the engines do; beyond that, buckets are
/// faster.
const N_SORTED: usize = 256;

/// Keeps the most typical candidates until their probabilities sum to `p`. The closer a candidate's
/// surprise −ln p is to the entropy, the more typical it is, so the most likely one can be dropped.
/// 1 keeps everything, 0 keeps only the most typical one.
///
/// Meister, Pimentel, Wiher, Cotterell 2022, "Locally Typical Sampling".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TypicalP {
    /// The probability that the candidates kept must hold, 0 to 1.
    pub p: f32,
}

impl TypicalP {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["typical-p", "typical", "typ-p"],
        chip: "typical-p",
        name: "Typical-p",
        summary: "Keeps typical tokens",
        help: "Keeps the tokens whose surprise is closest to the entropy, the expected surprise, \
               until their probabilities add up to this value.",
        formula: "keep tokens, the smallest |−ln p − H| first, until Σ p ≥ P",
        edges: &[
            "The most likely token can be dropped: if the model is unsure, it is less surprising than expected.",
            "In llama.cpp, a sum that equals the value needs one more token, and if a token was banned before it, the most likely tokens stay instead of the most typical.",
            "In transformers, all tokens as typical as the last one stay too.",
        ],
        example: Some(|| Filter::TypicalP(Self { p: 0.5 })),
        source: "Meister, Pimentel, Wiher, Cotterell 2022, \"Locally Typical Sampling\", arXiv \
                 2202.00666",
        ranking: Ranking::KeepsOrder,
        params: &[ParamSpec {
            neutral: Some(1.0),
            usual: 0.9..=0.9,
            ..ParamSpec::new(field!(Real, Filter::TypicalP.p))
        }],
        tool_keys: &[(
            &[Dialect::LlamaCpp, Dialect::Ollama, Dialect::Transformers],
            &["typical_p"],
        )],
        llama_samplers: &["typ_p", "typical_p", "typical", "typ", "y"],
        ..FilterSpec::new(FilterKind::TypicalP, || Filter::TypicalP(Self { p: 0.9 }))
    };
}

impl FilterRule for TypicalP {
    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let rule = context.rules.typical;
        let softmax = candidates.softmax();
        let by_likelihood = rule == TypicalRule::Passed && any_prob_is_zero(candidates);
        let center = if by_likelihood {
            softmax.max_logit
        } else {
            (softmax.log_sum_exp - softmax.entropy_nats) as f32
        };
        let distance = |logit: f32| (center - logit).abs();
        let p = f64::from(self.p);
        // A sum that equals `p` but for rounding reaches it, and does not pass it.
        let enough = |sum: f64, rounding: f64| match rule {
            TypicalRule::Passed => sum * (1.0 - rounding) > p,
            _ => sum * (1.0 + rounding) >= p,
        };
        let Some(last) = last_kept(candidates, distance, enough) else {
            return;
        };
        let with_ties = rule == TypicalRule::ReachedWithTies;
        let stays = |candidate: Candidate| {
            let distance = distance(candidate.logit);
            distance < last.0 || (distance <= last.0 && (with_ties || candidate.token <= last.1))
        };
        // Slightly below the lowest logit that stays, so that rounding loses none.
        let threshold = (center - last.0 * 1.001 - 0.001).max(f32::MIN);
        let kept = candidates.gather(threshold, stays);
        let min_keep = context.rules.min_keep as usize;
        if kept.len() < min_keep {
            candidates.keep_these(&nearest(candidates, distance, min_keep));
        } else {
            candidates.keep_these(&kept);
        }
    }

    fn is_neutral(&self) -> bool {
        self.p >= 1.0
    }
}

/// Whether the probability of any candidate is 0 in llama.cpp's 32 bits: it is ruled out, or so far
/// below the others that its probability rounds to 0.
fn any_prob_is_zero(candidates: &mut Candidates) -> bool {
    /// 2^-150 is half of the smallest positive f32, and a tie rounds to even, here to 0.
    const LN_ZERO: f64 = -150.0 * std::f64::consts::LN_2;
    let threshold = candidates.softmax().log_sum_exp + LN_ZERO;
    candidates
        .iter()
        .any(|candidate| f64::from(candidate.logit) <= threshold)
}

/// Returns the distance and the token at which the cumulative probability is enough, or `None` if
/// it never is. The sum runs from the smallest distance, and among equals from the lowest id. Short
/// sums are rounded as in [`Candidates::reaching`]; `enough` is passed the sum and its relative
/// rounding error.
fn last_kept(
    candidates: &mut Candidates,
    distance: impl Fn(f32) -> f32 + Copy,
    enough: impl Fn(f64, f64) -> bool,
) -> Option<(f32, TokenId)> {
    let softmax = candidates.softmax();
    if candidates.n_kept() <= N_SORTED {
        let mut all: Vec<Candidate> = candidates.iter().collect();
        // The sort is stable, so equals stay ordered by id.
        all.sort_by(|a, b| distance(a.logit).total_cmp(&distance(b.logit)));
        let mut sum = 0_f32;
        let last = all.iter().find(|candidate| {
            sum += softmax.prob(candidate.logit) as f32;
            enough(sum.into(), 0.0)
        })?;
        return Some((distance(last.logit), last.token));
    }
    let enough = |sum: f64| enough(sum, SUM_ROUNDING);
    let bucket = candidates.bucket(distance, enough)?;
    let mut members: Vec<_> = bucket
        .members
        .iter()
        .map(|member| (distance(member.logit), member.token, member.logit))
        .collect();
    members.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut sum = RunningSum::from(bucket.below);
    let crossing = members
        .iter()
        .find(|(_, _, logit)| enough(sum.add(softmax.prob(*logit))));
    // Rounding can leave the sum of a bucket slightly above the sum of its members.
    let (distance, token, _) = crossing.or(members.last())?;
    Some((*distance, *token))
}

/// Returns the `n` candidates with the smallest distances, ordered by id.
fn nearest(candidates: &Candidates, distance: impl Fn(f32) -> f32, n: usize) -> Vec<Candidate> {
    let mut all: Vec<_> = candidates.iter().collect();
    all.sort_by(|a, b| distance(a.logit).total_cmp(&distance(b.logit)));
    all.truncate(n);
    all.sort_unstable_by_key(|candidate| candidate.token);
    all
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
    fn the_most_typical_stay_even_if_the_most_likely_goes() {
        let third = 1.0 / 3.0;
        for (p, probs, expected) in [
            (0.5, [0.97, 0.01, 0.01, 0.01], [1.0, 0.0, 0.0, 0.0]),
            (0.5, [0.4, 0.2, 0.2, 0.2], [0.0, third, third, third]),
            (0.0, [0.4, 0.2, 0.2, 0.2], [0.0, 1.0, 0.0, 0.0]),
            (1.0, [0.4, 0.2, 0.2, 0.2], [0.4, 0.2, 0.2, 0.2]),
            // Among equals the lowest ids stay, and a sum of exactly p is enough.
            (0.5, [0.25; 4], [0.5, 0.5, 0.0, 0.0]),
            (0.5, [0.0, 0.5, 0.5, 0.0], [0.0, 1.0, 0.0, 0.0]),
        ] {
            check_filter(&typical(p), &probs, &expected);
        }
    }

    #[test]
    fn a_sum_that_equals_p_reaches_it() {
        let mut expected = [0.0; 10];
        expected[..5].fill(0.2);
        check_filter(&typical(0.5), &[0.1; 10], &expected);
    }

    #[test]
    fn sums_agree_with_exact_arithmetic_where_the_engines_do() {
        for (p, n, n_kept) in [
            (0.3, 1000, 301),
            (0.5, 1000, 500),
            (0.8, 60, 49),
            (0.5, 200_000, 100_000),
        ] {
            let mut expected = vec![0.0; n];
            expected[..n_kept].fill(1.0 / n_kept as f32);
            check_filter(&typical(p), &vec![1.0 / n as f32; n], &expected);
        }
    }

    #[test]
    fn engines_stop_at_different_candidates() {
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
    fn in_llama_cpp_a_banned_token_turns_it_into_top_p() {
        let rules = Rules {
            typical: TypicalRule::Passed,
            ..Rules::default()
        };
        let probs = [0.4, 0.2, 0.2, 0.2, 0.0];
        let expected = [2.0 / 3.0, 1.0 / 3.0, 0.0, 0.0, 0.0];
        check_filter_with(rules, &typical(0.5), &probs, &expected);
    }

    #[test]
    fn in_llama_cpp_a_probability_that_rounds_to_zero_turns_it_into_top_p() {
        let rules = Rules {
            typical: TypicalRule::Passed,
            ..Rules::default()
        };
        // The best has 0.4; 102 nats below it, a probability is still positive in 32 bits.
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
