//! Facts about the model that generated a text.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use super::Implementation;
use crate::decoding::TokenId;

/// Identifies a model, so that a run can be labeled, compared and reproduced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// The display name.
    pub name: String,
    /// The architecture as the model file spells it: "llama".
    pub architecture: String,
    #[serde(default, skip_serializing_if = "Implementation::is_quartet")]
    pub implementation: Implementation,
    pub n_params: u64,
    /// The quantization by the name of its mix of formats: `Q4_K_M`, `Q8_0`, `F16`.
    pub quantization: String,
    /// The formats of the matrices, those with the most values first; empty if unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub formats: Vec<String>,
    /// The device that runs it: "CPU", "CUDA 0".
    pub device: String,
    /// The number of CPU threads, or `None` if the model runs on a GPU or the number is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_threads: Option<NonZeroUsize>,
    pub n_vocab: usize,
    /// The size of the context window, in tokens.
    pub n_context: usize,
    /// The file name without its folder; "embedded" for the built-in model, "synthetic"
    /// for random weights.
    pub file: String,
    /// SHA-256 of the weights file, in hexadecimal.
    pub sha256: String,
    #[serde(default, skip_serializing_if = "Provenance::is_unknown")]
    pub provenance: Provenance,
}

/// Whatever else can change the numbers that a model computes, or the tokens that it reads. Fields
/// are empty if unknown, as over a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// The version of Quartet: "0.1.0".
    pub version: String,
    /// The operating system and the kind of processor: "linux `x86_64`".
    #[serde(skip_serializing_if = "String::is_empty")]
    pub system: String,
    /// The CPU instructions of our own kernels: "AVX2".
    pub instructions: String,
    /// The number format of the computation: "f32".
    pub precision: String,
    /// The number format of the KV cache: "f32".
    pub cache: String,
    /// SHA-256 of tokenizer.json; empty if the tokenizer is part of the weights file.
    pub tokenizer_sha256: String,
    /// SHA-256 of the chat template; empty if the model has none.
    pub template_sha256: String,
    /// The tokens that end a text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub end_tokens: Vec<TokenId>,
}

impl Provenance {
    /// Returns whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

impl ModelInfo {
    /// Returns whether both models generate the same tokens. The number of threads does not matter.
    pub fn is_equivalent_to(&self, other: &Self) -> bool {
        let with_same_threads = Self {
            n_threads: other.n_threads,
            ..self.clone()
        };
        with_same_threads == *other
    }

    /// Returns the quantization and, if its matrices have several formats or another one, those:
    /// "`Q4_K_M` (`Q5_0`, `Q8_0`, `Q4_K`)".
    pub fn quantization_words(&self) -> String {
        with_formats(&self.quantization, &self.formats)
    }

    /// Returns how finely the inputs of quantized weights were rounded, as "8-bit". The name of the
    /// device says so unless it was the default.
    pub fn input_rounding(&self) -> &'static str {
        let mut named = ["24-bit", "8-bit"].into_iter();
        let is_named = |bits: &&str| self.device.ends_with(&format!("{bits} inputs"));
        named.find(is_named).unwrap_or("16-bit")
    }

    /// Returns whether both have the same weights. A server reports no checksum, so only the names
    /// can be compared.
    pub fn has_weights_of(&self, other: &Self) -> bool {
        let is_served = self.implementation == Implementation::Server;
        if is_served || other.implementation == Implementation::Server {
            return self.implementation == other.implementation && self.name == other.name;
        }
        self.sha256 == other.sha256
    }
}

/// Names a quantization with the formats of its matrices, unless its name says all.
pub fn with_formats(quantization: &str, formats: &[String]) -> String {
    let says_all = formats.iter().all(|format| format == quantization);
    if says_all {
        return quantization.to_owned();
    }
    format!("{quantization} ({})", formats.join(", "))
}

#[cfg(test)]
mod tests {
    use super::with_formats;

    #[test]
    fn a_mix_is_named_with_its_formats() {
        let formats = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        for (quantization, names, words) in [
            ("Q8_0", &["Q8_0"][..], "Q8_0"),
            ("Q8_0", &[], "Q8_0"),
            ("Q4_K_M", &["Q5_0", "Q4_K"], "Q4_K_M (Q5_0, Q4_K)"),
            ("Q5_K_S", &["Q5_K"], "Q5_K_S (Q5_K)"),
        ] {
            assert_eq!(with_formats(quantization, &formats(names)), words);
        }
    }
}
