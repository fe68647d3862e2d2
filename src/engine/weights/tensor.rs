//! One tensor as its file stores it, on its way into the form in which it is used.

use std::borrow::Cow;
use std::ops::Deref;

use candle_core::Device;
use candle_core::quantized::{GgmlDType, QStorage, QTensor};

use super::buffers::{Buffer, Buffers};
use crate::engine::EngineError;

/// A tensor as its file stores it.
#[derive(Debug)]
pub struct StoredTensor {
    pub(super) dtype: GgmlDType,
    pub(super) shape: Vec<usize>,
    pub(super) bytes: Buffer,
    pub(super) buffers: Buffers,
    /// The file that it comes from.
    pub(super) path: String,
}

/// The bytes of one tensor or of several.
enum Stacked<'a> {
    One(&'a [u8]),
    Several(Buffer),
}

impl Deref for Stacked<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::One(bytes) => bytes,
            Self::Several(bytes) => bytes,
        }
    }
}

impl StoredTensor {
    /// How many values it holds.
    pub fn n_values(&self) -> usize {
        self.shape.iter().product()
    }

    /// Rows and columns of a matrix.
    pub fn dims2(&self) -> (usize, usize) {
        let width = self.shape.last().copied().unwrap_or(1);
        (self.n_values() / width.max(1), width)
    }

    /// How its values are stored.
    pub const fn dtype(&self) -> GgmlDType {
        self.dtype
    }

    /// The error that there is no memory for it in another form.
    pub fn memory_short(&self) -> EngineError {
        EngineError::MemoryShort {
            n_bytes: self.bytes.len(),
            path: self.path.clone(),
        }
    }

    /// The bytes of several, one after another.
    pub fn bytes(parts: &[Self]) -> impl Deref<Target = [u8]> {
        let first = match parts {
            [] => return Stacked::One(&[]),
            [part] => return Stacked::One(&part.bytes),
            [first, ..] => first,
        };
        let n_bytes = parts.iter().map(|part| part.bytes.len()).sum();
        let mut bytes = first.buffers.take(n_bytes).unwrap_or_default();
        for part in parts {
            bytes.bytes_mut().extend_from_slice(&part.bytes);
        }
        Stacked::Several(bytes)
    }

    /// Rows become columns; for types whose blocks are values.
    pub fn transposed(&self) -> Self {
        let (n_rows, width) = self.dims2();
        let n_value_bytes = self.dtype.type_size();
        let values: Vec<&[u8]> = self.bytes.chunks_exact(n_value_bytes).collect();
        let columns = (0..width).flat_map(|column| values.iter().skip(column).step_by(width));
        let mut bytes = self.buffers.take(self.bytes.len()).unwrap_or_default();
        for value in columns {
            bytes.bytes_mut().extend_from_slice(value);
        }
        Self {
            dtype: self.dtype,
            shape: vec![width, n_rows],
            bytes,
            buffers: self.buffers.clone(),
            path: self.path.clone(),
        }
    }

    /// The rows, one after another, as one tensor; all parts must have the same type and width.
    pub fn stack(parts: &[Self], device: &Device) -> Result<QTensor, EngineError> {
        let (dtype, width) = match parts {
            [] => (GgmlDType::F32, 1),
            [part, ..] => (part.dtype, part.dims2().1),
        };
        let n_values: usize = parts.iter().map(Self::n_values).sum();
        let storage = QStorage::from_data(Cow::Borrowed(&Self::bytes(parts)), device, dtype)?;
        Ok(QTensor::new(storage, (n_values / width, width))?)
    }

    /// Splits off the rows from `start` on, `n_rows` at most; for types whose blocks are values.
    pub fn slice(
        &self,
        start: usize,
        n_rows: usize,
        device: &Device,
    ) -> Result<QTensor, EngineError> {
        let width = self.shape.last().copied().unwrap_or(1);
        let n_row_bytes = width * self.dtype.type_size();
        let end = (start + n_rows) * n_row_bytes;
        let bytes = self
            .bytes
            .get(start * n_row_bytes..end.min(self.bytes.len()))
            .unwrap_or_default();
        let storage = QStorage::from_data(bytes.into(), device, self.dtype)?;
        Ok(QTensor::new(storage, (bytes.len() / n_row_bytes, width))?)
    }

    /// The values in full precision, one row after another.
    pub fn values(&self) -> Result<Vec<f32>, EngineError> {
        let storage = QStorage::from_data(Cow::Borrowed(&self.bytes), &Device::Cpu, self.dtype)?;
        let values = QTensor::new(storage, self.n_values())?.dequantize(&Device::Cpu)?;
        Ok(values.to_vec1()?)
    }
}
