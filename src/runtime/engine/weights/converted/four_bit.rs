//! Types whose 4-bit quants are positions in a table of 16 values.

use half::f16;

use super::target_blocks::{write_q5_0, write_q8_0};

/// The table of `IQ4_NL` and `IQ4_XS`.
const IQ4: [i8; 16] = [
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,
];

/// Twice the values of 4-bit floats with 2 exponent bits and 1 mantissa bit (Open Compute Project
/// 2023, "OCP Microscaling Formats (MX) Specification").
const E2M1: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// `IQ4_NL`: a scale and 32 quants. Becomes `Q8_0`.
pub(super) fn iq4_nl(block: &[u8], target: &mut [u8]) {
    if let Some((scale, quants)) = block.split_first_chunk() {
        write_q8_0(target, f16::from_le_bytes(*scale), looked_up(&IQ4, quants));
    }
}

/// `IQ4_XS`: a factor, 6-bit scales minus 32 for every 32 values, and 256 quants. Becomes eight
/// blocks of `Q8_0`.
pub(super) fn iq4_xs(block: &[u8], target: &mut [u8]) {
    let Some(([factor, low @ ..], quants)) = split(block) else {
        return;
    };
    let [high, low @ ..] = low;
    let high = u16::from_le_bytes(high);
    let factor = f16::from_le_bytes(factor).to_f32();
    let low = low
        .as_flattened()
        .iter()
        .flat_map(|low| [low & 0xF, low >> 4]);
    let targets = target.chunks_exact_mut(2 + 32);
    for (index, ((low, quants), target)) in
        low.zip(quants.chunks_exact(16)).zip(targets).enumerate()
    {
        let high = (high >> (2 * index) & 3) as u8;
        let scale = f32::from(low | high << 4) - 32.0;
        write_q8_0(
            target,
            f16::from_f32(factor * scale),
            looked_up(&IQ4, quants),
        );
    }
}

/// Splits eight bytes off a block, two by two.
fn split(block: &[u8]) -> Option<([[u8; 2]; 4], &[u8])> {
    let (head, quants) = block.split_first_chunk::<8>()?;
    let pairs = head.as_chunks().0.first_chunk()?;
    Some((*pairs, quants))
}

/// `MXFP4`: a power of two and 32 quants. Becomes `Q5_0`.
pub(super) fn mxfp4(block: &[u8], target: &mut [u8]) {
    /// The exponent, with its bias, of the smallest 16-bit float.
    const MIN_EXPONENT: u32 = 128 - 24;

    let Some((exponent, quants)) = block.split_first() else {
        return;
    };
    let exponent = u32::from(*exponent);
    let mut values = [0; 32];
    for (value, quant) in values.iter_mut().zip(looked_up(&E2M1, quants)) {
        *value = quant;
    }
    // A smaller power of two is moved into the quants, which are then rounded.
    let n_too_small = MIN_EXPONENT.saturating_sub(exponent);
    if n_too_small > 0 {
        let divisor = 2_f32.powi(n_too_small.cast_signed());
        values = values.map(|value| (f32::from(value) / divisor).round() as i8);
    }
    let scale = 2_f32.powi((exponent + n_too_small).cast_signed() - 128);
    write_q5_0(target, f16::from_f32(scale), values);
}

/// `NVFP4`: four scales and 64 quants, 16 for each scale.
pub(super) fn nvfp4(blocks: &[u8], values: &mut [f32]) {
    for (block, values) in blocks.chunks_exact(36).zip(values.chunks_exact_mut(64)) {
        let (scales, quants) = block.split_at(4);
        let parts = quants.chunks_exact(8).zip(values.chunks_exact_mut(16));
        for (scale, (quants, values)) in scales.iter().zip(parts) {
            let scale = half_of_ue4m3(*scale);
            for (value, quant) in values.iter_mut().zip(looked_up(&E2M1, quants)) {
                *value = scale * f32::from(quant);
            }
        }
    }
}

/// Decodes half of an unsigned 8-bit float: 4 exponent bits with a bias of 7, and 3 mantissa bits.
/// As in ggml, what is not a number counts as 0, and the highest bit does not count.
fn half_of_ue4m3(bits: u8) -> f32 {
    if bits == 0x7F {
        return 0.0;
    }
    // The bias of an f16 is larger by 8.
    f16::from_bits(u16::from(bits & 0x7F) << 7).to_f32() * 128.0
}

/// Looks up the quants of a block: the low nibbles, then the high ones.
fn looked_up(table: &[i8; 16], quants: &[u8]) -> impl Iterator<Item = i8> {
    let low = quants.iter().map(|byte| byte & 0xF);
    let high = quants.iter().map(|byte| byte >> 4);
    low.chain(high)
        .map(|quant| table.get(usize::from(quant)).copied().unwrap_or_default())
}
