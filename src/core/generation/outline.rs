//! Facts about a model that are known before it is loaded.

use std::fmt;

use super::{ByteSize, Checkpoints, Conversion, Implementation};

/// What the headers of a model's files say, without reading the weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelOutline {
    /// The display name.
    pub name: String,
    /// The architecture as the model file spells it: "llama".
    pub architecture: String,
    pub implementation: Implementation,
    pub n_params: u64,
    /// The quantization by the name of its mix of formats: `Q4_K_M`, `Q8_0`, `F16`.
    pub quantization: String,
    /// The formats of the matrices, those with the most values first.
    pub formats: Vec<String>,
    /// The size of the context window, in tokens.
    pub n_context: usize,
    /// The total size of the weight files.
    pub n_file_bytes: u64,
    /// Bytes of weights that one forward pass reads.
    pub n_step_bytes: u64,
    pub memory: MemoryNeed,
    /// The mixtures of experts, if the model has some.
    pub experts: Option<ExpertsOutline>,
    /// What is converted while the model is loaded, or `None` if its formats stay as they are.
    pub conversion: Option<Conversion>,
    /// The dimension of a key-value head, or `None` if the number format of the KV cache is fixed.
    pub head_dim: Option<usize>,
    /// An error about an optional file that could not be read, or `None` if there was none.
    pub load_warning: Option<String>,
}

impl ModelOutline {
    /// Adds to a sentence about the model what its experts cost, and what is converted while it is
    /// loaded.
    pub fn with_costs(&self, mut sentence: String) -> String {
        if let Some(experts) = &self.experts {
            sentence = format!("{sentence}. Experts: {experts}");
        }
        match &self.conversion {
            None => sentence,
            Some(conversion) => format!("{sentence}. Converts {conversion}"),
        }
    }
}

/// Mixtures of experts: of the experts in a layer, each token uses a few.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpertsOutline {
    /// Experts in a layer.
    pub n_experts: usize,
    /// How many of them a token uses.
    pub n_chosen: usize,
    /// Weights that a token uses, with those outside of the experts.
    pub n_active_params: u64,
    /// The memory of all experts, in bytes.
    pub n_bytes: u64,
}

impl fmt::Display for ExpertsOutline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            n_experts,
            n_chosen,
            n_active_params,
            n_bytes,
        } = *self;
        let millions = n_active_params as f64 / 1e6;
        write!(
            f,
            "a token uses {n_chosen} of {n_experts} in a layer, {millions:.0} million weights in \
             all; on the CPU, each is read from the file when it is first used, and all take {}",
            ByteSize(n_bytes)
        )
    }
}

/// The memory that a model needs on the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryNeed {
    /// Bytes of weights in memory, which can differ from their size on disk.
    pub n_weight_bytes: u64,
    /// Bytes of KV cache for each token of a sequence.
    pub n_cache_bytes_per_token: u64,
    /// Bytes for each sequence regardless of its length: the states of layers without attention.
    pub n_state_bytes: u64,
    /// Whether a sequence keeps earlier copies of these states, so that it can go back.
    pub keeps_checkpoints: bool,
    /// The number of tokens in the vocabulary.
    pub n_vocab: usize,
}

impl MemoryNeed {
    /// Bytes for each token of the vocabulary: its text, the tokenizer's tables and its merge rule.
    /// Measured.
    const N_VOCABULARY_BYTES: u64 = 240;
    /// Bytes for each token of the vocabulary and pane: its logit and what the chain stores for it.
    /// Measured.
    const N_CHAIN_BYTES: u64 = 90;

    /// Returns the memory of the tokenizer and its vocabulary, in bytes.
    pub const fn n_vocabulary_bytes(&self) -> u64 {
        Self::N_VOCABULARY_BYTES.saturating_mul(self.n_vocab as u64)
    }

    /// Returns the memory of one pane with this many tokens, in bytes: its cache, and its chain.
    pub const fn n_pane_bytes(&self, n_tokens: usize) -> u64 {
        let n_chain_bytes = Self::N_CHAIN_BYTES.saturating_mul(self.n_vocab as u64);
        self.n_cache_bytes(n_tokens).saturating_add(n_chain_bytes)
    }

