//! The IQ types of about 2 bits: codes for eight values, their signs, and scales.

use half::f16;

use super::grids::{self, Grid, eight_signs, signed};
use super::target_blocks::write_q8_0;

/// The magnitudes of values.
const MAGNITUDES: [i8; 3] = [8, 25, 43];

/// `IQ2_XXS`: a factor, and for every 32 values four codes, their signs and a 4-bit scale. Becomes
/// eight blocks of `Q8_0`.
pub(super) fn iq2_xxs(block: &[u8], target: &mut [u8]) {
    let Some((factor, rest)) = block.split_first_chunk() else {
        return;
    };
    let factor = f16::from_le_bytes(*factor).to_f32();
    let parts = rest.as_chunks::<4>().0.as_chunks::<2>().0;
    for ([codes, signs], target) in parts.iter().zip(target.chunks_exact_mut(2 + 32)) {
        let bits = u32::from_le_bytes(*signs);
        let scale = factor * scale_of(bits >> 28);
        let quants = codes.iter().zip([0, 7, 14, 21]).flat_map(|(code, shift)| {
            eight(grids::IQ2_XXS, u16::from(*code), eight_signs(bits >> shift))
        });
        write_q8_0(target, f16::from_f32(scale), quants);
    }
}

/// `IQ2_XS`: a factor, 32 codes with their signs, and a 4-bit scale for every two of them.
pub(super) fn iq2_xs(blocks: &[u8], values: &mut [f32]) {
    for (block, values) in blocks.chunks_exact(74).zip(values.chunks_exact_mut(256)) {
        let (factor, rest) = block.split_at(2);
        let (codes, scales) = rest.split_at(64);
        let codes = codes.as_chunks().0.iter().map(|code| {
            let code = u16::from_le_bytes(*code);
            eight(grids::IQ2_XS, code & 511, eight_signs(u32::from(code >> 9)))
        });
        write(factor, scales, codes, values);
    }
}

/// `IQ2_S`: a factor, the lower bits of 32 codes, their signs, the upper bits of the codes, and a
/// 4-bit scale for every two codes.
pub(super) fn iq2_s(blocks: &[u8], values: &mut [f32]) {
    for (block, values) in blocks.chunks_exact(82).zip(values.chunks_exact_mut(256)) {
        let (factor, rest) = block.split_at(2);
        let (low, rest) = rest.split_at(32);
        let (signs, rest) = rest.split_at(32);
        let (high, scales) = rest.split_at(8);
        let high = high
            .iter()
            .flat_map(|high| [0, 2, 4, 6].map(|shift| high >> shift & 3));
        let codes = low.iter().zip(high).zip(signs).map(|((low, high), signs)| {
            eight(grids::IQ2_S, u16::from_le_bytes([*low, high]), *signs)
        });
        write(factor, scales, codes, values);
    }
}

/// Returns the values of a code.
fn eight(grid: Grid, code: u16, signs: u8) -> impl Iterator<Item = i8> {
    let codes = grid.eight(code).into_iter().enumerate();
    codes.map(move |(index, code)| {
        let magnitude = MAGNITUDES.get(usize::from(code)).copied();
        signed(magnitude.unwrap_or_default(), signs, index)
    })
}

/// Writes the values of 32 codes, with a scale for every 16 values.
fn write(
    factor: &[u8],
    scales: &[u8],
    codes: impl Iterator<Item = impl Iterator<Item = i8>>,
    values: &mut [f32],
) {
    let factor = factor.first_chunk().copied().unwrap_or_default();
    let factor = f16::from_le_bytes(factor).to_f32();
    let scales = scales.iter().flat_map(|scales| {
        [scales & 0xF, scales >> 4].map(|scale| factor * scale_of(scale.into()))
    });
    // Each scale applies to two codes.
    let scales = scales.flat_map(|scale| [scale; 2]);
    for ((values, codes), scale) in values.chunks_exact_mut(8).zip(codes).zip(scales) {
        for (value, quant) in values.iter_mut().zip(codes) {
            *value = scale * f32::from(quant);
        }
    }
}

/// Returns what a 4-bit scale stands for.
fn scale_of(bits: u32) -> f32 {
    (0.5 + bits as f32) / 4.0
}
