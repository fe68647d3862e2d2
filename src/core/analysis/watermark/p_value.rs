//! How often chance matches a key at least as well.

/// A probability that may be too small for a float, kept as its logarithm.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PValue {
    /// The natural logarithm, 0 or less.
    ln: f64,
}

impl PValue {
    /// Returns the probability that at least `n_hits` of `n` independent tokens match, each with
    /// probability `share`: the upper tail of a binomial distribution.
    pub fn of_count(n: usize, n_hits: f64, share: f64) -> Self {
        if n_hits <= 0.0 || n == 0 || share >= 1.0 {
            return Self::default();
        }
        if share <= 0.0 {
            let ln = f64::NEG_INFINITY;
            return Self { ln };
        }
        let (n, n_hits) = (n as f64, n_hits.ceil());
        if n_hits > n {
            let ln = f64::NEG_INFINITY;
            return Self { ln };
        }
        let odds = share / (1.0 - share);
        if n_hits > n * share {
            let ratios = counts_from(n_hits).map(|hits| (n - hits) / (hits + 1.0) * odds);
            Self::of_tail(ln_binomial(n_hits, n, share), ratios)
        } else {
            let n_less = n_hits - 1.0;
            let ratios = (0..).map(|fewer: u32| {
                let hits = n_less - f64::from(fewer);
                hits / ((n - hits + 1.0) * odds)
            });
            Self::of_tail(ln_binomial(n_less, n, share), ratios).complement()
        }
    }

    /// Returns the probability that `n` independent scores, each exponentially distributed with mean
    /// 1, add up to at least `sum`: the upper tail of a gamma distribution. That is also how likely
    /// a Poisson variable with mean `sum` is to be below `n`.
    pub fn of_sum(n: usize, sum: f64) -> Self {
        if n == 0 || sum <= 0.0 {
            return Self::default();
        }
        let n = n as f64;
        if n - 1.0 < sum {
            let ratios = (1..).map(|fewer: u32| (n - f64::from(fewer)) / sum);
            Self::of_tail(ln_poisson(n - 1.0, sum), ratios)
        } else {
            let ratios = counts_from(n).map(|count| sum / (count + 1.0));
            Self::of_tail(ln_poisson(n, sum), ratios).complement()
        }
    }

    /// Adds the terms of a tail, from the largest outward until they no longer matter. `ratios` are
    /// the ratios, all below 1, of each further term to the one before it.
    fn of_tail(ln_first: f64, ratios: impl Iterator<Item = f64>) -> Self {
        let (mut term, mut sum) = (1.0, 1.0);
        for ratio in ratios {
            term *= ratio;
            if term < 1e-17 * sum {
                break;
            }
            sum += term;
        }
        Self {
            ln: (ln_first + sum.ln()).min(0.0),
        }
    }

    fn complement(self) -> Self {
        Self {
            ln: (-self.get()).ln_1p(),
        }
    }

    /// Returns the probability, or 0 if it is too small for a float.
    pub fn get(self) -> f64 {
        self.ln.exp()
    }

    /// Returns the decimal logarithm, 0 or less.
    pub fn log10(self) -> f64 {
        self.ln / std::f64::consts::LN_10
    }
}

impl std::fmt::Display for PValue {
    /// Writes two digits down to a thousandth, then scientific notation: "0.34", "0.0021", "3e−17".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = self.get();
        if value >= 0.995 {
            return f.write_str("1");
        }
        if value >= 0.0095 {
            return write!(f, "{value:.2}");
        }
        if value >= 0.000_95 {
            return write!(f, "{value:.4}");
        }
        let mut power = self.log10().floor();
        let mut digit = 10_f64.powf(self.log10() - power).round();
        if digit >= 10.0 {
            (digit, power) = (1.0, power + 1.0);
        }
        write!(f, "{digit}e−{}", -power)
    }
}

/// Counts up from a whole number.
fn counts_from(start: f64) -> impl Iterator<Item = f64> {
    (0_u32..).map(move |index| start + f64::from(index))
}

/// Returns the log-probability of exactly `hits` hits among `n`, without the cancellation of three
/// large log-factorials (Loader 2000, "Fast and Accurate Computation of Binomial Probabilities").
fn ln_binomial(hits: f64, n: f64, share: f64) -> f64 {
    let misses = n - hits;
    ln_peak(hits) + ln_peak(misses)
        - ln_peak(n)
        - deviance(hits, n * share)
        - deviance(misses, n * (1.0 - share))
}

/// Returns the log-probability that a Poisson variable with this mean equals `count`.
fn ln_poisson(count: f64, mean: f64) -> f64 {
    ln_peak(count) - deviance(count, mean)
}

