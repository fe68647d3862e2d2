//! How much memory a sequence takes, depending on the kinds of layers in its family.

use super::sizes::{Heads, Sizes};
use crate::engine::EngineError;
use crate::engine::blueprint::{Facts, Key};

/// How much memory a sequence takes.
pub(super) struct CacheSize {
    /// Keys and values of one token.
    pub n_bytes_per_token: u64,
    /// Recurrent and convolutional states, whose size does not depend on the length.
    pub n_state_bytes: u64,
}

/// Computes the cache size from a model's configuration.
pub(super) type CacheSizeFn = fn(&Facts<'_>, &Sizes) -> Result<CacheSize, EngineError>;

/// All values are cached as 32-bit floats.
const N_VALUE_BYTES: u64 = 4;

const BLOCK_TYPES: Key = Key::config("block_types");
const OLDER_BLOCK_TYPES: Key = Key::config("_block_types");
const CONV1D_WIDTH: Key = Key::config("conv1d_width");
const RECURRENT_WIDTH: Key = Key::config("lru_width");

/// For models in which all layers are attention layers.
pub(super) fn keys_and_values(facts: &Facts<'_>, sizes: &Sizes) -> Result<CacheSize, EngineError> {
    Ok(CacheSize {
        n_bytes_per_token: n_cached_bytes(facts, sizes, sizes.n_layers)?,
        n_state_bytes: 0,
    })
}

/// Like [`keys_and_values`], plus a mask with one byte for each pair of tokens.
pub(super) fn gpt_bigcode(facts: &Facts<'_>, sizes: &Sizes) -> Result<CacheSize, EngineError> {
    let n_tokens = sizes.n_context as u64;
    Ok(CacheSize {
        n_state_bytes: n_tokens.saturating_mul(n_tokens),
        ..keys_and_values(facts, sizes)?
    })
}

/// For models that mix attention layers with linear recurrences, each of which follows a short
/// convolution.
pub(super) fn recurrent_gemma(facts: &Facts<'_>, sizes: &Sizes) -> Result<CacheSize, EngineError> {
    let kinds = match facts.texts(BLOCK_TYPES)? {
        Some(kinds) => kinds,
        None => facts.texts(OLDER_BLOCK_TYPES)?.unwrap_or_default(),
    };
    let conv_width = facts.required_size(CONV1D_WIDTH)?;
    if kinds.is_empty() || conv_width == 0 {
        return Err(
            facts.malformed("it lists no layer types, or its convolutions have width 0".to_owned())
        );
    }
    let kinds = kinds.iter().cycle().take(sizes.n_layers);
    let n_attention_layers = kinds.filter(|kind| *kind == "attention").count();
    let width = facts.size(RECURRENT_WIDTH)?.unwrap_or(sizes.hidden_size);
    Ok(CacheSize {
        n_bytes_per_token: n_cached_bytes(facts, sizes, n_attention_layers)?,
        n_state_bytes: n_bytes(
            sizes.n_layers - n_attention_layers,
            product(&[width, conv_width]),
        ),
    })
}

/// Returns the size of one token's keys and values in `n_layers` layers.
fn n_cached_bytes(facts: &Facts<'_>, sizes: &Sizes, n_layers: usize) -> Result<u64, EngineError> {
    let heads = Heads::read(facts, sizes)?;
    let n_values = product(&[2, heads.n_kv_heads, heads.head_dim]);
    Ok(n_bytes(n_layers, n_values))
}

const fn n_bytes(n_layers: usize, n_values: u64) -> u64 {
    n_values
        .saturating_mul(n_layers as u64)
        .saturating_mul(N_VALUE_BYTES)
}

fn product(sizes: &[usize]) -> u64 {
    let sizes = sizes.iter().map(|size| *size as u64);
    sizes.fold(1, u64::saturating_mul)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::sizes::Sizes;
    use super::{CacheSize, CacheSizeFn, keys_and_values, recurrent_gemma};
    use crate::engine::EngineError;
    use crate::engine::blueprint::Facts;

    fn compute(cache_size: CacheSizeFn, config: &Value) -> Result<CacheSize, EngineError> {
        let facts = Facts::from_config(config.as_object().unwrap(), &[], "config.json");
        let sizes = Sizes {
            hidden_size: 32,
            n_layers: 3,
            n_context: 64,
        };
        cache_size(&facts, &sizes)
    }

    #[test]
    fn a_layer_takes_memory_for_keys_and_values_or_for_a_state() {
        let blocks = json!(["recurrent", "attention"]);
        for (cache_size, config, n_bytes_per_token, n_state_bytes) in [
            (
                keys_and_values as CacheSizeFn,
                json!({ "num_attention_heads": 4, "num_key_value_heads": 2 }),
                4 * 3 * 2 * 2 * 8,
                0,
            ),
            (
                recurrent_gemma,
                json!({
                    "num_attention_heads": 4,
                    "_block_types": blocks,
                    "conv1d_width": 4,
                    "lru_width": 40,
                }),
                4 * 2 * 32,
                4 * 2 * 40 * 4,
            ),
        ] {
            let size = compute(cache_size, &config).unwrap();
            let found = (size.n_bytes_per_token, size.n_state_bytes);
            assert_eq!(found, (n_bytes_per_token, n_state_bytes), "{config}");
        }
    }
}
