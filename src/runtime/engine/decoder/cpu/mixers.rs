//! What passes information between tokens, on the CPU.

use std::time::Instant;

use super::attention::take_gates;
use super::{Batch, Buffers, Model, Slices, lap};
use crate::engine::ForwardTimes;
use crate::engine::decoder::latent::LatentLayer;
use crate::engine::decoder::recurrent::{RecurrentLayer, Workers};
use crate::engine::decoder::weights::{Layer, MambaLayer, Mixer};
use crate::kernels::{Inputs, exp};

impl Model {
    /// Adds the output of a layer's mixers to the residual stream.
    pub(super) fn mix_tokens(
        &self,
        layer: &Layer<Slices>,
        batch: &mut Batch<'_>,
        buffers: &mut Buffers,
        times: &mut ForwardTimes,
    ) {
        let threads = &self.context.threads;
        let Buffers {
            hidden,
            normed,
            qkv,
            mixed,
            inner,
            found,
            inputs,
            ..
        } = buffers;
        let values = self.normed(layer.mixer_norms.before.as_ref(), hidden, normed);
        for (index, weights) in layer.mixers.iter().enumerate() {
            let mut clock = Instant::now();
            weights.input.forward(threads, values, inputs, qkv);
            lap(&mut clock, &mut times.product_secs);
            match &weights.mixer {
                Mixer::Attention(layer) => {
                    mixed.clear();
                    mixed.resize(batch.places.len() * layer.shape.q_width(), 0.0);
                    let gates = take_gates(layer, qkv);
                    self.attention.forward(layer, qkv, batch, mixed);
                    for (output, gate) in mixed.iter_mut().zip(&gates) {
                        *output /= 1.0 + exp(-gate);
                    }
                }
                Mixer::Latent(layer) => *mixed = self.expanded(layer, qkv, batch, inputs),
                Mixer::Recurrent(layer) => *mixed = self.recurred(layer, qkv, batch),
                Mixer::Mamba(layer) => *mixed = self.selected(layer, qkv, batch, inputs),
            }
            lap(&mut clock, &mut times.attention_secs);
            if index == 0 {
                weights.output.forward(threads, mixed, inputs, found);
            } else {
                weights.output.forward(threads, mixed, inputs, inner);
                for (sum, output) in found.iter_mut().zip(inner.iter()) {
                    *sum += output;
                }
            }
            lap(&mut clock, &mut times.product_secs);
        }
        self.join(layer.mixer_norms.after.as_ref(), found, normed, hidden);
    }

    /// Returns the output of latent attention.
    fn expanded(
        &self,
        layer: &LatentLayer<Slices>,
        projected: &[f32],
        batch: &mut Batch<'_>,
        inputs: &mut Inputs,
    ) -> Vec<f32> {
        let (latent, shape) = (&layer.latent, layer.attention.shape);
        let threads = &self.context.threads;
        let rows = latent.split(shape, projected);
        let (mut normed, mut queries, mut keys_values) = (Vec::new(), Vec::new(), Vec::new());
        match &layer.queries {
            Some(weights) => {
                let values = self.normed(Some(&weights.norm), &rows.queries, &mut normed);
                weights
                    .matrix
                    .forward(threads, values, inputs, &mut queries);
            }
            None => queries.clone_from(&rows.queries),
        }
        let weights = &layer.keys_values;
        let values = self.normed(Some(&weights.norm), &rows.keys_values, &mut normed);
        weights
            .matrix
            .forward(threads, values, inputs, &mut keys_values);
        let mut qkv = latent.arranged(shape, &queries, &keys_values, &rows.rotated);
        let mut mixed = vec![0.0; batch.places.len() * shape.q_width()];
        self.attention
            .forward(&layer.attention, &mut qkv, batch, &mut mixed);
        latent.unpadded(shape, &mixed)
    }

    fn recurred(&self, layer: &RecurrentLayer, input: &[f32], batch: &mut Batch<'_>) -> Vec<f32> {
        let workers = Workers {
            arch: self.context.instructions.arch(),
            threads: Some(&self.context.threads),
        };
        layer.forward(input, batch.places, batch.caches, workers)
    }

    /// Returns the output of Mamba 1.
    fn selected(
        &self,
        layer: &MambaLayer<Slices>,
        projected: &[f32],
        batch: &mut Batch<'_>,
        inputs: &mut Inputs,
    ) -> Vec<f32> {
        let threads = &self.context.threads;
        let convolved = self.recurred(&layer.convolution, projected, batch);
        let (mut selection, mut steps) = (Vec::new(), Vec::new());
        layer
            .selection
            .forward(threads, &convolved, inputs, &mut selection);
        layer.mamba.normalize(&mut selection);
        let sources = layer.mamba.step_sources(&selection);
        layer.steps.forward(threads, &sources, inputs, &mut steps);
        let rows = layer
            .mamba
            .scan_input(projected, &convolved, &steps, &selection);
        self.recurred(&layer.scan, &rows, batch)
    }
}
