//! `Q6_K`: three lines hold the six bits of four times four columns, with a scale for each 16.

use std::arch::x86_64::{
    __m512, __m512i, _mm512_and_si512, _mm512_castsi512_si256, _mm512_cvtepi8_epi32,
    _mm512_cvtepi32_ps, _mm512_cvtph_ps, _mm512_dpbusd_epi32, _mm512_extracti32x4_epi32,
    _mm512_fmadd_ps, _mm512_madd_epi16, _mm512_mul_ps, _mm512_set1_epi8, _mm512_set1_epi32,
    _mm512_set1_ps, _mm512_srli_epi16, _mm512_ternarylogic_epi64,
};

use super::memory::{load, load_all, zeros};
use crate::engine::kernels::formats::q6_k::{N_PART_LINES, N_SCALED_LINES, N_STEP_LINES};
use crate::engine::kernels::input_block::InputBlock;
use crate::engine::kernels::inputs::Group;
use crate::engine::kernels::line::Line;

/// What is added to a number to make it unsigned, by minus one, beside the sum of either half.
const MINUS_OFFSETS: [i32; 2] = [-32 & 0xffff, -32 << 16];

/// The products of a tile with each row of a group.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub fn sums<const N: usize>(tile: &[Line], group: &Group<'_>) -> [__m512; N] {
    let mut sums = zeros();
    let steps = tile.as_chunks::<N_STEP_LINES>().0;
    let inputs = group.blocks.as_chunks::<N>().0.as_chunks::<8>().0;
    for ([factors, lines @ ..], inputs) in steps.iter().zip(inputs) {
        let factors = _mm512_cvtph_ps(_mm512_castsi512_si256(load(factors)));
        let parts = lines.as_chunks::<N_PART_LINES>().0;
        for ([scales, lines @ ..], inputs) in parts.iter().zip(inputs.as_chunks::<2>().0) {
            let [a, b, c, d] = part_scales(load(scales), factors);
            let lines = lines.as_chunks::<N_SCALED_LINES>().0.as_chunks::<2>().0;
            for ((lines, scales), inputs) in lines.iter().zip([[a, b], [c, d]]).zip(inputs) {
                add_block(lines, scales, inputs, &mut sums);
            }
        }
    }
    sums
}

/// The scales of four times 16 columns.
#[inline]
#[target_feature(enable = "avx512f")]
fn part_scales(scales: __m512i, factors: __m512) -> [__m512; 4] {
    [
        _mm512_extracti32x4_epi32::<0>(scales),
        _mm512_extracti32x4_epi32::<1>(scales),
        _mm512_extracti32x4_epi32::<2>(scales),
        _mm512_extracti32x4_epi32::<3>(scales),
    ]
    .map(|scales| _mm512_mul_ps(factors, _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(scales))))
}

/// Adds the products of 32 columns to the sums of each row.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn add_block<const N: usize>(
    lines: &[[Line; N_SCALED_LINES]; 2],
    scales: [__m512; 2],
    inputs: &[InputBlock; N],
    sums: &mut [__m512; N],
) {
    let weights = [weights(&lines[0]), weights(&lines[1])];
    let minus_offsets = [
        _mm512_set1_epi32(MINUS_OFFSETS[0]),
        _mm512_set1_epi32(MINUS_OFFSETS[1]),
    ];
    for (input, sum) in inputs.iter().zip(sums) {
        let half_sums = _mm512_set1_epi32(input.half_sums);
        let words = input.words.as_chunks::<4>().0;
        let mut scaled = _mm512_set1_ps(0.0);
        for (((weights, words), scale), minus_offset) in
            weights.iter().zip(words).zip(scales).zip(minus_offsets)
        {
            let mut whole = _mm512_madd_epi16(half_sums, minus_offset);
            for (weights, word) in weights.iter().zip(words) {
                whole = _mm512_dpbusd_epi32(whole, *weights, _mm512_set1_epi32(*word));
            }
            scaled = _mm512_fmadd_ps(_mm512_cvtepi32_ps(whole), scale, scaled);
        }
        *sum = _mm512_fmadd_ps(scaled, _mm512_set1_ps(input.scale), *sum);
    }
}

/// The numbers of 16 columns, four in each register.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn weights(lines: &[Line; N_SCALED_LINES]) -> [__m512i; 4] {
    // What is set in the first where the mask is, and in the second where it is not.
    const SELECT: i32 = 0b1100_1010;
    let [a, b, c] = load_all(lines);
    let six = _mm512_set1_epi8(0x3f);
    let low = _mm512_srli_epi16::<6>(a);
    let middle = _mm512_srli_epi16::<4>(b);
    let high = _mm512_srli_epi16::<2>(c);
    let lower = _mm512_ternarylogic_epi64::<SELECT>(_mm512_set1_epi8(0x03), low, middle);
    let fourth = _mm512_ternarylogic_epi64::<SELECT>(_mm512_set1_epi8(0x0f), lower, high);
    [
        _mm512_and_si512(a, six),
        _mm512_and_si512(b, six),
        _mm512_and_si512(c, six),
        _mm512_and_si512(fourth, six),
    ]
}
