//! Weight matrices, packed for our kernels.

use candle_core::quantized::GgmlDType;

use super::Slices;
use super::rows::{add_to_rows, multiply_rows};
use crate::engine::EngineError;
use crate::engine::decoder::experts::StoredExpert;
use crate::engine::weights::StoredTensor;
use crate::kernels::{Format, InputKinds, Inputs, Matrix, ThreadPool, multiply};

/// A linear map, or several of the same input side by side.
#[derive(Debug)]
pub(super) struct Projection {
    parts: Vec<Matrix>,
    bias: Option<Vec<f32>>,
    /// Multiplies each output, after the bias was added.
    factors: Option<Vec<f32>>,
    n_rows: usize,
    width: usize,
    kinds: InputKinds,
}

/// Returns the kernel format of a stored type, or `None` for two ggml types that no model uses.
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
    /// Combines packed matrices that share an input.
    fn new(parts: Vec<Matrix>, bias: Option<Vec<f32>>) -> Self {
        Self {
            bias,
            factors: None,
            n_rows: parts.iter().map(Matrix::n_rows).sum(),
            width: parts.first().map_or(0, Matrix::width),
            kinds: InputKinds::of(parts.iter().map(Matrix::format)),
            parts,
        }
    }

    /// Reads and packs matrices that share an input.
    pub(super) fn read(
        parts: &[StoredTensor],
        bias: Option<Vec<f32>>,
        form: &Slices,
    ) -> Result<Self, EngineError> {
        let packed = parts.iter().map(|part| pack(part, form.widens));
        Ok(Self::new(packed.collect::<Result<_, _>>()?, bias))
    }

    /// Returns the size in memory, in bytes.
    pub(super) fn n_bytes(&self) -> usize {
        self.parts.iter().map(Matrix::n_bytes).sum()
    }

    /// Returns the number of outputs for each row of inputs.
    pub(super) const fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Maps rows of inputs to rows of outputs, which replace the content of `outputs`.
    pub(super) fn forward(
        &self,
        threads: &ThreadPool,
        values: &[f32],
        inputs: &mut Inputs,
        outputs: &mut Vec<f32>,
    ) {
        let n_inputs = values.len() / self.width.max(1);
        // Every element is overwritten below.
        outputs.resize(n_inputs * self.n_rows, 0.0);
        inputs.set(threads, values, self.width, self.kinds);
        let parts: Vec<&Matrix> = self.parts.iter().collect();
        multiply(threads, &parts, inputs, outputs);
        if let Some(bias) = &self.bias {
            add_to_rows(bias, outputs);
        }
        if let Some(factors) = &self.factors {
            multiply_rows(factors, outputs);
        }
    }

    /// Appends the given rows of the matrix as 32-bit floats, as in an embedding lookup.
    pub(super) fn extend_with_rows(
        &self,
        indices: impl Iterator<Item = usize>,
        values: &mut Vec<f32>,
    ) {
        if let Some(matrix) = self.parts.first() {
            for index in indices {
                matrix.extend_with_row(index, values);
            }
        }
    }
}

/// Reads and packs one matrix. A type without a kernel is converted to 32-bit floats first, and so is
/// every type if `widens` is set.
fn pack(matrix: &StoredTensor, widens: bool) -> Result<Matrix, EngineError> {
    let (n_rows, width) = matrix.dims2();
    let format = format(matrix.dtype()).filter(|_| !widens);
    // The file header guarantees whole blocks, so packing can only fail for lack of memory.
    let packed = match (format, matrix.rows()) {
        (Some(format), Some(rows)) => {
            Matrix::pack_from(format, [n_rows, width], |start, blocks| {
                rows.read(start, blocks)
            })?
        }
        (Some(format), None) => Matrix::pack(format, &matrix.bytes()?, width),
        (None, _) => {
            let values = matrix.values()?.into_iter().flat_map(f32::to_le_bytes);
            Matrix::pack(Format::F32, &values.collect::<Vec<u8>>(), width)
        }
    };
    packed.ok_or_else(|| matrix.memory_short())
}

impl crate::engine::decoder::backend::Form for Slices {
    type Matrix = Projection;
    type Vector = Vec<f32>;
    type Expert = StoredExpert;

    fn matrix(
        &self,
        parts: Vec<StoredTensor>,
        bias: Option<Vec<f32>>,
    ) -> Result<Projection, EngineError> {
        Projection::read(&parts, bias, self)
    }

    fn expert(&self, stored: StoredExpert) -> Result<StoredExpert, EngineError> {
        Ok(stored)
    }

    fn scaled(&self, matrix: Projection, factors: Vec<f32>) -> Result<Projection, EngineError> {
        Ok(Projection {
            factors: Some(factors),
            ..matrix
        })
    }

    fn vector(&self, values: Vec<f32>) -> Result<Vec<f32>, EngineError> {
        Ok(values)
    }
}
