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
        let (ln_hit, ln_miss) = (share.ln(), (1.0 - share).ln());
        let n = n as f64;
        // Start with the probability of no hit, then add one hit at a time.
        let mut ln_term = n * ln_miss;
        let mut terms = Vec::new();
        let mut hits = 0.0;
        while hits <= n {
            if hits >= n_hits {
                terms.push(ln_term);
            }
            ln_term += ((n - hits) / (hits + 1.0)).ln() + ln_hit - ln_miss;
            hits += 1.0;
        }
        Self::of_terms(&terms)
    }

    /// Returns the probability that `n` independent scores, each exponentially distributed with mean
    /// 1, add up to at least `sum`: the upper tail of a gamma distribution.
    pub fn of_sum(n: usize, sum: f64) -> Self {
        if n == 0 || sum <= 0.0 {
            return Self::default();
        }
        let mut ln_term = -sum;
        let mut terms = vec![ln_term];
        for index in 1..n {
            ln_term += sum.ln() - (index as f64).ln();
            terms.push(ln_term);
        }
        Self::of_terms(&terms)
    }

    /// Adds probabilities that are given as logarithms.
    fn of_terms(terms: &[f64]) -> Self {
        let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = terms.iter().map(|term| (term - most).exp()).sum();
        Self {
            ln: (most + sum.ln()).min(0.0),
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

#[cfg(test)]
mod tests {
    use super::PValue;

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
