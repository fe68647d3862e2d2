//! The parameters of attention: those of the model, and those of each layer.
//!
//! Vaswani et al. 2017, "Attention Is All You Need"; Ainslie et al. 2023, "GQA: Training
//! Generalized Multi-Query Transformer Models from Multi-Head Checkpoints".

use super::batch::RotaryAngles;
use crate::engine::blueprint::{Blueprint, HeadSizes, KvSource, Temperature};

/// The parameters of a layer's heads.
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
    /// Queries, keys and values are clamped to ± this value first.
    pub qkv_limit: Option<f32>,
    /// How queries grow with their position, if they do.
    pub temperature: Option<Temperature>,
    /// Whether each head's output is multiplied by a gate. A head's gate then follows its query.
    pub is_gated: bool,
}

/// What layers have in common if they can share masks and the places of their keys and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LayerKind {
    /// Width of the sliding window in tokens.
    pub window: Option<usize>,
    pub n_heads: usize,
    pub n_kv_heads: usize,
    pub head_dim: usize,
}

/// The parameters of attention in a layer.
#[derive(Debug)]
pub(super) struct AttentionLayer<V> {
    /// Index, among the layers with attention, of the layer whose keys and values this one attends
    /// to: itself, or an earlier one.
    pub index: usize,
    /// Where its keys and values come from.
    pub kv_source: KvSource,
    pub shape: HeadShape,
    /// Width of the sliding window in tokens, including the current one. `None` means no limit.
    pub window: Option<usize>,
    /// Index of the rotation applied to queries and keys, if any.
    pub rope: Option<usize>,
    pub norms: Option<HeadNorms<V>>,
    /// For each head a score without a value, which takes part in the softmax.
    pub sinks: Option<V>,
}

/// The norms of queries, keys and values. Each has one weight for every value that is normalized
/// together: those of one head, or of all heads.
#[derive(Debug)]
pub(super) struct HeadNorms<V> {
    pub queries: V,
    /// `None` for a layer without keys of its own.
    pub keys: Option<V>,
    /// `None` if values are not normalized.
    pub values: Option<V>,
    /// Added to the mean square.
    pub eps: f32,
    /// Whether they are applied after rotary embedding.
    pub follow_rotation: bool,
}

impl HeadShape {
    /// Collects the parameters of a layer from a blueprint.
    pub(super) fn new(blueprint: &Blueprint, layer: usize) -> Self {
        let HeadSizes {
            n_kv_heads,
            head_dim,
        } = blueprint.heads(layer);
        Self {
            n_heads: blueprint.n_heads,
            n_kv_heads,
            head_dim,
            score_scale: blueprint.scales.score,
            score_cap: blueprint.caps.score,
            qkv_limit: blueprint.qkv_limit,
            temperature: blueprint.temperature,
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
    /// Returns what this layer has in common with others.
    pub(super) const fn kind(&self) -> LayerKind {
        LayerKind {
            window: self.window,
            n_heads: self.shape.n_heads,
            n_kv_heads: self.shape.n_kv_heads,
            head_dim: self.shape.head_dim,
        }
    }

    /// Returns whether the layer computes and keeps keys and values of its own.
    pub(super) const fn has_keys(&self) -> bool {
        !matches!(self.kv_source, KvSource::OfLayer(_))
    }

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
