//! The row of a drawn token that is not among the recorded candidates.

use super::{XrayCell, XrayColumn, XrayPlace, XrayRow};
use crate::analysis::suspects::{Suspect, suspects};
use crate::decoding::{Filter, Selector, StageReport, Trace};

/// Reconstructs the drawn token's probability after each stage.
///
/// A stage that only cuts preserves the ratio of its probability to that of any other kept token,
/// and a temperature T takes the T-th root of that ratio. After any other stage the probability is
/// unknown, except after the last one, where it was recorded. The chain can have cut only a token
/// that it did not pick, such as one of a given text.
pub(super) fn row(columns: &[XrayColumn], selector: Selector, trace: &Trace) -> XrayRow {
    let mut cells = Vec::new();
    let raw_prob = trace.known_raw_prob();
    let known = |prob: Option<f64>| prob.map_or(XrayCell::Unknown, XrayCell::Kept);
    // What the stages of a server's step report may be estimates.
    let mut last = raw_prob.filter(|_| trace.known.is_none());
    let mut before: Option<&StageReport> = None;
    let mut reports = trace.stages.iter();
    for column in columns {
        cells.push(match &column.at {
            XrayPlace::Model | XrayPlace::Row(_) | XrayPlace::Mixture(_) => known(raw_prob),
            XrayPlace::Grammar(grammar) if grammar.masked => {
                known(raw_prob.map(|prob| prob / grammar.legal_mass))
            }
            XrayPlace::Stage { stage, .. } if !stage.enabled => XrayCell::Muted,
            XrayPlace::Stage { .. } => {
                let after = reports.next();
                last = last
                    .zip(after)
                    .and_then(|(prob, after)| prob_after(prob, trace, before, after));
                before = after;
                known(last)
            }
            XrayPlace::Grammar(_) | XrayPlace::Selector(_) => known(trace.known_final_prob()),
        });
    }
    let suspects = suspects(trace);
    mark_cut(columns, &suspects, &mut cells);
    let last_active = columns.iter().rposition(|column| match &column.at {
        XrayPlace::Stage { stage, .. } => stage.enabled,
        _ => true,
    });
    // A greedy draw records probability 1, which is not what the last stage left.
    if let Some(cell) = last_active
        .filter(|at| *at > 0 && selector != Selector::Greedy && suspects.is_empty())
        .and_then(|at| cells.get_mut(at))
    {
        *cell = known(trace.known_final_prob());
    }
    XrayRow {
        token: trace.draw.token,
        rank: trace.known_rank(),
        // A probability is exp(logit - log_sum_exp).
        logit: raw_prob.map(|prob| (prob.ln() + trace.raw.log_sum_exp) as f32),
        chosen: true,
        cells,
    }
}

/// Marks what cut the token and whatever comes after it. If several can have cut it, its path is
/// unknown from the first of them on.
fn mark_cut(columns: &[XrayColumn], suspects: &[Suspect], cells: &mut [XrayCell]) {
    let mut n_stages = 0;
    let (mut before, mut after) = (None, None);
    for (column, cell) in columns.iter().zip(cells) {
        let suspect = match &column.at {
            XrayPlace::Grammar(grammar) if grammar.masked => Some(Suspect::Grammar),
            XrayPlace::Stage { stage, .. } if stage.enabled => {
                n_stages += 1;
                Some(Suspect::Stage(n_stages - 1))
            }
            XrayPlace::Selector(_) => Some(Suspect::Selector),
            _ => None,
        };
        match (suspects, after) {
            _ if *cell == XrayCell::Muted => {}
            (_, Some(after)) => *cell = after,
            ([only], None) if suspect == Some(*only) => {
                *cell = XrayCell::Cut(before);
                after = Some(XrayCell::Gone);
            }
            ([first, ..], None) if suspect == Some(*first) => {
                *cell = XrayCell::Unknown;
                after = Some(XrayCell::Unknown);
            }
            _ => {}
        }
        before = match cell {
            XrayCell::Kept(prob) => Some(*prob),
            XrayCell::Muted => before,
            _ => None,
        };
    }
}

/// Returns its probability after a stage: 1 if no other token is left, and else from its ratio to a
/// recorded token that the stage kept.
fn prob_after(
    prob: f64,
    trace: &Trace,
    before: Option<&StageReport>,
    after: &StageReport,
) -> Option<f64> {
    let is_alone = after.n_kept == 1 && after.head_probs.iter().all(Option::is_none);
    if is_alone {
        return Some(1.0);
    }
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
