//! Helpers for the tests of filters and selectors.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a helper that fails fails the test that called it"
)]

use super::{
    Candidates, Coins, Draw, Filter, History, Rules, Selector, SelectorState, StageContext, TokenId,
};

/// Returns logits whose softmax is this distribution.
pub fn logits_of(probs: &[f32]) -> Vec<f32> {
    probs.iter().map(|prob| prob.ln()).collect()
}

/// Returns 400 logits shaped like a language model's: a few far above the others.
pub fn row(seed: u32, spread: f32) -> Vec<f32> {
    let uniform = |i: u32| (i.wrapping_mul(2_654_435_761) ^ seed).wrapping_mul(2_246_822_519);
    let uniform = |i: u32| (uniform(i) >> 8) as f32 / 16_777_216.0;
    (0..400)
        .map(|i| -(uniform(i) * 400.0 + 1.0).ln() * spread)
        .collect()
}

/// Turns numbers into token ids.
pub fn token_ids(ids: &[u32]) -> Vec<TokenId> {
    ids.iter().copied().map(TokenId).collect()
}

/// Applies a filter after a history without a prompt, under Quartet's rules.
pub fn apply(filter: &Filter, history: &[TokenId], candidates: &mut Candidates) {
    apply_with(Rules::default(), filter, history, candidates);
}

/// Applies a filter under the rules of another engine.
pub fn apply_with(rules: Rules, filter: &Filter, history: &[TokenId], candidates: &mut Candidates) {
    let context = StageContext {
        history: History::new(history, 0),
        coins: Coins {
            seed: 0,
            position: 0,
        },
        n_chance_before: 0,
        rules,
        n_vocab: candidates.n_kept() as u32,
    };
    filter.apply(context, candidates);
}

/// Checks that a filter turns one distribution into the other. Both list the probability of every
/// token by id, 0 if it was filtered out.
#[track_caller]
pub fn check_filter(filter: &Filter, probs_in: &[f32], probs_expected: &[f32]) {
    check_filter_after(filter, &[], probs_in, probs_expected);
}

/// Checks a filter under the rules of another engine.
#[track_caller]
pub fn check_filter_with(rules: Rules, filter: &Filter, probs_in: &[f32], probs_expected: &[f32]) {
    let mut candidates = Candidates::from_logits(&logits_of(probs_in)).unwrap();
    apply_with(rules, filter, &[], &mut candidates);
    check_probs(filter, candidates, probs_in, probs_expected);
}

/// Checks a filter after some tokens.
#[track_caller]
pub fn check_filter_after(
    filter: &Filter,
    history: &[u32],
    probs_in: &[f32],
    probs_expected: &[f32],
) {
    let mut candidates = Candidates::from_logits(&logits_of(probs_in)).unwrap();
    apply(filter, &token_ids(history), &mut candidates);
    check_probs(filter, candidates, probs_in, probs_expected);
}

#[track_caller]
fn check_probs(
    filter: &Filter,
    mut candidates: Candidates,
    probs_in: &[f32],
    probs_expected: &[f32],
) {
    let softmax = candidates.softmax();
    let probs: Vec<f64> = (0..probs_in.len() as u32)
        .map(|id| candidates.logit(TokenId(id)))
        .map(|logit| logit.map_or(0.0, |logit| softmax.prob(logit)))
        .collect();
    assert_eq!(probs.len(), probs_expected.len());
    for (prob, expected) in probs.iter().zip(probs_expected) {
        let near = (prob - f64::from(*expected)).abs() < 1e-5;
        assert!(
            near,
            "{filter} on {probs_in:?} returned {probs:?}, not {probs_expected:?}"
        );
    }
}

/// Draws from the same logits repeatedly, with the selector's state carried over from draw to draw.
pub fn draws(selector: Selector, logits: &[f32], n: u64) -> Vec<Draw> {
    let mut state = SelectorState::default();
    let draws = (0..n).map(|position| {
        let mut candidates = Candidates::from_logits(logits).unwrap();
        let coins = Coins { seed: 9, position };
        selector.pick(coins, History::empty(), &mut state, &mut candidates)
    });
    draws.collect()
}

/// Checks with 100,000 draws that a selector picks each token as often as expected.
///
/// One seed in about 10,000 exceeds the bound on χ² (by the Wilson–Hilferty approximation). The
/// seed is fixed, so the outcome is too.
#[track_caller]
pub fn check_draws(selector: Selector, probs_in: &[f32], probs_expected: &[f32]) {
    let n = 100_000;
    let mut counts = vec![0_u32; probs_in.len()];
    let logits = logits_of(probs_in);
    for position in 0..n {
        let coins = Coins { seed: 11, position };
        let mut candidates = Candidates::from_logits(&logits).unwrap();
        let draw = selector.pick(
            coins,
            History::empty(),
            &mut SelectorState::default(),
            &mut candidates,
        );
        counts[draw.token.index()] += 1;
    }
    let (mut chi_squared, mut freedom) = (0.0, -1.0);
    for (count, prob) in counts.iter().zip(probs_expected) {
        let expected = f64::from(*prob) * n as f64;
        if expected > 0.0 {
            chi_squared += (f64::from(*count) - expected).powi(2) / expected;
            freedom += 1.0;
        } else {
            assert_eq!(
                *count, 0,
                "{selector} picked an impossible token: {counts:?}"
            );
        }
    }
    let part: f64 = 2.0 / (9.0 * freedom);
    let bound = freedom * (1.0 - part + 3.719 * part.sqrt()).powi(3);
    assert!(
        chi_squared < bound,
        "{selector}: {chi_squared} for {counts:?}"
    );
}
