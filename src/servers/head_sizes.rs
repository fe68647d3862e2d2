//! How many log-probabilities to request from a server: few at first, more if these don't decide.

/// Each request is this many times as large as the one before.
const GROWTH: usize = 4;

/// The number of log-probabilities to request for one step.
///
/// A long list costs more than the pass that computes it: 49,152 tokens are 6 MB of JSON. But every
/// further request costs a pass. So lists grow by 4 up to a quarter of the vocabulary, which is then
/// requested as a whole. The next step starts one size below the one that was needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HeadSizes {
    /// The smallest list.
    n_least: usize,
    /// How many make a whole distribution, or `None` if the server reports no more than `n_least`.
    n_whole: Option<usize>,
    /// The list of this step.
    n_probs: usize,
    /// The list before it in this step.
    n_before: Option<usize>,
}

impl HeadSizes {
    pub(super) fn new(n_least: usize, n_whole: Option<usize>) -> Self {
        Self {
            n_least,
            n_whole: n_whole.filter(|n_whole| *n_whole > n_least),
            n_probs: n_least,
            n_before: None,
        }
    }

    /// The number of log-probabilities to request now.
    pub(super) const fn n_probs(self) -> usize {
        self.n_probs
    }

    /// Moves on to a longer list. Returns whether there is one.
    pub(super) fn grow(&mut self) -> bool {
        let Some(n_whole) = self.n_whole.filter(|n_whole| self.n_probs < *n_whole) else {
            return false;
        };
        self.n_before = Some(self.n_probs);
        let longer = self.n_probs.saturating_mul(GROWTH);
        self.n_probs = if longer > n_whole / GROWTH {
            n_whole
        } else {
            longer
        };
        true
    }

    /// Returns the list with which the next step begins.
    pub(super) fn for_next_step(self) -> Self {
        let shorter = (self.n_probs / GROWTH).max(self.n_least);
        Self {
            n_probs: self.n_before.unwrap_or(shorter),
            n_before: None,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::HeadSizes;

    /// Grows to the end, and returns all sizes.
    fn all(mut sizes: HeadSizes) -> Vec<usize> {
        let mut asked = vec![sizes.n_probs()];
        while sizes.grow() {
            asked.push(sizes.n_probs());
        }
        asked
    }

    #[test]
    fn lists_grow_by_four_and_then_to_the_whole() {
        for (n_whole, expected) in [
            (None, vec![128]),
            (Some(100), vec![128]),
            (Some(300), vec![128, 300]),
            (Some(6144), vec![128, 512, 6144]),
            (Some(49_152), vec![128, 512, 2048, 8192, 49_152]),
            (Some(151_936), vec![128, 512, 2048, 8192, 32_768, 151_936]),
        ] {
            assert_eq!(all(HeadSizes::new(128, n_whole)), expected);
        }
    }

    #[test]
    fn the_next_step_starts_one_size_below_the_one_that_was_needed() {
        let mut sizes = HeadSizes::new(128, Some(49_152));
        for (n_grown, first) in [(0, 128), (1, 128), (2, 512), (0, 128), (4, 8192), (0, 2048)] {
            for _ in 0..n_grown {
                assert!(sizes.grow());
            }
            sizes = sizes.for_next_step();
            assert_eq!(sizes.n_probs(), first, "after growing {n_grown} times");
        }
    }
}
