//! How many log-probabilities to request from a server: few at first, more if these don't decide.

/// Each request is this many times as large as the one before.
const GROWTH: usize = 4;

/// Lists up to this length cost little beside a pass.
const N_SHORT: usize = 512;

/// After this many steps in a row that the first list does not decide, a longer one comes first.
const N_GROWN: u32 = 2;

/// After this many steps that the first list decides, a shorter one is tried.
const N_CALM: u32 = 8;

/// The number of log-probabilities to request for one step.
///
/// A long list costs more than the pass that computes it: 49,152 tokens are 4.5 MB of JSON, 512 are
/// 48 kB. But every further request costs a pass. So lists grow by 4 up to a quarter of the
/// vocabulary, which is then requested as a whole. A step that needs a long list says little about
/// the next one, which begins with the short one again. After two in a row, the next ones begin with
/// a short list that was needed, until it decides several of them at once, or one size below a long
/// one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "counts begin with n")]
pub(super) struct HeadSizes {
    /// The smallest list.
    n_least: usize,
    /// How many make a whole distribution, or `None` if the server reports no more than `n_least`.
    n_whole: Option<usize>,
    /// The first list of this step.
    n_first: usize,
    /// The list of this step.
    n_probs: usize,
    /// The list before it in this step.
    n_before: Option<usize>,
    /// How many steps in a row the first list has not decided.
    n_grown: u32,
    /// How many steps in a row the first list has decided.
    n_calm: u32,
}

impl HeadSizes {
    pub(super) fn new(n_least: usize, n_whole: Option<usize>) -> Self {
        Self {
            n_least,
            n_whole: n_whole.filter(|n_whole| *n_whole > n_least),
            n_first: n_least,
            n_probs: n_least,
            n_before: None,
            n_grown: 0,
            n_calm: 0,
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
        let is_short = self.n_probs <= N_SHORT;
        let (n_first, n_grown, n_calm) = match self.n_before {
            Some(_) if self.n_grown + 1 < N_GROWN => (self.n_first, self.n_grown + 1, 0),
            Some(_) if is_short => (self.n_probs, N_GROWN, 0),
            Some(n_before) => (n_before, N_GROWN, 0),
            None if is_short && self.n_calm + 1 < N_CALM => (self.n_first, 0, self.n_calm + 1),
            None => ((self.n_first / GROWTH).max(self.n_least), 0, 0),
        };
        Self {
            n_first,
            n_probs: n_first,
            n_before: None,
            n_grown,
            n_calm,
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

    /// The first lists of the steps after these, of which each grows so many times.
    fn firsts<const N: usize>(sizes: &mut HeadSizes, steps: [u32; N]) -> [usize; N] {
        steps.map(|n_grown| {
            for _ in 0..n_grown {
                assert!(sizes.grow());
            }
            *sizes = sizes.for_next_step();
            sizes.n_probs()
        })
    }

    #[test]
    fn a_single_step_that_needs_more_does_not_make_the_next_one_dear() {
        let mut sizes = HeadSizes::new(128, Some(49_152));
        let steps = [0, 2, 0, 4, 0, 0, 1, 0];
        assert_eq!(firsts(&mut sizes, steps), [128; 8]);
    }

    #[test]
    fn after_two_in_a_row_the_next_step_starts_with_a_short_list_or_below_a_long_one() {
        let mut sizes = HeadSizes::new(128, Some(49_152));
        assert_eq!(firsts(&mut sizes, [1, 1, 0]), [128, 512, 512]);
        // A calm step comes before each growth, so two in a row are needed again.
        assert_eq!(firsts(&mut sizes, [2, 2, 0]), [512, 2048, 512]);
        let calm = firsts(&mut sizes, [0; 16]);
        assert_eq!((calm[6], calm[7], calm[15]), (512, 128, 128));
        // From then on, each step that grows moves the first list.
        assert_eq!(firsts(&mut sizes, [1, 1, 2, 2]), [128, 512, 2048, 8192]);
        assert_eq!(firsts(&mut sizes, [0, 0, 0]), [2048, 512, 512]);
    }
}
