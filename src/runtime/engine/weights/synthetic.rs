//! A virtual file of random weights, generated from a seed as they are read.
//!
//! Each tensor has a given standard deviation, so that activations stay in bounds.

use std::io;

use candle_core::quantized::GgmlDType;
use half::{bf16, f16};

use crate::decoding::SplitMix64;

/// A virtual file: a header followed by random tensors.
#[derive(Debug)]
pub(crate) struct SyntheticWeights {
    header: Vec<u8>,
    tensors: Vec<SyntheticTensor>,
    n_bytes: u64,
}

/// A tensor of random values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SyntheticTensor {
    /// Offset from the start of the file, in bytes.
    pub start: u64,
    pub n_bytes: u64,
    pub dtype: GgmlDType,
    /// The mean of floating-point values. Ignored for quantized values, whose mean is near zero.
    pub mean: f32,
    /// The standard deviation of the values.
    pub deviation: f32,
    pub seed: u64,
}

/// How many bytes of floating-point values to generate at a time.
const N_FLOAT_BYTES: usize = 64;

/// The size of the largest block, that of `Q8_K`.
const N_MAX_BLOCK_BYTES: usize = 292;

/// The standard deviation of the uniform distribution between -1 and 1.
const UNIFORM_DEVIATION: f32 = 0.577_350_3;

impl SyntheticWeights {
    /// Creates a file with the given header and tensors.
    pub(crate) fn new(header: Vec<u8>, tensors: Vec<SyntheticTensor>) -> Self {
        let ends = tensors.iter().map(|tensor| tensor.start + tensor.n_bytes);
        Self {
            n_bytes: ends.fold(header.len() as u64, u64::max),
            header,
            tensors,
        }
    }

    /// Returns the size of the file in bytes.
    pub(crate) const fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// Fills the buffer with the bytes from offset `start`.
    pub(crate) fn read_at(&self, start: u64, buffer: &mut [u8]) -> io::Result<()> {
        let end = start.checked_add(buffer.len() as u64);
        if end.is_none_or(|end| end > self.n_bytes) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer.fill(0);
        if let Some((bytes, target)) = overlap(&self.header, 0, start, buffer) {
            target.copy_from_slice(bytes);
        }
        for tensor in &self.tensors {
            tensor.write(start, buffer);
        }
        Ok(())
    }
}

impl SyntheticTensor {
    /// Writes the part of the tensor that overlaps the buffer, which starts at offset `start`.
    fn write(&self, start: u64, buffer: &mut [u8]) {
        let end = (start + buffer.len() as u64).min(self.start + self.n_bytes);
        let n_unit_bytes = self.n_unit_bytes() as u64;
        let mut index = start.saturating_sub(self.start) / n_unit_bytes;
        let mut unit = [0; N_MAX_BLOCK_BYTES];
        loop {
            let unit_start = self.start + index * n_unit_bytes;
            if unit_start >= end {
                break;
            }
            let n_left = self.start + self.n_bytes - unit_start;
            let (unit, _) = unit.split_at_mut(n_unit_bytes.min(n_left) as usize);
            self.generate(index, unit);
            if let Some((bytes, target)) = overlap(unit, unit_start, start, buffer) {
                target.copy_from_slice(bytes);
            }
            index += 1;
        }
    }

    /// Returns how many bytes to generate at a time: a block, for quantized types.
    fn n_unit_bytes(&self) -> usize {
        match self.dtype {
            GgmlDType::F32 | GgmlDType::F16 | GgmlDType::BF16 => N_FLOAT_BYTES,
            blocks => blocks.type_size(),
        }
    }

    /// Generates one unit of bytes: random bits, except for the scales of quantized blocks.
    fn generate(&self, index: u64, bytes: &mut [u8]) {
        let mut random = SplitMix64::new(self.seed ^ index.wrapping_mul(0xD134_2543_DE82_EF95));
        for chunk in bytes.chunks_mut(8) {
            for (byte, random_byte) in chunk.iter_mut().zip(random.bits().to_le_bytes()) {
                *byte = random_byte;
            }
        }
        let value = |uniform: i16| {
            self.mean
                + self.deviation / UNIFORM_DEVIATION * f32::from(uniform) / f32::from(i16::MAX)
        };
        match self.dtype {
            GgmlDType::F32 => {
                for number in bytes.as_chunks_mut().0 {
                    let [low, high, _, _]: [u8; 4] = *number;
                    *number = value(i16::from_le_bytes([low, high])).to_le_bytes();
                }
            }
            GgmlDType::F16 => {
                for number in bytes.as_chunks_mut().0 {
                    *number = f16::from_f32(value(i16::from_le_bytes(*number))).to_le_bytes();
                }
            }
            GgmlDType::BF16 => {
                for number in bytes.as_chunks_mut().0 {
                    *number = bf16::from_f32(value(i16::from_le_bytes(*number))).to_le_bytes();
                }
            }
            blocks => {
                for (offset, scale) in unit_scales(blocks) {
                    let scale = f16::from_f32(self.deviation * scale).to_le_bytes();
                    if let Some(stored) = bytes.get_mut(*offset..*offset + scale.len()) {
                        stored.copy_from_slice(&scale);
                    }
                }
            }
        }
    }
}

