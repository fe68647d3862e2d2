//! The stage from which a recorded chain can be resumed.

use crate::decoding::filters::TokenBias;
use crate::decoding::{Detail, Evidence, Filter, RankedCandidate, StageReport};

/// Returns the distribution after the last stage from which the chain can be resumed, as if it were
/// the model's own, and the number of stages before that.
pub(super) fn base_of(
    evidence: &Evidence,
    reports: &[StageReport],
    chain: &[&Filter],
) -> (Evidence, usize) {
    let mut base = (evidence.clone(), 0);
    let (mut in_order, mut ruled_out) = (true, false);
    let raw = evidence.head.iter().map(|ranked| ranked.logit);
    let mut logits: Option<Vec<f32>> = Some(raw.collect());
    for (n_stages, report) in (1..).zip(reports) {
        in_order &= report.filter.keeps_order();
        ruled_out |= leaves_the_impossible(&report.filter);
        logits = logits.and_then(|logits| logits_after(logits, &report.filter));
        // A repetition penalty needs the logits themselves; other filters only their differences.
        let multiplied = chain
            .iter()
            .skip(n_stages)
            .any(|filter| matches!(filter, Filter::RepetitionPenalty(_)) && !filter.is_neutral());
        let counted = chain
            .iter()
            .skip(n_stages)
            .any(|filter| counts_the_impossible(filter));
        if multiplied && logits.is_none() || ruled_out && counted {
            continue;
        }
        if let Some(after) = evidence_after(evidence, report, logits.as_deref(), in_order) {
            base = (after, n_stages);
        }
    }
    base
}

/// Whether a stage may leave candidates with a probability of 0 in play. Its report does not count
/// them.
fn leaves_the_impossible(filter: &Filter) -> bool {
    let rules_out = match filter {
        Filter::LogitBias(bias) => {
            let sinks = |bias: &TokenBias| bias.bias == f32::NEG_INFINITY;
            !bias.banned.is_empty() || bias.biases.iter().any(sinks)
        }
        Filter::NoRepeatNgram(_) | Filter::TopNSigma(_) => true,
        _ => false,
    };
    rules_out && !filter.is_neutral()
}

/// Whether candidates with a probability of 0 change what a stage does to the others.
fn counts_the_impossible(filter: &Filter) -> bool {
    let counts = matches!(
        filter,
        Filter::DynamicTemperature(_) | Filter::TypicalP(_) | Filter::TailFree(_) | Filter::Xtc(_)
    );
    counts && !filter.is_neutral()
}

/// Returns the logits after a stage, or `None` if they depend on more than themselves.
fn logits_after(logits: Vec<f32>, filter: &Filter) -> Option<Vec<f32>> {
    match filter {
        filter if filter.is_neutral() || filter.cuts() => Some(logits),
        Filter::Temperature(heat) => {
            let heated: Vec<f32> = logits
                .iter()
                .map(|logit| logit / heat.temperature)
                .collect();
            heated
                .iter()
                .all(|logit| logit.is_finite())
                .then_some(heated)
        }
        _ => None,
    }
}

/// Returns the distribution after a recorded stage, with these logits or, if they are unknown,
/// others with the same probabilities. Returns `None` if unrecorded candidates are left that may
/// come before recorded ones.
fn evidence_after(
    evidence: &Evidence,
    report: &StageReport,
    logits: Option<&[f32]>,
    in_order: bool,
) -> Option<Evidence> {
    let recorded = evidence.head.iter().zip(&report.head_probs).enumerate();
    let head: Vec<RankedCandidate> = recorded
        .filter_map(|(index, (ranked, prob))| {
            let prob = f64::from((*prob)?);
            let score = logits.and_then(|logits| logits.get(index).copied());
            Some(RankedCandidate {
                token: ranked.token,
                logit: score.unwrap_or(prob.ln() as f32),
                prob,
            })
        })
        .filter(|ranked| ranked.prob > 0.0)
        .collect();
    let likeliest = head.iter().max_by(|a, b| a.prob.total_cmp(&b.prob))?;
    let log_sum_exp = f64::from(likeliest.logit) - likeliest.prob.ln();
    let whole = report.n_kept as usize == head.len();
    let stands_before_all = in_order && head.len() == evidence.head.len();
    (whole || stands_before_all).then_some(Evidence {
        n_candidates: report.n_kept,
        head,
        log_sum_exp,
        entropy_nats: report.entropy_nats,
        detail: Detail::HeadOnly,
    })
}
