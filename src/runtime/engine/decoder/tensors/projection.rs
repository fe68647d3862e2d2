//! Weight matrices, kept in their file's format if that is fastest.

use candle_core::quantized::{GgmlDType, QMatMul};
use candle_core::{DType, Device, Module, Tensor};

use crate::engine::EngineError;
use crate::engine::weights::StoredTensor;

/// How many values of 16-bit weights are widened at a time for a product in 32 bits.
const N_SLAB_VALUES: usize = 1 << 22;

/// Decides in which format the weights of a model are kept.
#[derive(Debug, Clone)]
pub(super) struct Policy {
    device: Device,
    dtype: DType,
    n_slab_values: usize,
}

impl Policy {
    /// Creates the policy for products in `dtype`.
    pub(super) fn new(device: &Device, dtype: DType) -> Self {
        Self {
            device: device.clone(),
            dtype,
            n_slab_values: N_SLAB_VALUES,
        }
    }

    /// Returns the type of unquantized weights.
    pub(super) const fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns the device of the weights.
    pub(super) const fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the type in which weights of a stored type are kept as plain tensors, or `None` if
    /// they stay in the format of their file.
    fn plain(&self, stored: GgmlDType) -> Option<DType> {
        match (stored, self.dtype) {
            (GgmlDType::F16, DType::F32) => Some(DType::F16),
            (GgmlDType::BF16, DType::F32) => Some(DType::BF16),
            (GgmlDType::F32 | GgmlDType::F16 | GgmlDType::BF16, dtype) => Some(dtype),
            _ => None,
        }
    }
}

/// A linear map, or several maps of the same input side by side.
#[derive(Debug)]
pub(super) struct Projection {
    parts: Vec<Part>,
    /// Added to each row of outputs.
    bias: Option<Tensor>,
    /// Multiplies each row of outputs, after the bias was added.
    factors: Option<Tensor>,
}

#[derive(Debug)]
enum Part {
    /// Weights in the format of their file.
    Quantized(QMatMul),
    /// Weights in their own type: `[outputs, inputs]`. If the inputs are wider, only a few rows are
    /// widened at a time, so that a product never takes the memory of the weights twice.
    Plain { weights: Tensor, n_slab_rows: usize },
}

impl Projection {
    /// Combines matrices that share an input, with their outputs in the order given. Neighbors of
    /// the same type become one matrix, which saves matrix products. The bias is added to each row
    /// of outputs.
    pub(super) fn new(
        matrices: &[StoredTensor],
        bias: Option<Tensor>,
        policy: &Policy,
    ) -> Result<Self, EngineError> {
        let mut parts = Vec::new();
        for group in matrices.chunk_by(|a, b| a.dtype() == b.dtype()) {
            let plain = group.first().and_then(|first| policy.plain(first.dtype()));
            parts.push(match plain {
                Some(dtype) => Part::plain(group, dtype, policy)?,
                None => Part::quantized(group, policy.device())?,
            });
        }
        Ok(Self {
            parts,
            bias,
            factors: None,
        })
    }

    /// Multiplies each output by a factor of its own.
    pub(super) fn scaled(self, factors: Tensor) -> Self {
        Self {
            factors: Some(factors),
            ..self
        }
    }

    /// Maps rows of inputs to rows of outputs.
    pub(super) fn forward(&self, input: &Tensor) -> candle_core::Result<Tensor> {
        let output = match self.parts.as_slice() {
            [part] => part.forward(input)?,
            parts => {
                let outputs: candle_core::Result<Vec<_>> =
                    parts.iter().map(|part| part.forward(input)).collect();
                Tensor::cat(&outputs?, 1)?
            }
        };
        let output = match &self.bias {
            Some(bias) => output.broadcast_add(bias)?,
            None => output,
        };
        match &self.factors {
            Some(factors) => output.broadcast_mul(factors),
            None => Ok(output),
        }
    }

    /// Returns the given rows of the matrix in the type of the weights, as in an embedding lookup.
    pub(super) fn rows(&self, indices: &[u32], device: &Device) -> candle_core::Result<Tensor> {
        let parts: candle_core::Result<Vec<_>> = self
            .parts
            .iter()
            .map(|part| part.rows(indices, device))
            .collect();
        Tensor::cat(&parts?, 0)
    }
}

