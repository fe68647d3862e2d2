//! Exact dot products of bytes: four adjacent columns of eight rows at a time.

#![expect(
    unsafe_code,
    reason = "uses an instruction that the callers are not compiled for"
)]

use std::arch::asm;
use std::arch::x86_64::{
    __m256i, _mm_cvtsi32_si128, _mm256_abs_epi8, _mm256_add_epi16, _mm256_add_epi32,
    _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_set1_epi8, _mm256_set1_epi16,
    _mm256_set1_epi32, _mm256_setzero_si256, _mm256_sign_epi8, _mm256_slli_epi16, _mm256_sra_epi32,
    _mm256_srai_epi16, _mm256_xor_si256,
};

use crate::N_BLOCK;
use crate::input_block::InputBlock;
use crate::input_words::InputWords;

/// How unsigned weights are multiplied by signed inputs. Only code that has detected the
/// instructions may name an implementation; [`super::multiply`] requires that.
pub(super) trait Dot {
    /// Whether the CPU has AVX-VNNI.
    const HAS_VNNI: bool;
}

/// AVX2: adds two products in 16 bits, then two of these sums in 32 bits.
pub(super) struct MaddDot;

impl Dot for MaddDot {
    const HAS_VNNI: bool = false;
}

/// AVX-VNNI: adds four products in 32 bits.
pub(super) struct VnniDot;

impl Dot for VnniDot {
    const HAS_VNNI: bool = true;
}

/// Adds dot products of weights so small that 2 × `RUN` products fit into 16 bits: below 16 for a
/// run of 8, below 32 for 4, below 64 for 2.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add_small<D: Dot, const RUN: usize, const N: usize>(
    mut sum: __m256i,
    weights: &[__m256i; N],
    words: &[i32; N],
) -> __m256i {
    if D::HAS_VNNI {
        // SAFETY: `D` asserts that the CPU has AVX-VNNI.
        return unsafe { add_vnni(sum, weights, words) };
    }
    let runs = weights.as_chunks::<RUN>().0;
    for (weights, words) in runs.iter().zip(words.as_chunks::<RUN>().0) {
        let mut pairs = _mm256_setzero_si256();
        for (weights, word) in weights.iter().zip(words) {
            let products = _mm256_maddubs_epi16(*weights, _mm256_set1_epi32(*word));
            pairs = _mm256_add_epi16(pairs, products);
        }
        sum = _mm256_add_epi32(sum, sums_of_pairs(pairs));
    }
    sum
}

/// The initial accumulators of [`add_biased`].
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn biased_starts<D: Dot, const N: usize>(inputs: &[InputBlock; N]) -> [__m256i; N] {
    let mut starts = [_mm256_setzero_si256(); N];
    if D::HAS_VNNI {
        for (start, input) in starts.iter_mut().zip(inputs) {
            *start = without_offset::<128>(input);
        }
    }
    starts
}

/// Adds the dot products of four columns, whose weights are offset by 128, with one word of each
/// row of inputs. The weights are prepared once for all rows, and the rows' dependency chains run
/// side by side.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add_biased<D: Dot, const N: usize>(
    sums: &mut [__m256i; N],
    weights: __m256i,
    inputs: &[InputBlock; N],
    word_index: usize,
) {
    let signed = _mm256_xor_si256(weights, _mm256_set1_epi8(-128));
    let magnitudes = _mm256_abs_epi8(signed);
    for (sum, input) in sums.iter_mut().zip(inputs) {
        let word = _mm256_set1_epi32(input.words.get(word_index).copied().unwrap_or_default());
        *sum = if D::HAS_VNNI {
            // SAFETY: `D` asserts that the CPU has AVX-VNNI.
            unsafe { vpdpbusd(*sum, weights, word) }
        } else {
            // The magnitude of a weight is at most 128 and that of an input at most 127, so the sum
            // of two products fits into 16 bits.
            let pairs = _mm256_maddubs_epi16(magnitudes, _mm256_sign_epi8(word, signed));
            in_order(_mm256_add_epi32(*sum, sums_of_pairs(pairs)))
        };
    }
}

/// Adds the dot products of four columns, whose weights are offset by 128, with the 16-bit inputs of
/// each row: those of the first and third column to the first accumulator, the others to the second.
/// The weights are widened once for all rows.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add_words<D: Dot, const N: usize>(
    sums: &mut [[__m256i; 2]; N],
    weights: __m256i,
    inputs: &[InputWords; N],
    index: usize,
) {
    let signed = _mm256_xor_si256(weights, _mm256_set1_epi8(-128));
    let even = _mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(signed));
    let odd = _mm256_srai_epi16::<8>(signed);
    for ([first, second], input) in sums.iter_mut().zip(inputs) {
        *first = add_pairs::<D>(*first, even, &input.even, index);
        *second = add_pairs::<D>(*second, odd, &input.odd, index);
        if !D::HAS_VNNI && N > 1 {
            (*first, *second) = (in_order(*first), in_order(*second));
        }
    }
}

