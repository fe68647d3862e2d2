//! Multi-head latent attention: queries, keys and values are computed from small latent vectors.
//!
//! Keys and values are cached as if the layer had projected them, values padded to the width of keys:
//! larger than the latent vectors, but as fast to attend to as in other layers. The dimensions that
//! rotate come first in each head, which doesn't change the products of queries and keys.

use super::attention::{AttentionLayer, HeadShape};
use super::backend::Form;
use super::norm::NormWeights;
use crate::engine::blueprint::LatentAttention;

/// The weights of latent attention besides its first and last projections.
pub(super) struct LatentLayer<F: Form> {
    pub latent: LatentAttention,
    pub attention: AttentionLayer<F::Vector>,
    /// Computes queries from their latent vector. `None` if the first projection computes them.
    pub queries: Option<LatentProjection<F>>,
    pub keys_values: LatentProjection<F>,
}

/// A norm of a latent vector, and the projection after it.
pub(super) struct LatentProjection<F: Form> {
    pub norm: NormWeights<F::Vector>,
    pub matrix: F::Matrix,
}

/// What the first projection computes for each token.
pub(super) struct LatentRows {
    /// Latent vectors of queries, or queries.
    pub queries: Vec<f32>,
    /// Latent vectors of keys and values.
    pub keys_values: Vec<f32>,
    /// The rotating dimensions of keys, which all heads share.
    pub rotated: Vec<f32>,
}

impl LatentAttention {
    /// Divides what the first projection has computed.
    pub(super) fn split(&self, shape: HeadShape, rows: &[f32]) -> LatentRows {
        let query_width = self.query_rank.unwrap_or(shape.q_width());
        let width = query_width + self.key_value_rank + self.rotated_dim;
        let mut split = LatentRows {
            queries: Vec::new(),
            keys_values: Vec::new(),
            rotated: Vec::new(),
        };
        for row in rows.chunks_exact(width.max(1)) {
            let (queries, rest) = row.split_at(query_width);
            let (keys_values, rotated) = rest.split_at(self.key_value_rank);
            split.queries.extend_from_slice(queries);
            split.keys_values.extend_from_slice(keys_values);
            split.rotated.extend_from_slice(rotated);
        }
        split
    }

    /// Arranges queries, keys and values as other layers project them.
    ///
    /// A head of `queries` holds the dimensions that don't rotate, then those that do; one of
    /// `keys_values` the dimensions of a key that don't rotate, then a value.
    pub(super) fn arranged(
        &self,
        shape: HeadShape,
        queries: &[f32],
        keys_values: &[f32],
        rotated: &[f32],
    ) -> Vec<f32> {
        let (n_heads, head_dim) = (shape.n_heads, shape.head_dim);
        let stored_dim = self.unrotated_dim + self.value_dim;
        let queries = queries.chunks_exact((n_heads * head_dim).max(1));
        let keys_values = keys_values.chunks_exact((n_heads * stored_dim).max(1));
        let rotated = rotated.chunks_exact(self.rotated_dim.max(1));
        let mut rows = Vec::new();
        for ((queries, keys_values), rotated) in queries.zip(keys_values).zip(rotated) {
            for head in queries.chunks_exact(head_dim.max(1)) {
                let (unrotated, rotated) = head.split_at(self.unrotated_dim);
                rows.extend_from_slice(rotated);
                rows.extend_from_slice(unrotated);
            }
            let heads = || keys_values.chunks_exact(stored_dim.max(1));
            for head in heads() {
                let (unrotated, _) = head.split_at(self.unrotated_dim);
                rows.extend_from_slice(rotated);
                rows.extend_from_slice(unrotated);
            }
            for head in heads() {
                let (_, value) = head.split_at(self.unrotated_dim);
                rows.extend_from_slice(value);
                rows.resize(rows.len() + head_dim - self.value_dim, 0.0);
            }
        }
        rows
    }

    /// Removes the padding from the outputs of heads.
    pub(super) fn unpadded(&self, shape: HeadShape, mixed: &[f32]) -> Vec<f32> {
        let heads = mixed.chunks_exact(shape.head_dim.max(1));
        let values = heads.flat_map(|head| head.iter().take(self.value_dim));
        values.copied().collect()
    }
}
