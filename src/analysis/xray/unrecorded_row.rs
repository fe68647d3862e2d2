//! The row of a drawn token that is not among the recorded candidates.

use super::{XrayCell, XrayColumn, XrayPlace, XrayRow};
use crate::decoding::{Filter, Selector, StageReport, Trace};

/// Reconstructs the drawn token's probability after each stage.
///
/// No stage can have cut it. A stage that only cuts preserves the ratio of its probability to that
/// of any other kept token, and a temperature T takes the T-th root of that ratio. After any other
/// stage the probability is unknown, except after the last one, where it was recorded.
pub(super) fn row(columns: &[XrayColumn], selector: Selector, trace: &Trace) -> XrayRow {
    let mut cells = Vec::new();
    let mut last = Some(trace.raw_prob);
    let mut before: Option<&StageReport> = None;
    let mut reports = trace.stages.iter();
    for column in columns {
        cells.push(match &column.at {
            XrayPlace::Model | XrayPlace::Row(_) | XrayPlace::Mixture(_) => {
                XrayCell::Kept(trace.raw_prob)
            }
            XrayPlace::Grammar(grammar) if grammar.masked => {
                if trace.draw.was_possible() {
                    XrayCell::Kept(trace.raw_prob / grammar.legal_mass)
                } else {
                    XrayCell::Cut(Some(trace.raw_prob))
                }
            }
            XrayPlace::Stage { stage, .. } if !stage.enabled => XrayCell::Muted,
            XrayPlace::Stage { .. } => {
                let after = reports.next();
                last = last
                    .zip(after)
                    .and_then(|(prob, after)| prob_after(prob, trace, before, after));
                before = after;
                last.map_or(XrayCell::Unknown, XrayCell::Kept)
            }
            XrayPlace::Grammar(_) | XrayPlace::Selector(_) => XrayCell::Kept(trace.draw.prob),
        });
    }
    let last_active = columns.iter().rposition(|column| match &column.at {
        XrayPlace::Stage { stage, .. } => stage.enabled,
        _ => true,
    });
    // A greedy draw records probability 1, which is not what the last stage left.
    if let Some(cell) = last_active
        .filter(|at| *at > 0 && selector != Selector::Greedy)
        .and_then(|at| cells.get_mut(at))
    {
        *cell = XrayCell::Kept(trace.draw.prob);
    }
    XrayRow {
        token: trace.draw.token,
        rank: trace.raw_rank,
        // A probability is exp(logit - log_sum_exp).
        logit: Some((trace.raw_prob.ln() + trace.raw.log_sum_exp) as f32),
        chosen: true,
        cells,
    }
}

/// Returns its probability after a stage, from its ratio to a recorded token that the stage kept.
fn prob_after(
    prob: f64,
    trace: &Trace,
    before: Option<&StageReport>,
    after: &StageReport,
) -> Option<f64> {
    let at = after.head_probs.iter().rposition(Option::is_some)?;
    let other_after = after.head_probs.get(at).copied().flatten()?;
    let other_before = match before {
        Some(before) => f64::from(before.head_probs.get(at).copied().flatten()?),
        None => trace.raw.head.get(at)?.prob,
    };
    let ratio = prob / other_before;
    let ratio = match &*after.filter {
        filter if filter.is_neutral() || filter.cuts() => ratio,
        Filter::Temperature(filter) => ratio.powf(1.0 / f64::from(filter.temperature)),
        _ => return None,
    };
    Some(ratio * f64::from(other_after))
}
