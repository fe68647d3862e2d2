//! Types that store values one by one.

use half::f16;

/// Decodes 64-bit floats.
pub(super) fn f64(bytes: &[u8], values: &mut [f32]) {
    decode(bytes, values, |number| f64::from_le_bytes(number) as f32);
}

/// Decodes 8-bit floats with 4 exponent bits, which have no infinities (Micikevicius et al. 2022,
/// "FP8 Formats for Deep Learning").
pub(super) fn f8_e4m3(bytes: &[u8], values: &mut [f32]) {
    decode(bytes, values, |[bits]| e4m3(bits));
}

/// Decodes 8-bit floats with 5 exponent bits, which are the upper halves of 16-bit floats.
pub(super) fn f8_e5m2(bytes: &[u8], values: &mut [f32]) {
    decode(bytes, values, |[bits]| {
        f16::from_le_bytes([0, bits]).to_f32()
    });
}

/// Decodes 8-bit integers.
pub(super) fn i8(bytes: &[u8], values: &mut [f32]) {
    decode(bytes, values, |number| i8::from_le_bytes(number).into());
}

/// Decodes 16-bit integers.
pub(super) fn i16(bytes: &[u8], values: &mut [f32]) {
    decode(bytes, values, |number| i16::from_le_bytes(number).into());
}

/// Decodes 32-bit integers.
pub(super) fn i32(bytes: &[u8], values: &mut [f32]) {
    decode(bytes, values, |number| i32::from_le_bytes(number) as f32);
}

/// Decodes 64-bit integers.
pub(super) fn i64(bytes: &[u8], values: &mut [f32]) {
    decode(bytes, values, |number| i64::from_le_bytes(number) as f32);
}

fn decode<const N: usize>(bytes: &[u8], values: &mut [f32], number: impl Fn([u8; N]) -> f32) {
    for (value, bytes) in values.iter_mut().zip(bytes.as_chunks().0) {
        *value = number(*bytes);
    }
}

/// Decodes an 8-bit float: a sign, 4 exponent bits with a bias of 7, and 3 mantissa bits. All bits
/// but the sign are set if it is not a number.
fn e4m3(bits: u8) -> f32 {
    let magnitude = match bits & 0x7F {
        0x7F => f32::NAN,
        // An f16 has 4 exponent bits more than needed for the value and 7 mantissa bits more; its
        // bias is larger by 8.
        magnitude => f16::from_bits(u16::from(magnitude) << 7).to_f32() * 256.0,
    };
    if bits & 0x80 == 0 {
        magnitude
    } else {
        -magnitude
    }
}
