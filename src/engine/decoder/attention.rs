//! What attention needs to know of a model and of a layer.
//!
//! Vaswani et al. 2017, "Attention Is All You Need"; Ainslie et al. 2023, "GQA: Training Generalized
//! Multi-Query Transformer Models from Multi-Head Checkpoints".

use super::batch::Turns;
use crate::engine::blueprint::Blueprint;

/// What attention needs of a blueprint.
#[derive(Debug, Clone, Copy)]
pub struct HeadShape {
    /// Query heads.
    pub n_heads: usize,
    /// Key and value heads.
    pub n_kv_heads: usize,
    /// The width of each.
    pub head_dim: usize,
    /// What the products of queries and keys are multiplied with.
    pub score_scale: f32,
    /// What they are then kept within.
    pub score_cap: Option<f32>,
}

/// What one layer's attention does differently from another's.
#[derive(Debug)]
pub struct AttentionLayer<V> {
    /// Its place among the layers.
    pub index: usize,
    /// How many tokens a row sees, its own included; all where there is none.
    pub window: Option<usize>,
    /// Which of the batch's turns its queries and keys make, if any.
    pub rope: Option<usize>,
    /// The norms on queries and keys.
    pub norms: Option<HeadNorms<V>>,
}

/// The norms on queries and keys. Their weights are as long as what is normed together: a head, or
/// all heads.
#[derive(Debug)]
pub struct HeadNorms<V> {
    /// The weights for queries.
    pub queries: V,
    /// The weights for keys.
    pub keys: V,
    /// What is added to the mean square.
    pub eps: f32,
}

impl HeadShape {
    /// Those of a model.
    pub const fn new(blueprint: &Blueprint) -> Self {
        Self {
            n_heads: blueprint.n_heads,
            n_kv_heads: blueprint.n_kv_heads,
            head_dim: blueprint.head_dim,
            score_scale: blueprint.scales.score,
            score_cap: blueprint.caps.score,
        }
    }

    /// The values of all query heads of a token.
    pub const fn q_width(&self) -> usize {
        self.n_heads * self.head_dim
    }

    /// The values of all key heads of a token.
    pub const fn kv_width(&self) -> usize {
        self.n_kv_heads * self.head_dim
    }

    /// How many query heads share a key head.
    pub const fn group(&self) -> usize {
        self.n_heads / self.n_kv_heads
    }
}

impl<V> AttentionLayer<V> {
    /// The first position that the token at `position` sees.
    pub const fn first_visible(&self, position: usize) -> usize {
        match self.window {
            Some(window) => (position + 1).saturating_sub(window),
            None => 0,
        }
    }

    /// The turns that its queries and keys make.
    pub fn turns<'a, T>(&self, turns: &'a [Turns<T>]) -> Option<&'a Turns<T>> {
        self.rope.and_then(|rope| turns.get(rope))
    }
}
