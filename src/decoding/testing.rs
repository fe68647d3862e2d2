//! What the tests of filters and selectors share.

use super::{Candidates, Coins, Filter, History, StageContext, TokenId};

/// The logits whose softmax is this distribution.
pub(crate) fn logits_of(probs: &[f32]) -> Vec<f32> {
    probs.iter().map(|prob| prob.ln()).collect()
}

/// Token ids from plain numbers.
pub(crate) fn token_ids(ids: &[u32]) -> Vec<TokenId> {
    ids.iter().copied().map(TokenId).collect()
}

/// Applies a filter after a history without a prompt.
pub(crate) fn apply(filter: &Filter, history: &[TokenId], candidates: &mut Candidates) {
    let context = StageContext {
        history: History::new(history, 0),
        coins: Coins {
            seed: 0,
            position: 0,
        },
        n_chance_before: 0,
    };
    filter.apply(context, candidates);
}

/// Checks that the filter turns one distribution into the other. Both list the probability of every
/// token by its id; one that is cut has probability zero.
#[track_caller]
pub(crate) fn check_filter(filter: &Filter, probs_in: &[f32], probs_expected: &[f32]) {
    check_filter_after(filter, &[], probs_in, probs_expected);
}

/// The same, with tokens before it.
#[track_caller]
pub(crate) fn check_filter_after(
    filter: &Filter,
    history: &[u32],
    probs_in: &[f32],
    probs_expected: &[f32],
) {
    let mut candidates = Candidates::from_logits(&logits_of(probs_in)).unwrap();
    apply(filter, &token_ids(history), &mut candidates);
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
            "{filter} after {history:?} on {probs_in:?} gave {probs:?}, not {probs_expected:?}"
        );
    }
}
