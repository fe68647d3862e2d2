//! The families that run through candle-transformers: how each is built from what a file says.
//!
//! Others of its models are left out: those that read GGUF files only of candle's own making, those of
//! which no second sequence can be opened, those whose mixtures of experts need a graphics processor,
//! and those that are larger than what a laptop holds.

use std::sync::Arc;

use candle_core::quantized::gguf_file::Content;
use candle_core::{DType, Device, Result};
use candle_transformers::models::{
    glm4_new, granitemoehybrid, helium, lfm2, olmo, phi, quantized_glm4, quantized_phi, stable_lm,
    starcoder2,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::networks::{Networks, Reading};
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
        build: glm4,
        gguf: Some(GgufFamily {
            name: "glm4",
            theta: None,
            n_context: usize::MAX,
            build: glm4_of_gguf,
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
        build: granite,
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
        build: helium,
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
        build: lfm2,
        gguf: None,
    },
    Family {
        model_type: "olmo",
        class: "OlmoForCausalLM",
        fixed: &[],
        defaults: &[("attention_bias", "false")],
        n_context: usize::MAX,
        build: olmo,
        gguf: None,
    },
    Family {
        model_type: "phi",
        class: "PhiForCausalLM",
        fixed: &[],
        defaults: &[("qk_layernorm", "false"), ("partial_rotary_factor", "0.5")],
        n_context: usize::MAX,
        build: phi,
        gguf: Some(GgufFamily {
            name: "phi2",
            theta: Some(10_000.0),
            n_context: quantized_phi::MAX_SEQ_LEN,
            build: phi_of_gguf,
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
        build: stable_lm,
        gguf: None,
    },
    Family {
        model_type: "starcoder2",
        class: "Starcoder2ForCausalLM",
        fixed: &[],
        defaults: &[("use_bias", "true"), ("norm_epsilon", "1e-5")],
        n_context: usize::MAX,
        build: starcoder2,
        gguf: None,
    },
];

impl Parts<'_> {
    fn config<T: DeserializeOwned>(&self) -> Result<T> {
        self.config_without(&[])
    }

    fn config_without<T: DeserializeOwned>(&self, names: &[&str]) -> Result<T> {
        let mut config = self.config.clone();
        config.retain(|name, _| !names.contains(&name.as_str()));
        serde_json::from_value(Value::Object(config)).map_err(candle_core::Error::wrap)
    }
}

fn glm4(parts: &Parts<'_>) -> Result<Networks> {
    let model = glm4_new::ModelForCausalLM::new(&parts.config()?, parts.shelf.builder())?;
    let forward = glm4_new::ModelForCausalLM::forward;
    Ok(Networks::copied_unread(model, Reading::InChunks, forward))
}

fn glm4_of_gguf(
    content: Content,
    checkpoint: &mut Checkpoint<'_>,
    device: &Device,
) -> Result<Networks> {
    let mut stream = checkpoint.stream();
    let model = quantized_glm4::ModelWeights::from_gguf(content, &mut stream, device, DType::F32)?;
    let forward = quantized_glm4::ModelWeights::forward;
    Ok(Networks::copied_unread(model, Reading::InChunks, forward))
}

fn granite(parts: &Parts<'_>) -> Result<Networks> {
    use granitemoehybrid::{GraniteMoeHybrid, GraniteMoeHybridCache, GraniteMoeHybridConfig};

    let config: GraniteMoeHybridConfig = parts.config()?;
    let config = config.into_config(false);
    let model = Arc::new(GraniteMoeHybrid::load(parts.shelf.builder(), &config)?);
    let cache = GraniteMoeHybridCache::new(true, DType::F32, &config, parts.device)?;
    Ok(Networks::forking(
        (model, cache),
        Reading::InChunks,
        |(model, cache), tokens, n_read| model.forward(tokens, n_read, cache),
    ))
}

fn helium(parts: &Parts<'_>) -> Result<Networks> {
    let model = helium::Model::new(&parts.config()?, parts.shelf.builder())?;
    Ok(Networks::forking(
        model,
        Reading::InChunks,
        helium::Model::forward,
    ))
}

fn lfm2(parts: &Parts<'_>) -> Result<Networks> {
    // With these candle-transformers would work out a size of its own.
    let unused = ["block_ffn_dim_multiplier", "block_multiple_of"];
    let config: lfm2::Lfm2Config = parts.config_without(&unused)?;
    let config = lfm2::Config {
        intermediate_size: lfm2_ffn_size(parts.config),
        ..config.into_config(false)
    };
    let model = Arc::new(lfm2::Model::new(&config, parts.shelf.builder())?);
    let cache = lfm2::Cache::new(true, DType::F32, &config, parts.device)?;
    // Its convolutions forget what was read before, unless they read one token.
    Ok(Networks::forking(
        (model, cache),
        Reading::WholeOnly,
        |(model, cache), tokens, n_read| model.forward(tokens, n_read, cache),
    ))
}

/// The width between the halves of the feed-forward network: two thirds of the one that is named,
/// scaled, and rounded up to whole blocks. candle-transformers takes it to be four times the width of
/// the residual stream instead, which is true of one size only.
#[expect(
    clippy::cast_sign_loss,
    reason = "a negative factor gives 0 here, for which there are no weights"
)]
fn lfm2_ffn_size(config: &Map<String, Value>) -> usize {
    /// Beyond this a size is a broken file, for which there are no weights either.
    const N_MAX: u64 = 1 << 28;

    let number = |name: &str| config.get(name).and_then(Value::as_u64);
    let size = number("block_ff_dim").or_else(|| number("intermediate_size"));
    let size = size.unwrap_or_default().min(N_MAX) as usize;
    let flag = |name: &str| config.get(name).and_then(Value::as_bool);
    if flag("block_auto_adjust_ff_dim") == Some(false) {
        return size;
    }
    let factor = config
        .get("block_ffn_dim_multiplier")
        .and_then(Value::as_f64);
    let scaled = (factor.unwrap_or(1.0) * (2 * size / 3) as f64) as u64;
    let block = number("block_multiple_of").unwrap_or(1).clamp(1, N_MAX);
    scaled.min(N_MAX).next_multiple_of(block) as usize
}

