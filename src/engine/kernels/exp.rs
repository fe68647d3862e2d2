//! The exponential function over all numbers, for vector instructions.

use crate::decoding::exp_normal;

/// Below this e^x is no longer a normal number.
const LOWEST: f32 = -87.0;

/// `e^x`, to 2e-7 of its value; 0 below −87, and no more than e^88.
#[expect(
    clippy::inline_always,
    reason = "only what is inlined into a dispatch is compiled for the processor that is there"
)]
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let power = exp_normal(x.clamp(LOWEST, 88.0));
    if x < LOWEST { 0.0 } else { power }
}

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
