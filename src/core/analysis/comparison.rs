//! How far apart two texts that continue the same prompt are.

use std::collections::HashMap;

use crate::decoding::{Evidence, TokenId, Trace};
use crate::generation::Generation;

/// How far from 1 rounding may leave a sum of recorded probabilities.
const ROUNDING: f64 = 1e-6;

/// The comparison of two texts.
#[derive(Debug, Clone, PartialEq)]
pub struct TextComparison {
    /// The length of the common prefix, in tokens.
    pub n_shared: usize,
    /// The first step at which both have a token and the tokens differ, or `None` if one text is a
    /// prefix of the other.
    pub fork: Option<ForkComparison>,
    /// The fewest tokens to insert, delete or replace to turn one text into the other.
    pub n_edits: usize,
}

/// How far apart the distributions at the fork are.
#[derive(Debug, Clone, PartialEq)]
pub struct ForkComparison {
    /// The index of the step.
    pub step: usize,
    /// The divergence of the model's distributions.
    pub before: JensenShannon,
    /// The divergence of the distributions from which the tokens were picked.
    pub after: JensenShannon,
    /// The probabilities of the most likely tokens after each chain, sorted by the larger of the
    /// two; 0 if the chain filtered the token out.
    pub rows: Vec<(TokenId, [f64; 2])>,
}

/// A Jensen-Shannon divergence, from 0 (equal) to 1 bit (no token in common).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JensenShannon {
    pub bits: f64,
    /// Whether it is exact. Otherwise it is a lower bound, because tokens that were not recorded
    /// count as a single one.
    pub exact: bool,
}

impl TextComparison {
    /// Compares two texts. Returns `None` if their prompts or models differ.
    pub fn of(a: &Generation, b: &Generation) -> Option<Self> {
        if !a.shares_prompt_with(b) {
            return None;
        }
        let [tokens_a, tokens_b] = [a, b].map(|text| {
            let tokens = text.steps.iter().map(|step| step.token);
            tokens.collect::<Vec<TokenId>>()
        });
        let pairs = tokens_a.iter().zip(&tokens_b);
        let n_shared = pairs.take_while(|(a, b)| a == b).count();
        let same_settings = a.config.chain == b.config.chain && a.config.seed == b.config.seed;
        let fork = a.steps.get(n_shared).zip(b.steps.get(n_shared));
        let fork =
            fork.map(|(a, b)| ForkComparison::of(n_shared, &a.trace, &b.trace, same_settings));
        let rest = |tokens: &[TokenId]| tokens.get(n_shared..).unwrap_or_default().to_vec();
        Some(Self {
            n_shared,
            fork,
            n_edits: edit_distance(&rest(&tokens_a), &rest(&tokens_b)),
        })
    }
}

impl ForkComparison {
    /// Compares two steps. `same_settings` says whether both texts have the same chain and seed.
    fn of(step: usize, a: &Trace, b: &Trace, same_settings: bool) -> Self {
        let same_before = a.raw == b.raw;
        let before = if same_before {
            JensenShannon::ZERO
        } else {
            JensenShannon::of(&known_pairs(&raw_probs(&a.raw), &raw_probs(&b.raw)))
        };
        let mut rows = known_pairs(&final_probs(a), &final_probs(b));
        let same_after = same_before
            && same_settings
            && rows.iter().all(|(_, [a, b])| (a - b).abs() <= ROUNDING);
        let after = if same_after {
            // Tokens that were not recorded have the same probability, too.
            JensenShannon::ZERO
        } else {
            JensenShannon::of(&rows)
        };
        let is_known = [a, b]
            .iter()
            .all(|trace| trace.known_final_prob().is_some());
        let after = JensenShannon {
            exact: after.exact && is_known,
            ..after
        };
        let larger = |probs: &[f64; 2]| probs.iter().copied().fold(0.0, f64::max);
        rows.sort_by(|(_, a), (_, b)| larger(b).total_cmp(&larger(a)));
        rows.retain(|(_, probs)| larger(probs) > 0.0);
        Self {
            step,
            before,
            after,
            rows,
        }
    }
}

fn raw_probs(evidence: &Evidence) -> Vec<(TokenId, f64)> {
    let head = evidence.head.iter();
    head.map(|known| (known.token, known.prob)).collect()
}

/// The final probabilities of the tokens of the head, and of the picked token.
fn final_probs(trace: &Trace) -> Vec<(TokenId, f64)> {
    let head = trace.raw.head.iter().enumerate();
    let mut probs: Vec<(TokenId, f64)> = head
        .map(|(index, known)| (known.token, trace.head_final_prob(index).unwrap_or(0.0)))
        .collect();
    if probs.iter().all(|(token, _)| *token != trace.draw.token) {
        probs.push((trace.draw.token, trace.draw.prob));
    }
    probs
}

