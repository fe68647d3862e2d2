//! The time of each token.

use super::{PanelSpec, TrendAxis, TrendShape, TrendSpec};
use crate::generation::{Generation, Steps};

pub(super) const SPEC: TrendSpec = TrendSpec {
    name: "Time per token",
    subtitle: "milliseconds since the previous token",
    hint: "How long each token takes as the text grows.",
    file_name: "time-per-token",
    file_summary: "milliseconds for each token",
    needs_times: true,
    shape: TrendShape::Lines {
        panels: &[PanelSpec {
            title: "Milliseconds",
            axis: TrendAxis::Typical,
            values,
        }],
        words,
    },
};

/// Returns whether the tokens of a text have times. A scored text took no time per token, and the
/// first token waits for prefill.
pub fn has_token_times(text: &Generation) -> bool {
    !text.is_scored() && text.steps.len() > 1
}

/// Returns the milliseconds between a token and the one before it, or `None` for the first token,
/// which waits for prefill.
pub fn token_millis(steps: &Steps, index: usize) -> Option<f64> {
    let before = steps.get(index.checked_sub(1)?)?;
    let step = steps.get(index)?;
    Some((step.time.at_secs - before.time.at_secs) * 1000.0)
}

fn values(text: &Generation) -> Vec<Option<f64>> {
    let indices = 0..text.steps.len();
    indices
        .map(|index| token_millis(&text.steps, index))
        .collect()
}

fn words(text: &Generation, index: usize) -> Option<String> {
    text.steps.get(index)?;
    Some(match token_millis(&text.steps, index) {
        Some(millis) => format!("{millis:.2} ms"),
        None => "first token, after the prompt was read".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::token_millis;
    use crate::generation::testing::generation;

    #[test]
    fn the_first_token_has_no_time() {
        let text = generation(&[(" a", 0.5), (" fox", 0.5)]);
        assert_eq!(token_millis(&text.steps, 0), None);
        let millis = token_millis(&text.steps, 1).unwrap();
        assert!((millis - 2.5).abs() < 1e-9, "{millis}");
        assert_eq!(token_millis(&text.steps, 2), None);
    }
}