fn olmo(parts: &Parts<'_>) -> Result<Networks> {
    let model = olmo::Model::new(&parts.config()?, parts.shelf.builder())?;
    Ok(Networks::forking(
        model,
        Reading::InChunks,
        olmo::Model::forward,
    ))
}

fn phi(parts: &Parts<'_>) -> Result<Networks> {
    let model = phi::Model::new(&parts.config()?, parts.shelf.builder())?;
    Ok(Networks::forking(
        model,
        Reading::WholeOnly,
        |model, tokens, _| model.forward(tokens),
    ))
}

fn phi_of_gguf(
    content: Content,
    checkpoint: &mut Checkpoint<'_>,
    device: &Device,
) -> Result<Networks> {
    let mut stream = checkpoint.stream();
    let model = quantized_phi::ModelWeights::from_gguf(content, &mut stream, device)?;
    let forward = quantized_phi::ModelWeights::forward;
    Ok(Networks::forking(model, Reading::InChunks, forward))
}

fn stable_lm(parts: &Parts<'_>) -> Result<Networks> {
    let config: stable_lm::Config = parts.config()?;
    let shelf = parts.shelf.clone();
    let build = move || stable_lm::Model::new(&config, shelf.builder());
    // Once now, so that a part that is missing is missed at load.
    build()?;
    let forward = stable_lm::Model::forward;
    Ok(Networks::built_again(build, Reading::InChunks, forward))
}

fn starcoder2(parts: &Parts<'_>) -> Result<Networks> {
    let model = starcoder2::Model::new(&parts.config()?, parts.shelf.builder())?;
    let forward = starcoder2::Model::forward;
    Ok(Networks::forking(model, Reading::InChunks, forward))
}