/// Pairs the probabilities of the tokens that are known in both distributions. A distribution that
/// is known in full assigns 0 to every other token.
fn known_pairs(a: &[(TokenId, f64)], b: &[(TokenId, f64)]) -> Vec<(TokenId, [f64; 2])> {
    let is_full = |probs: &[(TokenId, f64)]| {
        let sum: f64 = probs.iter().map(|(_, prob)| prob).sum();
        sum >= 1.0 - ROUNDING
    };
    let prob = |probs: &[(TokenId, f64)], token: TokenId| {
        let known = probs.iter().find(|(known, _)| *known == token);
        known
            .map(|(_, prob)| *prob)
            .or_else(|| is_full(probs).then_some(0.0))
    };
    let tokens = a.iter().chain(b.iter().filter(|(token, _)| {
        let mut known = a.iter();
        known.all(|(other, _)| other != token)
    }));
    tokens
        .filter_map(|(token, _)| Some((*token, [prob(a, *token)?, prob(b, *token)?])))
        .collect()
}

impl JensenShannon {
    /// The divergence of a distribution from itself.
    const ZERO: Self = Self {
        bits: 0.0,
        exact: true,
    };

    /// Computes the divergence of two distributions from the tokens that are known in both; all
    /// others count as a single token, which can only lower it.
    ///
    /// Lin 1991, "Divergence Measures Based on the Shannon Entropy".
    fn of(pairs: &[(TokenId, [f64; 2])]) -> Self {
        let sums = pairs.iter().fold([0.0, 0.0], |[a, b], (_, probs)| {
            [a + probs[0], b + probs[1]]
        });
        let rest = sums.map(|sum: f64| (1.0 - sum).max(0.0));
        let half = |p: f64, q: f64| {
            if p > 0.0 {
                0.5 * p * (2.0 * p / (p + q)).log2()
            } else {
                0.0
            }
        };
        let term = |[p, q]: [f64; 2]| half(p, q) + half(q, p);
        let known: f64 = pairs.iter().map(|(_, probs)| term(*probs)).sum();
        Self {
            bits: (known + term(rest)).clamp(0.0, 1.0),
            // If one of them has no rest, merging the other's changes nothing.
            exact: rest.iter().any(|rest| *rest <= ROUNDING),
        }
    }
}

/// Returns the Levenshtein distance between two texts, computed 64 tokens at a time.
///
/// Myers 1999, "A Fast Bit-Vector Algorithm for Approximate String Matching Based on Dynamic
/// Programming"; in blocks: Hyyrö 2003, "A Bit-Vector Algorithm for Computing Levenshtein and
/// Damerau Edit Distances".
fn edit_distance(a: &[TokenId], b: &[TokenId]) -> usize {
    if a.is_empty() || b.is_empty() {
        return a.len().max(b.len());
    }
    let n_blocks = a.len().div_ceil(64);
    let mut places: HashMap<TokenId, Vec<u64>> = HashMap::new();
    for (at, token) in a.iter().enumerate() {
        let bits = places.entry(*token).or_insert_with(|| vec![0; n_blocks]);
        if let Some(block) = bits.get_mut(at / 64) {
            *block |= 1 << (at % 64);
        }
    }
    let nowhere = vec![0; n_blocks];
    let last_bit = 1_u64 << ((a.len() - 1) % 64);
    // The vertical differences between neighboring cells, as bits for +1 and for −1.
    let mut columns = vec![(u64::MAX, 0_u64); n_blocks];
    let mut distance = a.len();
    for token in b {
        let equal = places.get(token).unwrap_or(&nowhere);
        let (mut plus_carry, mut minus_carry) = (1, 0);
        for (index, ((plus, minus), equal)) in columns.iter_mut().zip(equal).enumerate() {
            let x = equal | minus_carry;
            let diagonal = ((x & *plus).wrapping_add(*plus) ^ *plus) | x | *minus;
            let up = *minus | !(diagonal | *plus);
            let down = diagonal & *plus;
            if index + 1 == n_blocks {
                distance += usize::from(up & last_bit != 0);
                distance -= usize::from(down & last_bit != 0);
            }
            let (shifted_up, shifted_down) = (up << 1 | plus_carry, down << 1 | minus_carry);
            (plus_carry, minus_carry) = (up >> 63, down >> 63);
            *plus = shifted_down | !(diagonal | shifted_up);
            *minus = shifted_up & diagonal;
        }
    }
    distance
}

#[cfg(test)]
mod tests {
    use super::{TextComparison, edit_distance};
    use crate::decoding::TokenId;
    use crate::generation::Generation;
    use crate::generation::testing::generation;

