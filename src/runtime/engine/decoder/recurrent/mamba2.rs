//! Mamba 2.

use pulp::{Simd, WithSimd};

use super::gates::{part, silu, softplus};
use super::window::Taps;
use super::{Stream, StreamRow, Workers};
use crate::engine::blueprint::{GatedNorm, Mamba2, StepLimits};
use crate::kernels::exp;

/// The weights of a Mamba 2 besides its projections.
#[derive(Debug)]
pub(crate) struct Mamba2Weights {
    pub mamba: Mamba2,
    pub taps: Taps,
    /// Added to the output of the convolution.
    pub conv_bias: Vec<f32>,
    /// −exp(A) for each head.
    pub rates: Vec<f32>,
    /// Added to the time step, one for each head.
    pub step_bias: Vec<f32>,
    /// By how much a head's input is added to its output.
    pub skip: Vec<f32>,
    /// The norm of the output, over each group of heads. Empty if it has none.
    pub norm: Vec<f32>,
    /// Added to the mean square of the norm.
    pub eps: f32,
}

/// Convolves the inputs, and the directions in which states are written and read, of one sequence.
struct Convolve<'a, 'b> {
    weights: &'a Mamba2Weights,
    stream: &'a mut Stream<'b>,
}

/// Reads the rows of one sequence in one head.
struct ReadHead<'a> {
    weights: &'a Mamba2Weights,
    head: usize,
    /// `[state_dim, head_dim]`.
    state: &'a mut [f32],
    rows: Vec<HeadRow<'a>>,
}

/// One token in one head.
struct HeadRow<'a> {
    /// All inputs, and all directions, after the convolution.
    convolved: &'a [f32],
    /// The time steps of all heads.
    steps: &'a [f32],
    output: &'a mut [f32],
}

/// Gates and normalizes the output of one token.
struct GateRow<'a> {
    weights: &'a Mamba2Weights,
    row: StreamRow<'a>,
}

impl Mamba2Weights {
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
        let pairs = streams.iter_mut().zip(&convolved);
        let heads = pairs.flat_map(|(stream, convolved)| self.heads(stream, convolved));
        let heads: Vec<ReadHead<'_>> = heads.collect();
        workers.each(heads, |head| workers.arch.dispatch(head));
        let rows = streams
            .iter_mut()
            .flat_map(|stream| stream.rows.drain(..))
            .map(|row| GateRow { weights: self, row });
        let rows: Vec<GateRow<'_>> = rows.collect();
        workers.each(rows, |row| workers.arch.dispatch(row));
    }

    /// Divides the rows of a stream by head.
    fn heads<'a>(&'a self, stream: &'a mut Stream<'_>, convolved: &'a [f32]) -> Vec<ReadHead<'a>> {
        let mamba = self.mamba;
        let (_, states) = stream.state.split_at_mut(mamba.n_window_values());
        let states = states.chunks_exact_mut(mamba.n_head_values().max(1));
        let mut heads: Vec<ReadHead<'_>> = (0..)
            .zip(states)
            .map(|(head, state)| ReadHead {
                weights: self,
                head,
                state,
                rows: Vec::new(),
            })
            .collect();
        let rows = convolved.chunks_exact(mamba.conv_width().max(1));
        for (row, convolved) in stream.rows.iter_mut().zip(rows) {
            let (_, steps) = row.input.split_at(mamba.inner_width() + mamba.conv_width());
            let outputs = row.output.chunks_exact_mut(mamba.head_dim.max(1));
            for (head, output) in heads.iter_mut().zip(outputs) {
                head.rows.push(HeadRow {
                    convolved,
                    steps,
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
        let mamba = self.weights.mamba;
        let (inner, width) = (mamba.inner_width(), mamba.conv_width());
        let mut convolved = vec![0.0; self.stream.rows.len() * width];
        let (window, _) = self.stream.state.split_at_mut(mamba.n_window_values());
        let rows = self.stream.rows.iter();
        for (row, output) in rows.zip(convolved.chunks_exact_mut(width.max(1))) {
            let current = row.input.get(inner..inner + width).unwrap_or_default();
            self.weights.taps.convolve(window, current, output);
            for (value, bias) in output.iter_mut().zip(&self.weights.conv_bias) {
                *value = silu(*value + bias);
            }
        }
        convolved
    }
}

impl WithSimd for ReadHead<'_> {
    type Output = ();

    /// h ← h × exp(dt × A) + B ⊗ (dt × x); y = C × h + D × x.
    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _simd: S) {
        let mamba = self.weights.mamba;
        let of_head = |values: &[f32]| values.get(self.head).copied().unwrap_or_default();
        let (rate, skip) = (of_head(&self.weights.rates), of_head(&self.weights.skip));
        let group = self.head * mamba.n_groups / mamba.n_heads.max(1);
        let StepLimits { shortest, longest } = mamba.step_limits;
        let mut scaled = vec![0.0; mamba.head_dim];
        for row in std::mem::take(&mut self.rows) {
            let step = softplus(of_head(row.steps) + of_head(&self.weights.step_bias));
            let step = step.clamp(shortest, longest);
            let decay = exp(step * rate);
            let (inputs, directions) = row.convolved.split_at(mamba.inner_width());
            let (writes, reads) = directions.split_at(directions.len() / 2);
            let input = part(inputs, self.head, mamba.head_dim);
            for (scaled, input) in scaled.iter_mut().zip(input) {
                *scaled = step * input;
            }
            for (output, input) in row.output.iter_mut().zip(input) {
                *output = skip * input;
            }
            let writes = part(writes, group, mamba.state_dim);
            let reads = part(reads, group, mamba.state_dim);
            let states = self.state.chunks_exact_mut(mamba.head_dim.max(1));
            for ((state, write), read) in states.zip(writes).zip(reads) {
                let sums = state.iter_mut().zip(&scaled).zip(row.output.iter_mut());
                for ((state, scaled), sum) in sums {
                    *state = *state * decay + write * scaled;
                    *sum += read * *state;
                }
            }
        }
    }
}

impl WithSimd for GateRow<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let Self { weights, row } = self;
        let StreamRow { input, output } = row;
        match weights.mamba.gated_norm {
            GatedNorm::AfterGate => {
                gate(input, output);
                weights.normalize(output);
            }
            GatedNorm::BeforeGate => {
                weights.normalize(output);
                gate(input, output);
            }
            GatedNorm::None => gate(input, output),
        }
    }
}

impl Mamba2Weights {
    #[inline(always)]
    fn normalize(&self, output: &mut [f32]) {
        let width = (self.mamba.inner_width() / self.mamba.n_groups.max(1)).max(1);
        let weights = self.norm.chunks_exact(width);
        for (group, weights) in output.chunks_exact_mut(width).zip(weights) {
            let sum: f32 = group.iter().map(|value| value * value).sum();
            let scale = 1.0 / (sum / width as f32 + self.eps).sqrt();
            for (value, weight) in group.iter_mut().zip(weights) {
                *value *= scale * weight;
            }
        }
    }
}

#[inline(always)]
fn gate(gates: &[f32], output: &mut [f32]) {
    for (value, gate) in output.iter_mut().zip(gates) {
        *value *= silu(*gate);
    }
}