    /// Returns the cache size of one pane with this many tokens, in bytes.
    pub const fn n_cache_bytes(&self, n_tokens: usize) -> u64 {
        self.n_cache_bytes_per_token
            .saturating_mul(n_tokens as u64)
            .saturating_add(self.n_state_bytes)
            .saturating_add(self.n_checkpoint_bytes(n_tokens))
    }

    /// Returns the most earlier states that one pane with this many tokens keeps.
    pub const fn n_checkpoints(&self, n_tokens: usize) -> u64 {
        if self.keeps_checkpoints {
            Checkpoints::n_kept(self.n_state_bytes, n_tokens)
        } else {
            0
        }
    }

    /// Returns the most memory that the earlier states of one pane with this many tokens take, in
    /// bytes.
    pub const fn n_checkpoint_bytes(&self, n_tokens: usize) -> u64 {
        self.n_state_bytes
            .saturating_mul(self.n_checkpoints(n_tokens))
    }

    /// Returns the total memory for `n_panes` panes of `n_tokens` tokens each, in bytes. This is an
    /// upper bound: a prefix that panes share counts once for each of them.
    pub const fn n_bytes(&self, n_panes: usize, n_tokens: usize) -> u64 {
        let n_all_pane_bytes = self.n_pane_bytes(n_tokens).saturating_mul(n_panes as u64);
        self.n_weight_bytes
            .saturating_add(self.n_vocabulary_bytes())
            .saturating_add(n_all_pane_bytes)
    }

    /// Returns a warning if fewer bytes are free than needed, or `None` if there is enough memory.
    pub fn shortage(n_needed: u64, n_free: u64) -> Option<String> {
        let (needed, free) = (ByteSize(n_needed), ByteSize(n_free));
        (n_needed > n_free).then(|| format!("Needs {needed} of memory, but only {free} is free"))
    }
}

#[cfg(test)]
mod tests {
    use super::MemoryNeed;

    #[test]
    fn every_pane_counts_its_full_cache() {
        let need = MemoryNeed {
            n_weight_bytes: 1_000_000,
            n_cache_bytes_per_token: 200,
            n_state_bytes: 0,
            keeps_checkpoints: false,
            n_vocab: 0,
        };
        assert_eq!(need.n_cache_bytes(50), 10_000);
        assert_eq!(need.n_bytes(4, 50), 1_040_000);
        assert_eq!(need.n_bytes(usize::MAX, 2), u64::MAX);
    }

    #[test]
    fn the_vocabulary_counts_once_and_again_in_every_chain() {
        let need = MemoryNeed {
            n_weight_bytes: 1_000_000,
            n_cache_bytes_per_token: 200,
            n_state_bytes: 0,
            keeps_checkpoints: false,
            n_vocab: 1000,
        };
        assert_eq!(need.n_vocabulary_bytes(), 240_000);
        assert_eq!(need.n_pane_bytes(50), 100_000);
        assert_eq!(need.n_bytes(4, 50), 1_640_000);
    }

    #[test]
    fn a_recurrent_state_counts_once_per_pane() {
        let need = MemoryNeed {
            n_weight_bytes: 1_000_000,
            n_cache_bytes_per_token: 0,
            n_state_bytes: 300,
            keeps_checkpoints: false,
            n_vocab: 0,
        };
        assert_eq!(need.n_cache_bytes(50), 300);
        assert_eq!(need.n_bytes(4, 50), 1_001_200);
    }

    #[test]
    fn earlier_states_count_as_often_as_they_are_kept() {
        let need = MemoryNeed {
            n_weight_bytes: 0,
            n_cache_bytes_per_token: 10,
            n_state_bytes: 1000,
            keeps_checkpoints: true,
            n_vocab: 0,
        };
        // The current state, and one each at the prompt's end and every 64 tokens.
        assert_eq!(need.n_cache_bytes(130), 1300 + 1000 + 3 * 1000);
        assert_eq!(need.n_checkpoints(130), 3);
    }

    #[test]
    fn a_shortage_names_both_sizes() {
        assert_eq!(
            MemoryNeed::shortage(5_200_000_000, 3_900_000_000).as_deref(),
            Some("Needs 5.2 GB of memory, but only 3.9 GB is free")
        );
        assert_eq!(MemoryNeed::shortage(5, 5), None);
    }
}
