//! What happens between the two products of the feed-forward network.

use candle_core::{CpuStorage, CustomOp1, D, Layout, Shape, Tensor};
use pulp::{Simd, WithSimd};

use super::exp::exp;
use crate::engine::blueprint::{Activation, FeedForward};

/// Where the network has a gate, a row of `input` is the gate's values and then those that it gates.
pub fn activated(feed_forward: FeedForward, input: &Tensor) -> candle_core::Result<Tensor> {
    match feed_forward {
        FeedForward::Plain(activation) => activation_of_tensor(activation, input),
        // An exact normal distribution is no matter of one exponential.
        FeedForward::Gated(Activation::Gelu) => gated_tensors(Activation::Gelu, input),
        FeedForward::Gated(activation) if input.device().is_cpu() => {
            input.apply_op1_no_bwd(&Gated(activation))
        }
        FeedForward::Gated(activation) => gated_tensors(activation, input),
    }
}

fn gated_tensors(activation: Activation, gate_up: &Tensor) -> candle_core::Result<Tensor> {
    let width = gate_up.dim(D::Minus1)? / 2;
    let gate = gate_up.narrow(D::Minus1, 0, width)?;
    let up = gate_up.narrow(D::Minus1, width, width)?;
    activation_of_tensor(activation, &gate)? * up
}

fn activation_of_tensor(activation: Activation, input: &Tensor) -> candle_core::Result<Tensor> {
    match activation {
        Activation::Silu => input.silu(),
        Activation::Gelu => input.gelu_erf(),
        Activation::GeluTanh => input.gelu(),
    }
}

/// Both activations that it is used with are x × sigmoid(y) with a simple y, because
/// (1 + tanh(z)) / 2 is sigmoid(2 z).
struct Gated(Activation);

impl CustomOp1 for Gated {
    fn name(&self) -> &'static str {
        "gated activation"
    }

    fn cpu_fwd(
        &self,
        storage: &CpuStorage,
        layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let (n_rows, width) = layout.shape().dims2()?;
        let values = storage.as_slice::<f32>()?;
        let range = layout.contiguous_offsets().map(|(start, end)| start..end);
        let Some(values) = range.and_then(|range| values.get(range)) else {
            candle_core::bail!("a gated activation needs contiguous rows");
        };
        let half = width / 2;
        let mut gated = vec![0.0; n_rows * half];
        let Self(activation) = *self;
        pulp::Arch::new().dispatch(Rows {
            activation,
            gate_up: values,
            gated: &mut gated,
            half,
        });
        Ok((CpuStorage::F32(gated), (n_rows, half).into()))
    }
}

/// All rows. A type and not a closure, because only what is inlined here is compiled for the
/// processor that is there.
struct Rows<'a> {
    activation: Activation,
    gate_up: &'a [f32],
    gated: &'a mut [f32],
    half: usize,
}

impl WithSimd for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let rows = self.gate_up.chunks_exact(2 * self.half);
        for (row, gated) in rows.zip(self.gated.chunks_exact_mut(self.half)) {
            let (gate, up) = row.split_at(self.half);
            match self.activation {
                Activation::Silu => apply(gate, up, gated, |x| x),
                Activation::Gelu | Activation::GeluTanh => {
                    // 2 √(2/π) (x + 0.044715 x³)
                    apply(gate, up, gated, |x| x * (1.595_769 + 0.071_354_8 * x * x));
                }
            }
        }
    }
}

#[inline(always)]
fn apply(gate: &[f32], up: &[f32], gated: &mut [f32], inner: impl Fn(f32) -> f32) {
    for ((gated, gate), up) in gated.iter_mut().zip(gate).zip(up) {
        *gated = gate / (1.0 + exp(-inner(*gate))) * up;
    }
}

#[cfg(test)]
mod tests {
    use super::{activated, gated_tensors};
    use crate::engine::blueprint::{Activation, FeedForward};
    use candle_core::{Device, Tensor};

    #[test]
    fn the_slices_agree_with_the_tensors() {
        let values: Vec<f32> = (0..3 * 74).map(|i| (i as f32 - 100.0) / 7.0).collect();
        let gate_up = Tensor::from_vec(values, (3, 74), &Device::Cpu).unwrap();
        for activation in [Activation::Silu, Activation::Gelu, Activation::GeluTanh] {
            let fast = activated(FeedForward::Gated(activation), &gate_up).unwrap();
            let plain = gated_tensors(activation, &gate_up).unwrap();
            let (fast, plain) = (fast.to_vec2::<f32>(), plain.to_vec2::<f32>());
            let (fast, plain) = (fast.unwrap(), plain.unwrap());
            for (fast, plain) in fast.iter().flatten().zip(plain.iter().flatten()) {
                assert!(
                    (fast - plain).abs() <= 2e-6 * plain.abs().max(1.0),
                    "{activation:?}: {fast} {plain}"
                );
            }
        }
    }
}
