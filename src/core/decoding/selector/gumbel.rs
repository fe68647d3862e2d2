//! Gumbel-max: a draw with one coin per token, from the same distribution as with one coin for all.

use pulp::{Simd, WithSimd};

use super::rule::{Memory, SelectorRule, Toss};
use super::{Candidates, Draw, Selector, SelectorSpec, Tosses, draw_without_coin, greedy};
use crate::decoding::candidates::BLOCK;
use crate::decoding::softmax::share_of_best;
use crate::decoding::{Candidate, TokenId};
use crate::kernels::arch;

/// How many of the most likely candidates are compared first. Those after them seldom win, and
/// those that cannot win need no logarithm.
const N_FAVORITES: usize = 64;

/// Draws with one coin per token.
pub(super) struct GumbelMax;

impl GumbelMax {
    pub(super) const SPEC: SelectorSpec = SelectorSpec {
        keys: &["gumbel", "gumbel-max"],
        name: "Gumbel-max",
        label: "Gumbel-max",
        help: "Tosses one coin per token and takes the best sum of logit and noise. The probabilities are \
               those of one coin, but panes that share a seed differ less.",
        formula: "argmax of logit − ln(−ln u), with a coin u for each token",
        edges: &[
            "A token’s coin depends only on the seed, the position and the token, so two settings that leave the same winner in play take the same token.",
            "No single coin decides, so none is recorded.",
        ],
        source: "Gumbel 1954, \"Statistical Theory of Extreme Values\"; as a way to draw: Maddison, Tarlow, \
                 Minka 2014, \"A* Sampling\", arXiv 1411.0030",
        params: &[],
        needs: &[],
        tosses: Tosses::OnePerCandidate,
        reweighs: false,
        engines: None,
        usual: Selector::GumbelMax,
    };
}

impl SelectorRule for GumbelMax {
    fn pick(&self, toss: Toss<'_>, _memory: &mut Memory, candidates: &mut Candidates) -> Draw {
        pick(|token| toss.coins.token(token), candidates)
    }
}

/// Takes the candidate with the largest `logit - ln(-ln u)`, where u is the token's own coin, and
/// among equals the most likely.
///
/// A coin depends on the seed, the position and the token only, so two settings that leave the same
/// winner in play take the same token. No single coin decides, so none is recorded.
///
/// Gumbel 1954, "Statistical Theory of Extreme Values"; Ravfogel, Svete, Snæbjarnarson, Cotterell
/// 2024, "Gumbel Counterfactual Generation From Language Models".
pub(super) fn pick(coin_of: impl Fn(TokenId) -> f64 + Copy, candidates: &mut Candidates) -> Draw {
    let softmax = candidates.softmax();
    let favorites = candidates.head(N_FAVORITES).to_vec();
    let Some(bar) = best_of(coin_of, &favorites).map(|(noisy, _)| noisy) else {
        return greedy(candidates);
    };
    let challengers = arch::widest().dispatch(Challenge {
        candidates,
        coin_of,
        bar: bar as f32,
    });
    let all: Vec<_> = favorites.into_iter().chain(challengers).collect();
    let Some((_, best)) = best_of(coin_of, &all) else {
        return greedy(candidates);
    };
    draw_without_coin(best, &softmax)
}

/// Returns the largest noisy logit and its candidate, the first among equals.
fn best_of(coin_of: impl Fn(TokenId) -> f64, candidates: &[Candidate]) -> Option<(f64, Candidate)> {
    let possible = candidates
        .iter()
        .filter(|candidate| candidate.logit > f32::NEG_INFINITY);
    let noisy = possible.map(|candidate| {
        let noise = -(-coin_of(candidate.token).ln()).ln();
        (f64::from(candidate.logit) + noise, *candidate)
    });
    noisy.reduce(|best, next| if next.0 > best.0 { next } else { best })
}

/// Finds all candidates whose noisy logit may reach `bar`, and some that do not. It is a type
/// rather than a closure because only code inlined into `with_simd` is compiled for the CPU's
/// instruction set.
///
/// `logit - ln(-ln u)` reaches the bar only if `1 - u` is at most `exp(logit - bar)`, because `-ln
/// u` is never less than `1 - u`.
struct Challenge<'a, C> {
    candidates: &'a Candidates,
    coin_of: C,
    bar: f32,
}

impl<C: Fn(TokenId) -> f64> WithSimd for Challenge<'_, C> {
    type Output = Vec<Candidate>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<Candidate> {
        let Self {
            candidates,
            coin_of,
            bar,
        } = self;
        // More than rounding can change the bar and the exponential.
        let margin = 1e-3 + bar.abs() * 1e-6;
        let mut found = Vec::new();
        for (first, logits) in candidates.blocks() {
            // Plain loops, because closures over arrays may not be inlined.
            let (mut tokens, mut reaches) = ([TokenId(0); BLOCK], [false; BLOCK]);
            for (offset, token) in tokens.iter_mut().enumerate() {
                *token = candidates.token_at(first + offset);
            }
            for ((slot, token), logit) in reaches.iter_mut().zip(&tokens).zip(logits) {
                let above = (1.0 - coin_of(*token)) as f32;
                *slot = above <= share_of_best((logit - bar + margin).min(0.0));
            }
            if reaches.contains(&true) {
                let block = reaches.iter().zip(&tokens).zip(logits);
                let reaching = block.filter(|((reaches, _), _)| **reaches);
                found.extend(reaching.map(|((_, &token), &logit)| Candidate { token, logit }));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::pick;
    use crate::decoding::testing::logits_of;
    use crate::decoding::{Candidates, Coins};

    #[test]
    fn a_small_change_of_settings_seldom_changes_the_token() {
        let (before, after) = ([0.30, 0.25, 0.25, 0.20], [0.32, 0.26, 0.24, 0.18]);
        let token = |probs: &[f32], position| {
            let coins = Coins { seed: 5, position };
            let mut candidates = Candidates::from_logits(&logits_of(probs)).unwrap();
            pick(|token| coins.token(token), &mut candidates).token
        };
        let n_changed = (0..10_000)
            .filter(|position| token(&before, *position) != token(&after, *position))
            .count();
        // The two differ by 0.03 in total variation; no coupling changes fewer than 300.
        assert!((200..600).contains(&n_changed), "{n_changed}");
    }
}
