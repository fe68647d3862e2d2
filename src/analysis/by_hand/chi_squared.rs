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
        // What is left of the most expected may be too little for a kind of its own.
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
            bound_one_in_20: bound(n_freedom, 0.05),
            bound_one_in_1000: bound(n_freedom, 0.001),
        })
    }

    /// How often honest draws lie as far off as these, between 0 and 1.
    pub fn p_value(&self) -> f64 {
        share_beyond(self.chi_squared, self.n_freedom)
    }
}

/// How often honest draws pass this χ².
///
/// One minus the regularised lower incomplete gamma function at half the freedom and half of χ², by
/// its power series `x^a e^-x / Γ(a + 1) · (1 + x / (a + 1) + x² / ((a + 1) (a + 2)) + …)`:
/// Abramowitz, Stegun 1964, "Handbook of Mathematical Functions", 6.5.29.
fn share_beyond(chi_squared: f64, n_freedom: u32) -> f64 {
    let (a, x) = (f64::from(n_freedom) / 2.0, chi_squared / 2.0);
    if x <= 0.0 {
        return 1.0;
    }
    let ln_first = a * x.ln() - x - ln_gamma_half(n_freedom + 2);
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

/// The χ² that honest draws pass as seldom as `share` says, found by halving where it can lie: the
/// usual approximation is off by 3 in 100 where there are few degrees of freedom.
fn bound(n_freedom: u32, share: f64) -> f64 {
    let (mut from, mut to) = (0.0, f64::from(n_freedom));
    while share_beyond(to, n_freedom) > share {
        from = to;
        to *= 2.0;
    }
    while to - from > 1e-9 * to {
        let middle = f64::midpoint(from, to);
        if share_beyond(middle, n_freedom) > share {
            from = middle;
        } else {
            to = middle;
        }
    }
    to
}

#[cfg(test)]
mod tests {
    use super::{ChiSquared, Tally, bound, share_beyond};
    use crate::decoding::TokenId;

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
            let found = share_beyond(chi_squared, n_freedom);
            assert!(
                (found - expected).abs() < 1e-6,
                "{chi_squared} with {n_freedom}: {found}, not {expected}"
            );
        }
        let two = share_beyond(7.3, 2);
        assert!((two - (-3.65_f64).exp()).abs() < 1e-12);
    }

    #[test]
    fn of_each_kind_at_least_five_are_expected() {
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
    fn the_bounds_are_those_of_the_tables() {
        for (n_freedom, share, expected) in [
            (1, 0.05, 3.841),
            (2, 0.05, 5.991),
            (3, 0.05, 7.815),
            (100, 0.05, 124.342),
            (1, 0.001, 10.828),
            (2, 0.001, 13.816),
            (10, 0.001, 29.588),
        ] {
            let found = bound(n_freedom, share);
            assert!(
                (found - expected).abs() < 6e-4,
                "{n_freedom}: {found}, not {expected}"
            );
        }
    }

    #[test]
    fn the_bounds_are_passed_as_seldom_as_they_say() {
        for n_freedom in [1, 2, 5, 20, 200, 5000] {
            for share in [0.05, 0.001] {
                let found = share_beyond(bound(n_freedom, share), n_freedom);
                assert!((found / share - 1.0).abs() < 1e-4, "{n_freedom}: {found}");
            }
        }
    }
}
