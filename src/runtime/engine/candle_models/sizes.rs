//! The sizes of a model, checked against plausible limits.

use crate::engine::EngineError;
use crate::engine::blueprint::{Facts, Key, MAX_LAYERS};

const HIDDEN_SIZE: Key = Key::new("hidden_size", "embedding_length");
const N_LAYERS: Key = Key::new("num_hidden_layers", "block_count");
const N_HEADS: Key = Key::new("num_attention_heads", "attention.head_count");
const N_KV_HEADS: Key = Key::new("num_key_value_heads", "attention.head_count_kv");
const HEAD_DIM: Key = Key::new("head_dim", "attention.key_length");

/// The context length.
pub(super) const N_CONTEXT: Key = Key::new("max_position_embeddings", "context_length");

/// The longest context that we allow, because rotary tables are allocated for all of it.
const N_MAX_CONTEXT: usize = 1 << 17;

/// A wider head means a broken file.
const MAX_HEAD_DIM: usize = 1 << 12;

/// The sizes that every model has.
pub(super) struct Sizes {
    /// The width of the residual stream.
    pub hidden_size: usize,
    pub n_layers: usize,
    /// The context length, capped at the longest that we allow.
    pub n_context: usize,
}

impl Sizes {
    /// Reads and checks the sizes.
    pub(super) fn read(facts: &Facts<'_>) -> Result<Self, EngineError> {
        let hidden_size = facts.required_size(HIDDEN_SIZE)?;
        let n_layers = facts.required_size(N_LAYERS)?;
        let n_context = facts.required_size(N_CONTEXT)?;
        if !(1..=MAX_LAYERS).contains(&n_layers) {
            return Err(facts.malformed(format!("the number of layers is {n_layers}")));
        }
        if n_context == 0 {
            return Err(facts.malformed("the context length is 0".to_owned()));
        }
        Ok(Self {
            hidden_size,
            n_layers,
            n_context: n_context.min(N_MAX_CONTEXT),
        })
    }
}

/// The heads of an attention layer.
pub(super) struct Heads {
    pub n_kv_heads: usize,
    pub head_dim: usize,
}

impl Heads {
    /// Reads and checks the heads.
    pub(super) fn read(facts: &Facts<'_>, sizes: &Sizes) -> Result<Self, EngineError> {
        let n_heads = facts.required_size(N_HEADS)?;
        let n_kv_heads = facts.size(N_KV_HEADS)?.unwrap_or(n_heads);
        if n_kv_heads == 0 || n_heads == 0 || !n_heads.is_multiple_of(n_kv_heads) {
            let reason = format!("{n_heads} heads can’t share {n_kv_heads} key-value heads");
            return Err(facts.malformed(reason));
        }
        let head_dim = facts.size(HEAD_DIM)?.unwrap_or(sizes.hidden_size / n_heads);
        if !(1..=MAX_HEAD_DIM).contains(&head_dim) || n_heads > sizes.hidden_size {
            return Err(facts.malformed(format!("the head size is {head_dim}")));
        }
        Ok(Self {
            n_kv_heads,
            head_dim,
        })
    }
}
