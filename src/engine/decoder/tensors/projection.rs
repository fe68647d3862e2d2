//! Weight matrices, kept in their file's format if that is fastest.

use candle_core::quantized::{GgmlDType, QMatMul, QTensor};
use candle_core::{DType, Device, Module, Tensor};

use crate::engine::EngineError;
use crate::engine::weights::{Catalog, StoredTensor, is_half};

/// Up to this total size, 16-bit weights are converted to 32 bits when they are loaded. Those of
/// larger models are converted slab by slab in each product, so they never take memory twice.
const N_MAX_WIDENED_BYTES: u64 = 256 << 20;

/// How many values of 16-bit weights are converted at a time.
const N_SLAB_VALUES: usize = 1 << 22;

/// In which format to keep the weights of a model.
#[derive(Debug, Clone)]
pub(super) struct Policy {
    widen: bool,
    n_slab_values: usize,
    device: Device,
    dtype: DType,
}

impl Policy {
    /// Chooses the format by the size of the weights. Unquantized weights are converted to `dtype`.
    pub(super) fn new(catalog: &Catalog, device: &Device, dtype: DType) -> Self {
        Self {
            widen: catalog.n_half_bytes() <= N_MAX_WIDENED_BYTES,
            n_slab_values: N_SLAB_VALUES,
            device: device.clone(),
            dtype,
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

    /// Returns whether weights of this stored type are multiplied in half precision.
    fn is_half_precision(&self, stored: GgmlDType) -> bool {
        self.dtype != DType::F32 && (is_half(stored) || stored == GgmlDType::F32)
    }
}

/// A linear map, or several of the same input side by side.
#[derive(Debug)]
pub(super) struct Projection {
    parts: Vec<Part>,
    /// Added to each row of outputs.
    bias: Option<Tensor>,
}

#[derive(Debug)]
enum Part {
    /// Quantized or 32-bit weights.
    Whole(QMatMul),
    /// Half-precision weights for half-precision inputs: `[outputs, inputs]`.
    Half(Tensor),
    /// 16-bit weights in slabs of rows, for 32-bit inputs.
    Slabs {
        n_slab_rows: usize,
        slabs: Vec<QTensor>,
    },
}

impl Projection {
    /// Combines matrices that share an input, with their outputs in the order given. Neighbors of
    /// the same type become one matrix, which saves products. The bias is added to each row of
    /// outputs.
    pub(super) fn new(
        matrices: &[StoredTensor],
        bias: Option<Tensor>,
        policy: &Policy,
    ) -> Result<Self, EngineError> {
        let device = policy.device();
        let mut parts = Vec::new();
        for group in matrices.chunk_by(|a, b| a.dtype() == b.dtype()) {
            match group {
                [first, ..] if policy.is_half_precision(first.dtype()) => {
                    for matrix in group {
                        parts.push(Part::half(matrix, policy)?);
                    }
                }
                [first, ..] if is_half(first.dtype()) && !policy.widen => {
                    for matrix in group {
                        parts.push(Part::slabs(matrix, policy)?);
                    }
                }
                _ => parts.push(Part::whole(group, device)?),
            }
        }
        Ok(Self { parts, bias })
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
        match &self.bias {
            Some(bias) => output.broadcast_add(bias),
            None => Ok(output),
        }
    }

    /// Returns the given rows of the matrix, as in an embedding lookup.
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
    fn whole(matrices: &[StoredTensor], device: &Device) -> Result<Self, EngineError> {
        let matrix = StoredTensor::stack(matrices, device)?;
        // QMatMul converts floating-point types to 32 bits.
        Ok(Self::Whole(QMatMul::from_qtensor(matrix)?))
    }

    fn half(matrix: &StoredTensor, policy: &Policy) -> Result<Self, EngineError> {
        let (_, slabs) = slabs(matrix, policy)?;
        let halved = slabs.iter().map(|slab| {
            let wide = slab.dequantize(policy.device())?;
            wide.to_dtype(policy.dtype)
        });
        let halved: candle_core::Result<Vec<_>> = halved.collect();
        Ok(Self::Half(Tensor::cat(&halved?, 0)?))
    }

    fn slabs(matrix: &StoredTensor, policy: &Policy) -> Result<Self, EngineError> {
        let (n_slab_rows, slabs) = slabs(matrix, policy)?;
        Ok(Self::Slabs { n_slab_rows, slabs })
    }

    fn forward(&self, input: &Tensor) -> candle_core::Result<Tensor> {
        match self {
            // Products with quantized weights have 32-bit inputs and outputs.
            Self::Whole(matrix) => {
                let output = matrix.forward(&input.to_dtype(DType::F32)?)?;
                output.to_dtype(input.dtype())
            }
            Self::Half(matrix) => input.matmul(&matrix.t()?),
            Self::Slabs { slabs, .. } => {
                let outputs: candle_core::Result<Vec<_>> = slabs
                    .iter()
                    .map(|slab| input.matmul(&slab.dequantize(input.device())?.t()?))
                    .collect();
                Tensor::cat(&outputs?, 1)
            }
        }
    }

    fn rows(&self, indices: &[u32], device: &Device) -> candle_core::Result<Tensor> {
        match self {
            Self::Whole(matrix) => matrix.embedding(&Tensor::new(indices, device)?),
            Self::Half(matrix) => matrix.index_select(&Tensor::new(indices, device)?, 0),
            Self::Slabs { n_slab_rows, slabs } => {
                let rows: candle_core::Result<Vec<_>> = indices
                    .iter()
                    .map(|index| {
                        let index = *index as usize;
                        let Some(slab) = slabs.get(index / n_slab_rows) else {
                            candle_core::bail!("row {index} is beyond the embedding table");
                        };
                        slab.embedding(&Tensor::new(&[(index % n_slab_rows) as u32], device)?)
                    })
                    .collect();
                Tensor::cat(&rows?, 0)
            }
        }
    }
}

/// Splits a matrix into slabs, and returns the number of rows in each. Only for types that store
/// values one by one, not in blocks.
fn slabs(matrix: &StoredTensor, policy: &Policy) -> Result<(usize, Vec<QTensor>), EngineError> {
    let (n_rows, width) = matrix.dims2();
    let n_slab_rows = (policy.n_slab_values / width).max(1);
    let starts = (0..n_rows).step_by(n_slab_rows);
    let slabs = starts.map(|start| matrix.slice(start, n_slab_rows, policy.device()));
    Ok((n_slab_rows, slabs.collect::<Result<_, _>>()?))
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
        for (widen, n_slab_values) in [(true, 24), (false, 24), (false, 1), (false, 1000)] {
            let catalog = catalog();
            let policy = Policy {
                widen,
                n_slab_values,
                ..Policy::new(&catalog, &device, DType::F32)
            };
            let mut ignored = |_| std::ops::ControlFlow::Continue(());
            let mut checkpoint = catalog.open(&mut ignored).unwrap();
            let matrix = checkpoint.take("w", &[10, 6]).unwrap();
            let projection = Projection::new(&[matrix], None, &policy).unwrap();
            let found = projection.rows(&[9, 0, 4], &device).unwrap();
            let difference = (&found - rows.as_ref().unwrap()).unwrap().abs().unwrap();
            assert!(difference.max_all().unwrap().to_scalar::<f32>().unwrap() < 1e-7);
            let difference = (projection.forward(&input).unwrap() - &product).unwrap();
            let difference = difference.abs().unwrap().max_all().unwrap();
            assert!(difference.to_scalar::<f32>().unwrap() < 1e-5);
        }
    }
}
