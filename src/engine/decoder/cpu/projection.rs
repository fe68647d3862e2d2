//! Matrices of weights in the tiles of our kernels.

use candle_core::quantized::{GgmlDType, QMatMul};
use candle_core::{Device, Module, Tensor};

use super::Slices;
use super::rows::add_to_rows;
use crate::engine::EngineError;
use crate::engine::kernels::{Format, Forms, Inputs, Matrix, Team, multiply};
use crate::engine::weights::StoredTensor;

/// One linear map, or several of the same input side by side.
#[derive(Debug)]
pub struct Projection {
    parts: Vec<Part>,
    bias: Option<Vec<f32>>,
    n_rows: usize,
    width: usize,
    forms: Forms,
}

#[derive(Debug)]
enum Part {
    /// In a format that our kernels know.
    Packed(Matrix),
    /// In a rare one: multiplied by candle.
    Foreign(QMatMul),
}

/// The format of our kernels for weights that a file stores so.
pub const fn format(dtype: GgmlDType) -> Option<Format> {
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
        let width = matrices.first().map_or(0, |matrix| matrix.dims2().1);
        let n_rows = matrices.iter().map(|matrix| matrix.dims2().0).sum();
        let formats = matrices.iter().filter_map(|matrix| format(matrix.dtype()));
        let forms = Forms::of(formats);
        let parts: Result<Vec<_>, _> = matrices.into_iter().map(Part::new).collect();
        Ok(Self {
            parts: parts?,
            bias,
            n_rows,
            width,
            forms,
        })
    }

    /// Rows of inputs to rows of outputs, which replace what was there.
    pub fn forward(
        &self,
        team: &Team,
        values: &[f32],
        inputs: &mut Inputs,
        outputs: &mut Vec<f32>,
    ) -> Result<(), EngineError> {
        let n_inputs = values.len() / self.width.max(1);
        outputs.clear();
        outputs.resize(n_inputs * self.n_rows, 0.0);
        inputs.set(team, values, self.width, self.forms);
        let packed: Vec<&Matrix> = self.parts.iter().filter_map(Part::packed).collect();
        if packed.len() == self.parts.len() {
            multiply(team, &packed, inputs, outputs);
        } else {
            self.forward_apart(team, values, inputs, outputs)?;
        }
        if let Some(bias) = &self.bias {
            add_to_rows(bias, outputs);
        }
        Ok(())
    }

    /// Part by part, each with outputs of its own that are then put side by side.
    fn forward_apart(
        &self,
        team: &Team,
        values: &[f32],
        inputs: &Inputs,
        outputs: &mut [f32],
    ) -> Result<(), EngineError> {
        let mut start = 0;
        for part in &self.parts {
            let found = part.forward(team, values, self.width, inputs)?;
            let n_rows = found.len() / inputs.n_rows().max(1);
            let rows = outputs.chunks_exact_mut(self.n_rows);
            for (row, found) in rows.zip(found.chunks_exact(n_rows.max(1))) {
                if let Some(places) = row.get_mut(start..start + n_rows) {
                    places.copy_from_slice(found);
                }
            }
            start += n_rows;
        }
        Ok(())
    }

    /// The rows of the matrix with these numbers, in full precision: what an embedding table gives.
    pub fn extend_with_rows(
        &self,
        indices: impl Iterator<Item = usize>,
        values: &mut Vec<f32>,
    ) -> Result<(), EngineError> {
        for index in indices {
            match self.parts.first() {
                Some(Part::Packed(matrix)) => matrix.extend_with_row(index, values),
                Some(Part::Foreign(matrix)) => {
                    let row = matrix.embedding(&Tensor::new(&[index as u32], &Device::Cpu)?)?;
                    values.extend(row.flatten_all()?.to_vec1::<f32>()?);
                }
                None => {}
            }
        }
        Ok(())
    }
}

impl Part {
    fn new(matrix: StoredTensor) -> Result<Self, EngineError> {
        let (_, width) = matrix.dims2();
        let matrices = [matrix];
        let [matrix] = &matrices;
        if let Some(format) = format(matrix.dtype()) {
            // Whole blocks are a matter of the file's header, so that only memory can be missing.
            let packed = Matrix::pack(format, &StoredTensor::bytes(&matrices), width);
            return packed
                .map(Self::Packed)
                .ok_or_else(|| matrix.memory_short());
        }
        let matrix = StoredTensor::stack(&matrices, &Device::Cpu)?;
        Ok(Self::Foreign(QMatMul::from_qtensor(matrix)?))
    }

    const fn packed(&self) -> Option<&Matrix> {
        match self {
            Self::Packed(matrix) => Some(matrix),
            Self::Foreign(_) => None,
        }
    }

    fn forward(
        &self,
        team: &Team,
        values: &[f32],
        width: usize,
        inputs: &Inputs,
    ) -> Result<Vec<f32>, EngineError> {
        match self {
            Self::Packed(matrix) => {
                let mut outputs = vec![0.0; inputs.n_rows() * matrix.n_rows()];
                multiply(team, &[matrix], inputs, &mut outputs);
                Ok(outputs)
            }
            Self::Foreign(matrix) => {
                let input = Tensor::from_slice(values, (inputs.n_rows(), width), &Device::Cpu)?;
                Ok(matrix.forward(&input)?.flatten_all()?.to_vec1()?)
            }
        }
    }
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
