//! One tensor in its file's format, and the conversions to what the backends use.

use std::borrow::Cow;
use std::ops::Deref;

use candle_core::quantized::{GgmlDType, QStorage, QTensor};
use candle_core::{DType, Device, Tensor};

use super::buffer_pool::{Buffer, BufferPool};
use crate::engine::EngineError;

/// A tensor in its file's format.
#[derive(Debug)]
pub(crate) struct StoredTensor {
    pub(super) dtype: GgmlDType,
    pub(super) shape: Vec<usize>,
    pub(super) bytes: Buffer,
    pub(super) buffers: BufferPool,
    /// The file it was read from, for messages.
    pub(super) path: String,
}

/// The concatenated bytes of one or more tensors.
enum Concatenated<'a> {
    One(&'a [u8]),
    Several(Buffer),
}

impl Deref for Concatenated<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::One(bytes) => bytes,
            Self::Several(bytes) => bytes,
        }
    }
}

impl StoredTensor {
    /// Returns the number of values, the product of the dimensions.
    pub(crate) fn n_values(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns the number of rows and columns. All dimensions but the last count as rows.
    pub(crate) fn dims2(&self) -> (usize, usize) {
        let width = self.shape.last().copied().unwrap_or(1);
        (self.n_values() / width.max(1), width)
    }

    /// Returns the type in which the values are stored.
    pub(crate) const fn dtype(&self) -> GgmlDType {
        self.dtype
    }

    /// Returns the error that there is not enough memory to convert this tensor.
    pub(crate) fn memory_short(&self) -> EngineError {
        EngineError::OutOfMemory {
            n_bytes: self.bytes.len(),
            path: self.path.clone(),
        }
    }

    /// Returns the concatenated bytes of several tensors.
    pub(crate) fn bytes(parts: &[Self]) -> impl Deref<Target = [u8]> {
        let first = match parts {
            [] => return Concatenated::One(&[]),
            [part] => return Concatenated::One(&part.bytes),
            [first, ..] => first,
        };
        let n_bytes = parts.iter().map(|part| part.bytes.len()).sum();
        let mut bytes = first.buffers.take(n_bytes).unwrap_or_default();
        for part in parts {
            bytes.bytes_mut().extend_from_slice(&part.bytes);
        }
        Concatenated::Several(bytes)
    }

    /// Transposes a matrix. Only for types that store values one by one, not in blocks.
    pub(crate) fn transposed(&self) -> Self {
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

    /// Stacks the rows of several matrices. All must have the same type and width.
    pub(crate) fn stack(parts: &[Self], device: &Device) -> Result<QTensor, EngineError> {
        let (dtype, width) = match parts {
            [] => (GgmlDType::F32, 1),
            [part, ..] => (part.dtype, part.dims2().1),
        };
        let n_values: usize = parts.iter().map(Self::n_values).sum();
        let storage = QStorage::from_data(Cow::Borrowed(&Self::bytes(parts)), device, dtype)?;
        Ok(QTensor::new(storage, (n_values / width, width))?)
    }

    /// Stacks the rows of several matrices into a tensor of their type. All must have the same type
    /// and width. Only for types that store values one by one, not in blocks.
    pub(crate) fn plain(parts: &[Self], device: &Device) -> Result<Tensor, EngineError> {
        let (dtype, width) = match parts {
            [] => (GgmlDType::F32, 1),
            [part, ..] => (part.dtype, part.dims2().1),
        };
        let dtype = match dtype {
            GgmlDType::F16 => DType::F16,
            GgmlDType::BF16 => DType::BF16,
            _ => DType::F32,
        };
        let n_values: usize = parts.iter().map(Self::n_values).sum();
        let shape = [n_values / width.max(1), width];
        Ok(Tensor::from_raw_buffer(
            &Self::bytes(parts),
            dtype,
            &shape,
            device,
        )?)
    }

    /// Returns the values as 32-bit floats, row by row.
    pub(crate) fn values(&self) -> Result<Vec<f32>, EngineError> {
        let storage = QStorage::from_data(Cow::Borrowed(&self.bytes), &Device::Cpu, self.dtype)?;
        let values = QTensor::new(storage, self.n_values())?.dequantize(&Device::Cpu)?;
        Ok(values.to_vec1()?)
    }
}
