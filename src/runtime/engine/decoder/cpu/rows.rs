//! Operations on each row between two matrix products: norms, activations, sums.

use pulp::{Simd, WithSimd};

use crate::engine::blueprint::{Activation, ClampedGate, FeedForward, Xielu};
use crate::engine::decoder::norm::NormWeights;
use crate::kernels::ThreadPool;
use crate::kernels::exp;

/// The number of partial sums that are computed in parallel.
const N_LANES: usize = 16;

/// The fewest rows for which several threads are faster than one.
const N_MIN_PARALLEL: usize = 8;

/// Processes each row, on several threads if there are enough rows.
pub(super) fn each_row<T: Send>(
    threads: &ThreadPool,
    rows: impl Iterator<Item = T>,
    work: impl Fn(T) + Send + Sync,
) {
    let rows: Vec<T> = rows.collect();
    if rows.len() < N_MIN_PARALLEL {
        rows.into_iter().for_each(work);
    } else {
        threads.run(rows, work);
    }
}

/// Adds a vector to each row.
pub(super) fn add_to_rows(vector: &[f32], rows: &mut [f32]) {
    for row in rows.chunks_exact_mut(vector.len().max(1)) {
        for (value, added) in row.iter_mut().zip(vector) {
            *value += added;
        }
    }
}

/// Multiplies each row by a vector, element by element.
pub(super) fn multiply_rows(vector: &[f32], rows: &mut [f32]) {
    for row in rows.chunks_exact_mut(vector.len().max(1)) {
        for (value, factor) in row.iter_mut().zip(vector) {
            *value *= factor;
        }
    }
}

/// Applies a norm to one row.
pub(super) struct NormRow<'a> {
    pub norm: &'a NormWeights<Vec<f32>>,
    pub input: &'a [f32],
    pub output: &'a mut [f32],
}

impl WithSimd for NormRow<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let n_values = self.input.len() as f32;
        match self.norm {
            NormWeights::Rms { weights, eps } => {
                let scale = 1.0 / (sum(self.input, |x| x * x) / n_values + eps).sqrt();
                let values = self.output.iter_mut().zip(self.input);
                for ((output, value), weight) in values.zip(weights) {
                    *output = value * scale * weight;
                }
            }
            NormWeights::Layer { weights, bias, eps } => {
                let mean = sum(self.input, |x| x) / n_values;
                let variance = sum(self.input, |x| (x - mean) * (x - mean)) / n_values;
                let scale = 1.0 / (variance + eps).sqrt();
                let values = self.output.iter_mut().zip(self.input);
                for (((output, value), weight), bias) in values.zip(weights).zip(bias) {
                    *output = (value - mean) * scale * weight + bias;
                }
            }
        }
    }
}

/// Sums `term` over all values, in an order that vectorizes.
#[inline(always)]
pub(super) fn sum(values: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let mut sums = [0.0_f32; N_LANES];
    let (chunks, rest) = values.as_chunks::<N_LANES>();
    for chunk in chunks {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += term(*value);
        }
    }
    let rest: f32 = rest.iter().map(|value| term(*value)).sum();
    sums.iter().sum::<f32>() + rest
}

/// Adds a sublayer's output to one row of the residual stream.
pub(super) struct AddResidual<'a> {
    /// A row of the residual stream.
    pub hidden: &'a mut [f32],
    /// The sublayer's output.
    pub found: &'a [f32],
    /// Factor of the sublayer's output.
    pub scale: f32,
}

impl WithSimd for AddResidual<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for (hidden, found) in self.hidden.iter_mut().zip(self.found) {
            *hidden += self.scale * found;
        }
    }
}

/// Applies the activation of the feed-forward network to one row.
pub(super) struct ActivateRow<'a> {
    pub feed_forward: FeedForward,
    /// The row. If the network is gated, its first half is the gate and its second half the up
    /// projection.
    pub input: &'a [f32],
    pub output: &'a mut [f32],
}

impl WithSimd for ActivateRow<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let Self {
            feed_forward,
            input,
            output,
        } = self;
        match feed_forward {
            FeedForward::Plain(activation) => {
                with_activation(activation, input, output, |value, _| value, input);
            }
            FeedForward::Gated(activation) => {
                let (gate, up) = input.split_at(input.len() / 2);
                with_activation(activation, gate, output, |value, up| value * up, up);
            }
            FeedForward::Clamped(clamped) if clamped.alternates => {
                let (pairs, _) = input.as_chunks();
                for (output, [gate, up]) in output.iter_mut().zip(pairs) {
                    *output = clamped_gate(clamped.limit, *gate, *up);
                }
            }
            FeedForward::Clamped(clamped) => {
                let (gates, ups) = input.split_at(input.len() / 2);
                for ((output, gate), up) in output.iter_mut().zip(gates).zip(ups) {
                    *output = clamped_gate(clamped.limit, *gate, *up);
                }
            }
        }
    }
}

/// Computes the clamped `SwiGLU` of one value.
#[inline(always)]
fn clamped_gate(limit: f32, gate: f32, up: f32) -> f32 {
    let (gate, up) = (gate.min(limit), up.clamp(-limit, limit));
    gate / (1.0 + exp(-ClampedGate::SLOPE * gate)) * (up + 1.0)
}

/// Activates each input, and combines it with its partner by `finish`.
///
/// `SiLU` and the approximate GELU have the form x × sigmoid(y), because (1 + tanh(z)) / 2 equals
/// sigmoid(2 z).
#[inline(always)]
fn with_activation(
    activation: Activation,
    inputs: &[f32],
    outputs: &mut [f32],
    finish: impl Fn(f32, f32) -> f32,
    partners: &[f32],
) {
    let values = outputs.iter_mut().zip(inputs).zip(partners);
    match activation {
        Activation::Silu => {
            for ((output, x), partner) in values {
                *output = finish(x / (1.0 + exp(-x)), *partner);
            }
        }
        Activation::Gelu => {
            for ((output, x), partner) in values {
                *output = finish(x * normal(*x), *partner);
            }
        }
        Activation::GeluTanh => {
            for ((output, x), partner) in values {
                // 2 √(2/π) (x + 0.044715 x³)
                let y = x * (1.595_769 + 0.071_354_8 * x * x);
                *output = finish(x / (1.0 + exp(-y)), *partner);
            }
        }
        Activation::Relu2 => {
            for ((output, x), partner) in values {
                let positive = x.max(0.0);
                *output = finish(positive * positive, *partner);
            }
        }
        Activation::Xielu(Xielu {
            positive,
            negative,
            beta,
        }) => {
            for ((output, x), partner) in values {
                // One of the two is 0, and so is its term.
                let (above, below) = (x.max(0.0), x.min(0.0));
                let curved = positive * above * above + negative * (exp(below) - 1.0 - below);
                *output = finish(curved + beta * x, *partner);
            }
        }
    }
}

/// The standard normal distribution function.
fn normal(x: f32) -> f32 {
    let erf = candle_core::cpu::erf::erf_f32(x * std::f32::consts::FRAC_1_SQRT_2);
    0.5 * (1.0 + erf)
}
