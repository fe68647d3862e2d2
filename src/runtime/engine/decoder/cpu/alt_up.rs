//! The streams of Gemma 3n on the CPU. The first stream is the residual stream that layers compute;
//! the others are beside it.

use std::f32::consts::FRAC_1_SQRT_2;

use super::{Buffers, Model, Slices};
use crate::engine::Row;
use crate::engine::decoder::weights::{
    AltUpLayer, AltUpWeights, InputWeights, LaurelWeights, Layer,
};

/// The smallest mean square that a stream is taken to have when it is scaled.
const MIN_SQUARE: f32 = 1e-5;

/// The streams beside the first one, and what a layer needs to correct them.
#[derive(Debug, Default)]
pub(super) struct Streams {
    /// `[streams − 1, rows, hidden]`.
    others: Vec<f32>,
    /// What the layer has predicted for the first stream: `[rows, hidden]`.
    predicted: Vec<f32>,
    /// The output of the low-rank path beside attention: `[rows, hidden]`.
    laurel: Vec<f32>,
}

impl Model {
    /// Computes the other streams from the first.
    pub(super) fn divide(&self, weights: &AltUpWeights<Slices>, buffers: &mut Buffers) {
        let Buffers {
            hidden,
            found,
            inputs,
            streams,
            ..
        } = buffers;
        let width = self.blueprint.hidden_size.max(1);
        let threads = &self.context.threads;
        weights.projections.forward(threads, hidden, inputs, found);
        let n_others = weights.n_streams.saturating_sub(1);
        streams.others.clear();
        for stream in 0..n_others {
            let rows = hidden.chunks_exact(width);
            for (first, all) in rows.zip(found.chunks_exact((n_others * width).max(1))) {
                let projected = part(all, stream, width);
                let scale = magnitude(first) / mean_square(projected).max(MIN_SQUARE).sqrt();
                streams
                    .others
                    .extend(projected.iter().map(|value| value * scale));
            }
        }
    }

    /// Replaces all streams by what the layer predicts for them.
    pub(super) fn predict(&self, weights: &AltUpLayer<Slices>, buffers: &mut Buffers) {
        let n = self.n_streams();
        let routes = self.routes(weights, buffers);
        let Buffers {
            hidden, streams, ..
        } = buffers;
        let width = self.blueprint.hidden_size.max(1);
        let n_values = hidden.len();
        let mut all = std::mem::take(hidden);
        all.extend_from_slice(&streams.others);
        let mut predicted = all.clone();
        for (row, routes) in routes.chunks_exact(n.max(1)).enumerate() {
            let coefficients: Vec<f32> = products(&weights.prediction, routes).collect();
            for (target, coefficients) in coefficients.chunks_exact(n.max(1)).enumerate() {
                let start = target * n_values + row * width;
                let target = predicted.get_mut(start..start + width).unwrap_or_default();
                for (source, coefficient) in coefficients.iter().enumerate() {
                    let start = source * n_values + row * width;
                    let source = all.get(start..start + width).unwrap_or_default();
                    for (sum, value) in target.iter_mut().zip(source) {
                        *sum += coefficient * value;
                    }
                }
            }
        }
        streams.others = predicted.split_off(n_values);
        streams.predicted.clone_from(&predicted);
        *hidden = predicted;
    }

    /// Corrects all streams by how much the layer's output differs from its prediction, and adds the
    /// per-layer embedding to all but the first.
    pub(super) fn correct(
        &self,
        weights: &AltUpLayer<Slices>,
        input: Option<&InputWeights<Slices>>,
        layer: usize,
        buffers: &mut Buffers,
    ) {
        let n = self.n_streams();
        let routes = self.routes(weights, buffers);
        let Buffers {
            hidden, streams, ..
        } = buffers;
        let width = self.blueprint.hidden_size.max(1);
        let n_values = hidden.len().max(1);
        for (row, routes) in routes.chunks_exact(n.max(1)).enumerate() {
            let coefficients: Vec<f32> = products(&weights.correction, routes)
                .map(|coefficient| coefficient + 1.0)
                .collect();
            let (Some(output), Some(predicted)) = (
                hidden.get_mut(row * width..(row + 1) * width),
                streams.predicted.get(row * width..(row + 1) * width),
            ) else {
                continue;
            };
            for (value, predicted) in output.iter_mut().zip(predicted) {
                *value -= predicted;
            }
            let (first, others) = coefficients.split_first().unwrap_or((&1.0, &[]));
            for (stream, coefficient) in streams.others.chunks_exact_mut(n_values).zip(others) {
                let stream = stream.get_mut(row * width..(row + 1) * width);
                for (value, change) in stream.into_iter().flatten().zip(&*output) {
                    *value += coefficient * change;
                }
            }
            for (value, predicted) in output.iter_mut().zip(predicted) {
                *value = predicted + first * *value;
            }
        }
        if let Some(input) = input {
            self.add_input_to_streams(weights, input, layer, buffers);
        }
    }

    fn add_input_to_streams(
        &self,
        weights: &AltUpLayer<Slices>,
        input: &InputWeights<Slices>,
        layer: usize,
        buffers: &mut Buffers,
    ) {
        let mut source = buffers.hidden.clone();
        if let Some(scale) = &weights.output_scale {
            super::rows::multiply_rows(scale, &mut source);
        }
        self.compute_input(input, layer, &source, buffers);
        let Buffers {
            normed,
            found,
            streams,
            ..
        } = buffers;
        let found = self.normed(Some(&input.norm), found, normed);
        for stream in streams.others.chunks_exact_mut(found.len().max(1)) {
            for (value, added) in stream.iter_mut().zip(found) {
                *value += added;
            }
        }
    }

