//! What is known of the model that wrote something.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use super::Implementation;

/// Which model it was, so that a run can be named, compared and made again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// Its name as people say it.
    pub name: String,
    /// The family it belongs to, as its file names it: "llama".
    pub architecture: String,
    /// Who computes it.
    #[serde(default, skip_serializing_if = "Implementation::is_quartet")]
    pub implementation: Implementation,
    /// How many weights it has.
    pub n_params: u64,
    /// How its weights are stored: `Q8_0`, `F16`.
    pub quantization: String,
    /// Where it runs: "CPU", "CUDA 0".
    pub device: String,
    /// With how many threads it computes on the processor; nothing elsewhere, and where it was not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_threads: Option<NonZeroUsize>,
    /// The size of its vocabulary.
    pub n_vocab: usize,
    /// How many tokens it can read.
    pub n_context: usize,
    /// The file's name without its folder; "embedded" for the one inside the program.
    pub file: String,
    /// SHA-256 of the weights' file, in hexadecimal.
    pub sha256: String,
}

impl ModelInfo {
    /// Whether both write the same: the number of threads changes no token.
    pub fn writes_like(&self, other: &Self) -> bool {
        let apart_from_threads = Self {
            n_threads: other.n_threads,
            ..self.clone()
        };
        apart_from_threads == *other
    }
}
