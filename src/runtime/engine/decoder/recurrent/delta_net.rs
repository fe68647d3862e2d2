//! Gated `DeltaNet`.

use pulp::{Simd, WithSimd};

use super::gates::{part, sigmoid, silu, softplus};
use super::window::Taps;
use super::{Stream, StreamRow, Workers};
use crate::engine::blueprint::DeltaNet;
use crate::kernels::exp;

/// Added to the squared length of queries and keys before they are normalized.
const LENGTH_EPS: f32 = 1e-6;

/// The weights of a Gated `DeltaNet` besides its projections.
#[derive(Debug)]
pub(crate) struct DeltaNetWeights {
    pub net: DeltaNet,
    pub taps: Taps,
    /// −exp(A) for each value head.
    pub rates: Vec<f32>,
    /// Added to the decay, one for each value head.
    pub decay_bias: Vec<f32>,
    /// The norm of each head's output.
    pub norm: Vec<f32>,
    /// Added to the mean square of the norm.
    pub eps: f32,
}

/// Convolves the queries, keys and values of one sequence.
struct Convolve<'a, 'b> {
    weights: &'a DeltaNetWeights,
    stream: &'a mut Stream<'b>,
}

/// Reads the rows of one sequence in one value head.
struct ReadHead<'a> {
    weights: &'a DeltaNetWeights,
    value_head: usize,
    /// `[key_dim, value_dim]`.
    state: &'a mut [f32],
    rows: Vec<HeadRow<'a>>,
}

/// One token in one value head.
struct HeadRow<'a> {
    /// All queries, keys and values after the convolution.
    convolved: &'a [f32],
    /// All gates, and the strengths and decays of all heads.
    rest: &'a [f32],
    output: &'a mut [f32],
}

impl DeltaNetWeights {
    /// Reads the rows of all streams, and removes them.
    pub(super) fn read(&self, streams: &mut [Stream<'_>], workers: Workers<'_>) {
        let mut convolved: Vec<Vec<f32>> = streams.iter().map(|_| Vec::new()).collect();
        let items: Vec<_> = streams.iter_mut().zip(&mut convolved).collect();
        workers.each(items, |(stream, convolved)| {
            *convolved = workers.arch.dispatch(Convolve {
                weights: self,
                stream,
            });
        });
        let streams = streams.iter_mut().zip(&convolved);
        let heads = streams.flat_map(|(stream, convolved)| self.heads(stream, convolved));
        let heads: Vec<ReadHead<'_>> = heads.collect();
        workers.each(heads, |head| workers.arch.dispatch(head));
    }

    /// Divides the rows of a stream by value head.
    fn heads<'a>(&'a self, stream: &'a mut Stream<'_>, convolved: &'a [f32]) -> Vec<ReadHead<'a>> {
        let net = self.net;
        let (_, states) = stream.state.split_at_mut(net.n_window_values());
        let states = states.chunks_exact_mut(net.n_head_values().max(1));
        let mut heads: Vec<ReadHead<'_>> = (0..)
            .zip(states)
            .map(|(value_head, state)| ReadHead {
                weights: self,
                value_head,
                state,
                rows: Vec::new(),
            })
            .collect();
        let rows = convolved.chunks_exact(net.conv_width().max(1));
        for (row, convolved) in stream.rows.drain(..).zip(rows) {
            let StreamRow { input, output } = row;
            let (_, rest) = input.split_at(net.conv_width());
            let outputs = output.chunks_exact_mut(net.value_dim.max(1));
            for (head, output) in heads.iter_mut().zip(outputs) {
                head.rows.push(HeadRow {
                    convolved,
                    rest,
                    output,
                });
            }
        }
        heads
    }
}

impl WithSimd for Convolve<'_, '_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Vec<f32> {
        let net = self.weights.net;
        let width = net.conv_width();
        let mut convolved = vec![0.0; self.stream.rows.len() * width];
        let (window, _) = self.stream.state.split_at_mut(net.n_window_values());
        let rows = self.stream.rows.iter();
        for (row, output) in rows.zip(convolved.chunks_exact_mut(width.max(1))) {
            let (current, _) = row.input.split_at(width);
            self.weights.taps.convolve(window, current, output);
            for value in output {
                *value = silu(*value);
            }
        }
        convolved
    }
}

