//! The surprise of all tokens so far.

use super::{PanelSpec, TrendAxis, TrendShape, TrendSpec};
use crate::generation::{Generation, Step};

pub(super) const SPEC: TrendSpec = TrendSpec {
    name: "Cumulative surprise",
    subtitle: "bits before the chain, summed over the tokens",
    hint: "How many bits the text has cost so far. A steep line is unexpected text.",
    file_name: "cumulative-surprise",
    file_summary: "surprise, added up token by token",
    needs_times: false,
    shape: TrendShape::Lines {
        panels: &[PanelSpec {
            title: "Bits",
            axis: TrendAxis::Linear,
            values: sums,
        }],
        words,
    },
};

/// Returns a token's surprise. That of an impossible token is infinite, and counts as 64 bits.
fn surprise_bits(step: &Step) -> Option<f64> {
    let bits = step.trace.known_surprise_bits()?;
    Some(bits.clamp(0.0, 64.0))
}

fn sums(text: &Generation) -> Vec<Option<f64>> {
    let sums = text.steps.iter().scan(Some(0.0), |sum, step| {
        *sum = sum.zip(surprise_bits(step)).map(|(sum, bits)| sum + bits);
        Some(*sum)
    });
    sums.collect()
}

fn words(text: &Generation, index: usize) -> Option<String> {
    text.steps.get(index)?;
    let sum: Option<f64> = text.steps.range(..=index).map(surprise_bits).sum();
    Some(match sum {
        Some(sum) => format!("{sum:.1} bits so far"),
        None => "sum unknown: the server reported no probability".to_owned(),
    })
}
