//! Integer weights with one scale per row and block, times the inputs of a row group.

use std::arch::x86_64::{
    __m512, __m512i, _mm_cvtsi32_si128, _mm512_add_epi32, _mm512_and_si512, _mm512_castsi512_si256,
    _mm512_cvtepi32_ps, _mm512_cvtph_ps, _mm512_dpbusd_epi32, _mm512_extracti64x4_epi64,
    _mm512_fmadd_ps, _mm512_mul_ps, _mm512_or_si512, _mm512_rol_epi32, _mm512_ror_epi32,
    _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_si512, _mm512_slli_epi32, _mm512_sra_epi32,
    _mm512_srli_epi32, _mm512_sub_epi32,
};

use crate::N_BLOCK;
use crate::input_block::{DIGIT_BASE, InputBlock};

/// Adds the dot products of one block with each row of inputs. The rows' dependency chains run side
/// by side, so that none waits for its own previous step. A macro, because a function of this size
/// is not inlined, and then the accumulators go through memory at each step.
macro_rules! add_products {
    ($sums:ident, $weights:ident, $inputs:ident) => {
        for (word_index, weights) in $weights.iter().enumerate() {
            for (sum, input) in $sums.iter_mut().zip($inputs) {
                if let Some(word) = input.words.get(word_index) {
                    *sum = _mm512_dpbusd_epi32(*sum, *weights, _mm512_set1_epi32(*word));
                }
            }
        }
    };
}
pub(super) use add_products;

/// The weights of one block, four columns per register, offset to be unsigned.
pub(super) type Weights = [__m512i; N_BLOCK / 4];

/// The scales of two blocks from a cache line of half floats, `[block][lane]`.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn scales(line: __m512i) -> [__m512; 2] {
    [
        _mm512_cvtph_ps(_mm512_castsi512_si256(line)),
        _mm512_cvtph_ps(_mm512_extracti64x4_epi64::<1>(line)),
    ]
}

/// Unpacks 4-bit quants to bytes. Each cache line has eight columns, the first four in the low
/// nibbles.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn unpack_nibbles(lines: &[__m512i; N_BLOCK / 8]) -> Weights {
    let half = _mm512_set1_epi32(0x0f0f_0f0f);
    let mut weights = [half; N_BLOCK / 4];
    for ([low, high], line) in weights.as_chunks_mut().0.iter_mut().zip(lines) {
        *low = _mm512_and_si512(*line, half);
        *high = _mm512_and_si512(_mm512_srli_epi32::<4>(*line), half);
    }
    weights
}

/// Adds the fifth bit to 4-bit quants. Each byte of the cache line has those of eight columns: bit
/// `column / 4` of byte `column % 4`.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn add_fifth_bits(weights: &mut Weights, line: __m512i) {
    let fifth = _mm512_set1_epi32(0x1010_1010);
    let mut bits = _mm512_rol_epi32::<4>(line);
    for quants in weights {
        *quants = _mm512_or_si512(*quants, _mm512_and_si512(bits, fifth));
        bits = _mm512_ror_epi32::<1>(bits);
    }
}

/// Adds the minima of one block, times the sums of the inputs, to the accumulators of each row.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn add_mins<const N: usize>(
    mins: __m512,
    inputs: &[InputBlock; N],
    sums: &mut [__m512; N],
) {
    for (input, sum) in inputs.iter().zip(sums) {
        *sum = _mm512_fmadd_ps(mins, _mm512_set1_ps(input.scaled_sum), *sum);
    }
}

/// Adds the dot products of one block to the accumulators of each row.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) fn add_block<const OFFSET: i16, const N: usize>(
    weights: &Weights,
    scales: __m512,
    inputs: &[InputBlock; N],
    sums: &mut [__m512; N],
) {
    let products = products::<OFFSET, N>(weights, inputs);
    for ((dots, input), sum) in products.iter().zip(inputs).zip(sums) {
        add_scaled(sum, *dots, scales, input);
    }
}

/// Adds the dot products of one block with 16-bit inputs, of which each pair of rows holds the
/// digits, to the accumulators of the high digits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) fn add_block_of_digits<const OFFSET: i16, const N: usize>(
    weights: &Weights,
    scales: __m512,
    inputs: &[InputBlock; N],
    sums: &mut [__m512; N],
) {
    const {
        assert!(
            DIGIT_BASE == (1 << 8) - 1,
            "the base decides how to multiply by it"
        );
    }
    let products = products::<OFFSET, N>(weights, inputs);
    let inputs = inputs.as_chunks().0.iter();
    let rows = products.as_chunks().0.iter().zip(inputs);
    for ((&[high, low], [_, input]), [sum, _]) in rows.zip(sums.as_chunks_mut().0) {
        let high = _mm512_sub_epi32(_mm512_slli_epi32::<8>(high), high);
        add_scaled(sum, _mm512_add_epi32(high, low), scales, input);
    }
}

/// The integer dot products of one block with each row of inputs.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn products<const OFFSET: i16, const N: usize>(
    weights: &Weights,
    inputs: &[InputBlock; N],
) -> [__m512i; N] {
    let mut products = [_mm512_setzero_si512(); N];
    for (product, input) in products.iter_mut().zip(inputs) {
        *product = without_offset::<OFFSET>(input);
    }
    add_products!(products, weights, inputs);
    products
}

/// Adds integer dot products, multiplied by the scales of the weights and of the inputs.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn add_scaled(sum: &mut __m512, dots: __m512i, scales: __m512, input: &InputBlock) {
    let scales = _mm512_mul_ps(scales, _mm512_set1_ps(input.scale));
    *sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dots), scales, *sum);
}

/// The initial accumulators for weights with an offset, which is 0 or a power of two up to 128. It
/// shifts rather than multiplies, because the multipliers are busy with the columns.
#[inline]
#[target_feature(enable = "avx512f")]
fn without_offset<const OFFSET: i16>(input: &InputBlock) -> __m512i {
    let Some(ratio) = 128_i32.checked_div(OFFSET.into()) else {
        return _mm512_setzero_si512();
    };
    let shift = _mm_cvtsi32_si128(ratio.trailing_zeros().cast_signed());
    _mm512_sra_epi32(_mm512_set1_epi32(input.minus_128_sum), shift)
}
