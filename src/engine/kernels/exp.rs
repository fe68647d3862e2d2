//! An exponential function that a compiler can turn into vector instructions.

/// `e^x`, to 2e-7 of its value; 0 below −87.
///
/// x = n ln 2 + r with whole n; e^r by a polynomial on |r| ≤ ln 2 / 2, 2^n by the exponent's bits.
/// Cody, Waite 1980, "Software Manual for the Elementary Functions".
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    // Adding 1.5 × 2^23 rounds to a whole number, which then stands in the lowest bits.
    const ROUNDER: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let clamped = x.clamp(LOWEST, 88.0);
    let rounded = clamped * std::f32::consts::LOG2_E + ROUNDER;
    let n = rounded - ROUNDER;
    let r = clamped - n * LN_2_HIGH - n * LN_2_LOW;
    let mut sum = 1.0 / 5040.0;
    for coefficient in [
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ] {
        sum = sum * r + coefficient;
    }
    let power_of_two = f32::from_bits((rounded.to_bits() << 23).wrapping_add(0x3F80_0000));
    if x < LOWEST { 0.0 } else { sum * power_of_two }
}

/// Below this e^x is no longer a normal number.
const LOWEST: f32 = -87.0;

#[cfg(test)]
mod tests {
    use super::exp;

    #[test]
    fn it_is_the_exponential_to_single_precision() {
        for i in -8_700..8_800 {
            let x = i as f32 / 100.0;
            let exact = f64::from(x).exp();
            let error = (f64::from(exp(x)) - exact).abs() / exact;
            assert!(error < 2e-7, "{x}: {error}");
        }
    }

    #[test]
    fn its_ends_are_tame() {
        assert_eq!(exp(f32::NEG_INFINITY).to_bits(), 0);
        assert_eq!(exp(-1000.0).to_bits(), 0);
        assert_eq!(exp(0.0).to_bits(), 1.0_f32.to_bits());
        assert!(exp(f32::INFINITY).is_finite());
        assert!(exp(f32::NAN).is_nan());
    }
}
