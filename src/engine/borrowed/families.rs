//! The families that run through candle-transformers: how each is built from what a file says.
//!
//! Others of its models are left out: those that read GGUF files only of candle's own making, those of
//! which no second sequence can be opened, those whose mixtures of experts need a graphics processor,
//! and those that are larger than what a laptop holds.

use candle_core::quantized::gguf_file::Content;
use candle_core::{Device, Result};
use candle_transformers::models::quantized_phi;
use serde_json::{Map, Value};

use super::builders;
use super::networks::Networks;
use super::shelf::Shelf;
use crate::engine::weights::Checkpoint;

/// A family of models.
pub struct Family {
    /// The `model_type` in a `config.json`.
    pub model_type: &'static str,
    /// The class in its `architectures`.
    pub class: &'static str,
    /// What its `config.json` must not say otherwise, because candle-transformers does not ask.
    pub fixed: &'static [(&'static str, &'static str)],
    /// What transformers assumes where the `config.json` does not say it.
    pub defaults: &'static [(&'static str, &'static str)],
    /// The most tokens that are read, whatever the `config.json` says.
    pub n_context: usize,
    /// From a `config.json` and safetensors.
    pub build: fn(&Parts<'_>) -> Result<Networks>,
    /// From a GGUF file, where candle-transformers can.
    pub gguf: Option<GgufFamily>,
}

/// How a family's GGUF files are read.
pub struct GgufFamily {
    /// The `general.architecture` in the metadata.
    pub name: &'static str,
    /// The base of rotary embedding, where candle-transformers takes that for granted.
    pub theta: Option<f32>,
    /// The most tokens that its table of rotations is made for, likewise.
    pub n_context: usize,
    /// From the metadata and the files.
    pub build: BuildOfGguf,
}

type BuildOfGguf = fn(Content, &mut Checkpoint<'_>, &Device) -> Result<Networks>;

/// What a model is built of.
pub struct Parts<'a> {
    /// What its `config.json` says, in the words of candle-transformers.
    pub config: &'a Map<String, Value>,
    /// Its weights.
    pub shelf: &'a Shelf,
    /// Where it computes.
    pub device: &'a Device,
}

/// The families, for messages.
pub const KNOWN: &str = "GLM\u{2011}4, Granite 4 without Mamba, Helium, LFM2, OLMo 1, \
                         Phi 1 to 2, StableLM and StarCoder2";

/// Where candle-transformers keeps the masks of all chunks, a text of n tokens leaves n² / 2 bytes.
const N_MASKED: usize = 16_384;

pub const FAMILIES: [Family; 8] = [
    Family {
        model_type: "glm4",
        class: "Glm4ForCausalLM",
        fixed: &[],
        defaults: &[
            ("head_dim", "128"),
            ("attention_bias", "true"),
            ("partial_rotary_factor", "0.5"),
        ],
        n_context: usize::MAX,
        build: builders::glm4,
        gguf: Some(GgufFamily {
            name: "glm4",
            theta: None,
            n_context: usize::MAX,
            build: builders::glm4_of_gguf,
        }),
    },
    Family {
        model_type: "granitemoehybrid",
        class: "GraniteMoeHybridForCausalLM",
        fixed: &[
            ("attention_bias", "false"),
            ("num_local_experts", "0"),
            ("position_embedding_type", "\"rope\""),
            ("hidden_act", "\"silu\""),
        ],
        defaults: &[
            ("num_local_experts", "8"),
            ("position_embedding_type", "\"nope\""),
        ],
        n_context: N_MASKED,
        build: builders::granite,
        gguf: None,
    },
    Family {
        model_type: "helium",
        class: "HeliumForCausalLM",
        fixed: &[],
        defaults: &[
            ("attention_bias", "false"),
            ("mlp_bias", "false"),
            ("rope_theta", "100000.0"),
        ],
        n_context: usize::MAX,
        build: builders::helium,
        gguf: None,
    },
    Family {
        model_type: "lfm2",
        class: "Lfm2ForCausalLM",
        fixed: &[("conv_bias", "false")],
        defaults: &[
            ("rope_theta", "1000000.0"),
            ("block_auto_adjust_ff_dim", "true"),
            ("block_ffn_dim_multiplier", "1.0"),
            ("block_multiple_of", "256"),
            ("intermediate_size", "12288"),
        ],
        n_context: usize::MAX,
        build: builders::lfm2,
        gguf: None,
    },
    Family {
        model_type: "olmo",
        class: "OlmoForCausalLM",
        fixed: &[],
        defaults: &[("attention_bias", "false")],
        n_context: usize::MAX,
        build: builders::olmo,
        gguf: None,
    },
    Family {
        model_type: "phi",
        class: "PhiForCausalLM",
        fixed: &[],
        defaults: &[("qk_layernorm", "false"), ("partial_rotary_factor", "0.5")],
        n_context: usize::MAX,
        build: builders::phi,
        gguf: Some(GgufFamily {
            name: "phi2",
            theta: Some(10_000.0),
            n_context: quantized_phi::MAX_SEQ_LEN,
            build: builders::phi_of_gguf,
        }),
    },
    Family {
        model_type: "stablelm",
        class: "StableLmForCausalLM",
        fixed: &[
            ("qk_layernorm", "false"),
            ("use_parallel_residual", "false"),
        ],
        defaults: &[("partial_rotary_factor", "0.25")],
        n_context: usize::MAX,
        build: builders::stable_lm,
        gguf: None,
    },
    Family {
        model_type: "starcoder2",
        class: "Starcoder2ForCausalLM",
        fixed: &[],
        defaults: &[("use_bias", "true"), ("norm_epsilon", "1e-5")],
        n_context: usize::MAX,
        build: builders::starcoder2,
        gguf: None,
    },
];
