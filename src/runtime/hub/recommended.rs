//! A few small models to start with.

/// A model that we recommend to newcomers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecommendedModel {
    pub name: &'static str,
    pub n_weights_millions: u32,
    pub repository: &'static str,
    pub file: &'static str,
    pub quantization: &'static str,
    /// The file's size in megabytes (10^6 bytes).
    pub megabytes: u32,
    /// Key-value heads, summed over all layers.
    pub n_kv_heads: u32,
    /// The dimension of a key-value head.
    pub head_dim: u32,
    /// The number of tokens in the vocabulary.
    pub n_vocab: u32,
    pub license: &'static str,
    /// What sets it apart from the others, shown next to it.
    pub why: &'static str,
}

impl RecommendedModel {
    /// Returns the file's approximate size in bytes.
    pub fn n_bytes(&self) -> u64 {
        u64::from(self.megabytes) * 1_000_000
    }
}

/// The recommended models, smallest first.
pub const RECOMMENDED: &[RecommendedModel] = &[
    RecommendedModel {
        name: "SmolLM2 135M Instruct",
        n_weights_millions: 135,
        repository: "bartowski/SmolLM2-135M-Instruct-GGUF",
        file: "SmolLM2-135M-Instruct-Q8_0.gguf",
        quantization: "Q8_0",
        megabytes: 145,
        n_kv_heads: 90,
        head_dim: 64,
        n_vocab: 49_152,
        license: "Apache 2.0",
        why: "The smallest model that can hold a conversation, with mistakes worth studying",
    },
    RecommendedModel {
        name: "SmolLM2 360M Instruct",
        n_weights_millions: 360,
        repository: "HuggingFaceTB/SmolLM2-360M-Instruct-GGUF",
        file: "smollm2-360m-instruct-q8_0.gguf",
        quantization: "Q8_0",
        megabytes: 386,
        n_kv_heads: 160,
        head_dim: 64,
        n_vocab: 49_152,
        license: "Apache 2.0",
        why: "A step up from 135M; the file is published by the model’s authors",
    },
    RecommendedModel {
        name: "Qwen3 0.6B",
        n_weights_millions: 600,
        repository: "Qwen/Qwen3-0.6B-GGUF",
        file: "Qwen3-0.6B-Q8_0.gguf",
        quantization: "Q8_0",
        megabytes: 639,
        n_kv_heads: 224,
        head_dim: 128,
        n_vocab: 151_936,
        license: "Apache 2.0",
        why: "Multilingual, and can think before it answers",
    },
    RecommendedModel {
        name: "Gemma 3 1B",
        n_weights_millions: 1_000,
        repository: "ggml-org/gemma-3-1b-it-GGUF",
        file: "gemma-3-1b-it-Q4_K_M.gguf",
        quantization: "Q4_K_M",
        megabytes: 806,
        n_kv_heads: 26,
        head_dim: 256,
        n_vocab: 262_144,
        license: "Gemma",
        why: "A vocabulary of 262,144 tokens, so far more words are a single token",
    },
    RecommendedModel {
        name: "Llama 3.2 1B Instruct",
        n_weights_millions: 1_240,
        repository: "bartowski/Llama-3.2-1B-Instruct-GGUF",
        file: "Llama-3.2-1B-Instruct-Q4_K_M.gguf",
        quantization: "Q4_K_M",
        megabytes: 808,
        n_kv_heads: 128,
        head_dim: 64,
        n_vocab: 128_256,
        license: "Llama 3.2",
        why: "The smallest of the Llama 3 family, the base of many other models",
    },
    RecommendedModel {
        name: "SmolLM2 1.7B Instruct",
        n_weights_millions: 1_700,
        repository: "HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF",
        file: "smollm2-1.7b-instruct-q4_k_m.gguf",
        quantization: "Q4_K_M",
        megabytes: 1_056,
        n_kv_heads: 768,
        head_dim: 64,
        n_vocab: 49_152,
        license: "Apache 2.0",
        why: "The largest of its family, trained on more text",
    },
    RecommendedModel {
        name: "SmolLM3 3B",
        n_weights_millions: 3_080,
        repository: "ggml-org/SmolLM3-3B-GGUF",
        file: "SmolLM3-Q4_K_M.gguf",
        quantization: "Q4_K_M",
        megabytes: 1_915,
        n_kv_heads: 144,
        head_dim: 128,
        n_vocab: 128_256,
        license: "Apache 2.0",
        why: "Weights, training data and recipe are all public",
    },
    RecommendedModel {
        name: "Phi-3 Mini 4K Instruct",
        n_weights_millions: 3_820,
        repository: "microsoft/Phi-3-mini-4k-instruct-gguf",
        file: "Phi-3-mini-4k-instruct-q4.gguf",
        quantization: "Q4",
        megabytes: 2_393,
        n_kv_heads: 1_024,
        head_dim: 96,
        n_vocab: 32_064,
        license: "MIT",
        why: "The largest in this list, trained on textbook-like text",
    },
];

#[cfg(test)]
mod tests {
    use super::RECOMMENDED;

    #[test]
    fn recommended_models_are_small_and_sorted_by_size() {
        assert!(RECOMMENDED.is_sorted_by_key(|model| model.n_weights_millions));
        for model in RECOMMENDED {
            assert!((100..=4_000).contains(&model.n_weights_millions));
            assert_eq!(model.file.rsplit('.').next(), Some("gguf"));
            assert_eq!(model.repository.split('/').count(), 2);
        }
    }
}
