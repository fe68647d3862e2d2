//! How candle-transformers builds each family, and how its models are read into.

use std::sync::Arc;

use candle_core::quantized::gguf_file::Content;
use candle_core::{DType, Device, Result};
use candle_transformers::models::bigcode::{self, GPTBigCode};
use candle_transformers::models::{
    glm4_new, granitemoehybrid, helium, lfm2, mixtral, olmo, phi, quantized_glm4, quantized_phi,
    qwen2_moe, qwen3_moe, stable_lm, starcoder2,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::families::Parts;
use super::networks::{Networks, Reading};
use crate::engine::weights::Checkpoint;

impl Parts<'_> {
    pub(super) fn config<T: DeserializeOwned>(&self) -> Result<T> {
        self.config_without(&[])
    }

    pub(super) fn config_without<T: DeserializeOwned>(&self, names: &[&str]) -> Result<T> {
        let mut config = self.config.clone();
        config.retain(|name, _| !names.contains(&name.as_str()));
        serde_json::from_value(Value::Object(config)).map_err(candle_core::Error::wrap)
    }

    pub(super) fn size(&self, name: &str) -> Result<usize> {
        size_of(self.config, name)
    }
}

fn size_of(config: &Map<String, Value>, name: &str) -> Result<usize> {
    match config.get(name).and_then(Value::as_u64) {
        Some(size) => Ok(size as usize),
        None => candle_core::bail!("{name} is missing"),
    }
}

pub fn glm4(parts: &Parts<'_>) -> Result<Networks> {
    let model = glm4_new::ModelForCausalLM::new(&parts.config()?, parts.shelf.builder())?;
    let forward = glm4_new::ModelForCausalLM::forward;
    Ok(Networks::copied_unread(model, Reading::InChunks, forward))
}

pub fn glm4_of_gguf(
    content: Content,
    checkpoint: &mut Checkpoint<'_>,
    device: &Device,
) -> Result<Networks> {
    let mut stream = checkpoint.stream();
    let model = quantized_glm4::ModelWeights::from_gguf(content, &mut stream, device, DType::F32)?;
    let forward = quantized_glm4::ModelWeights::forward;
    Ok(Networks::copied_unread(model, Reading::InChunks, forward))
}

pub fn gpt_bigcode(parts: &Parts<'_>) -> Result<Networks> {
    let (config, shelf) = (parts.config.clone(), parts.shelf.clone());
    let build = move || GPTBigCode::load(shelf.builder(), bigcode_config(&config)?);
    // Once now, so that a part that is missing is missed at load.
    build()?;
    let forward = GPTBigCode::forward;
    Ok(Networks::built_again(build, Reading::InChunks, forward))
}

fn bigcode_config(config: &Map<String, Value>) -> Result<bigcode::Config> {
    let epsilon = config.get("layer_norm_epsilon").and_then(Value::as_f64);
    Ok(bigcode::Config {
        vocab_size: size_of(config, "vocab_size")?,
        max_position_embeddings: size_of(config, "max_position_embeddings")?,
        num_hidden_layers: size_of(config, "num_hidden_layers")?,
        hidden_size: size_of(config, "hidden_size")?,
        layer_norm_epsilon: epsilon.unwrap_or(1e-5),
        n_inner: size_of(config, "n_inner").ok(),
        num_attention_heads: size_of(config, "num_attention_heads")?,
        multi_query: true,
        use_cache: true,
    })
}

pub fn granite(parts: &Parts<'_>) -> Result<Networks> {
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

pub fn helium(parts: &Parts<'_>) -> Result<Networks> {
    let model = helium::Model::new(&parts.config()?, parts.shelf.builder())?;
    Ok(Networks::forking(
        model,
        Reading::InChunks,
        helium::Model::forward,
    ))
}

pub fn lfm2(parts: &Parts<'_>) -> Result<Networks> {
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

pub fn mixtral(parts: &Parts<'_>) -> Result<Networks> {
    let model = mixtral::Model::new(&parts.config()?, parts.shelf.builder())?;
    let forward = mixtral::Model::forward;
    Ok(Networks::forking(model, Reading::InChunks, forward))
}

pub fn olmo(parts: &Parts<'_>) -> Result<Networks> {
    let model = olmo::Model::new(&parts.config()?, parts.shelf.builder())?;
    Ok(Networks::forking(
        model,
        Reading::InChunks,
        olmo::Model::forward,
    ))
}

pub fn phi(parts: &Parts<'_>) -> Result<Networks> {
    let model = phi::Model::new(&parts.config()?, parts.shelf.builder())?;
    Ok(Networks::forking(
        model,
        Reading::WholeOnly,
        |model, tokens, _| model.forward(tokens),
    ))
}

pub fn phi_of_gguf(
    content: Content,
    checkpoint: &mut Checkpoint<'_>,
    device: &Device,
) -> Result<Networks> {
    let mut stream = checkpoint.stream();
    let model = quantized_phi::ModelWeights::from_gguf(content, &mut stream, device)?;
    let forward = quantized_phi::ModelWeights::forward;
    Ok(Networks::forking(model, Reading::InChunks, forward))
}

pub fn qwen2_moe(parts: &Parts<'_>) -> Result<Networks> {
    let model = qwen2_moe::Model::new(&parts.config()?, parts.shelf.builder())?;
    let forward = qwen2_moe::Model::forward;
    Ok(Networks::forking(model, Reading::InChunks, forward))
}

pub fn qwen3_moe(parts: &Parts<'_>) -> Result<Networks> {
    if cfg!(feature = "cuda") {
        candle_core::bail!("where this is built for CUDA, its mixture runs in half precision only");
    }
    let mut config = parts.config.clone();
    if !config.contains_key("head_dim") {
        let n_heads = parts.size("num_attention_heads")?.max(1);
        config.insert(
            "head_dim".to_owned(),
            json!(parts.size("hidden_size")? / n_heads),
        );
    }
    let parts = Parts {
        config: &config,
        ..*parts
    };
    let model = qwen3_moe::ModelForCausalLM::new(&parts.config()?, parts.shelf.builder())?;
    let forward = qwen3_moe::ModelForCausalLM::forward;
    Ok(Networks::forking(model, Reading::InChunks, forward))
}

pub fn stable_lm(parts: &Parts<'_>) -> Result<Networks> {
    let config: stable_lm::Config = parts.config()?;
    let shelf = parts.shelf.clone();
    let build = move || stable_lm::Model::new(&config, shelf.builder());
    // Once now, so that a part that is missing is missed at load.
    build()?;
    let forward = stable_lm::Model::forward;
    Ok(Networks::built_again(build, Reading::InChunks, forward))
}

pub fn starcoder2(parts: &Parts<'_>) -> Result<Networks> {
    let model = starcoder2::Model::new(&parts.config()?, parts.shelf.builder())?;
    let forward = starcoder2::Model::forward;
    Ok(Networks::forking(model, Reading::InChunks, forward))
}
