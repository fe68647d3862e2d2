//! Whether stored values are numbers: one that is not spoils every token.

use candle_core::quantized::GgmlDType;

/// The bits of an f16 that are all set where it is infinite or not a number.
const F16_EXPONENT: u16 = 0x7C00;

/// The same of a bf16.
const BF16_EXPONENT: u16 = 0x7F80;

/// Whether all values are finite. Of quantised values only the factors of a block can be otherwise.
pub fn all_finite(dtype: GgmlDType, bytes: &[u8]) -> bool {
    match dtype {
        GgmlDType::F32 => floats(bytes.as_chunks().0),
        GgmlDType::F16 => halves(bytes.as_chunks().0, F16_EXPONENT),
        GgmlDType::BF16 => halves(bytes.as_chunks().0, BF16_EXPONENT),
        GgmlDType::Q4_0 | GgmlDType::Q5_0 | GgmlDType::Q8_0 => factors(dtype, bytes, &[0]),
        GgmlDType::Q4_1 | GgmlDType::Q5_1 | GgmlDType::Q8_1 | GgmlDType::Q4K | GgmlDType::Q5K => {
            factors(dtype, bytes, &[0, 2])
        }
        GgmlDType::Q2K => factors(dtype, bytes, &[80, 82]),
        GgmlDType::Q3K => factors(dtype, bytes, &[108]),
        GgmlDType::Q6K => factors(dtype, bytes, &[208]),
        GgmlDType::Q8K => bytes
            .chunks_exact(dtype.type_size())
            .all(|block| block.first_chunk().is_some_and(|scale| floats(&[*scale]))),
    }
}

/// Whether the f16 factors that stand at these places in each block are finite.
fn factors(dtype: GgmlDType, bytes: &[u8], places: &[usize]) -> bool {
    bytes.chunks_exact(dtype.type_size()).all(|block| {
        places.iter().all(|place| {
            let factor = block.get(*place..).and_then(|rest| rest.first_chunk());
            factor.is_some_and(|factor| halves(&[*factor], F16_EXPONENT))
        })
    })
}

// All values are looked at, because a loop that may end early is not run in vectors.

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
    fn a_value_that_is_not_a_number_is_found_in_every_type() {
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
            // A block all of whose bits are set has a factor that is not a number.
            let mut bad = good;
            let n_bytes = bad.len();
            bad[n_bytes - dtype.type_size()..].fill(0xFF);
            assert!(!all_finite(dtype, &bad), "{dtype:?}");
        }
    }
}
