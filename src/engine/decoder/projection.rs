//! Matrices of weights that stay as their file stores them, as far as that is the fast way.

use std::sync::Arc;

use candle_core::quantized::{QMatMul, QTensor};
use candle_core::{Device, Module, Tensor};

use crate::engine::EngineError;
use crate::engine::weights::{StoredTensor, is_half};

/// 16-bit weights of a model up to this size are widened to 32 bits at load; those of a bigger one
/// are widened slab by slab in each product, so that they are never all there twice.
pub const N_MAX_WIDENED_BYTES: usize = 256 << 20;

/// How many values of 16-bit weights are widened at a time.
const N_SLAB_VALUES: usize = 1 << 22;

/// One linear map, or several of the same input side by side.
#[derive(Debug, Clone)]
pub struct Projection {
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
enum Part {
    /// Quantised, or 32-bit.
    Whole(QMatMul),
    /// 16-bit, in slabs of rows.
    Slabs {
        n_slab_rows: usize,
        slabs: Arc<Vec<QTensor>>,
    },
}

impl Projection {
    /// Matrices with the same input; their outputs stand side by side in the order given. Neighbours
    /// of one type become one matrix, so that they cost one product.
    pub fn new(
        matrices: Vec<StoredTensor>,
        widen: bool,
        device: &Device,
    ) -> Result<Self, EngineError> {
        let mut parts = Vec::new();
        for group in matrices.chunk_by(|a, b| a.dtype() == b.dtype()) {
            match group {
                [first, ..] if is_half(first.dtype()) && !widen => {
                    for matrix in group {
                        parts.push(Part::slabs(matrix, device)?);
                    }
                }
                _ => parts.push(Part::whole(group, device)?),
            }
        }
        Ok(Self { parts })
    }

    /// Rows of inputs to rows of outputs.
    pub fn forward(&self, input: &Tensor) -> candle_core::Result<Tensor> {
        match self.parts.as_slice() {
            [part] => part.forward(input),
            parts => {
                let outputs: candle_core::Result<Vec<_>> =
                    parts.iter().map(|part| part.forward(input)).collect();
                Tensor::cat(&outputs?, 1)
            }
        }
    }

    /// The rows of the matrix with these numbers, in full precision: what an embedding table gives.
    pub fn rows(&self, indices: &[u32], device: &Device) -> candle_core::Result<Tensor> {
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
        // QMatMul widens floating-point types.
        Ok(Self::Whole(QMatMul::from_qtensor(matrix)?))
    }

    fn slabs(matrix: &StoredTensor, device: &Device) -> Result<Self, EngineError> {
        let (n_rows, width) = matrix.dims2();
        let n_slab_rows = (N_SLAB_VALUES / width).max(1);
        let slabs: Result<Vec<_>, _> = (0..n_rows)
            .step_by(n_slab_rows)
            .map(|start| matrix.slice(start, n_slab_rows, device))
            .collect();
        Ok(Self::Slabs {
            n_slab_rows,
            slabs: Arc::new(slabs?),
        })
    }

    fn forward(&self, input: &Tensor) -> candle_core::Result<Tensor> {
        match self {
            Self::Whole(matrix) => matrix.forward(input),
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
