//! Earlier copies of recurrent states, which a text keeps so that it can go back.

/// The rule by which states are kept. A state can't be truncated as keys and values can: going back
/// restores the nearest copy and reads the tokens since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoints;

impl Checkpoints {
    /// A state is kept at least this many tokens after the one before it.
    pub const INTERVAL: usize = 64;

    /// The most memory that the kept states of a text may take, in bytes, if there are more than
    /// [`Self::N_MIN`].
    pub const N_MAX_BYTES: u64 = 32 << 20;

    /// This many states are kept regardless of their size.
    pub const N_MIN: usize = 2;

    /// Returns the most states that a text of `n_tokens` keeps: one every interval and one at the end
    /// of the prompt, within the memory limit. `n_state_bytes` is the size of one.
    pub const fn n_kept(n_state_bytes: u64, n_tokens: usize) -> u64 {
        if n_state_bytes == 0 {
            return 0;
        }
        let n_wanted = (n_tokens / Self::INTERVAL) as u64 + 1;
        let n_fitting = Self::N_MAX_BYTES / n_state_bytes;
        let n_allowed = if n_fitting > Self::N_MIN as u64 {
            n_fitting
        } else {
            Self::N_MIN as u64
        };
        if n_wanted < n_allowed {
            n_wanted
        } else {
            n_allowed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Checkpoints;

    #[test]
    fn long_texts_and_large_states_keep_no_more_than_the_limit_allows() {
        for (n_state_bytes, n_tokens, expected) in [
            (0, 1000, 0),
            (1 << 20, 0, 1),
            (1 << 20, 63, 1),
            (1 << 20, 640, 11),
            (1 << 20, 100_000, 32),
            (48 << 20, 10, 1),
            (48 << 20, 100_000, 2),
        ] {
            let found = Checkpoints::n_kept(n_state_bytes, n_tokens);
            assert_eq!(found, expected, "{n_state_bytes} bytes, {n_tokens} tokens");
        }
    }
}