impl WithSimd for ReadHead<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _simd: S) {
        let mut query = vec![0.0; self.weights.net.key_dim];
        let mut key = query.clone();
        let mut correction = vec![0.0; self.weights.net.value_dim];
        for row in std::mem::take(&mut self.rows) {
            let HeadRow {
                convolved,
                rest,
                output,
            } = row;
            let value = self.split(convolved, &mut query, &mut key);
            let (gate, strength, decay) = self.gates(rest);
            // S ← S × decay, then the error of what S recalls for the key.
            correction.fill(0.0);
            let states = self.state.chunks_exact_mut(output.len().max(1));
            for (state, key) in states.zip(&key) {
                for (state, recalled) in state.iter_mut().zip(&mut correction) {
                    *state *= decay;
                    *recalled += key * *state;
                }
            }
            for (correction, value) in correction.iter_mut().zip(value) {
                *correction = strength * (value - *correction);
            }
            // S ← S + key ⊗ correction, then what S recalls for the query.
            output.fill(0.0);
            let states = self.state.chunks_exact_mut(output.len().max(1));
            for ((state, key), query) in states.zip(&key).zip(&query) {
                let sums = state.iter_mut().zip(&correction).zip(output.iter_mut());
                for ((state, correction), sum) in sums {
                    *state += key * correction;
                    *sum += query * *state;
                }
            }
            self.norm(gate, output);
        }
    }
}

impl ReadHead<'_> {
    /// Normalizes the head's query and key, and returns its value.
    #[inline(always)]
    fn split<'a>(&self, convolved: &'a [f32], query: &mut [f32], key: &mut [f32]) -> &'a [f32] {
        let net = self.weights.net;
        let (queries, rest) = convolved.split_at(net.key_width());
        let (keys, values) = rest.split_at(net.key_width());
        let key_head = net.key_head_of(self.value_head);
        let scale = 1.0 / (net.key_dim as f32).sqrt();
        unit(part(queries, key_head, net.key_dim), scale, query);
        unit(part(keys, key_head, net.key_dim), 1.0, key);
        part(values, self.value_head, net.value_dim)
    }

    /// Returns the gate of the output, how strongly the token corrects the state, and by how much
    /// it scales the state.
    #[inline(always)]
    fn gates<'a>(&self, rest: &'a [f32]) -> (&'a [f32], f32, f32) {
        let net = self.weights.net;
        let (gates, rest) = rest.split_at(net.value_width());
        let (strengths, decays) = rest.split_at(net.n_value_heads);
        let of_head = |values: &[f32]| values.get(self.value_head).copied().unwrap_or_default();
        let decay = of_head(decays) + of_head(&self.weights.decay_bias);
        let rate = of_head(&self.weights.rates);
        let gate = part(gates, self.value_head, net.value_dim);
        (
            gate,
            sigmoid(of_head(strengths)),
            exp(rate * softplus(decay)),
        )
    }

    /// Normalizes the output, then gates it.
    #[inline(always)]
    fn norm(&self, gate: &[f32], output: &mut [f32]) {
        let mean = squared_length(output) / output.len().max(1) as f32;
        let scale = 1.0 / (mean + self.weights.eps).sqrt();
        let weights = self.weights.norm.iter().zip(gate);
        for (value, (weight, gate)) in output.iter_mut().zip(weights) {
            *value *= scale * weight * silu(*gate);
        }
    }
}

/// Scales a vector to this length.
#[inline(always)]
fn unit(vector: &[f32], length: f32, output: &mut [f32]) {
    let scale = length / (squared_length(vector) + LENGTH_EPS).sqrt();
    for (output, value) in output.iter_mut().zip(vector) {
        *output = scale * value;
    }
}

/// Sums the squares, in order.
#[inline(always)]
fn squared_length(vector: &[f32]) -> f32 {
    vector.iter().map(|value| value * value).sum()
}
