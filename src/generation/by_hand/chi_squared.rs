//! Pearson's test: whether counts lie as near to those expected as chance brings them.

use serde::Serialize;

use super::Tally;

/// How far counts lie from those expected.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ChiSquared {
    /// The sum of `(count - expected)² / expected`; the rarest tokens count as one, so that 5 or more
    /// are expected of each.
    pub chi_squared: f64,
    /// In how many ways the counts are free to differ.
    pub n_freedom: u32,
    /// What honest draws pass once in 20 times.
    pub bound_one_in_20: f64,
    /// What honest draws pass once in 1,000 times.
    pub bound_one_in_1000: f64,
}

impl ChiSquared {
    /// The test of these counts, the most expected first; nothing where only one kind is expected.
    pub(super) fn of(counts: &[Tally]) -> Option<Self> {
        let mut bins = vec![(0.0, 0.0)];
        for Tally {
            count, expected, ..
        } in counts.iter().rev()
        {
            if bins.last().is_none_or(|(_, expected)| *expected >= 5.0) {
                bins.push((0.0, 0.0));
            }
            if let Some(bin) = bins.last_mut() {
                bin.0 += f64::from(*count);
                bin.1 += expected;
            }
        }
        let n_freedom = bins.len().checked_sub(1).filter(|n| *n > 0)? as u32;
        Some(Self {
            chi_squared: bins
                .iter()
                .map(|(count, expected)| (count - expected).powi(2) / expected)
                .sum(),
            n_freedom,
            bound_one_in_20: bound(n_freedom, 1.645),
            bound_one_in_1000: bound(n_freedom, 3.09),
        })
    }

    /// How often honest draws lie as far off as these, between 0 and 1.
    ///
    /// One minus the regularised lower incomplete gamma function at half the freedom and half of χ²,
    /// by its power series `x^a e^-x / Γ(a + 1) · (1 + x / (a + 1) + x² / ((a + 1) (a + 2)) + …)`:
    /// Abramowitz, Stegun 1964, "Handbook of Mathematical Functions", 6.5.29.
    pub fn p_value(&self) -> f64 {
        let (a, x) = (f64::from(self.n_freedom) / 2.0, self.chi_squared / 2.0);
        if x <= 0.0 {
            return 1.0;
        }
        let ln_first = a * x.ln() - x - ln_gamma_half(self.n_freedom + 2);
        if ln_first < -700.0 {
            return if x > a { 0.0 } else { 1.0 };
        }
        let (mut term, mut sum, mut n) = (1.0, 1.0, 0.0);
        // The terms grow until n is about x - a, and then fall for good.
        while term > sum * f64::EPSILON || n < x - a {
            n += 1.0;
            term *= x / (a + n);
            sum += term;
        }
        (1.0 - (ln_first + sum.ln()).exp()).clamp(0.0, 1.0)
    }
}

/// ln Γ(n / 2), from Γ(1) = 1, Γ(1/2) = √π and Γ(a + 1) = a Γ(a).
fn ln_gamma_half(n: u32) -> f64 {
    let (first, start) = if n.is_multiple_of(2) {
        (2, 0.0)
    } else {
        (1, std::f64::consts::PI.ln() / 2.0)
    };
    let steps = (first..n).step_by(2);
    start + steps.map(|k| (f64::from(k) / 2.0).ln()).sum::<f64>()
}

/// The χ² that is passed as seldom as a normal variable passes `deviations`.
///
/// Wilson, Hilferty 1931, "The Distribution of Chi-square".
fn bound(n_freedom: u32, deviations: f64) -> f64 {
    let n = f64::from(n_freedom);
    let part = 2.0 / (9.0 * n);
    n * (1.0 - part + deviations * part.sqrt()).powi(3)
}

#[cfg(test)]
mod tests {
    use super::{ChiSquared, bound};

    fn p_value(chi_squared: f64, n_freedom: u32) -> f64 {
        ChiSquared {
            chi_squared,
            n_freedom,
            bound_one_in_20: bound(n_freedom, 1.645),
            bound_one_in_1000: bound(n_freedom, 3.09),
        }
        .p_value()
    }

    #[test]
    fn p_values_are_those_of_the_tables() {
        for (chi_squared, n_freedom, expected) in [
            (0.0, 3, 1.0),
            (3.841_459, 1, 0.05),
            (5.991_465, 2, 0.05),
            (11.070_498, 5, 0.05),
            (16.918_978, 9, 0.05),
            (29.588_298, 10, 0.001),
            (1.145_476, 5, 0.95),
            (124.342_113, 100, 0.05),
            (2000.0, 3, 0.0),
            (5.0, 4000, 1.0),
        ] {
            let found = p_value(chi_squared, n_freedom);
            assert!(
                (found - expected).abs() < 1e-6,
                "{chi_squared} with {n_freedom}: {found}, not {expected}"
            );
        }
        let two: f64 = p_value(7.3, 2);
        assert!((two - (-3.65_f64).exp()).abs() < 1e-12);
    }

    #[test]
    fn the_bounds_are_passed_about_as_seldom_as_they_say() {
        for n_freedom in [1, 2, 5, 20, 200] {
            let one_in_20 = p_value(bound(n_freedom, 1.645), n_freedom);
            let one_in_1000 = p_value(bound(n_freedom, 3.09), n_freedom);
            assert!((one_in_20 - 0.05).abs() < 0.003, "{n_freedom}: {one_in_20}");
            assert!(
                (one_in_1000 - 0.001).abs() < 3e-4,
                "{n_freedom}: {one_in_1000}"
            );
        }
    }
}
