//! Pearson's chi-squared test: whether counts deviate from expectation by more than chance.

use serde::Serialize;

use super::Tally;

/// How far counts deviate from their expected values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ChiSquared {
    /// The sum of `(count - expected)² / expected` over bins. Rare tokens share a bin, so that each
    /// bin has an expected count of at least 5.
    pub chi_squared: f64,
    /// The degrees of freedom: the number of bins minus one.
    pub n_freedom: u32,
    /// The critical value at p = 0.05: fair draws exceed it 1 time in 20.
    pub bound_one_in_20: f64,
    /// The critical value at p = 0.001: fair draws exceed it 1 time in 1,000.
    pub bound_one_in_1000: f64,
}

impl ChiSquared {
    /// Tests these counts, sorted by descending expectation. Returns `None` if there are fewer than
    /// two bins.
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
        // The last bin may be too small to stand alone.
        if bins.len() > 1
            && let Some((count, expected)) = bins.pop_if(|(_, expected)| *expected < 5.0)
            && let Some(bin) = bins.last_mut()
        {
            bin.0 += count;
            bin.1 += expected;
        }
        let n_freedom = bins.len().checked_sub(1).filter(|n| *n > 0)? as u32;
        Some(Self {
            chi_squared: bins
                .iter()
                .map(|(count, expected)| (count - expected).powi(2) / expected)
                .sum(),
            n_freedom,
            bound_one_in_20: critical_value(n_freedom, 0.05),
            bound_one_in_1000: critical_value(n_freedom, 0.001),
        })
    }

    /// Returns the probability that fair draws deviate at least this much.
    pub fn p_value(&self) -> f64 {
        survival(self.chi_squared, self.n_freedom)
    }
}

/// The survival function of the χ² distribution: the probability that fair draws exceed this χ².
///
/// One minus the regularized lower incomplete gamma function at half the degrees of freedom and
/// half of χ², computed from its power series
/// `x^a e^-x / Γ(a + 1) · (1 + x / (a + 1) + x² / ((a + 1) (a + 2)) + …)`:
/// Abramowitz, Stegun 1964, "Handbook of Mathematical Functions", 6.5.29.
fn survival(chi_squared: f64, n_freedom: u32) -> f64 {
    let (a, x) = (f64::from(n_freedom) / 2.0, chi_squared / 2.0);
    if x <= 0.0 {
        return 1.0;
    }
    let ln_first = a * x.ln() - x - ln_gamma_half(n_freedom + 2);
    if ln_first < -700.0 {
        return if x > a { 0.0 } else { 1.0 };
    }
    let (mut term, mut sum, mut n) = (1.0, 1.0, 0.0);
    // The terms grow until n is about x - a and shrink from there on.
    while term > sum * f64::EPSILON || n < x - a {
        n += 1.0;
        term *= x / (a + n);
        sum += term;
    }
    (1.0 - (ln_first + sum.ln()).exp()).clamp(0.0, 1.0)
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

/// The critical value: the χ² that fair draws exceed with probability `p_value`. Found by
/// bisection, because the usual approximation is off by 3 % when there are few degrees of freedom.
fn critical_value(n_freedom: u32, p_value: f64) -> f64 {
    let (mut low, mut high) = (0.0, f64::from(n_freedom));
    while survival(high, n_freedom) > p_value {
        low = high;
        high *= 2.0;
    }
    while high - low > 1e-9 * high {
        let middle = f64::midpoint(low, high);
        if survival(middle, n_freedom) > p_value {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::{ChiSquared, Tally, critical_value, survival};
    use crate::decoding::TokenId;

    #[test]
    fn p_values_match_published_tables() {
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
            let found = survival(chi_squared, n_freedom);
            assert!(
                (found - expected).abs() < 1e-6,
                "{chi_squared} with {n_freedom}: {found}, not {expected}"
            );
        }
        let two = survival(7.3, 2);
        assert!((two - (-3.65_f64).exp()).abs() < 1e-12);
    }

    #[test]
    fn every_bin_has_an_expected_count_of_at_least_five() {
        let tally = |expected: f64| Tally {
            id: TokenId(0),
            count: 4,
            expected,
        };
        assert_eq!(ChiSquared::of(&[tally(1.0); 8]), None);
        assert_eq!(ChiSquared::of(&[tally(1.0); 14]).unwrap().n_freedom, 1);
        assert_eq!(ChiSquared::of(&[tally(6.0); 3]).unwrap().n_freedom, 2);
    }

    #[test]
    fn critical_values_match_published_tables() {
        for (n_freedom, p_value, expected) in [
            (1, 0.05, 3.841),
            (2, 0.05, 5.991),
            (3, 0.05, 7.815),
            (100, 0.05, 124.342),
            (1, 0.001, 10.828),
            (2, 0.001, 13.816),
            (10, 0.001, 29.588),
        ] {
            let found = critical_value(n_freedom, p_value);
            assert!(
                (found - expected).abs() < 6e-4,
                "{n_freedom}: {found}, not {expected}"
            );
        }
    }

    #[test]
    fn the_p_value_of_a_critical_value_is_the_one_requested() {
        for n_freedom in [1, 2, 5, 20, 200, 5000] {
            for p_value in [0.05, 0.001] {
                let found = survival(critical_value(n_freedom, p_value), n_freedom);
                assert!((found / p_value - 1.0).abs() < 1e-4, "{n_freedom}: {found}");
            }
        }
    }
}
