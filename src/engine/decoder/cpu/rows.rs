//! What is done to each row between two products: norms, activations, sums.

use pulp::{Simd, WithSimd};

use crate::engine::blueprint::{Activation, FeedForward};
use crate::engine::decoder::norm::NormWeights;
use crate::kernels::ThreadPool;
use crate::kernels::exp;

/// How many sums run side by side.
const N_LANES: usize = 16;

/// Rows below which other threads cost more than they give.
const N_MIN_PARALLEL: usize = 8;

/// Does something to each row, over the cores where there are many.
pub fn each_row<T: Send>(
    team: &ThreadPool,
    rows: impl Iterator<Item = T>,
    work: impl Fn(T) + Send + Sync,
) {
    let rows: Vec<T> = rows.collect();
    if rows.len() < N_MIN_PARALLEL {
        rows.into_iter().for_each(work);
    } else {
        team.run(rows, work);
    }
}

/// Adds a vector to each row.
pub fn add_to_rows(vector: &[f32], rows: &mut [f32]) {
    for row in rows.chunks_exact_mut(vector.len().max(1)) {
        for (value, added) in row.iter_mut().zip(vector) {
            *value += added;
        }
    }
}

/// Brings one row to one length.
pub struct Normed<'a> {
    /// By which norm.
    pub norm: &'a NormWeights<Vec<f32>>,
    /// The row.
    pub input: &'a [f32],
    /// What becomes of it.
    pub output: &'a mut [f32],
}

impl WithSimd for Normed<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let n_values = self.input.len() as f32;
        match self.norm {
            NormWeights::Rms { weights, eps } => {
                let scale = 1.0 / (sum(self.input, |x| x * x) / n_values + eps).sqrt();
                let places = self.output.iter_mut().zip(self.input);
                for ((place, value), weight) in places.zip(weights) {
                    *place = value * scale * weight;
                }
            }
            NormWeights::Layer { weights, bias, eps } => {
                let mean = sum(self.input, |x| x) / n_values;
                let variance = sum(self.input, |x| (x - mean) * (x - mean)) / n_values;
                let scale = 1.0 / (variance + eps).sqrt();
                let places = self.output.iter_mut().zip(self.input);
                for (((place, value), weight), bias) in places.zip(weights).zip(bias) {
                    *place = (value - mean) * scale * weight + bias;
                }
            }
        }
    }
}

/// The sum over all values, in an order that registers can keep.
#[inline(always)]
pub fn sum(values: &[f32], term: impl Fn(f32) -> f32) -> f32 {
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

/// Adds to the residual stream what a part of a layer found.
pub struct Joined<'a> {
    /// The residual stream's row.
    pub hidden: &'a mut [f32],
    /// What was found.
    pub found: &'a [f32],
    /// What that is multiplied with.
    pub scale: f32,
}

impl WithSimd for Joined<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for (hidden, found) in self.hidden.iter_mut().zip(self.found) {
            *hidden += self.scale * found;
        }
    }
}

/// What happens between the two products of the feed-forward network.
pub struct Activated<'a> {
    /// Which network.
    pub feed_forward: FeedForward,
    /// A row; where the network has a gate, the gate's values and then those that it gates.
    pub input: &'a [f32],
    /// What becomes of it.
    pub output: &'a mut [f32],
}

impl WithSimd for Activated<'_> {
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
        }
    }
}

/// Activates each input and finishes it with its partner. All but one activation are x × sigmoid(y) with a
/// simple y, because (1 + tanh(z)) / 2 is sigmoid(2 z).
#[inline(always)]
fn with_activation(
    activation: Activation,
    inputs: &[f32],
    outputs: &mut [f32],
    finish: impl Fn(f32, f32) -> f32,
    partners: &[f32],
) {
    let places = outputs.iter_mut().zip(inputs).zip(partners);
    match activation {
        Activation::Silu => {
            for ((place, x), partner) in places {
                *place = finish(x / (1.0 + exp(-x)), *partner);
            }
        }
        Activation::Gelu => {
            for ((place, x), partner) in places {
                *place = finish(x * normal(*x), *partner);
            }
        }
        Activation::GeluTanh => {
            for ((place, x), partner) in places {
                // 2 √(2/π) (x + 0.044715 x³)
                let y = x * (1.595_769 + 0.071_354_8 * x * x);
                *place = finish(x / (1.0 + exp(-y)), *partner);
            }
        }
    }
}

/// The normal distribution up to x.
fn normal(x: f32) -> f32 {
    let erf = candle_core::cpu::erf::erf_f32(x * std::f32::consts::FRAC_1_SQRT_2);
    0.5 * (1.0 + erf)
}
