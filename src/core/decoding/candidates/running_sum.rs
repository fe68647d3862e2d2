//! A sum of many probabilities whose error does not grow with their number.

/// A running sum of probabilities in the order of the candidates.
///
/// Equal neighbors are counted and multiplied, so that n tokens of probability 1/n hold exactly
/// their share; the rest is compensated: Neumaier 1974, "Rundungsfehleranalyse einiger Verfahren
/// zur Summation endlicher Summen".
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::decoding) struct RunningSum {
    /// The sum before the current run of equal terms, and what rounding took from it.
    before: f64,
    lost: f64,
    /// The current term, and how often it has occurred in a row.
    term: f64,
    n: u32,
}

impl RunningSum {
    /// Starts from a value.
    pub(in crate::decoding) fn from(value: f64) -> Self {
        Self {
            before: value,
            ..Self::default()
        }
    }

    /// Adds a term, and returns the sum.
    pub(in crate::decoding) fn add(&mut self, term: f64) -> f64 {
        if term.to_bits() != self.term.to_bits() {
            let run = self.term * f64::from(self.n);
            let sum = self.before + run;
            self.lost += if self.before.abs() >= run.abs() {
                (self.before - sum) + run
            } else {
                (run - sum) + self.before
            };
            (self.before, self.term, self.n) = (sum, term, 0);
        }
        self.n += 1;
        self.value()
    }

    /// Returns the sum.
    pub(in crate::decoding) fn value(self) -> f64 {
        self.before + (self.term * f64::from(self.n) + self.lost)
    }
}

#[cfg(test)]
mod tests {
    use super::RunningSum;

    #[test]
    fn equal_terms_add_up_to_their_multiple() {
        let mut sum = RunningSum::default();
        for n in 1..=300_000_u32 {
            let share = sum.add(1.0 / 300_000.0);
            let exact = f64::from(n) / 300_000.0;
            assert!((share - exact).abs() <= f64::EPSILON, "{n}: {share}");
        }
    }

    #[test]
    fn small_terms_after_a_large_one_are_not_lost() {
        let mut sum = RunningSum::from(1.0);
        for n in 0..1000 {
            sum.add(if n % 2 == 0 { 1e-17 } else { 2e-17 });
        }
        assert!((sum.value() - (1.0 + 1.5e-14)).abs() < 3e-16);
    }
}
