//! Matrices of weights in the tiles of our kernels.

use candle_core::quantized::GgmlDType;

use super::Slices;
use super::rows::add_to_rows;
use crate::engine::EngineError;
use crate::engine::weights::StoredTensor;
use crate::kernels::{Format, Forms, Inputs, Matrix, ThreadPool, multiply};

/// One linear map, or several of the same input side by side.
#[derive(Debug)]
pub struct Projection {
    parts: Vec<Matrix>,
    bias: Option<Vec<f32>>,
    n_rows: usize,
    width: usize,
    forms: Forms,
}

/// The format of our kernels for weights that a file stores so; none for two that ggml knows and no model
/// uses.
const fn format(dtype: GgmlDType) -> Option<Format> {
    match dtype {
        GgmlDType::F32 => Some(Format::F32),
        GgmlDType::F16 => Some(Format::F16),
        GgmlDType::BF16 => Some(Format::BF16),
        GgmlDType::Q4_0 => Some(Format::Q4_0),
        GgmlDType::Q4_1 => Some(Format::Q4_1),
        GgmlDType::Q5_0 => Some(Format::Q5_0),
        GgmlDType::Q5_1 => Some(Format::Q5_1),
        GgmlDType::Q8_0 => Some(Format::Q8_0),
        GgmlDType::Q2K => Some(Format::Q2K),
        GgmlDType::Q3K => Some(Format::Q3K),
        GgmlDType::Q4K => Some(Format::Q4K),
        GgmlDType::Q5K => Some(Format::Q5K),
        GgmlDType::Q6K => Some(Format::Q6K),
        _ => None,
    }
}

impl Projection {
    /// Packs matrices with the same input, one after another, and frees each when it is packed.
    pub fn new(matrices: Vec<StoredTensor>, bias: Option<Vec<f32>>) -> Result<Self, EngineError> {
        let parts: Result<Vec<_>, _> = matrices.into_iter().map(pack).collect();
        let parts = parts?;
        Ok(Self {
            bias,
            n_rows: parts.iter().map(Matrix::n_rows).sum(),
            width: parts.first().map_or(0, Matrix::width),
            forms: Forms::of(parts.iter().map(Matrix::format)),
            parts,
        })
    }

    /// Rows of inputs to rows of outputs, which replace what was there.
    pub fn forward(
        &self,
        team: &ThreadPool,
        values: &[f32],
        inputs: &mut Inputs,
        outputs: &mut Vec<f32>,
    ) {
        let n_inputs = values.len() / self.width.max(1);
        // Each is written below.
        outputs.resize(n_inputs * self.n_rows, 0.0);
        inputs.set(team, values, self.width, self.forms);
        let parts: Vec<&Matrix> = self.parts.iter().collect();
        multiply(team, &parts, inputs, outputs);
        if let Some(bias) = &self.bias {
            add_to_rows(bias, outputs);
        }
    }

    /// The rows of the matrix with these numbers, in full precision: what an embedding table gives.
    pub fn extend_with_rows(&self, indices: impl Iterator<Item = usize>, values: &mut Vec<f32>) {
        if let Some(matrix) = self.parts.first() {
            for index in indices {
                matrix.extend_with_row(index, values);
            }
        }
    }
}

/// Packs one matrix. What no kernel knows becomes 32-bit numbers first.
fn pack(matrix: StoredTensor) -> Result<Matrix, EngineError> {
    let (_, width) = matrix.dims2();
    let matrices = [matrix];
    let [matrix] = &matrices;
    // Whole blocks are a matter of the file's header, so that only memory can be missing.
    let packed = if let Some(format) = format(matrix.dtype()) {
        Matrix::pack(format, &StoredTensor::bytes(&matrices), width)
    } else {
        let values = matrix.values()?.into_iter().flat_map(f32::to_le_bytes);
        Matrix::pack(Format::F32, &values.collect::<Vec<u8>>(), width)
    };
    packed.ok_or_else(|| matrix.memory_short())
}

impl crate::engine::decoder::backend::Form for Slices {
    type Matrix = Projection;
    type Vector = Vec<f32>;

    fn matrix(
        &self,
        parts: Vec<StoredTensor>,
        bias: Option<Vec<f32>>,
    ) -> Result<Projection, EngineError> {
        Projection::new(parts, bias)
    }

    fn vector(&self, values: Vec<f32>) -> Result<Vec<f32>, EngineError> {
        Ok(values)
    }
}
