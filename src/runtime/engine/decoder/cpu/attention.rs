//! Attention on the CPU: prepares queries and keys, updates the KV cache, and calls the kernels.

use super::Batch;
use super::head::{Angles, RotateRow};
use super::rows::each_row;
use super::run::{KvFormat, spans};
use crate::engine::decoder::attention::{AttentionLayer, HeadShape, first_visible};
use crate::kernels::attention::{CacheType, Heads, Row, Span, attend};

/// Attention on the CPU.
#[derive(Debug)]
pub(super) struct CpuAttention {
    shape: HeadShape,
    heads: Heads,
    cache_type: CacheType,
}

impl CpuAttention {
    /// Creates attention for heads of this shape.
    pub(super) fn new(shape: HeadShape, cache_type: CacheType) -> Self {
        Self {
            shape,
            heads: Heads {
                n_heads: shape.n_heads,
                n_kv_heads: shape.n_kv_heads,
                head_dim: shape.head_dim,
                score_scale: shape.score_scale,
                score_cap: shape.score_cap,
            },
            cache_type,
        }
    }

    /// The number format of the KV cache.
    pub(super) const fn cache_type(&self) -> CacheType {
        self.cache_type
    }

    /// Removes the gates from rows in which a head's gate follows its query, and returns them:
    /// `[rows, q_width]`, or nothing if heads have no gates.
    pub(super) fn take_gates(&self, rows: &mut Vec<f32>) -> Vec<f32> {
        let mut gates = Vec::new();
        if !self.shape.is_gated {
            return gates;
        }
        let (q_width, head_dim) = (self.shape.q_width(), self.shape.head_dim);
        let mut qkv = Vec::with_capacity(rows.len());
        for row in rows.chunks_exact(q_width + self.row_width()) {
            let (queries, keys_values) = row.split_at(2 * q_width);
            for head in queries.chunks_exact(2 * head_dim) {
                let (query, gate) = head.split_at(head_dim);
                qkv.extend_from_slice(query);
                gates.extend_from_slice(gate);
            }
            qkv.extend_from_slice(keys_values);
        }
        *rows = qkv;
        gates
    }

    /// Norms and rotates queries and keys, writes keys and values to the tails of the caches, and
    /// computes attention for each row over all tokens up to its own, or over the layer's window.
    ///
    /// `qkv` is `[rows, q_width + 2 × kv_width]`; `mixed` is `[rows, q_width]`.
    pub(super) fn forward(
        &self,
        layer: &AttentionLayer<Vec<f32>>,
        qkv: &mut [f32],
        batch: &mut Batch<'_>,
        mixed: &mut [f32],
    ) {
        self.turn(layer, qkv, batch);
        self.write(layer, qkv, batch);
        let mut n_visible = vec![0; batch.caches.len()];
        for place in batch.places {
            if let Some(n_visible) = n_visible.get_mut(place.cache) {
                *n_visible = (place.position + 1).max(*n_visible);
            }
        }
        let sequences = batch.caches.iter().zip(n_visible);
        let sequences: Vec<Vec<Span<'_>>> = sequences
            .map(|(cache, n_visible)| spans(cache, layer.index, n_visible))
            .collect();
        let rows = batch.places.iter().map(|place| Row {
            spans: sequences.get(place.cache).map_or(&[], Vec::as_slice),
            visible: first_visible(layer.window, place.position)..place.position + 1,
        });
        let rows: Vec<Row<'_>> = rows.collect();
        attend(batch.context, self.heads, &rows, qkv, mixed);
    }

    const fn row_width(&self) -> usize {
        self.shape.q_width() + 2 * self.shape.kv_width()
    }

    fn turn(&self, layer: &AttentionLayer<Vec<f32>>, qkv: &mut [f32], batch: &Batch<'_>) {
        let rotary_angles = layer.rotary_angles(&batch.rotary_angles);
        if rotary_angles.is_none() && layer.norms.is_none() {
            return;
        }
        let rows = qkv.chunks_exact_mut(self.row_width()).enumerate();
        let arch = batch.context.instructions.arch();
        each_row(&batch.context.threads, rows, |(index, qkv)| {
            let angles = rotary_angles.and_then(|rotary_angles| {
                let n_planes = rotary_angles.n_dims / 2;
                let planes = index * n_planes..(index + 1) * n_planes;
                Some(Angles {
                    form: rotary_angles.form,
                    cos: rotary_angles.cos.get(planes.clone())?,
                    sin: rotary_angles.sin.get(planes)?,
                })
            });
            arch.dispatch(RotateRow {
                shape: self.shape,
                norms: layer.norms.as_ref(),
                angles,
                qkv,
            });
        });
    }

    fn write(&self, layer: &AttentionLayer<Vec<f32>>, qkv: &[f32], batch: &mut Batch<'_>) {
        let rows = qkv.chunks_exact(self.row_width());
        for (row, place) in rows.zip(batch.places) {
            let (_, keys_values) = row.split_at(self.shape.q_width());
            let (keys, values) = keys_values.split_at(self.shape.kv_width());
            let Some(cache) = batch.caches.get_mut(place.cache) else {
                continue;
            };
            let start = cache.n_shared();
            let format = KvFormat {
                heads: self.heads,
                cache_type: self.cache_type,
            };
            if let Some(run) = cache.tail_mut().layer_mut(layer.index, format, start) {
                run.write(place.position, keys, values);
            }
        }
    }
}
