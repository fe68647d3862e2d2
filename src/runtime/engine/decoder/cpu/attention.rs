//! Attention on the CPU: prepares queries and keys, updates the KV cache, and calls the kernels.

use super::Batch;
use super::head::{Angles, RotateRow};
use super::rows::each_row;
use super::run::{KvFormat, spans};
use crate::engine::blueprint::KvSource;
use crate::engine::decoder::attention::{AttentionLayer, HeadShape, first_visible};
use crate::kernels::attention::{CacheType, Heads, Row, Span, attend};

/// Attention on the CPU.
#[derive(Debug)]
pub(super) struct CpuAttention {
    cache_type: CacheType,
}

impl CpuAttention {
    /// Creates attention with a KV cache in this number format.
    pub(super) const fn new(cache_type: CacheType) -> Self {
        Self { cache_type }
    }

    /// The number format of the KV cache.
    pub(super) const fn cache_type(&self) -> CacheType {
        self.cache_type
    }

    /// Norms and rotates queries and keys, writes keys and values to the tails of the caches, and
    /// computes attention for each row over all tokens up to its own, or over the layer's window.
    ///
    /// `qkv` is `[rows, q_width + 2 × kv_width]`, or what of it the layer has projected; `mixed` is
    /// `[rows, q_width]`.
    pub(super) fn forward(
        &self,
        layer: &AttentionLayer<Vec<f32>>,
        qkv: &mut Vec<f32>,
        batch: &mut Batch<'_>,
        mixed: &mut [f32],
    ) {
        complete(layer, qkv);
        turn(layer, qkv, batch);
        if layer.has_keys() {
            self.write(layer, qkv, batch);
        }
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
            sinks: layer.sinks.as_deref().unwrap_or_default(),
        });
        let rows: Vec<Row<'_>> = rows.collect();
        attend(batch.context, heads(layer.shape), &rows, qkv, mixed);
    }

    fn write(&self, layer: &AttentionLayer<Vec<f32>>, qkv: &[f32], batch: &mut Batch<'_>) {
        let shape = layer.shape;
        let rows = qkv.chunks_exact(row_width(shape));
        for (row, place) in rows.zip(batch.places) {
            let (_, keys_values) = row.split_at(shape.q_width());
            let (keys, values) = keys_values.split_at(shape.kv_width());
            let Some(cache) = batch.caches.get_mut(place.cache) else {
                continue;
            };
            let start = cache.n_shared();
            let format = KvFormat {
                heads: heads(shape),
                cache_type: self.cache_type,
            };
            if let Some(run) = cache.tail_mut().layer_mut(layer.index, format, start) {
                run.write(place.position, keys, values);
            }
        }
    }
}

const fn heads(shape: HeadShape) -> Heads {
    Heads {
        n_heads: shape.n_heads,
        n_kv_heads: shape.n_kv_heads,
        head_dim: shape.head_dim,
        score_scale: shape.score_scale,
        score_cap: shape.score_cap,
    }
}

/// Returns the width of a row of queries, keys and values.
const fn row_width(shape: HeadShape) -> usize {
    shape.q_width() + 2 * shape.kv_width()
}

/// Returns the width of what a layer has projected, without the gates of its heads.
const fn projected_width(layer: &AttentionLayer<Vec<f32>>) -> usize {
    let (q_width, kv_width) = (layer.shape.q_width(), layer.shape.kv_width());
    match layer.kv_source {
        KvSource::Projected => q_width + 2 * kv_width,
        KvSource::SameProjection => q_width + kv_width,
        KvSource::OfLayer(_) => q_width,
    }
}

/// Removes the gates from rows in which a head's gate follows its query, and returns them: `[rows,
/// q_width]`, or nothing if heads have no gates.
pub(super) fn take_gates(layer: &AttentionLayer<Vec<f32>>, rows: &mut Vec<f32>) -> Vec<f32> {
    let mut gates = Vec::new();
    if !layer.shape.is_gated {
        return gates;
    }
    let (q_width, head_dim) = (layer.shape.q_width(), layer.shape.head_dim);
    let mut qkv = Vec::with_capacity(rows.len());
    for row in rows.chunks_exact(q_width + projected_width(layer)) {
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

/// Adds the part of each row that the layer has not projected: the values if they are those of the
/// keys, and zeros where it has no keys and values of its own.
fn complete(layer: &AttentionLayer<Vec<f32>>, qkv: &mut Vec<f32>) {
    let (n_projected, width) = (projected_width(layer), row_width(layer.shape));
    if n_projected == width {
        return;
    }
    let mut rows = Vec::with_capacity(qkv.len() / n_projected.max(1) * width);
    for row in qkv.chunks_exact(n_projected) {
        rows.extend_from_slice(row);
        let (_, keys) = row.split_at(layer.shape.q_width());
        rows.extend_from_slice(keys);
        rows.resize(rows.len() + width - n_projected - keys.len(), 0.0);
    }
    *qkv = rows;
}

/// Clamps, norms and rotates queries, keys and values.
fn turn(layer: &AttentionLayer<Vec<f32>>, qkv: &mut [f32], batch: &Batch<'_>) {
    let rotary_angles = layer.rotary_angles(&batch.rotary_angles);
    let HeadShape {
        qkv_limit,
        temperature,
        ..
    } = layer.shape;
    let keeps_all = qkv_limit.is_none() && temperature.is_none();
    if rotary_angles.is_none() && layer.norms.is_none() && keeps_all {
        return;
    }
    let rows = qkv
        .chunks_exact_mut(row_width(layer.shape))
        .zip(batch.places);
    let rows = rows.enumerate();
    let arch = batch.context.instructions.arch();
    each_row(&batch.context.threads, rows, |(index, (qkv, place))| {
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
            shape: layer.shape,
            norms: layer.norms.as_ref(),
            angles,
            query_scale: temperature.map(|growth| growth.query_scale(place.position)),
            qkv,
        });
    });
}