/// Returns the offsets of the f16 scales and minimums in a block, with the values that give random
/// quants a standard deviation of 1 and a mean near zero.
const fn unit_scales(dtype: GgmlDType) -> &'static [(usize, f32)] {
    match dtype {
        GgmlDType::Q8_0 => &[(0, 1.0 / 73.9)],
        GgmlDType::Q4_0 => &[(0, 1.0 / 4.61)],
        GgmlDType::Q4_1 => &[(0, 1.0 / 4.61), (2, -7.5 / 4.61)],
        GgmlDType::Q5_0 => &[(0, 1.0 / 9.23)],
        GgmlDType::Q5_1 => &[(0, 1.0 / 9.23), (2, -15.5 / 9.23)],
        GgmlDType::Q4K => &[(0, 1.0 / 258.0), (2, 7.5 / 258.0)],
        GgmlDType::Q5K => &[(0, 1.0 / 527.0), (2, 15.5 / 527.0)],
        GgmlDType::Q6K => &[(208, 1.0 / 1365.0)],
        _ => &[],
    }
}

/// Returns the part of `bytes` that overlaps the buffer, and the part of the buffer that it
/// overlaps. The two start at the offsets `bytes_start` and `start`.
fn overlap<'a, 'b>(
    bytes: &'a [u8],
    bytes_start: u64,
    start: u64,
    buffer: &'b mut [u8],
) -> Option<(&'a [u8], &'b mut [u8])> {
    let n_before = usize::try_from(start.saturating_sub(bytes_start)).ok()?;
    let n_skipped = usize::try_from(bytes_start.saturating_sub(start)).ok()?;
    let (bytes, target) = (bytes.get(n_before..)?, buffer.get_mut(n_skipped..)?);
    let n_bytes = bytes.len().min(target.len());
    Some((bytes.get(..n_bytes)?, target.get_mut(..n_bytes)?))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use candle_core::Device;
    use candle_core::quantized::{GgmlDType, QStorage, QTensor};

    use super::{SyntheticTensor, SyntheticWeights};
    use crate::engine::weights::finite::all_finite;

    const DTYPES: [GgmlDType; 11] = [
        GgmlDType::F32,
        GgmlDType::F16,
        GgmlDType::BF16,
        GgmlDType::Q4_0,
        GgmlDType::Q4_1,
        GgmlDType::Q5_0,
        GgmlDType::Q5_1,
        GgmlDType::Q8_0,
        GgmlDType::Q4K,
        GgmlDType::Q5K,
        GgmlDType::Q6K,
    ];

    fn tensor(dtype: GgmlDType, start: u64, n_values: usize) -> SyntheticTensor {
        SyntheticTensor {
            start,
            n_bytes: (n_values / dtype.block_size() * dtype.type_size()) as u64,
            dtype,
            mean: 0.0,
            deviation: 0.02,
            seed: 7,
        }
    }

    #[test]
    fn values_have_the_requested_deviation() {
        for dtype in DTYPES {
            let n_values = 1 << 15;
            let weights = SyntheticWeights::new(Vec::new(), vec![tensor(dtype, 0, n_values)]);
            let mut bytes = vec![0; weights.n_bytes() as usize];
            weights.read_at(0, &mut bytes).unwrap();
            assert!(all_finite(dtype, &bytes), "{dtype:?}");
            let storage = QStorage::from_data(Cow::Owned(bytes), &Device::Cpu, dtype).unwrap();
            let values = QTensor::new(storage, (n_values / 256, 256)).unwrap();
            let values = values.dequantize(&Device::Cpu).unwrap();
            let values: Vec<f32> = values.flatten_all().unwrap().to_vec1().unwrap();
            let mean = values.iter().sum::<f32>() / n_values as f32;
            let squares: f32 = values.iter().map(|x| (x - mean).powi(2)).sum();
            let deviation = (squares / n_values as f32).sqrt();
            // Signed integers of few bits reach one step further down than up.
            assert!(mean.abs() < 0.12 * 0.02, "{dtype:?}: {mean}");
            assert!((deviation - 0.02).abs() < 1e-3, "{dtype:?}: {deviation}");
        }
    }

    #[test]
    fn any_range_reads_the_same_as_within_the_full_file() {
        let header: Vec<u8> = (0..40).collect();
        let mut tensors = Vec::new();
        let mut start = 64;
        for dtype in DTYPES {
            let tensor = tensor(dtype, start, 512);
            start = (tensor.start + tensor.n_bytes).next_multiple_of(32);
            tensors.push(tensor);
        }
        let weights = SyntheticWeights::new(header.clone(), tensors);
        let n_all = weights.n_bytes() as usize;
        let mut all = vec![0; n_all];
        weights.read_at(0, &mut all).unwrap();
        assert_eq!(all[..40], header);
        assert_eq!(all[40..64], [0; 24]);
        for n_bytes in [1, 31, 1000] {
            for start in (0..n_all - n_bytes).step_by(n_bytes) {
                let mut part = vec![9; n_bytes];
                weights.read_at(start as u64, &mut part).unwrap();
                assert_eq!(part, all[start..start + n_bytes], "{start}");
            }
        }
        assert!(weights.read_at(n_all as u64, &mut [0]).is_err());
        assert!(weights.read_at(u64::MAX, &mut [0]).is_err());
    }
}
