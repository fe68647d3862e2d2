//! Types whose values are −1, 0 or 1, or only −1 or 1, times a scale.

use super::target_blocks::{write_q2_k, write_q4_0};

/// Values per block of `TQ1_0` and `TQ2_0`.
const N_VALUES: usize = 256;

/// `Q1_0`: a scale and 128 signs. Becomes four blocks of `Q4_0`.
pub(super) fn q1_0(block: &[u8], target: &mut [u8]) {
    let Some((scale, bits)) = block.split_first_chunk() else {
        return;
    };
    let bits = bits
        .as_chunks()
        .0
        .iter()
        .map(|bits| u32::from_le_bytes(*bits));
    for (bits, target) in bits.zip(target.chunks_exact_mut(2 + 16)) {
        let sign = |column: usize| if bits >> column & 1 == 1 { 1 } else { -1 };
        write_q4_0(target, *scale, sign);
    }
}

/// `TQ1_0`: 48 bytes of five digits to the base 3, four bytes of four digits, and a scale. Becomes
/// `Q2_K`.
pub(super) fn tq1_0(block: &[u8], target: &mut [u8]) {
    let (digits, scale) = block.split_at(block.len().min(52));
    // The digits of a group of bytes come first digit first, and for each of them byte by byte.
    let (first, rest) = digits.split_at(digits.len().min(32));
    let (second, third) = rest.split_at(rest.len().min(16));
    let groups = [(first, 5), (second, 5), (third, 4)];
    let digits = groups.into_iter().flat_map(|(bytes, n_digits)| {
        (0..n_digits).flat_map(move |index| bytes.iter().map(move |byte| digit(*byte, index)))
    });
    let mut quants = [0; N_VALUES / 4];
    for (column, digit) in digits.enumerate() {
        // As in Q2_K, a byte has the quants of four columns that are 32 apart.
        let index = column / 128 * 32 + column % 32;
        if let Some(quants) = quants.get_mut(index) {
            *quants |= digit << (column % 128 / 32 * 2);
        }
    }
    write(target, scale, &quants);
}

/// Returns a digit of a byte, which stands for the fraction byte / 256.
fn digit(byte: u8, index: u32) -> u8 {
    let rest = byte.wrapping_mul(3_u8.pow(index));
    ((u16::from(rest) * 3) >> 8) as u8
}

/// `TQ2_0`: 256 2-bit digits in the order of `Q2_K`, and a scale. Becomes `Q2_K`.
pub(super) fn tq2_0(block: &[u8], target: &mut [u8]) {
    let (quants, scale) = block.split_at(block.len().min(N_VALUES / 4));
    write(target, scale, quants);
}

fn write(target: &mut [u8], scale: &[u8], quants: &[u8]) {
    write_q2_k(
        target,
        scale.first_chunk().copied().unwrap_or_default(),
        quants,
    );
}