    /// Replaces the rows that want logits by the mean of all streams.
    pub(super) fn merge(
        &self,
        weights: &AltUpWeights<Slices>,
        rows: &[Row],
        buffers: &mut Buffers,
    ) {
        let Buffers {
            hidden,
            mixed,
            found,
            inputs,
            streams,
            ..
        } = buffers;
        let width = self.blueprint.hidden_size.max(1);
        let n_others = weights.n_streams.saturating_sub(1);
        let magnitudes: Vec<f32> = hidden.chunks_exact(width).map(magnitude).collect();
        let wanted: Vec<usize> = (0..)
            .zip(rows)
            .filter_map(|(index, row)| row.logits_wanted.then_some(index))
            .collect();
        if wanted.is_empty() {
            return;
        }
        for (index, stream) in streams.others.chunks_exact(hidden.len().max(1)).enumerate() {
            mixed.clear();
            for row in &wanted {
                mixed.extend_from_slice(part(stream, *row, width));
            }
            let threads = &self.context.threads;
            weights.merging.forward(threads, mixed, inputs, found);
            let all = found.chunks_exact((n_others * width).max(1));
            for (row, all) in wanted.iter().zip(all) {
                let projected = part(all, index, width);
                let target = magnitudes.get(*row).copied().unwrap_or_default();
                let scale = target / mean_square(projected).max(MIN_SQUARE).sqrt();
                let sums = hidden.get_mut(row * width..(row + 1) * width);
                for (sum, value) in sums.into_iter().flatten().zip(projected) {
                    *sum += value * scale;
                }
            }
        }
        for value in hidden.iter_mut() {
            *value /= weights.n_streams as f32;
        }
    }

    /// Computes the low-rank path beside attention.
    pub(super) fn compute_laurel(
        &self,
        layer: &Layer<Slices>,
        weights: &LaurelWeights<Slices>,
        buffers: &mut Buffers,
    ) {
        let Buffers {
            hidden,
            normed,
            mixed,
            inner,
            found,
            inputs,
            streams,
            ..
        } = buffers;
        let threads = &self.context.threads;
        let values = self.normed(layer.mixer_norms.before.as_ref(), hidden, normed);
        weights.left.forward(threads, values, inputs, inner);
        weights.right.forward(threads, inner, inputs, found);
        let path = self.normed(Some(&weights.norm), found, mixed);
        streams.laurel.clear();
        let sums = values.iter().zip(path).map(|(value, path)| value + path);
        streams.laurel.extend(sums);
    }

    /// Joins the low-rank path with attention.
    pub(super) fn join_laurel(buffers: &mut Buffers) {
        for (value, path) in buffers.hidden.iter_mut().zip(&buffers.streams.laurel) {
            *value = (*value + path) * FRAC_1_SQRT_2;
        }
    }

    /// Returns how the first stream routes each row: `[rows, streams]`.
    fn routes(&self, weights: &AltUpLayer<Slices>, buffers: &mut Buffers) -> Vec<f32> {
        let Buffers {
            hidden,
            normed,
            found,
            inputs,
            ..
        } = buffers;
        self.normed(Some(&weights.router_norm), hidden, normed);
        let scale = (self.blueprint.hidden_size as f32).recip();
        for value in normed.iter_mut() {
            *value *= scale;
        }
        let threads = &self.context.threads;
        weights.router.forward(threads, normed, inputs, found);
        found.iter().map(|value| value.tanh()).collect()
    }

    fn n_streams(&self) -> usize {
        let alt_up = self.weights.alt_up.as_ref();
        alt_up.map_or(1, |alt_up| alt_up.n_streams)
    }
}

/// Cuts off the gates of rows that follow one another with their ups, below so many standard
/// deviations above their mean.
pub(super) fn cut_off(rows: &mut [f32], n_inner: usize, cutoff: f32) {
    for row in rows.chunks_exact_mut(n_inner.max(1)) {
        let (gates, _) = row.split_at_mut(n_inner / 2);
        let n_gates = gates.len().max(1) as f32;
        let mean = super::rows::sum(gates, |gate| gate) / n_gates;
        let variance = super::rows::sum(gates, |gate| (gate - mean) * (gate - mean)) / n_gates;
        let least = mean + cutoff * variance.sqrt();
        for gate in gates {
            *gate = (*gate - least).max(0.0);
        }
    }
}

/// Multiplies a small matrix, row by row, with a vector.
fn products<'a>(matrix: &'a [f32], vector: &'a [f32]) -> impl Iterator<Item = f32> + 'a {
    let rows = matrix.chunks_exact(vector.len().max(1));
    rows.map(move |row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
}

fn mean_square(row: &[f32]) -> f32 {
    super::rows::sum(row, |value| value * value) / row.len().max(1) as f32
}

fn magnitude(row: &[f32]) -> f32 {
    mean_square(row).sqrt()
}

/// Returns one of several parts of the same width.
fn part(values: &[f32], index: usize, width: usize) -> &[f32] {
    let part = values.get(index * width..(index + 1) * width);
    part.unwrap_or_default()
}
