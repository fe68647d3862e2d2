//! How far a sweep has got, and how long it will take.

use serde::{Deserialize, Serialize};

use crate::generation::SweepText;

/// The progress of a sweep, counted in tokens because texts end at different lengths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SweepProgress {
    pub n_texts: usize,
    /// The maximum number of tokens of a text.
    pub n_max_tokens: usize,
    /// How many tokens were generated so far.
    pub n_tokens: usize,
    /// How many seconds the engine has worked on it so far.
    pub secs: f64,
    /// How many texts are complete.
    pub n_complete: usize,
    /// How many tokens the complete texts fell short of `n_max_tokens`, in total.
    n_saved: usize,
}

impl SweepProgress {
    /// Creates the progress of a sweep that has not begun.
    pub fn new(n_texts: usize, n_max_tokens: usize) -> Self {
        Self {
            n_texts,
            n_max_tokens,
            ..Self::default()
        }
    }

    /// Records that the texts have grown.
    pub fn advance(&mut self, n_tokens: usize, secs: f64, complete: &[SweepText]) {
        self.n_tokens = n_tokens;
        self.secs = secs;
        self.n_complete += complete.len();
        let saved = |text: &SweepText| self.n_max_tokens.saturating_sub(text.tokens.len());
        self.n_saved += complete.iter().map(saved).sum::<usize>();
    }

    /// Returns how much of the work is done, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        let all = self
            .n_texts
            .saturating_mul(self.n_max_tokens)
            .saturating_sub(self.n_saved)
            .max(1);
        (self.n_tokens as f64 / all as f64).min(1.0)
    }

    /// Estimates how many seconds are left from the time so far, or returns `None` while too little
    /// is known.
    pub fn secs_left(&self) -> Option<f64> {
        let fraction = self.fraction();
        (fraction > 0.01).then(|| self.secs * (1.0 - fraction) / fraction)
    }
}

#[cfg(test)]
mod tests {
    use super::SweepProgress;
    use crate::analysis::sweep::testing::text;

    #[test]
    fn texts_that_end_early_shorten_the_work() {
        let mut progress = SweepProgress::new(4, 10);
        assert_eq!((progress.fraction(), progress.secs_left()), (0.0, None));
        progress.advance(10, 2.0, &[]);
        assert!((progress.secs_left().unwrap() - 6.0).abs() < 1e-9);
        // One text has ended after 2 tokens, so the total is 32 tokens.
        progress.advance(16, 3.0, &[text(0, 0, &[1, 2])]);
        assert!((progress.fraction() - 0.5).abs() < 1e-9);
        assert!((progress.secs_left().unwrap() - 3.0).abs() < 1e-9);
        assert_eq!(progress.n_complete, 1);
    }
}
