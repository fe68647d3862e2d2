//! Whether the two rows of a guided step give the mixture that was drawn from.

use super::ContradictionKind::{Figures, Settings};
use super::found::{Found, StepAt, figure, near};
use crate::decoding::{Guidance, MixedRow, Mixture, Trace};

/// The error of logits that follow from probabilities in 32 bits.
const OF_LOGIT: f64 = 1e-3;

/// The relative error of a probability in 32 bits.
const OF_PROB: f64 = 1e-6;

/// Checks a step's mixture.
pub(super) fn check(at: StepAt<'_>, found: &mut Found) {
    let trace = &*at.step.trace;
    let wanted = at.config.chain.guidance.as_ref();
    let mixed = trace.mixture.as_ref().map(|mixed| &*mixed.guidance);
    if mixed != wanted {
        let words = |guidance: Option<&Guidance>| {
            guidance.map_or("no guidance".to_owned(), ToString::to_string)
        };
        let (mixed, wanted) = (words(mixed), words(wanted));
        let words = format!("it was guided by {mixed}, the settings say {wanted}");
        found.step(at, Settings, words);
        return;
    }
    let Some(mixture) = trace.mixture.as_deref() else {
        return;
    };
    let of_layer = fault_of_layer(mixture);
    let of_own = of_layer.or_else(|| fault_of_row(trace, &mixture.own));
    let of_rows = of_own.or_else(|| fault_of_row(trace, &mixture.other));
    if let Some(words) = of_rows.or_else(|| fault_of_mixture(trace, mixture)) {
        found.step(at, Figures, words);
    }
}

/// Checks that the other row comes from one of the early layers that guide, if some do.
fn fault_of_layer(mixture: &Mixture) -> Option<String> {
    let layers = mixture.guidance.against.layers();
    let is_right = match mixture.other.layer {
        Some(layer) => layers.contains(&layer),
        None => layers.is_empty(),
    };
    if is_right && mixture.own.layer.is_none() {
        return None;
    }
    let guidance = &mixture.guidance;
    Some(match mixture.own.layer.or(mixture.other.layer) {
        Some(layer) => format!("it was guided by layer {layer}, which {guidance} does not name"),
        None => format!("it does not say which layer guided it under {guidance}"),
    })
}

fn fault_of_row(trace: &Trace, row: &MixedRow) -> Option<String> {
    let head = &trace.raw.head;
    let probs = || row.head_probs.iter().map(|prob| f64::from(*prob));
    if row.head_probs.len() != head.len() || probs().any(|prob| prob < 0.0) {
        return Some("a row of its mixture does not have one probability per token".to_owned());
    }
    let most = row.top_prob * (1.0 + OF_PROB);
    let is_top =
        probs().all(|prob| prob <= most) && row.prob <= most && most <= 1.0 + 2.0 * OF_PROB;
    let prob_of = |token| {
        let mut known = head.iter().zip(probs());
        known.find_map(|(known, prob)| (known.token == token).then_some(prob))
    };
    let agrees = |token, said: f64| {
        prob_of(token).is_none_or(|prob| near(said, prob, OF_PROB) || said.max(prob) < 1e-30)
    };
    if !is_top || !agrees(row.top, row.top_prob) {
        let prob = figure(row.top_prob);
        return Some(format!(
            "the likeliest token of a row has {prob}, another has more"
        ));
    }
    if !agrees(trace.draw.token, row.prob) {
        let prob = figure(row.prob);
        return Some(format!(
            "it has {prob} in a row of the mixture, its list says otherwise"
        ));
    }
    let most = (f64::from(trace.raw.n_candidates)).ln() + OF_LOGIT;
    let least = -row.top_prob.ln() - OF_LOGIT;
    let least = least.min(0.0);
    let is_entropy = (least..=most).contains(&row.entropy_nats);
    (!is_entropy).then(|| format!("a row has an entropy of {} nats", figure(row.entropy_nats)))
}

/// Mixes the rows again.
fn fault_of_mixture(trace: &Trace, mixture: &Mixture) -> Option<String> {
    let scale = f64::from(mixture.guidance.scale.unwrap_or(1.0));
    let rows = mixture.own.head_probs.iter().zip(&mixture.other.head_probs);
    let mut known = trace.raw.head.iter().zip(rows);
    let wrong = known.find(|(known, (own, other))| {
        let [own, other] = [**own, **other].map(|prob| f64::from(prob).ln());
        // Probabilities below the range of 32 bits say nothing.
        let is_known = own > -80.0 && other > -80.0;
        let mixed = mixture.guidance.mix_log_probs(own, other);
        let room = OF_LOGIT * (1.0 + scale.abs());
        is_known && (mixed - f64::from(known.logit)).abs() > room
    });
    wrong.map(|(known, _)| {
        let (token, logit) = (known.token, figure(f64::from(known.logit)));
        format!("token {token} has the logit {logit}, its two rows give another")
    })
}
