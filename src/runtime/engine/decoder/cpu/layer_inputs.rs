//! Per-layer embeddings on the CPU.

use std::f32::consts::FRAC_1_SQRT_2;

use super::{Buffers, Model, Slices};
use crate::engine::Row;
use crate::engine::decoder::weights::{InputWeights, LayerInputWeights};

impl Model {
    /// Computes the per-layer embeddings of all layers from the embeddings of the tokens.
    pub(super) fn compute_layer_inputs(
        &self,
        weights: &LayerInputWeights<Slices>,
        rows: &[Row],
        buffers: &mut Buffers,
    ) {
        let Buffers {
            hidden,
            normed,
            layer_inputs,
            found,
            inputs,
            ..
        } = buffers;
        let threads = &self.context.threads;
        layer_inputs.clear();
        let tokens = rows.iter().map(|row| match row.token.index() {
            token if token < weights.n_rows => token,
            _ => 0,
        });
        weights.table.extend_with_rows(tokens, layer_inputs);
        weights.projection.forward(threads, hidden, inputs, found);
        let scale = (self.blueprint.hidden_size as f32).sqrt().recip();
        for value in found.iter_mut() {
            *value *= scale;
        }
        let projected = self.normed(Some(&weights.norm), found, normed);
        let table_scale = (weights.width as f32).sqrt();
        for (value, projected) in layer_inputs.iter_mut().zip(projected) {
            *value = (*value * table_scale + projected) * FRAC_1_SQRT_2;
        }
    }

    /// Adds the per-layer embedding of a layer to the residual stream.
    pub(super) fn add_input(
        &self,
        weights: &InputWeights<Slices>,
        layer: usize,
        buffers: &mut Buffers,
    ) {
        let source = std::mem::take(&mut buffers.hidden);
        self.compute_input(weights, layer, &source, buffers);
        buffers.hidden = source;
        let Buffers {
            hidden,
            normed,
            found,
            ..
        } = buffers;
        self.join(Some(&weights.norm), found, normed, hidden);
    }

    /// Computes the per-layer embedding of a layer, before its norm, from these rows.
    pub(super) fn compute_input(
        &self,
        weights: &InputWeights<Slices>,
        layer: usize,
        source: &[f32],
        buffers: &mut Buffers,
    ) {
        let Buffers {
            inner,
            activated,
            layer_inputs,
            found,
            inputs,
            ..
        } = buffers;
        let threads = &self.context.threads;
        weights.gate.forward(threads, source, inputs, inner);
        let width = weights.gate.n_rows();
        let n_all = width * self.blueprint.n_layers();
        // The gates and the vectors side by side, as in a gated feed-forward network.
        found.clear();
        let gates = inner.chunks_exact(width);
        for (gate, all) in gates.zip(layer_inputs.chunks_exact(n_all)) {
            found.extend_from_slice(gate);
            let own = all.get(layer * width..(layer + 1) * width);
            found.extend_from_slice(own.unwrap_or_default());
        }
        self.activate(self.blueprint.feed_forward, 2 * width, found, activated);
        weights.output.forward(threads, activated, inputs, found);
    }
}