/// Returns x·ln(x/m) + m − x.
fn deviance(count: f64, mean: f64) -> f64 {
    if count > 0.0 {
        count * (count / mean).ln() + mean - count
    } else {
        mean
    }
}

/// Returns ln(xˣ·e⁻ˣ / x!), the log-probability that a Poisson variable equals its mean, a whole
/// number. Beyond small numbers, x! follows from Stirling's series.
fn ln_peak(count: f64) -> f64 {
    if count < 1.0 {
        return 0.0;
    }
    if count < 16.0 {
        let factorial: f64 = counts_from(1.0).take_while(|n| *n <= count).product();
        return count * count.ln() - count - factorial.ln();
    }
    let square = count * count;
    let series = (1.0 / 1680.0 - 1.0 / 1188.0 / square) / square;
    let series = (1.0 / 360.0 - (1.0 / 1260.0 - series) / square) / square;
    let error = (1.0 / 12.0 - series) / count;
    -error - 0.5 * (std::f64::consts::TAU * count).ln()
}

#[cfg(test)]
mod tests {
    use super::PValue;

    #[test]
    fn tails_equal_their_plain_sums() {
        let near = |found: PValue, expected: f64, what: &str| {
            let error = (found.get() / expected - 1.0).abs();
            assert!(error < 1e-12, "{what}: {}, not {expected}", found.get());
        };
        for n in [1_u32, 2, 5, 15, 16, 17, 40, 60] {
            for share in [0.1_f64, 0.25, 0.5] {
                let terms: Vec<f64> = (0..=n)
                    .map(|hits| {
                        let ways = (0..hits).map(|i| f64::from(n - i) / f64::from(i + 1));
                        let prob = share.powf(hits.into()) * (1.0 - share).powf((n - hits).into());
                        ways.product::<f64>() * prob
                    })
                    .collect();
                for hits in 1..=n {
                    let sum = terms.iter().skip(hits as usize).rev().sum();
                    let found = PValue::of_count(n as usize, hits.into(), share);
                    near(found, sum, &format!("{hits} of {n} at {share}"));
                }
            }
            for sum in [0.3, 1.0, 4.5, 16.0, 39.5, 80.0_f64] {
                let terms = (0..n).map(|count| {
                    let product: f64 = (1..=count).map(|i| sum / f64::from(i)).product();
                    product * (-sum).exp()
                });
                near(
                    PValue::of_sum(n as usize, sum),
                    terms.sum(),
                    &format!("{n} scores of {sum}"),
                );
            }
        }
    }

    #[test]
    fn long_texts_have_exact_tails() {
        let n = 1_000_000;
        let middle = 0.5 * (2.0 / (std::f64::consts::PI * n as f64)).sqrt();
        let found = PValue::of_count(n, n as f64 / 2.0, 0.5).get();
        assert!((found - 0.5 - middle).abs() < 1e-9, "{found}");
        assert!(PValue::of_sum(n, 1.1 * n as f64).log10() < -2000.0);
    }

    #[test]
    fn tails_agree_with_their_closed_forms() {
        for (n, n_hits, share, expected) in [
            (0, 0.0, 0.25, 1.0),
            (4, 0.0, 0.25, 1.0),
            (4, 4.0, 0.25, 0.25_f64.powi(4)),
            (4, 1.0, 0.25, 1.0 - 0.75_f64.powi(4)),
            (2, 1.0, 0.5, 0.75),
            (100, 50.0, 0.5, 0.539_794_618_693_6),
        ] {
            let found = PValue::of_count(n, n_hits, share).get();
            assert!((found - expected).abs() < 1e-9, "{n} {n_hits}: {found}");
        }
        for (n, sum, expected) in [
            (1, 2.0, (-2.0_f64).exp()),
            (2, 3.0, 4.0 * (-3.0_f64).exp()),
            (3, 0.0, 1.0),
            (0, 0.0, 1.0),
        ] {
            let found = PValue::of_sum(n, sum).get();
            assert!((found - expected).abs() < 1e-12, "{n} {sum}: {found}");
        }
    }

    #[test]
    fn tiny_probabilities_keep_their_logarithm() {
        let p = PValue::of_count(2000, 2000.0, 0.25);
        assert!((p.log10() + 2000.0 * 4_f64.log10()).abs() < 1e-6);
        assert!(p.get() <= 0.0);
        assert_eq!(p.to_string(), "8e−1205");
    }

    #[test]
    fn p_values_are_short() {
        for (n, sum, expected) in [
            (0, 0.0, "1"),
            (1, 1.0, "0.37"),
            (1, 4.6, "0.01"),
            (1, 6.5, "0.0015"),
            (1, 20.0, "2e−9"),
            (1, 23.0, "1e−10"),
        ] {
            assert_eq!(PValue::of_sum(n, sum).to_string(), expected);
        }
    }
}
