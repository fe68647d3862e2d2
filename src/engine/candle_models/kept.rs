//! What a sequence keeps of the tokens that it has read, by what the layers of its family are.

use super::sizes::{Heads, Sizes};
use crate::engine::EngineError;
use crate::engine::blueprint::{Facts, Key};

/// The memory that a sequence takes.
pub struct Kept {
    /// Bytes for each token: keys and values.
    pub n_bytes_per_token: u64,
    /// Bytes whatever its length: the states of layers that know the past from those alone.
    pub n_state_bytes: u64,
}

/// How that is read from a file.
pub type KeptBy = fn(&Facts<'_>, &Sizes) -> Result<Kept, EngineError>;

/// Everything is kept in full precision.
const N_VALUE_BYTES: u64 = 4;

/// The width of the convolutions that candle-transformers has in Mamba and Mamba 2.
const N_CONVOLVED: u64 = 4;

const EXPAND: Key = Key::config("expand");
const GROUPS: Key = Key::config("n_groups");
const HEAD_DIM: Key = Key::config("head_dim");
const STATE_SIZE: Key = Key::config("state_size");
const LAYER_TYPES: Key = Key::config("layer_types");
const CONVOLVED: Key = Key::config("conv_L_cache");
const BLOCK_TYPES: Key = Key::config("block_types");
const OLDER_BLOCK_TYPES: Key = Key::config("_block_types");
const RECURRENT_CONVOLVED: Key = Key::config("conv1d_width");
const RECURRENT_WIDTH: Key = Key::config("lru_width");

/// Layers of attention only.
pub fn keys_and_values(facts: &Facts<'_>, sizes: &Sizes) -> Result<Kept, EngineError> {
    Ok(Kept {
        n_bytes_per_token: n_cached_bytes(facts, sizes, sizes.n_layers)?,
        n_state_bytes: 0,
    })
}

/// The same, with a table of masks, a byte for each pair of tokens.
pub fn gpt_bigcode(facts: &Facts<'_>, sizes: &Sizes) -> Result<Kept, EngineError> {
    let n_tokens = sizes.n_context as u64;
    Ok(Kept {
        n_state_bytes: n_tokens.saturating_mul(n_tokens),
        ..keys_and_values(facts, sizes)?
    })
}

/// Layers of attention and short convolutions.
pub fn lfm2(facts: &Facts<'_>, sizes: &Sizes) -> Result<Kept, EngineError> {
    let kinds = facts.texts(LAYER_TYPES)?.unwrap_or_default();
    let n_attending = kinds.iter().filter(|kind| *kind == "full_attention");
    let n_attending = n_attending.count().min(sizes.n_layers);
    let n_convolved = facts.size(CONVOLVED)?.unwrap_or_default();
    let n_values = product(&[sizes.hidden_size, n_convolved]);
    Ok(Kept {
        n_bytes_per_token: n_cached_bytes(facts, sizes, n_attending)?,
        n_state_bytes: n_bytes(sizes.n_layers - n_attending, n_values),
    })
}

/// Selective state spaces, each behind a short convolution.
pub fn mamba(facts: &Facts<'_>, sizes: &Sizes) -> Result<Kept, EngineError> {
    let n_channels = product(&[facts.required_size(EXPAND)?, sizes.hidden_size]);
    let state_size = facts.required_size(STATE_SIZE)? as u64;
    let n_values = n_channels.saturating_mul(state_size + N_CONVOLVED);
    Ok(Kept {
        n_bytes_per_token: 0,
        n_state_bytes: n_bytes(sizes.n_layers, n_values),
    })
}

/// The same, with a state for each head, and the convolution also before what is written and read.
pub fn mamba2(facts: &Facts<'_>, sizes: &Sizes) -> Result<Kept, EngineError> {
    let expand = facts.required_size(EXPAND)?;
    let n_groups = facts.required_size(GROUPS)?;
    let head_dim = facts.required_size(HEAD_DIM)?;
    let state_size = facts.required_size(STATE_SIZE)?;
    let n_channels = product(&[expand, sizes.hidden_size]);
    let n_heads = n_channels.checked_div(head_dim as u64).unwrap_or_default();
    if n_groups == 0 || n_heads == 0 || !n_heads.is_multiple_of(n_groups as u64) {
        let reason = format!("{n_heads} heads can't share {n_groups} groups");
        return Err(facts.malformed(reason));
    }
    let n_shared = product(&[2, n_groups, state_size]);
    let n_convolved = n_channels
        .saturating_add(n_shared)
        .saturating_mul(N_CONVOLVED);
    let n_values = n_channels.saturating_mul(state_size as u64);
    Ok(Kept {
        n_bytes_per_token: 0,
        n_state_bytes: n_bytes(sizes.n_layers, n_values.saturating_add(n_convolved)),
    })
}

/// Layers of attention and linear recurrences, each of these behind a short convolution.
pub fn recurrent_gemma(facts: &Facts<'_>, sizes: &Sizes) -> Result<Kept, EngineError> {
    let kinds = match facts.texts(BLOCK_TYPES)? {
        Some(kinds) => kinds,
        None => facts.texts(OLDER_BLOCK_TYPES)?.unwrap_or_default(),
    };
    let n_convolved = facts.required_size(RECURRENT_CONVOLVED)?;
    if kinds.is_empty() || n_convolved == 0 {
        return Err(facts.malformed("there is a layer of nothing".to_owned()));
    }
    let kinds = kinds.iter().cycle().take(sizes.n_layers);
    let n_attending = kinds.filter(|kind| *kind == "attention").count();
    let width = facts.size(RECURRENT_WIDTH)?.unwrap_or(sizes.hidden_size);
    Ok(Kept {
        n_bytes_per_token: n_cached_bytes(facts, sizes, n_attending)?,
        n_state_bytes: n_bytes(sizes.n_layers - n_attending, product(&[width, n_convolved])),
    })
}

/// Bytes of the keys and values of a token in so many layers.
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
    use super::{Kept, KeptBy, keys_and_values, lfm2, mamba, mamba2, recurrent_gemma};
    use crate::engine::EngineError;
    use crate::engine::blueprint::Facts;

    fn kept(kept_by: KeptBy, config: &Value) -> Result<Kept, EngineError> {
        let facts = Facts::of_config(config.as_object().unwrap(), &[], "config.json");
        let sizes = Sizes {
            hidden_size: 32,
            n_layers: 3,
            n_context: 64,
        };
        kept_by(&facts, &sizes)
    }

    #[test]
    fn a_layer_keeps_keys_and_values_or_a_state() {
        let kinds = json!(["conv", "full_attention", "conv"]);
        let blocks = json!(["recurrent", "attention"]);
        for (kept_by, config, n_bytes_per_token, n_state_bytes) in [
            (
                keys_and_values as KeptBy,
                json!({ "num_attention_heads": 4, "num_key_value_heads": 2 }),
                4 * 3 * 2 * 2 * 8,
                0,
            ),
            (
                lfm2,
                json!({ "num_attention_heads": 4, "layer_types": kinds, "conv_L_cache": 3 }),
                4 * 2 * 32,
                4 * 2 * 32 * 3,
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
            let kept = kept(kept_by, &config).unwrap();
            let found = (kept.n_bytes_per_token, kept.n_state_bytes);
            assert_eq!(found, (n_bytes_per_token, n_state_bytes), "{config}");
        }
    }

    #[test]
    fn heads_that_do_not_go_into_their_groups_are_refused() {
        for (head_dim, n_groups) in [(0, 1), (16, 0), (16, 3), (65, 1)] {
            let config = json!({
                "expand": 2, "head_dim": head_dim, "n_groups": n_groups, "state_size": 8,
            });
            assert!(kept(mamba2, &config).is_err(), "{config}");
        }
    }
}
