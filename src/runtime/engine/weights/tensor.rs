//! One tensor of a file, and the conversions to what the backends use.

use std::borrow::Cow;
use std::sync::Arc;

use candle_core::quantized::{GgmlDType, QStorage, QTensor};
use candle_core::{DType, Device, Tensor};

use super::Source;
use super::buffer_pool::{Buffer, BufferPool};
use super::converted::ConvertedType;
use super::exponents::Exponents;
use super::factors::Factors;
use super::file_start::N_MAX_VECTOR_VALUES;
use super::finite::all_finite;
use super::stored_type::StoredType;
use super::tensor_entry::TensorEntry;
use crate::engine::EngineError;

/// A tensor whose values are read from its file when they are requested.
#[derive(Debug, Clone)]
pub(crate) struct StoredTensor {
    pub(super) source: Arc<Source>,
    /// Its place in the file, and its shape there.
    pub(super) entry: TensorEntry,
    /// The type of the values in memory.
    pub(super) dtype: GgmlDType,
    /// What the stored values are multiplied by while they are converted.
    pub(super) factors: Option<Factors>,
    /// The exponents of 4-bit floats, if they are stored apart.
    pub(super) exponents: Option<Exponents>,
    /// Whether this is the transpose of what the file holds.
    pub(super) is_transposed: bool,
    pub(super) buffers: BufferPool,
}

/// Where the rows of a matrix are in its file. Several threads can read from it at the same time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredRows<'a> {
    source: &'a Source,
    entry: &'a TensorEntry,
    dtype: GgmlDType,
    factors: Option<&'a Factors>,
    exponents: Option<&'a Exponents>,
}

impl StoredRows<'_> {
    /// Fills the buffer with values of the type in memory, from an offset in bytes of that type on.
    /// Both must be whole blocks, of the stored type too. Fails if a value is not finite.
    pub(crate) fn read(self, start: usize, blocks: &mut [u8]) -> Result<(), EngineError> {
        match self.entry.stored_type {
            StoredType::Converted(converted) => self.read_converted(converted, start, blocks)?,
            StoredType::Known(_) | StoredType::Foreign(_) => self.read_stored(start, blocks)?,
        }
        self.check_finite(blocks)
    }

    /// Reads and converts a piece at a time, so that the stored blocks stay in the CPU cache.
    fn read_converted(
        self,
        converted: ConvertedType,
        start: usize,
        target: &mut [u8],
    ) -> Result<(), EngineError> {
        const N_PIECE_BYTES: usize = 64 << 10;

        let (n_block_bytes, n_target_bytes) =
            (converted.n_block_bytes(), converted.n_target_bytes());
        let n_piece_bytes = (N_PIECE_BYTES / n_target_bytes).max(1) * n_target_bytes;
        let mut block = start / n_target_bytes;
        let mut stored = Vec::new();
        for target in target.chunks_mut(n_piece_bytes) {
            let n_blocks = target.len() / n_target_bytes;
            stored.resize(n_blocks * n_block_bytes, 0);
            self.read_stored(block * n_block_bytes, &mut stored)?;
            let first = block * converted.n_block_values();
            if let Some(exponents) = self.exponents {
                let blocks = exponents.with_quants(block, &stored);
                let blocks = blocks.map_err(|error| exponents.source.unreadable(error))?;
                ConvertedType::Mxfp4.convert(&blocks, first, None, target);
            } else {
                converted.convert(&stored, first, self.factors, target);
            }
            block += n_blocks;
        }
        Ok(())
    }

    fn read_stored(self, start: usize, bytes: &mut [u8]) -> Result<(), EngineError> {
        let start = self.entry.start.saturating_add(start as u64);
        let read = self.source.read_at(start, bytes);
        read.map_err(|error| self.source.unreadable(error))
    }

    fn check_finite(self, blocks: &[u8]) -> Result<(), EngineError> {
        if all_finite(self.dtype, blocks) {
            return Ok(());
        }
        let (name, stored_type) = (&self.entry.name, &self.entry.stored_type);
        let reason = match stored_type {
            StoredType::Converted(_) => format!(
                "tensor {name}, stored as {stored_type}, contains values that are not finite or too \
                 large"
            ),
            StoredType::Known(_) | StoredType::Foreign(_) => {
                format!("tensor {name} contains values that are not finite")
            }
        };
        Err(self.source.malformed(reason))
    }
}

impl StoredTensor {
    /// Returns the number of values, the product of the dimensions.
    pub(crate) fn n_values(&self) -> usize {
        self.entry.shape.iter().product()
    }

    /// Returns the number of rows and columns. All dimensions but the last count as rows.
    pub(crate) fn dims2(&self) -> (usize, usize) {
        let (n_rows, width) = self.stored_dims2();
        if self.is_transposed {
            (width, n_rows)
        } else {
            (n_rows, width)
        }
    }