impl Part {
    fn quantized(matrices: &[StoredTensor], device: &Device) -> Result<Self, EngineError> {
        let matrix = StoredTensor::stack(matrices, device)?;
        let (n_rows, width) = matrix.shape().dims2()?;
        // On the CPU, candle accepts only an even number of blocks of these formats.
        let in_pairs = device.is_cpu()
            && matches!(
                matrix.dtype(),
                GgmlDType::Q4_1 | GgmlDType::Q5_0 | GgmlDType::Q5_1
            );
        if in_pairs && !(width / matrix.dtype().block_size()).is_multiple_of(2) {
            return Ok(Self::Plain {
                weights: matrix.dequantize(device)?,
                n_slab_rows: n_rows.max(1),
            });
        }
        Ok(Self::Quantized(QMatMul::from_qtensor(matrix)?))
    }

    fn plain(
        matrices: &[StoredTensor],
        dtype: DType,
        policy: &Policy,
    ) -> Result<Self, EngineError> {
        let weights = StoredTensor::plain(matrices, policy.device())?.to_dtype(dtype)?;
        let width = weights.dim(1)?;
        Ok(Self::Plain {
            weights,
            n_slab_rows: (policy.n_slab_values / width.max(1)).max(1),
        })
    }

    fn forward(&self, input: &Tensor) -> candle_core::Result<Tensor> {
        match self {
            // Products with quantized weights have 32-bit inputs and outputs.
            Self::Quantized(matrix) => {
                let output = matrix.forward(&input.to_dtype(DType::F32)?)?;
                output.to_dtype(input.dtype())
            }
            Self::Plain { weights, .. } if weights.dtype() == input.dtype() => {
                input.matmul(&weights.t()?)
            }
            Self::Plain {
                weights,
                n_slab_rows,
            } => {
                let n_rows = weights.dim(0)?;
                let outputs = (0..n_rows).step_by(*n_slab_rows).map(|start| {
                    let slab = weights.narrow(0, start, (*n_slab_rows).min(n_rows - start))?;
                    input.matmul(&slab.to_dtype(input.dtype())?.t()?)
                });
                Tensor::cat(&outputs.collect::<candle_core::Result<Vec<_>>>()?, 1)
            }
        }
    }

    fn rows(&self, indices: &[u32], device: &Device) -> candle_core::Result<Tensor> {
        let indices = Tensor::new(indices, device)?;
        match self {
            Self::Quantized(matrix) => matrix.embedding(&indices),
            Self::Plain { weights, .. } => weights.index_select(&indices, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Policy, Projection};
    use crate::engine::weights::{Catalog, Source};
    use candle_core::{DType, Device, Tensor};
    use half::f16;

    fn values(n_values: usize) -> Vec<f32> {
        (0..n_values).map(|i| (i as f32 * 0.37).sin()).collect()
    }

    /// One matrix, 10 rows of 6.
    fn catalog() -> Catalog {
        let header = br#"{"w":{"dtype":"F16","shape":[10,6],"data_offsets":[0,120]}}"#;
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header);
        bytes.extend(
            values(60)
                .into_iter()
                .flat_map(|value| f16::from_f32(value).to_le_bytes()),
        );
        Catalog::from_safetensors(Source::memory(bytes, "")).unwrap()
    }

    #[test]
    fn slabs_return_the_same_as_a_single_matrix() {
        let device = Device::Cpu;
        let weights = Tensor::from_vec(values(60), (10, 6), &device).unwrap();
        let weights = weights
            .to_dtype(DType::F16)
            .unwrap()
            .to_dtype(DType::F32)
            .unwrap();
        let input = Tensor::from_vec(values(18), (3, 6), &device).unwrap();
        let product = input.matmul(&weights.t().unwrap()).unwrap();
        let rows = weights.index_select(&Tensor::new(&[9_u32, 0, 4], &device).unwrap(), 0);
        for n_slab_values in [24, 1, 1000] {
            let catalog = catalog();
            let policy = Policy {
                n_slab_values,
                ..Policy::new(&device, DType::F32)
            };
            let mut ignored = |_| std::ops::ControlFlow::Continue(());
            let mut checkpoint = catalog.open(&mut ignored);
            let matrix = checkpoint.take("w", &[10, 6]).unwrap();
            let projection = Projection::new(&[matrix], None, &policy).unwrap();
            let found = projection.rows(&[9, 0, 4], &device).unwrap();
            let found = found.to_dtype(DType::F32).unwrap();
            let difference = (&found - rows.as_ref().unwrap()).unwrap().abs().unwrap();
            assert!(difference.max_all().unwrap().to_scalar::<f32>().unwrap() < 1e-7);
            let difference = (projection.forward(&input).unwrap() - &product).unwrap();
            let difference = difference.abs().unwrap().max_all().unwrap();
            assert!(difference.to_scalar::<f32>().unwrap() < 1e-5);
        }
    }
}