    /// The distance by the textbook recurrence: Wagner, Fischer 1974.
    fn textbook_distance(a: &[TokenId], b: &[TokenId]) -> usize {
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (i, x) in a.iter().enumerate() {
            let mut diagonal = row[0];
            row[0] = i + 1;
            for (j, y) in b.iter().enumerate() {
                let replaced = diagonal + usize::from(x != y);
                diagonal = row[j + 1];
                row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
            }
        }
        row[b.len()]
    }

    #[test]
    fn the_distance_matches_the_textbook_recurrence() {
        let mut state = 11_u32;
        let mut random = |n: usize| -> Vec<TokenId> {
            let token = |_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                TokenId(state >> 29)
            };
            (0..n).map(token).collect()
        };
        for n in [0, 1, 5, 63, 64, 65, 128, 200] {
            for m in [0, 3, 64, 130, 190] {
                let (a, b) = (random(n), random(m));
                assert_eq!(edit_distance(&a, &b), textbook_distance(&a, &b), "{n}, {m}");
            }
        }
    }

    fn compare(a: &Generation, b: &Generation) -> TextComparison {
        TextComparison::of(a, b).unwrap()
    }

    #[test]
    fn texts_are_compared_from_their_fork() {
        let ours = generation(&[(" a", 0.5), (" fox", 0.5), (".", 0.5)]);
        let theirs = generation(&[(" a", 0.5), (" house", 0.5), (".", 0.5)]);
        let both = compare(&ours, &theirs);
        assert_eq!((both.n_shared, both.n_edits), (1, 1));
        assert_eq!(both.fork.map(|fork| fork.step), Some(1));
        let same = compare(&ours, &ours);
        assert_eq!((same.n_shared, same.n_edits, same.fork), (3, 0, None));
        let mut other_prompt = theirs;
        let prompt = crate::generation::PromptRecord {
            tokens: vec![TokenId(9)],
            ..(*other_prompt.prompt).clone()
        };
        other_prompt.prompt = std::sync::Arc::new(prompt);
        assert_eq!(TextComparison::of(&ours, &other_prompt), None);
    }

    #[test]
    fn a_token_picked_by_hand_comes_from_the_same_distribution() {
        let ours = generation(&[(" fox", 0.5)]);
        let mut theirs = ours.clone();
        let trace = std::sync::Arc::make_mut(&mut theirs.steps[0].trace);
        let head = trace.raw.head.iter().map(|known| known.token);
        let token = head.into_iter().find(|token| *token != trace.draw.token);
        trace.draw.token = token.unwrap();
        theirs.steps[0].token = token.unwrap();
        let fork = compare(&ours, &theirs).fork.unwrap();
        assert!(fork.after.exact && fork.after.bits.abs() < 1e-12);
    }

    #[test]
    fn the_divergence_at_the_fork_compares_both_distributions() {
        let mut ours = generation(&[(" fox", 0.5)]);
        let mut theirs = generation(&[(" house", 0.5)]);
        // The same model after the same text, so the same distribution before the chain.
        std::sync::Arc::make_mut(&mut theirs.steps[0].trace).raw = ours.steps[0].trace.raw.clone();
        let n = ours.steps[0].trace.raw.head.len();
        let only = |place: usize| {
            let probs = (0..n).map(|index| (index == place).then_some(1.0));
            probs.collect::<Vec<Option<f64>>>()
        };
        let head = ours.steps[0].trace.raw.head.clone();
        std::sync::Arc::make_mut(&mut ours.steps[0].trace).head_final_probs = only(0);
        std::sync::Arc::make_mut(&mut ours.steps[0].trace)
            .draw
            .token = head[0].token;
        std::sync::Arc::make_mut(&mut theirs.steps[0].trace).head_final_probs = only(1);
        std::sync::Arc::make_mut(&mut theirs.steps[0].trace)
            .draw
            .token = head[1].token;
        let fork = compare(&ours, &theirs).fork.unwrap();
        assert!(fork.before.exact && fork.before.bits.abs() < 1e-12);
        // No token in common: 1 bit.
        assert!(fork.after.exact && (fork.after.bits - 1.0).abs() < 1e-9);
        assert_eq!(fork.rows.len(), 2);
        assert!((fork.rows[0].1[0] - 1.0).abs() < 1e-9);

        // An even split between two tokens against one of them: 1 − (3/4) log2(3) + ... = 0.3113
        // bits.
        let mut halves = only(0);
        halves[0] = Some(0.5);
        halves[1] = Some(0.5);
        std::sync::Arc::make_mut(&mut theirs.steps[0].trace).head_final_probs = halves;
        let fork = compare(&ours, &theirs).fork.unwrap();
        assert!((fork.after.bits - 0.311_278).abs() < 1e-5);
    }
}