/// Adds the dot products of two columns with a word of one row of inputs.
#[inline]
#[target_feature(enable = "avx2")]
fn add_pairs<D: Dot>(
    sum: __m256i,
    weights: __m256i,
    words: &[i32; N_BLOCK / 4],
    index: usize,
) -> __m256i {
    let word = _mm256_set1_epi32(words.get(index).copied().unwrap_or_default());
    if D::HAS_VNNI {
        // SAFETY: `D` asserts that the CPU has AVX-VNNI.
        return unsafe { vpdpwssd(sum, weights, word) };
    }
    // Each product is at most 128 × 32,512, and a block has 32.
    _mm256_add_epi32(sum, _mm256_madd_epi16(weights, word))
}

/// Returns the accumulator unchanged. The compiler can't move the products of later columns before
/// this point; otherwise it multiplies all columns by one row after another, and then the weights
/// of a block do not fit into the registers.
#[inline]
#[target_feature(enable = "avx2")]
fn in_order(mut sum: __m256i) -> __m256i {
    // SAFETY: the assembly is empty.
    unsafe {
        asm!(
            "/* {sum} */",
            sum = inout(ymm_reg) sum,
            options(nomem, nostack, preserves_flags),
        );
    }
    sum
}

/// Adds dot products of four unsigned 7-bit digits and signed values, none of them −128. The sum of
/// two such products fits into 16 bits.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add_digits<D: Dot>(sum: __m256i, digits: i32, values: __m256i) -> __m256i {
    let digits = _mm256_set1_epi32(digits);
    if D::HAS_VNNI {
        // SAFETY: `D` asserts that the CPU has AVX-VNNI.
        return unsafe { vpdpbusd(sum, digits, values) };
    }
    _mm256_add_epi32(sum, sums_of_pairs(_mm256_maddubs_epi16(digits, values)))
}

/// The initial accumulators for weights with an offset, which is 0 or a power of two up to 128. It
/// shifts rather than multiplies, because the multipliers are busy with the columns.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn without_offset<const OFFSET: i16>(input: &InputBlock) -> __m256i {
    let Some(ratio) = 128_i32.checked_div(OFFSET.into()) else {
        return _mm256_setzero_si256();
    };
    let shift = _mm_cvtsi32_si128(ratio.trailing_zeros().cast_signed());
    _mm256_sra_epi32(_mm256_set1_epi32(input.minus_128_sum), shift)
}

#[inline]
#[target_feature(enable = "avx2")]
fn sums_of_pairs(pairs: __m256i) -> __m256i {
    _mm256_madd_epi16(pairs, _mm256_set1_epi16(1))
}

/// Adds dot products with AVX-VNNI.
///
/// # Safety
/// The CPU must have AVX-VNNI.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn add_vnni<const N: usize>(
    mut sum: __m256i,
    weights: &[__m256i; N],
    words: &[i32; N],
) -> __m256i {
    for (weights, word) in weights.iter().zip(words) {
        // SAFETY: this function has the same requirement.
        sum = unsafe { vpdpbusd(sum, *weights, _mm256_set1_epi32(*word)) };
    }
    sum
}

/// Adds the dot product of four unsigned and four signed bytes. Inline assembly, because the
/// compiler's intrinsic becomes a call unless every caller is compiled for AVX-VNNI, and then each
/// of them would exist twice.
///
/// # Safety
/// The CPU must have AVX-VNNI.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn vpdpbusd(mut sum: __m256i, unsigned: __m256i, signed: __m256i) -> __m256i {
    // SAFETY: the CPU has the instruction, which accesses only the registers named here and no
    // memory.
    unsafe {
        asm!(
            "{{vex}} vpdpbusd {sum}, {unsigned}, {signed}",
            sum = inout(ymm_reg) sum,
            unsigned = in(ymm_reg) unsigned,
            signed = in(ymm_reg) signed,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    sum
}

/// Adds the dot product of two pairs of signed 16-bit numbers. Inline assembly for the same reason.
///
/// # Safety
/// The CPU must have AVX-VNNI.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn vpdpwssd(mut sum: __m256i, first: __m256i, second: __m256i) -> __m256i {
    // SAFETY: the CPU has the instruction, which accesses only the registers named here and no
    // memory.
    unsafe {
        asm!(
            "{{vex}} vpdpwssd {sum}, {first}, {second}",
            sum = inout(ymm_reg) sum,
            first = in(ymm_reg) first,
            second = in(ymm_reg) second,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    sum
}
