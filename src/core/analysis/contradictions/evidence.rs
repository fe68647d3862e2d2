//! Whether the figures of a recorded distribution agree with its logits.

use super::ContradictionKind::Figures;
use super::found::{Found, StepAt, figure, near};
use crate::decoding::{Evidence, TokenId};

/// The error of a probability that follows from a logit.
const OF_FORMULA: f64 = 1e-9;

/// The relative error of a sum over a vocabulary.
const OF_SUM: f64 = 1e-5;

/// Checks the model's distribution, or the mixture, and where the token stands in it.
pub(super) fn check(at: StepAt<'_>, found: &mut Found) {
    let trace = &at.step.trace;
    let raw = &trace.raw;
    let n_vocab = at.text.model.n_vocab;
    if trace.known.is_some() && !at.is_served() {
        found.step(
            at,
            Figures,
            "it lacks figures that only a server leaves out",
        );
    }
    let n_candidates = trace.n_known_candidates();
    if let Some(n) = n_candidates.filter(|n| !at.is_served() && *n as usize != n_vocab) {
        let words = format!("its distribution has {n} tokens, the vocabulary {n_vocab}");
        found.step(at, Figures, words);
    }
    let totals = Totals {
        n_candidates,
        entropy_nats: trace.known_entropy_nats(),
    };
    if let Some(words) = fault_of_head(raw, n_vocab).or_else(|| fault_of_totals(raw, totals)) {
        found.step(at, Figures, words);
    }
    if let Some(words) = fault_of_token(at) {
        found.step(at, Figures, words);
    }
}

/// Returns what is wrong with a distribution over at most `n_vocab` tokens.
pub(super) fn fault_of(evidence: &Evidence, n_vocab: usize) -> Option<String> {
    let totals = Totals {
        n_candidates: Some(evidence.n_candidates),
        entropy_nats: Some(evidence.entropy_nats),
    };
    fault_of_head(evidence, n_vocab).or_else(|| fault_of_totals(evidence, totals))
}

/// What a distribution says about all its tokens. `None` is unknown: a server did not report it.
#[derive(Clone, Copy)]
struct Totals {
    n_candidates: Option<u32>,
    entropy_nats: Option<f64>,
}

fn fault_of_head(evidence: &Evidence, n_vocab: usize) -> Option<String> {
    let head = &evidence.head;
    let is_unknown = |token: TokenId| n_vocab > 0 && token.index() >= n_vocab;
    if let Some(known) = head.iter().find(|known| is_unknown(known.token)) {
        return Some(format!(
            "its distribution names token {}, the vocabulary has {n_vocab}",
            known.token
        ));
    }
    let is_ordered = head.windows(2).all(|pair| match pair {
        [a, b] => a.logit > b.logit || (a.logit >= b.logit && a.token < b.token),
        _ => true,
    });
    if !is_ordered {
        return Some("its most likely tokens are not in order".to_owned());
    }
    let lse = evidence.log_sum_exp;
    for known in head {
        let prob = (f64::from(known.logit) - lse).exp();
        if !near(known.prob, prob, OF_FORMULA) {
            let (token, said) = (known.token, figure(known.prob));
            let prob = figure(prob);
            return Some(format!(
                "token {token} has the probability {said}, its logit says {prob}"
            ));
        }
    }
    None
}

/// Checks the sum and the entropy, which the head bounds.
fn fault_of_totals(evidence: &Evidence, totals: Totals) -> Option<String> {
    let head = &evidence.head;
    let last = head.last()?;
    let mass: f64 = head.iter().map(|known| known.prob).sum();
    let n_candidates = totals.n_candidates?;
    let n_below = f64::from(n_candidates) - head.len() as f64;
    if n_below < 0.0 {
        let n_head = head.len();
        return Some(format!(
            "its distribution has {n_candidates} tokens, {n_head} of which are listed"
        ));
    }
    let left = 1.0 - mass;
    let most_left = n_below * last.prob;
    if left < -OF_SUM || left > most_left + OF_SUM {
        return Some(format!(
            "its probabilities and their sum disagree: {} is left for {n_below} tokens",
            figure(left)
        ));
    }
    let entropy = totals.entropy_nats?;
    let left = left.clamp(0.0, most_left);
    let of_head: f64 = head
        .iter()
        .map(|known| known.prob)
        .filter(|prob| *prob > 0.0)
        .map(|prob| -prob * prob.ln())
        .sum();
    let (least, most) = if left > 0.0 && last.prob > 0.0 {
        (-left * last.prob.ln(), left * (n_below / left).ln())
    } else {
        (0.0, 0.0)
    };
    let room = OF_SUM * (1.0 + entropy.abs() + last.prob.max(f64::MIN_POSITIVE).ln().abs());
    let is_possible = of_head + least - room <= entropy && entropy <= of_head + most + room;
    (!is_possible).then(|| {
        let (entropy, of_head) = (figure(entropy), figure(of_head + least));
        format!("its entropy is {entropy} nats, its probabilities say {of_head} or more")
    })
}

/// Checks the probability and the rank of the token that was taken.
fn fault_of_token(at: StepAt<'_>) -> Option<String> {
    let trace = &at.step.trace;
    let raw = &trace.raw;
    let (rank, prob) = (trace.known_rank()?, trace.known_raw_prob()?);
    let mut ranked = (1..).zip(&raw.head);
    if let Some((expected, known)) = ranked.find(|(_, known)| known.token == at.step.token) {
        if rank != expected {
            return Some(format!(
                "its rank is {rank}, its probabilities say {expected}"
            ));
        }
        return (!near(prob, known.prob, OF_FORMULA)).then(|| {
            let (said, prob) = (figure(prob), figure(known.prob));
            format!("its probability is {said}, its logit says {prob}")
        });
    }
    if let Some(expected) = raw.rank(at.step.token).filter(|expected| *expected != rank) {
        return Some(format!("its rank is {rank}, its logits say {expected}"));
    }
    let n_head = raw.head.len();
    let (last, n) = (raw.head.last()?.prob, trace.n_known_candidates());
    if (rank as usize) <= n_head || n.is_some_and(|n| rank > n) {
        return Some(format!(
            "its rank is {rank}, and it is not among the first {n_head}"
        ));
    }
    let most = last.min(1.0 / f64::from(rank)) * (1.0 + OF_SUM);
    (!(0.0..=most).contains(&prob)).then(|| {
        let (prob, most) = (figure(prob), figure(most));
        format!("its probability is {prob}, at its rank it is at most {most}")
    })
}
