//! The families that run through candle-transformers, and how each is built.
//!
//! These candle-transformers models are left out:
//! - Falcon: candle-transformers approximates the activation, but transformers does not.
//! - MPT: only one configuration is supported.
//! - `DeepSeek` 2: rotary scaling differs, and expert groups are chosen incorrectly.
//! - RWKV, `ChatGLM`, Based, and the original formats of Yi and Phi: transformers does not support
//!   them, so there is no reference.
//! - GGUF files in candle's own layout.

use candle_core::quantized::gguf_file::Content;
use candle_core::{Device, Result};
use candle_transformers::models::quantized_phi;
use serde_json::{Map, Value};

use super::builders;
use super::cache_size::{self, CacheSizeFn};
use super::network::NetworkFactory;
use super::recurrent_gemma;
use super::weight_store::WeightStore;
use crate::engine::weights::Checkpoint;

/// A model family that candle-transformers runs.
pub(super) struct Family {
    /// The `model_type` in a `config.json`.
    pub model_type: &'static str,
    /// The first of the `architectures` in a `config.json`.
    pub class: &'static str,
    /// Pairs of the key that candle-transformers reads and the key in the `config.json`.
    pub aliases: &'static [(&'static str, &'static str)],
    /// Keys with the only value that candle-transformers supports, as JSON. It ignores these keys,
    /// so any other value must be rejected.
    pub fixed: &'static [(&'static str, &'static str)],
    /// Keys with the value that transformers assumes if they are missing, as JSON.
    pub defaults: &'static [(&'static str, &'static str)],
    /// Computes how much memory a sequence's cache takes.
    pub cache_size: CacheSizeFn,
    /// Builds the network from a `config.json` and safetensors.
    pub build: fn(&Parts<'_>) -> Result<NetworkFactory>,
    /// How to read GGUF files, if candle-transformers can.
    pub gguf: Option<GgufFamily>,
}

/// How to read a family's GGUF files.
pub(super) struct GgufFamily {
    /// The `general.architecture` in the metadata.
    pub name: &'static str,
    /// The base of rotary embedding, which candle-transformers hard-codes.
    pub theta: f32,
    /// Upper limit of the context length, from the size of a hard-coded rotary table.
    pub n_context: usize,
    /// Builds the network from the metadata and the files.
    pub build: BuildFromGguf,
}

type BuildFromGguf = fn(Content, &mut Checkpoint<'_>, &Device) -> Result<NetworkFactory>;

/// What a network is built from.
pub(super) struct Parts<'a> {
    /// The `config.json`, rewritten for candle-transformers.
    pub config: &'a Map<String, Value>,
    pub store: &'a WeightStore,
    pub device: &'a Device,
}

/// The names of the families, for messages.
pub(crate) const KNOWN: &str = "Helium, Phi 1 to 2, RecurrentGemma and StarCoder 1 and 2";

/// All families, in the order of their `model_type`.
pub(super) const FAMILIES: [Family; 5] = [
    Family {
        model_type: "gpt_bigcode",
        class: "GPTBigCodeForCausalLM",
        aliases: &[
            ("hidden_size", "n_embd"),
            ("max_position_embeddings", "n_positions"),
            ("num_attention_heads", "n_head"),
            ("num_hidden_layers", "n_layer"),
        ],
        fixed: &[
            ("activation_function", "\"gelu_pytorch_tanh\""),
            ("add_cross_attention", "false"),
            ("multi_query", "true"),
            ("scale_attn_weights", "true"),
            ("tie_word_embeddings", "true"),
        ],
        defaults: &[
            ("layer_norm_epsilon", "1e-5"),
            ("num_key_value_heads", "1"),
            ("tie_word_embeddings", "true"),
        ],
        cache_size: cache_size::gpt_bigcode,
        build: builders::gpt_bigcode,
        gguf: None,
    },
    Family {
        model_type: "helium",
        class: "HeliumForCausalLM",
        aliases: &[],
        fixed: &[],
        defaults: &[
            ("attention_bias", "false"),
            ("mlp_bias", "false"),
            ("rope_theta", "100000.0"),
        ],
        cache_size: cache_size::keys_and_values,
        build: builders::helium,
        gguf: None,
    },
    Family {
        model_type: "phi",
        class: "PhiForCausalLM",
        aliases: &[],
        fixed: &[],
        defaults: &[("qk_layernorm", "false"), ("partial_rotary_factor", "0.5")],
        cache_size: cache_size::keys_and_values,
        build: builders::phi,
        gguf: Some(GgufFamily {
            name: "phi2",
            theta: 10_000.0,
            n_context: quantized_phi::MAX_SEQ_LEN,
            build: builders::phi_from_gguf,
        }),
    },
    Family {
        model_type: "recurrent_gemma",
        class: "RecurrentGemmaForCausalLM",
        aliases: &[("sliding_window", "attention_window_size")],
        fixed: &[
            ("partial_rotary_factor", "0.5"),
            ("tie_word_embeddings", "true"),
        ],
        defaults: &[
            ("attention_bias", "false"),
            ("attention_window_size", "2048"),
            ("conv1d_width", "4"),
            ("hidden_activation", "\"gelu_pytorch_tanh\""),
            ("logits_soft_cap", "30.0"),
            ("max_position_embeddings", "8192"),
            ("partial_rotary_factor", "0.5"),
            ("rms_norm_eps", "1e-6"),
            ("tie_word_embeddings", "true"),
        ],
        cache_size: cache_size::recurrent_gemma,
        build: recurrent_gemma::recurrent_gemma,
        gguf: None,
    },
    Family {
        model_type: "starcoder2",
        class: "Starcoder2ForCausalLM",
        aliases: &[],
        fixed: &[],
        defaults: &[("use_bias", "true"), ("norm_epsilon", "1e-5")],
        cache_size: cache_size::keys_and_values,
        build: builders::starcoder2,
        gguf: None,
    },
];
