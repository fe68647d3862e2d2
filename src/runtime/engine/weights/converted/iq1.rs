//! The IQ types of about 1.5 bits: codes for eight values of −1, 0 or 1, to which 1/8 is added or
//! from which it is subtracted, and scales. They become `Q6_K`, with quants eight times as large.

use half::f16;

use super::grids;
use super::target_blocks::write_q6_k;

/// `IQ1_S`: a factor, the lower bits of 32 codes, and for every four codes their upper bits, a 3-bit
/// scale, and whether to subtract.
pub(super) fn iq1_s(block: &[u8], target: &mut [u8]) {
    let Some((factor, rest)) = block.split_first_chunk() else {
        return;
    };
    let (low, parts) = rest.split_at(rest.len().min(32));
    let parts = parts
        .as_chunks()
        .0
        .iter()
        .map(|bits| u16::from_le_bytes(*bits));
    let mut scales = [0; 16];
    let mut quants = [0; 256];
    let targets = scales
        .as_chunks_mut()
        .0
        .iter_mut()
        .zip(quants.chunks_exact_mut(32));
    for ((bits, low), (scales, quants)) in parts.zip(low.chunks_exact(4)).zip(targets) {
        *scales = [scale_of(bits >> 12); 2];
        let high = [0, 3, 6, 9].map(|shift| bits >> shift & 7);
        for ((quants, low), high) in quants.as_chunks_mut().0.iter_mut().zip(low).zip(high) {
            *quants = eight(*low, high, bits >> 15 == 1);
        }
    }
    write(target, f16::from_le_bytes(*factor), scales, &quants);
}

/// `IQ1_M`: the lower bits of 32 codes, their upper bits and whether to subtract, and four words
/// with a 3-bit scale for every two codes and 4 bits of a factor.
pub(super) fn iq1_m(block: &[u8], target: &mut [u8]) {
    let (low, rest) = block.split_at(block.len().min(32));
    let (high, words) = rest.split_at(rest.len().min(16));
    let mut scales = [0; 16];
    let mut factor = 0;
    let words = words
        .as_chunks()
        .0
        .iter()
        .map(|word| u16::from_le_bytes(*word));
    for (scales, word) in scales.as_chunks_mut().0.iter_mut().zip(words) {
        *scales = [0, 3, 6, 9].map(|shift| scale_of(word >> shift));
        factor = factor >> 4 | word & 0xF000;
    }
    let high = high.iter().flat_map(|bits| [bits & 0xF, bits >> 4]);
    let mut quants = [0; 256];
    for ((quants, low), high) in quants.as_chunks_mut().0.iter_mut().zip(low).zip(high) {
        *quants = eight(*low, u16::from(high & 7), high & 8 != 0);
    }
    write(target, f16::from_bits(factor), scales, &quants);
}

/// Returns eight times the values of a code.
fn eight(low: u8, high: u16, subtracts: bool) -> [i8; 8] {
    let shift = if subtracts { -1 } else { 1 };
    let values = grids::IQ1.eight(u16::from(low) | high << 8);
    values.map(|value| 8 * (value.cast_signed() - 1) + shift)
}

/// Returns what a 3-bit scale stands for.
const fn scale_of(bits: u16) -> i8 {
    (2 * (bits & 7) + 1) as i8
}

fn write(target: &mut [u8], factor: f16, scales: [i8; 16], quants: &[i8; 256]) {
    write_q6_k(target, f16::from_f32(factor.to_f32() / 8.0), scales, quants);
}
