//! Writes blocks of the types to which others are converted.

use half::f16;

/// Values per block of `Q2_K` and `Q6_K`.
const N_VALUES: usize = 256;

/// Writes a block of `Q2_K` whose values are `scale` × (quant − 1). Its 2-bit quants are given as
/// stored.
pub(super) fn write_q2_k(target: &mut [u8], scale: [u8; 2], quants: &[u8]) {
    let Some((scales, rest)) = target.split_first_chunk_mut::<{ N_VALUES / 16 }>() else {
        return;
    };
    // Every scale and every minimum is 1, times its factor.
    *scales = [0x11; N_VALUES / 16];
    let (stored, factors) = rest.split_at_mut(rest.len().min(N_VALUES / 4));
    for (stored, quants) in stored.iter_mut().zip(quants) {
        *stored = *quants;
    }
    for factor in factors.as_chunks_mut().0 {
        *factor = scale;
    }
}

/// Writes a block of `Q4_0`: a scale, and 32 quants from −8 to 7.
pub(super) fn write_q4_0(target: &mut [u8], scale: [u8; 2], quant: impl Fn(usize) -> i8) {
    let nibble = |column| (quant(column) + 8).cast_unsigned() & 0xF;
    if let Some((stored_scale, nibbles)) = target.split_first_chunk_mut() {
        *stored_scale = scale;
        for (column, byte) in nibbles.iter_mut().enumerate() {
            *byte = nibble(column) | nibble(column + 16) << 4;
        }
    }
}

/// Writes a block of `Q5_0`: a scale, and 32 quants from −16 to 15.
pub(super) fn write_q5_0(target: &mut [u8], scale: f16, quants: [i8; 32]) {
    let quants = quants.map(|quant| (quant + 16).cast_unsigned());
    let fifth_bits = quants.iter().rev();
    let fifth_bits = fifth_bits.fold(0, |bits, quant| bits << 1 | u32::from(quant >> 4 & 1));
    let parts = target.split_first_chunk_mut();
    let parts = parts.and_then(|(scale, rest)| Some((scale, rest.split_first_chunk_mut()?)));
    if let Some((stored_scale, (stored_bits, nibbles))) = parts {
        *stored_scale = scale.to_le_bytes();
        *stored_bits = fifth_bits.to_le_bytes();
        let (low, high) = quants.split_at(16);
        for (byte, (low, high)) in nibbles.iter_mut().zip(low.iter().zip(high)) {
            *byte = low & 0xF | (high & 0xF) << 4;
        }
    }
}

/// Writes a block of `Q6_K`: a factor for all scales, 16 scales, and 256 quants from −32 to 31.
pub(super) fn write_q6_k(
    target: &mut [u8],
    factor: f16,
    scales: [i8; N_VALUES / 16],
    quants: &[i8; N_VALUES],
) {
    let (low, rest) = target.split_at_mut(target.len().min(N_VALUES / 2));
    let (high, rest) = rest.split_at_mut(rest.len().min(N_VALUES / 4));
    let Some((stored_scales, stored_factor)) = rest.split_first_chunk_mut() else {
        return;
    };
    *stored_scales = scales.map(i8::cast_unsigned);
    if let Some(stored_factor) = stored_factor.first_chunk_mut() {
        *stored_factor = factor.to_le_bytes();
    }
    low.fill(0);
    high.fill(0);
    // Each half of a block has its own bytes: 64 of lower bits, then 32 of upper bits.
    let halves = low.chunks_exact_mut(64).zip(high.chunks_exact_mut(32));
    for ((low, high), quants) in halves.zip(quants.chunks_exact(N_VALUES / 2)) {
        for (part, quants) in quants.chunks_exact(32).enumerate() {
            let low = low.iter_mut().skip(part % 2 * 32);
            for ((low, high), quant) in low.zip(high.iter_mut()).zip(quants) {
                let quant = (quant + 32).cast_unsigned();
                *low |= (quant & 0xF) << (part / 2 * 4);
                *high |= (quant >> 4 & 3) << (part * 2);
            }
        }
    }
}

/// Writes a block of `Q8_0`: a scale, and 32 quants.
pub(super) fn write_q8_0(target: &mut [u8], scale: f16, quants: impl Iterator<Item = i8>) {
    if let Some((stored_scale, stored)) = target.split_first_chunk_mut() {
        *stored_scale = scale.to_le_bytes();
        for (stored, quant) in stored.iter_mut().zip(quants) {
            *stored = quant.cast_unsigned();
        }
    }
}
