//! The IQ types of about 3 bits: codes for four values, their signs, and scales. They become `Q6_K`.

use half::f16;

use super::grids::{self, eight_signs, signed};
use super::target_blocks::write_q6_k;

/// Half of the magnitudes of values in `IQ3_XXS`.
const HALF_MAGNITUDES: [i8; 8] = [2, 6, 10, 14, 18, 22, 26, 31];

/// `IQ3_XXS`: a factor, 64 codes, and for every 32 values their signs and a 4-bit scale.
pub(super) fn iq3_xxs(block: &[u8], target: &mut [u8]) {
    let Some((factor, codes, parts)) = split(block) else {
        return;
    };
    let mut scales = [0; 16];
    let mut signs = [0; 32];
    let parts = parts
        .as_chunks()
        .0
        .iter()
        .map(|bits| u32::from_le_bytes(*bits));
    let targets = scales
        .as_chunks_mut()
        .0
        .iter_mut()
        .zip(signs.as_chunks_mut().0);
    for (bits, (scales, signs)) in parts.zip(targets) {
        *scales = [odd(bits >> 28); 2];
        *signs = [0, 7, 14, 21].map(|shift| eight_signs(bits >> shift));
    }
    let mut quants = [0; 256];
    for (quants, code) in quants.as_chunks_mut().0.iter_mut().zip(codes) {
        let magnitudes = grids::IQ3_XXS.four(u16::from(*code));
        *quants = magnitudes.map(|index| {
            let magnitude = HALF_MAGNITUDES.get(usize::from(index)).copied();
            magnitude.unwrap_or_default()
        });
    }
    negate(&mut quants, &signs);
    // The scale of a value is (1/2 + scale) / 2, and the factor is halved, as the value is doubled.
    let factor = f16::from_f32(f16::from_le_bytes(factor).to_f32() / 2.0);
    write_q6_k(target, factor, scales, &quants);
}

/// `IQ3_S`: a factor, the lower bits of 64 codes, their upper bits, the signs of all values, and a
/// 4-bit scale for every 32 values.
pub(super) fn iq3_s(block: &[u8], target: &mut [u8]) {
    let Some((factor, low, rest)) = split(block) else {
        return;
    };
    let (high, rest) = rest.split_at(rest.len().min(8));
    let Some((signs, stored_scales)) = rest.split_first_chunk::<32>() else {
        return;
    };
    let stored_scales = stored_scales
        .iter()
        .flat_map(|scales| [scales & 0xF, scales >> 4]);
    let mut scales = [0; 16];
    for (scales, stored) in scales.as_chunks_mut().0.iter_mut().zip(stored_scales) {
        *scales = [odd(stored.into()); 2];
    }
    let high = high
        .iter()
        .flat_map(|bits| (0..8).map(move |index| bits >> index & 1));
    let codes = low
        .iter()
        .zip(high)
        .map(|(low, high)| u16::from_le_bytes([*low, high]));
    let mut quants = [0; 256];
    for (quants, code) in quants.as_chunks_mut().0.iter_mut().zip(codes) {
        *quants = grids::IQ3_S.four(code).map(|index| odd(index.into()));
    }
    negate(&mut quants, signs);
    write_q6_k(target, f16::from_le_bytes(factor), scales, &quants);
}

/// Splits a block into its factor, 64 codes, and the rest.
fn split(block: &[u8]) -> Option<([u8; 2], &[u8; 64], &[u8])> {
    let (factor, rest) = block.split_first_chunk()?;
    let (codes, rest) = rest.split_first_chunk()?;
    Some((*factor, codes, rest))
}

/// Returns the odd number at this position.
const fn odd(index: u32) -> i8 {
    (2 * index + 1) as i8
}

/// Negates the values whose bit is set, eight for each byte.
fn negate(quants: &mut [i8; 256], signs: &[u8; 32]) {
    for (quants, signs) in quants.chunks_exact_mut(8).zip(signs) {
        for (index, quant) in quants.iter_mut().enumerate() {
            *quant = signed(*quant, *signs, index);
        }
    }
}