    /// Returns the number of rows and columns in the file.
    fn stored_dims2(&self) -> (usize, usize) {
        let width = self.entry.shape.last().copied().unwrap_or(1);
        (self.n_values() / width.max(1), width)
    }

    /// Returns the type of the values in memory.
    pub(crate) const fn dtype(&self) -> GgmlDType {
        self.dtype
    }

    /// Returns an error saying that there is not enough memory to convert this tensor.
    pub(crate) fn memory_short(&self) -> EngineError {
        self.source.memory_short(self.n_bytes())
    }

    /// Returns the size of the values in memory, in bytes.
    fn n_bytes(&self) -> usize {
        self.entry.n_memory_bytes() as usize
    }

    /// Fails if the file was written to since it was opened.
    pub(crate) fn check_unchanged(&self) -> Result<(), EngineError> {
        self.source.check_unchanged()
    }

    /// Returns where the rows are in the file, or `None` if the file stores them as columns.
    pub(crate) fn rows(&self) -> Option<StoredRows<'_>> {
        (!self.is_transposed).then_some(self.stored_rows())
    }

    fn stored_rows(&self) -> StoredRows<'_> {
        StoredRows {
            source: &self.source,
            entry: &self.entry,
            dtype: self.dtype,
            factors: self.factors.as_ref(),
            exponents: self.exponents.as_ref(),
        }
    }

    /// Reads the bytes of the tensor.
    pub(crate) fn bytes(&self) -> Result<Buffer, EngineError> {
        Self::concatenated(std::slice::from_ref(self))
    }

    /// Reads several tensors and returns their concatenated bytes.
    fn concatenated(parts: &[Self]) -> Result<Buffer, EngineError> {
        let Some(first) = parts.first() else {
            return Ok(Buffer::default());
        };
        let n_bytes = parts.iter().map(Self::n_bytes).sum();
        let Some(mut bytes) = first.buffers.take(n_bytes) else {
            return Err(first.source.memory_short(n_bytes));
        };
        for part in parts {
            part.append_to(bytes.bytes_mut())?;
        }
        Ok(bytes)
    }

    fn append_to(&self, bytes: &mut Vec<u8>) -> Result<(), EngineError> {
        if !self.is_transposed {
            return self.append_stored_to(bytes);
        }
        let mut stored = Vec::new();
        if stored.try_reserve_exact(self.n_bytes()).is_err() {
            return Err(self.memory_short());
        }
        self.append_stored_to(&mut stored)?;
        let (_, width) = self.stored_dims2();
        let values: Vec<&[u8]> = stored.chunks_exact(self.dtype.type_size()).collect();
        let columns = (0..width).flat_map(|column| values.iter().skip(column).step_by(width));
        for value in columns {
            bytes.extend_from_slice(value);
        }
        Ok(())
    }

    /// Appends the values in the order of the file.
    fn append_stored_to(&self, bytes: &mut Vec<u8>) -> Result<(), EngineError> {
        let (n_before, n_bytes) = (bytes.len(), self.n_bytes());
        if matches!(self.entry.stored_type, StoredType::Converted(_)) {
            bytes.resize(n_before + n_bytes, 0);
            let added = bytes.get_mut(n_before..).unwrap_or_default();
            return self.stored_rows().read(0, added);
        }
        self.source.take_into(self.entry.start, n_bytes, bytes)?;
        let added = bytes.get(n_before..).unwrap_or_default();
        self.stored_rows().check_finite(added)
    }

    /// Transposes a matrix. Only for types that store values one by one, not in blocks.
    #[must_use]
    pub(crate) fn transposed(self) -> Self {
        Self {
            is_transposed: !self.is_transposed,
            ..self
        }
    }

    /// Stacks the rows of several matrices. All must have the same type and width.
    pub(crate) fn stack(parts: &[Self], device: &Device) -> Result<QTensor, EngineError> {
        let (dtype, width) = match parts {
            [] => (GgmlDType::F32, 1),
            [part, ..] => (part.dtype, part.dims2().1),
        };
        let n_values: usize = parts.iter().map(Self::n_values).sum();
        let storage =
            QStorage::from_data(Cow::Borrowed(&Self::concatenated(parts)?), device, dtype)?;
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
            &Self::concatenated(parts)?,
            dtype,
            &shape,
            device,
        )?)
    }

    /// Returns the values as 32-bit floats, row by row. If they are not known, each is 1.
    pub(crate) fn values(&self) -> Result<Vec<f32>, EngineError> {
        if self.source.is_start() {
            return if self.n_values() <= N_MAX_VECTOR_VALUES {
                Ok(vec![1.0; self.n_values()])
            } else {
                Err(self.memory_short())
            };
        }
        let storage = QStorage::from_data(Cow::Borrowed(&self.bytes()?), &Device::Cpu, self.dtype)?;
        let values = QTensor::new(storage, self.n_values())?.dequantize(&Device::Cpu)?;
        Ok(values.to_vec1()?)
    }
}
