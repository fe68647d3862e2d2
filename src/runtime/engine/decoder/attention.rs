//! The parameters of attention: those of the model, and those of each layer.
//!
//! Vaswani et al. 2017, "Attention Is All You Need"; Ainslie et al. 2023, "GQA: Training
//! Generalized Multi-Query Transformer Models from Multi-Head Checkpoints".

use super::batch::RotaryAngles;
use crate::engine::blueprint::Blueprint;

/// The parameters of attention that all layers of a model share.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeadShape {
    /// Number of query heads.
    pub n_heads: usize,
    pub n_kv_heads: usize,
    pub head_dim: usize,
    /// Multiplies the query-key products.
    pub score_scale: f32,
    /// Soft cap on the scaled products.
    pub score_cap: Option<f32>,
    /// Whether each head's output is multiplied by a gate. A head's gate then follows its query.
    pub is_gated: bool,
}

/// The parameters of attention that differ from layer to layer.
#[derive(Debug)]
pub(super) struct AttentionLayer<V> {
    /// Its index among the layers with attention.
    pub index: usize,
    /// Width of the sliding window in tokens, including the current one. `None` means no limit.
    pub window: Option<usize>,
    /// Index of the rotation applied to queries and keys, if any.
    pub rope: Option<usize>,
    pub norms: Option<HeadNorms<V>>,
}

/// The norms of queries and keys. Each has one weight for every value that is normalized together:
/// those of one head, or of all heads.
#[derive(Debug)]
pub(super) struct HeadNorms<V> {
    pub queries: V,
    pub keys: V,
    /// Added to the mean square.
    pub eps: f32,
}

impl HeadShape {
    /// Collects the parameters from a blueprint.
    pub(super) const fn new(blueprint: &Blueprint) -> Self {
        Self {
            n_heads: blueprint.n_heads,
            n_kv_heads: blueprint.n_kv_heads,
            head_dim: blueprint.head_dim,
            score_scale: blueprint.scales.score,
            score_cap: blueprint.caps.score,
            is_gated: blueprint.gated_heads,
        }
    }

    /// Returns the width of all query heads together.
    pub(super) const fn q_width(&self) -> usize {
        self.n_heads * self.head_dim
    }

    /// Returns the width of all key heads together.
    pub(super) const fn kv_width(&self) -> usize {
        self.n_kv_heads * self.head_dim
    }

    /// Returns how many query heads share a key-value head.
    pub(super) const fn group(&self) -> usize {
        self.n_heads / self.n_kv_heads
    }
}

impl<V> AttentionLayer<V> {
    /// Returns the rotary angles of this layer, or `None` if it does not rotate.
    pub(super) fn rotary_angles<'a, T>(
        &self,
        rotary_angles: &'a [RotaryAngles<T>],
    ) -> Option<&'a RotaryAngles<T>> {
        self.rope.and_then(|rope| rotary_angles.get(rope))
    }
}

/// Returns the first position that the token at `position` attends to with this sliding window.
pub(super) const fn first_visible(window: Option<usize>, position: usize) -> usize {
    match window {
        Some(window) => (position + 1).saturating_sub(window),
        None => 0,
    }
}
