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

/// The kernel width that candle-transformers hard-codes for the convolutions of Mamba and Mamba 2.
const MAMBA_CONV_WIDTH: u64 = 4;

const EXPAND: Key = Key::config("expand");
const GROUPS: Key = Key::config("n_groups");
const HEAD_DIM: Key = Key::config("head_dim");
const STATE_SIZE: Key = Key::config("state_size");
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

/// For selective state space models, in which a short convolution precedes each state space.
pub(super) fn mamba(facts: &Facts<'_>, sizes: &Sizes) -> Result<CacheSize, EngineError> {
    let n_channels = product(&[facts.required_size(EXPAND)?, sizes.hidden_size]);
    let state_size = facts.required_size(STATE_SIZE)? as u64;
    let n_values = n_channels.saturating_mul(state_size + MAMBA_CONV_WIDTH);
    Ok(CacheSize {
        n_bytes_per_token: 0,
        n_state_bytes: n_bytes(sizes.n_layers, n_values),
    })
}

/// Like [`mamba`], with one state per head, and the convolution also applied to the input and
/// output projections of the state.
pub(super) fn mamba2(facts: &Facts<'_>, sizes: &Sizes) -> Result<CacheSize, EngineError> {
    let expand = facts.required_size(EXPAND)?;
    let n_groups = facts.required_size(GROUPS)?;
    let head_dim = facts.required_size(HEAD_DIM)?;
    let state_size = facts.required_size(STATE_SIZE)?;
    let n_channels = product(&[expand, sizes.hidden_size]);
    let n_heads = n_channels.checked_div(head_dim as u64).unwrap_or_default();
    if n_groups == 0 || n_heads == 0 || !n_heads.is_multiple_of(n_groups as u64) {
        let reason = format!("{n_heads} heads can’t share {n_groups} groups");
        return Err(facts.malformed(reason));
    }
    let n_shared = product(&[2, n_groups, state_size]);
    let n_conv_values = n_channels
        .saturating_add(n_shared)
        .saturating_mul(MAMBA_CONV_WIDTH);
    let n_values = n_channels.saturating_mul(state_size as u64);
    Ok(CacheSize {
        n_bytes_per_token: 0,
        n_state_bytes: n_bytes(sizes.n_layers, n_values.saturating_add(n_conv_values)),
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
    use super::{CacheSize, CacheSizeFn, keys_and_values, mamba, mamba2, recurrent_gemma};
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
                mamba,
                json!({ "expand": 2, "state_size": 16 }),
                0,
                4 * 3 * 64 * (16 + 4),
            ),
            (
                mamba2,
                json!({ "expand": 2, "head_dim": 16, "n_groups": 1, "state_size": 8 }),
                0,
                4 * 3 * (64 * 8 + (64 + 2 * 8) * 4),
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

    #[test]
    fn heads_that_do_not_divide_into_groups_are_rejected() {
        for (head_dim, n_groups) in [(0, 1), (16, 0), (16, 3), (65, 1)] {
            let config = json!({
                "expand": 2, "head_dim": head_dim, "n_groups": n_groups, "state_size": 8,
            });
            assert!(compute(mamba2, &config).is_err(), "{config}");
        }
    }
}
