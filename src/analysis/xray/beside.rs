//! The row of a token that was drawn from below all that were recorded.

use super::{XrayCell, XrayColumn, XrayPlace, XrayRow};
use crate::decoding::{Filter, Selector, StageReport, Trace};

/// Follows the drawn token from its probability before the chain to that after it.
///
/// No stage can have cut it. A stage that only cuts leaves its share of any other kept token's
/// probability as it was, and a temperature T takes the T-th root of that share; after any other
/// stage it is not known, but for the last one.
pub(super) fn row(columns: &[XrayColumn], selector: Selector, trace: &Trace) -> XrayRow {
    let mut cells = Vec::new();
    let mut last = Some(trace.raw_prob);
    let mut before: Option<&StageReport> = None;
    let mut reports = trace.stages.iter();
    for column in columns {
        cells.push(match &column.at {
            XrayPlace::Model => XrayCell::Kept(trace.raw_prob),
            XrayPlace::Stage { stage, .. } if !stage.enabled => XrayCell::Muted,
            XrayPlace::Stage { .. } => {
                let after = reports.next();
                last = last
                    .zip(after)
                    .and_then(|(prob, after)| prob_after(prob, trace, before, after));
                before = after;
                last.map_or(XrayCell::Unknown, XrayCell::Kept)
            }
            XrayPlace::Selector(_) => XrayCell::Kept(trace.draw.prob),
        });
    }
    let at_the_end = columns.iter().rposition(|column| match &column.at {
        XrayPlace::Model | XrayPlace::Selector(_) => true,
        XrayPlace::Stage { stage, .. } => stage.enabled,
    });
    // Of a greedy draw that probability is 1, and not what the last stage left.
    if let Some(cell) = at_the_end
        .filter(|at| *at > 0 && selector != Selector::Greedy)
        .and_then(|at| cells.get_mut(at))
    {
        *cell = XrayCell::Kept(trace.draw.prob);
    }
    XrayRow {
        token: trace.draw.token,
        rank: trace.raw_rank,
        chosen: true,
        cells,
    }
}

/// Its probability after a stage, by its share of that of a recorded token which is still there.
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
    let share = prob / other_before;
    let share = match &*after.filter {
        filter if filter.is_neutral() || filter.cuts() => share,
        Filter::Temperature(heat) => share.powf(1.0 / f64::from(heat.temperature)),
        _ => return None,
    };
    Some(share * f64::from(other_after))
}
