//! What a chain records about a step: the distribution, what each stage did to it, and the draw.

use std::sync::Arc;

use super::{
    Candidates, Detail, Draw, Evidence, Filter, Picked, RankedCandidate, StageReport, Taken,
    TokenId,
};

/// How many of the most likely candidates a step records before and after the chain. It is more
/// than the usual top-k of 40, so that what-if can answer for other values close to it.
pub(super) const N_RECORDED: usize = 48;

/// Returns the draw of a token that takes the place of the selector's.
pub(super) fn taken_draw(taken: Taken, draw: Draw, candidates: &mut Candidates) -> Draw {
    let (token, picked) = match taken {
        Taken::ByHand(token) => (token, Picked::ByHand),
        Taken::Given(token) => (token, Picked::Given),
        Taken::ByBeams(token) => (token, Picked::ByBeams),
        Taken::ByRatio(token) => (token, Picked::ByRatio),
        Taken::ByServer(token) => (token, Picked::ByServer),
    };
    let softmax = candidates.softmax();
    let logit = candidates.logit(token);
    Draw {
        token,
        prob: logit.map_or(0.0, |logit| softmax.prob(logit)),
        coin: None,
        below: 0.0,
        n_kept: draw.n_kept,
        picked,
    }
}

/// Returns what a filter has just done to the candidates.
pub(super) fn report_of(
    filter: &Arc<Filter>,
    head: &[RankedCandidate],
    candidates: &mut Candidates,
) -> StageReport {
    let softmax = candidates.softmax();
    let head_probs = probs_of(head, candidates);
    StageReport {
        filter: Arc::clone(filter),
        n_kept: softmax.n_possible as u32,
        mass_removed: candidates.take_mass_removed(),
        entropy_nats: softmax.entropy_nats,
        head_probs: head_probs
            .into_iter()
            .map(|prob| prob.map(|prob| prob as f32))
            .collect(),
    }
}

/// Returns the current probability of each token, or `None` if it was filtered out.
pub(super) fn probs_of(
    tracked: &[RankedCandidate],
    candidates: &mut Candidates,
) -> Vec<Option<f64>> {
    let softmax = candidates.softmax();
    tracked
        .iter()
        .map(|tracked| candidates.logit(tracked.token))
        .map(|logit| logit.filter(|logit| *logit > f32::NEG_INFINITY))
        .map(|logit| logit.map(|logit| softmax.prob(logit)))
        .collect()
}

/// Records a distribution over the whole vocabulary.
pub(super) fn evidence_of(
    candidates: &mut Candidates,
    n_recorded: usize,
    n_detail_bytes: usize,
) -> Evidence {
    let softmax = candidates.softmax();
    let head = ranked_head(candidates, n_recorded);
    Evidence {
        n_candidates: candidates.n_kept() as u32,
        detail: Detail::of(candidates, head.len(), n_detail_bytes),
        head,
        log_sum_exp: softmax.log_sum_exp,
        entropy_nats: softmax.entropy_nats,
    }
}

/// Returns all possible candidates, most likely first.
pub(super) fn ranked(mut candidates: Candidates) -> Vec<RankedCandidate> {
    let n_kept = candidates.n_kept();
    ranked_head(&mut candidates, n_kept)
}

pub(super) fn ranked_head(candidates: &mut Candidates, n: usize) -> Vec<RankedCandidate> {
    let softmax = candidates.softmax();
    candidates
        .head(n)
        .iter()
        .filter(|candidate| candidate.logit > f32::NEG_INFINITY)
        .map(|candidate| RankedCandidate {
            token: candidate.token,
            logit: candidate.logit,
            prob: softmax.prob(candidate.logit),
        })
        .collect()
}

/// Returns 1 plus the number of tokens that the model ranks before this one.
pub fn raw_rank(logits: &[f32], token: TokenId, logit: f32) -> u32 {
    let likelier = |other: &f32| u32::from(*other > logit);
    let as_likely = |other: &f32| u32::from(*other >= logit);
    let (before, after) = logits.split_at(token.index().min(logits.len()));
    let n_before: u32 = before.iter().map(as_likely).sum();
    let n_after: u32 = after.iter().map(likelier).sum();
    n_before + n_after + 1
}
