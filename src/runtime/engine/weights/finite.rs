//! Checks that stored values are finite: a single NaN or infinity spoils every logit.

use candle_core::quantized::GgmlDType;

/// The exponent bits of an f16. All are set if the value is infinite or NaN.
const F16_EXPONENT: u16 = 0x7C00;

/// The exponent bits of a bf16.
const BF16_EXPONENT: u16 = 0x7F80;

/// Returns whether all values are finite. In a quantized block, only the scales can be infinite or
/// NaN.
pub(super) fn all_finite(dtype: GgmlDType, bytes: &[u8]) -> bool {
    match dtype {
        GgmlDType::F32 => floats(bytes.as_chunks().0),
        GgmlDType::F16 => halves(bytes.as_chunks().0, F16_EXPONENT),
        GgmlDType::BF16 => halves(bytes.as_chunks().0, BF16_EXPONENT),
        GgmlDType::Q4_0 | GgmlDType::Q5_0 | GgmlDType::Q8_0 => scales_finite(dtype, bytes, &[0]),
        GgmlDType::Q4_1 | GgmlDType::Q5_1 | GgmlDType::Q8_1 | GgmlDType::Q4K | GgmlDType::Q5K => {
            scales_finite(dtype, bytes, &[0, 2])
        }
        GgmlDType::Q2K => scales_finite(dtype, bytes, &[80, 82]),
        GgmlDType::Q3K => scales_finite(dtype, bytes, &[108]),
        GgmlDType::Q6K => scales_finite(dtype, bytes, &[208]),
        GgmlDType::Q8K => bytes
            .chunks_exact(dtype.type_size())
            .all(|block| block.first_chunk().is_some_and(|scale| floats(&[*scale]))),
    }
}

/// Returns whether the f16 scales at these byte offsets of each block are finite.
fn scales_finite(dtype: GgmlDType, bytes: &[u8], offsets: &[usize]) -> bool {
    bytes.chunks_exact(dtype.type_size()).all(|block| {
        offsets.iter().all(|offset| {
            let scale = block.get(*offset..).and_then(|rest| rest.first_chunk());
            scale.is_some_and(|scale| halves(&[*scale], F16_EXPONENT))
        })
    })
}

// These loops check every value, because the compiler does not vectorize a loop that may exit
// early.

fn floats(values: &[[u8; 4]]) -> bool {
    values.iter().fold(true, |finite, value| {
        finite & f32::from_le_bytes(*value).is_finite()
    })
}

fn halves(values: &[[u8; 2]], exponent: u16) -> bool {
    values.iter().fold(true, |finite, value| {
        finite & (u16::from_le_bytes(*value) & exponent != exponent)
    })
}

#[cfg(test)]
mod tests {
    use super::all_finite;
    use candle_core::quantized::{GgmlDType, QTensor};
    use candle_core::{Device, Tensor};

    #[test]
    fn a_value_that_is_not_finite_is_found_in_every_type() {
        for dtype in [
            GgmlDType::F32,
            GgmlDType::F16,
            GgmlDType::BF16,
            GgmlDType::Q4_0,
            GgmlDType::Q4_1,
            GgmlDType::Q5_0,
            GgmlDType::Q5_1,
            GgmlDType::Q8_0,
            GgmlDType::Q8_1,
            GgmlDType::Q2K,
            GgmlDType::Q3K,
            GgmlDType::Q4K,
            GgmlDType::Q5K,
            GgmlDType::Q6K,
            GgmlDType::Q8K,
        ] {
            let values: Vec<f32> = (0..1024).map(|i| (i as f32 * 0.37).sin()).collect();
            let tensor = Tensor::from_vec(values, (2, 512), &Device::Cpu).unwrap();
            let good = QTensor::quantize(&tensor, dtype).unwrap();
            let good = good.data().unwrap().into_owned();
            assert!(all_finite(dtype, &good), "{dtype:?}");
            // The scale of a block with all bits set is NaN.
            let mut bad = good;
            let n_bytes = bad.len();
            bad[n_bytes - dtype.type_size()..].fill(0xFF);
            assert!(!all_finite(dtype, &bad), "{dtype:?}");
        }
    }
}
