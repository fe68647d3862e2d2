//! The exponential function where it gives normal numbers, in a form that a compiler can turn into vector
//! instructions. It serves the softmax here and the kernels of the engine.

/// `e^x` for x from −87.3 to 88, to 2e-7 of its value.
///
/// `x = n · ln 2 + r` with a whole `n` and `|r| ≤ ln 2 / 2`; `exp(r)` is its Taylor polynomial of
/// degree 7, and `2^n` is put together from its bits. The logarithm is split in two so that `r`
/// keeps all its digits (Cody, Waite 1980, "Software Manual for the Elementary Functions").
///
/// Where `FUSED`, each product and the sum after it are rounded once: for processors that do both in one step.
#[inline(always)]
pub(crate) fn exp_normal<const FUSED: bool>(x: f32) -> f32 {
    /// Adding and taking away 1.5 · 2^23 rounds to a whole number, which stands in the lowest bits.
    const ROUNDER: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let shifted = multiply_add::<FUSED>(x, std::f32::consts::LOG2_E, ROUNDER);
    let n = shifted - ROUNDER;
    let r = multiply_add::<FUSED>(-n, LN_2_HIGH, x);
    let r = multiply_add::<FUSED>(-n, LN_2_LOW, r);
    let mut power = 1.0 / 5040.0;
    for coefficient in [
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ] {
        power = multiply_add::<FUSED>(power, r, coefficient);
    }
    power * f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0_f32.to_bits()))
}

/// a × b + c. The one step is slow where the processor has none.
#[inline(always)]
fn multiply_add<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}
