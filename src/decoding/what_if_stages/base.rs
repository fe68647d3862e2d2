//! From where a recorded chain can be run on, with what the record knows there.

use crate::decoding::filters::TokenBias;
use crate::decoding::{Detail, Evidence, Filter, RankedCandidate, StageReport};

/// The last place from which the chain can be run on, as if it were the model's own distribution,
/// and how many stages lie before it.
pub(super) fn base_of(
    evidence: &Evidence,
    reports: &[StageReport],
    chain: &[&Filter],
) -> (Evidence, usize) {
    let mut base = (evidence.clone(), 0);
    let (mut in_order, mut ruled_out) = (true, false);
    let raw = evidence.head.iter().map(|ranked| ranked.logit);
    let mut scores: Option<Vec<f32>> = Some(raw.collect());
    for (n_stages, report) in (1..).zip(reports) {
        in_order &= report.filter.keeps_order();
        ruled_out |= leaves_the_impossible(&report.filter);
        scores = scores.and_then(|scores| scores_after(scores, &report.filter));
        // A factor on scores needs the scores themselves; anything else, their differences alone.
        let multiplied = chain
            .iter()
            .skip(n_stages)
            .any(|filter| matches!(filter, Filter::RepetitionPenalty(_)) && !filter.is_neutral());
        let counted = chain
            .iter()
            .skip(n_stages)
            .any(|filter| counts_the_impossible(filter));
        if multiplied && scores.is_none() || ruled_out && counted {
            continue;
        }
        if let Some(after) = evidence_after(evidence, report, (scores.as_deref(), in_order)) {
            base = (after, n_stages);
        }
    }
    base
}

/// Whether a stage may leave candidates in play that can't be drawn; how many, its report does not
/// tell.
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

/// Whether candidates that can't be drawn change what a stage does to the others.
fn counts_the_impossible(filter: &Filter) -> bool {
    let counts = matches!(
        filter,
        Filter::DynamicTemperature(_) | Filter::TypicalP(_) | Filter::TailFree(_) | Filter::Xtc(_)
    );
    counts && !filter.is_neutral()
}

/// The scores as a stage leaves those that it keeps; nothing where they depend on more than
/// themselves.
fn scores_after(scores: Vec<f32>, filter: &Filter) -> Option<Vec<f32>> {
    match filter {
        filter if filter.is_neutral() || filter.cuts() => Some(scores),
        Filter::Temperature(heat) => {
            let heated: Vec<f32> = scores
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

/// The distribution after a recorded stage, with these scores or, where they are not known, with
/// others that give the same probabilities. Nothing where more is left than was recorded, and no
/// recorded candidate is known to stand before all of it.
fn evidence_after(
    evidence: &Evidence,
    report: &StageReport,
    (scores, in_order): (Option<&[f32]>, bool),
) -> Option<Evidence> {
    let recorded = evidence.head.iter().zip(&report.head_probs).enumerate();
    let head: Vec<RankedCandidate> = recorded
        .filter_map(|(index, (ranked, prob))| {
            let prob = f64::from((*prob)?);
            let score = scores.and_then(|scores| scores.get(index).copied());
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
