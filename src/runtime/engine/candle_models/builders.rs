//! Builds each family's network with candle-transformers.

use candle_core::quantized::gguf_file::Content;
use candle_core::{Device, Result};
use candle_transformers::models::bigcode::{self, GPTBigCode};
use candle_transformers::models::{helium, phi, quantized_phi, starcoder2};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::families::Parts;
use super::network::{NetworkFactory, PrefillMode};
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

pub(super) fn gpt_bigcode(parts: &Parts<'_>) -> Result<NetworkFactory> {
    let (config, store) = (parts.config.clone(), parts.store.clone());
    let build = move || GPTBigCode::load(store.builder(), bigcode_config(&config)?);
    // Build it once now, so that a missing tensor fails the load and not the first generation.
    build()?;
    let forward = GPTBigCode::forward;
    Ok(NetworkFactory::rebuilt(
        build,
        PrefillMode::Chunked,
        forward,
    ))
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

pub(super) fn helium(parts: &Parts<'_>) -> Result<NetworkFactory> {
    let model = helium::Model::new(&parts.config()?, parts.store.builder())?;
    Ok(NetworkFactory::forkable(
        model,
        PrefillMode::Chunked,
        helium::Model::forward,
    ))
}

pub(super) fn phi(parts: &Parts<'_>) -> Result<NetworkFactory> {
    let model = phi::Model::new(&parts.config()?, parts.store.builder())?;
    Ok(NetworkFactory::forkable(
        model,
        PrefillMode::SinglePass,
        |model, tokens, _| model.forward(tokens),
    ))
}

pub(super) fn phi_from_gguf(
    content: Content,
    checkpoint: &mut Checkpoint<'_>,
    device: &Device,
) -> Result<NetworkFactory> {
    let mut stream = checkpoint.stream();
    let model = quantized_phi::ModelWeights::from_gguf(content, &mut stream, device)?;
    let forward = quantized_phi::ModelWeights::forward;
    Ok(NetworkFactory::forkable(
        model,
        PrefillMode::Chunked,
        forward,
    ))
}

pub(super) fn starcoder2(parts: &Parts<'_>) -> Result<NetworkFactory> {
    let model = starcoder2::Model::new(&parts.config()?, parts.store.builder())?;
    let forward = starcoder2::Model::forward;
    Ok(NetworkFactory::forkable(
        model,
        PrefillMode::Chunked,
        forward,
    ))
}
