//! What is known of a model before it is loaded.

use super::{ByteSize, Implementation};

/// What a model's files say of it without being read whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelOutline {
    /// Its name as people say it.
    pub name: String,
    /// The family it belongs to, as its file names it: "llama".
    pub architecture: String,
    /// Who would compute it.
    pub implementation: Implementation,
    /// How many weights it has.
    pub n_params: u64,
    /// How most of its weights are stored: `Q8_0`, `F16`.
    pub quantization: String,
    /// How many tokens it can read.
    pub n_context: usize,
    /// The size of its files of weights, in bytes.
    pub n_file_bytes: u64,
    /// How many bytes of weights one forward pass reads.
    pub n_step_bytes: u64,
    /// What it takes to run it.
    pub memory: MemoryNeed,
    /// The width of a key-value head, where keys and values can be kept in other numbers than usual.
    pub head_dim: Option<usize>,
    /// What of its files can't be read although it works without, and why; nothing where all can.
    pub unread: Option<String>,
}

/// The memory that a model takes on the processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryNeed {
    /// Bytes of weights, in the form in which they are used.
    pub n_weight_bytes: u64,
    /// Bytes of keys and values for each token that a sequence has read.
    pub n_cache_bytes_per_token: u64,
    /// Bytes that a sequence takes whatever its length: the states of layers without attention.
    pub n_state_bytes: u64,
}

impl MemoryNeed {
    /// Bytes of what one pane with this many tokens keeps of them.
    pub const fn n_cache_bytes(&self, n_tokens: usize) -> u64 {
        self.n_cache_bytes_per_token
            .saturating_mul(n_tokens as u64)
            .saturating_add(self.n_state_bytes)
    }

    /// Bytes in all, with so many panes of so many tokens each. What panes share counts for each of
    /// them, so that it is the most they can take.
    pub const fn n_bytes(&self, n_panes: usize, n_tokens: usize) -> u64 {
        let n_all_cache_bytes = self.n_cache_bytes(n_tokens).saturating_mul(n_panes as u64);
        self.n_weight_bytes.saturating_add(n_all_cache_bytes)
    }

    /// The warning that so many bytes are needed where only `n_free` are free; none where they suffice.
    pub fn shortage(n_needed: u64, n_free: u64) -> Option<String> {
        let needed = ByteSize(n_needed);
        let free = ByteSize(n_free).beside(needed);
        (n_needed > n_free).then(|| format!("Needs {needed} of memory, {free} are free."))
    }
}

#[cfg(test)]
mod tests {
    use super::MemoryNeed;

    #[test]
    fn every_pane_has_a_cache_of_its_own() {
        let need = MemoryNeed {
            n_weight_bytes: 1_000_000,
            n_cache_bytes_per_token: 200,
            n_state_bytes: 0,
        };
        assert_eq!(need.n_cache_bytes(50), 10_000);
        assert_eq!(need.n_bytes(4, 50), 1_040_000);
        assert_eq!(need.n_bytes(usize::MAX, 2), u64::MAX);
    }

    #[test]
    fn a_state_counts_once_for_each_pane() {
        let need = MemoryNeed {
            n_weight_bytes: 1_000_000,
            n_cache_bytes_per_token: 0,
            n_state_bytes: 300,
        };
        assert_eq!(need.n_cache_bytes(50), 300);
        assert_eq!(need.n_bytes(4, 50), 1_001_200);
    }

    #[test]
    fn a_shortage_is_told_in_one_unit() {
        assert_eq!(
            MemoryNeed::shortage(5_200_000_000, 3_900_000_000).as_deref(),
            Some("Needs 5.2 GB of memory, 3.9 are free.")
        );
        assert_eq!(MemoryNeed::shortage(5, 5), None);
    }
}
