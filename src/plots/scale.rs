//! Round numbers for axes and their labels.

pub(super) use crate::generation::formatting::grouped;

/// The maximum number of decimals in an axis label.
const MAX_DECIMALS: u8 = 9;

/// Rounds up to 1, 1.5, 2, 3, 4, 5 or 7 times a power of ten. Returns 1 if `value` is not positive
/// and finite.
pub(super) fn round_up(value: f64) -> f64 {
    if !(value > 0.0 && value.is_finite()) {
        return 1.0;
    }
    let power = 10_f64.powf(value.log10().floor());
    let ratio = value / power;
    // A rounding error must not double an axis.
    let step = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0]
        .into_iter()
        .find(|step| ratio <= step * (1.0 + 1e-9))
        .unwrap_or(10.0);
    step * power
}

/// Returns the step between the marks of an axis that starts at 0 and covers `value`, and the
/// number of steps. The step is 1, 2, 2.5 or 5 times a power of ten; there are at most four steps.
pub(super) fn axis_steps(value: f64) -> (f64, u32) {
    if !(value > 0.0 && value.is_finite()) {
        return (0.5, 2);
    }
    let power = 10_f64.powf((value / 4.0).log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0]
        .into_iter()
        .find(|step| value <= step * power * 4.0 * (1.0 + 1e-9))
        .unwrap_or(10.0)
        * power;
    let n_steps = (value / step * (1.0 - 1e-9)).ceil().max(1.0);
    (step, count(n_steps) as u32)
}

/// Returns the number of decimals that the marks of an axis need to show their exact values.
pub(super) fn step_decimals(step: f64) -> usize {
    let is_whole = |decimals: &u8| {
        let shifted = step * 10_f64.powi((*decimals).into());
        (shifted - shifted.round()).abs() <= 1e-6 * shifted.abs()
    };
    let decimals = (0..MAX_DECIMALS).find(is_whole);
    decimals.unwrap_or(MAX_DECIMALS).into()
}

/// Returns the length of the token axis for a text of `n_tokens`. It grows in a few jumps, so that
/// the plot holds still during generation.
pub(super) fn axis_tokens(n_tokens: usize) -> usize {
    let powers = (0..).map(|power| 10_usize.saturating_pow(power));
    let lengths =
        powers.flat_map(|power| [25, 50, 100, 200].map(|n: usize| n.saturating_mul(power)));
    lengths
        .into_iter()
        .find(|n| n_tokens <= *n)
        .unwrap_or(n_tokens)
}

/// Returns the length of the token axis for texts of which the longest has `n_tokens`. Once all
/// have ended, the axis ends with the longest.
pub(super) fn axis_end(n_tokens: usize, all_ended: bool) -> usize {
    if all_ended {
        n_tokens.max(MIN_AXIS)
    } else {
        axis_tokens(n_tokens)
    }
}

/// The minimum number of tokens on an axis; fewer would make bars look like blocks.
const MIN_AXIS: usize = 25;

/// Returns the step between labels: the smallest of 1, 2, 5, 10, 25, 50, 100, 250 … at which labels
/// are at least `min_gap` points apart, on an axis that shows `span` units over `length` points.
pub(super) fn label_step(span: f64, length: f32, min_gap: f32) -> f64 {
    let n_max = f64::from((length / min_gap).floor().max(1.0));
    let steps = [1.0, 2.0, 5.0, 10.0].into_iter();
    let larger = (1..10).flat_map(|power| [2.5, 5.0, 10.0].map(|step| step * 10_f64.powi(power)));
    let mut steps = steps.chain(larger);
    steps
        .find(|step| (span / step).floor() <= n_max)
        .unwrap_or(span)
}

/// Rounds a value down to a count; a negative value becomes 0.
#[expect(clippy::cast_sign_loss, reason = "negative values become 0 first")]
pub fn count(value: f64) -> usize {
    value.max(0.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_on_round_numbers() {
        let cases = [
            (0.0, 1.0),
            (f64::NAN, 1.0),
            (0.31, 0.4),
            (1.0, 1.0),
            (6.3, 7.0),
            (7.2, 10.0),
            (486.0, 500.0),
            (500.000_000_1, 500.0),
            (512.0, 700.0),
        ];
        for (value, top) in cases {
            assert!((round_up(value) - top).abs() < 1e-9, "{value}");
        }
    }

    #[test]
    fn marks_are_round_numbers_up_to_the_top() {
        let cases = [
            (0.0, 0.5, 2),
            (535.0, 200.0, 3),
            (600.0, 200.0, 3),
            (0.6, 0.2, 3),
            (1.0, 0.25, 4),
            (0.09, 0.025, 4),
            (12.0, 5.0, 3),
        ];
        for (value, step, n_steps) in cases {
            let (found, n_found) = axis_steps(value);
            assert!((found - step).abs() < 1e-9, "{value}: {found}");
            assert_eq!(n_found, n_steps, "{value}");
        }
    }

    #[test]
    fn mark_labels_have_the_decimals_they_need() {
        let cases = [
            (1.0, 0),
            (2.5, 1),
            (0.25, 2),
            (0.5, 1),
            (25.0, 0),
            (0.05, 2),
            (0.0005, 4),
            (1e-12, 9),
        ];
        for (step, decimals) in cases {
            assert_eq!(step_decimals(step), decimals, "{step}");
        }
    }

    #[test]
    fn the_token_axis_grows_in_a_few_jumps() {
        let cases = [
            (0, 25),
            (25, 25),
            (26, 50),
            (83, 100),
            (187, 200),
            (201, 250),
            (251, 500),
            (501, 1000),
            (1001, 2000),
            (2001, 2500),
        ];
        for (n_tokens, n_axis) in cases {
            assert_eq!(axis_tokens(n_tokens), n_axis, "{n_tokens}");
        }
    }

    #[test]
    fn the_token_axis_ends_with_the_longest_text() {
        let cases = [(12, 25), (26, 26), (138, 138), (200, 200)];
        for (n_tokens, n_axis) in cases {
            assert_eq!(axis_end(n_tokens, true), n_axis);
            assert_eq!(axis_end(n_tokens, false), axis_tokens(n_tokens));
        }
    }

    #[test]
    fn labels_keep_their_distance_and_stay_on_whole_tokens() {
        let cases = [
            (10.0, 600.0, 2.0),
            (100.0, 600.0, 25.0),
            (200.0, 600.0, 25.0),
            (200.0, 240.0, 100.0),
            (2000.0, 600.0, 250.0),
        ];
        for (span, length, step) in cases {
            let found: f64 = label_step(span, length, 72.0);
            assert!((found - step).abs() < 1e-9, "{span} on {length}: {found}");
        }
    }

    #[test]
    fn thousands_are_separated_by_commas() {
        for (n, text) in [
            (0.0, "0"),
            (999.0, "999"),
            (6144.0, "6,144"),
            (1e6, "1,000,000"),
        ] {
            assert_eq!(grouped(n), text);
        }
    }
}
