//! The activation between the halves of the feed-forward network.

use candle_core::{CpuStorage, CustomOp1, D, Layout, Shape, Tensor};

use pulp::{Simd, WithSimd};

use super::exp::exp;

/// silu(gate) × up, where a row of `gate_up` is the gate's values and then those that it gates.
///
/// Shazeer 2020, "GLU Variants Improve Transformer".
pub fn swiglu(gate_up: &Tensor) -> candle_core::Result<Tensor> {
    if gate_up.device().is_cpu() {
        gate_up.apply_op1_no_bwd(&SwiGlu)
    } else {
        swiglu_of_tensors(gate_up)
    }
}

fn swiglu_of_tensors(gate_up: &Tensor) -> candle_core::Result<Tensor> {
    let width = gate_up.dim(D::Minus1)? / 2;
    let gate = gate_up.narrow(D::Minus1, 0, width)?;
    let up = gate_up.narrow(D::Minus1, width, width)?;
    gate.silu()? * up
}

struct SwiGlu;

impl CustomOp1 for SwiGlu {
    fn name(&self) -> &'static str {
        "swiglu"
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
            candle_core::bail!("swiglu needs contiguous rows");
        };
        let half = width / 2;
        let mut gated = vec![0.0; n_rows * half];
        pulp::Arch::new().dispatch(Rows {
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
            for ((gated, gate), up) in gated.iter_mut().zip(gate).zip(up) {
                *gated = gate / (1.0 + exp(-gate)) * up;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{swiglu, swiglu_of_tensors};
    use candle_core::{Device, Tensor};

    #[test]
    fn the_slices_agree_with_the_tensors() {
        let values: Vec<f32> = (0..3 * 74).map(|i| (i as f32 - 100.0) / 7.0).collect();
        let gate_up = Tensor::from_vec(values, (3, 74), &Device::Cpu).unwrap();
        let fast = swiglu(&gate_up).unwrap().to_vec2::<f32>().unwrap();
        let plain = swiglu_of_tensors(&gate_up)
            .unwrap()
            .to_vec2::<f32>()
            .unwrap();
        for (fast, plain) in fast.iter().flatten().zip(plain.iter().flatten()) {
            assert!(
                (fast - plain).abs() <= 1e-6 * plain.abs().max(1.0),
                "{fast} {plain}"
            );
        }
    }
}
