//! The exponential function over all numbers, for vector instructions.

#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a dispatch is compiled for the processor that is there"
)]

use pulp::Simd;

use crate::decoding::exp_normal;

/// Below this e^x is no longer a normal number.
const LOWEST: f32 = -87.0;

/// `e^x`, to 2e-7 of its value; 0 below −87, and no more than e^88.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let power = exp_normal::<false>(x.clamp(LOWEST, 88.0));
    if x < LOWEST { 0.0 } else { power }
}

/// The same for `x` that is at most 0, with the steps that these instructions have.
#[inline(always)]
pub fn exp_below<S: Simd>(x: f32) -> f32 {
    let power = if S::IS_SCALAR {
        exp_normal::<false>(x)
    } else {
        exp_normal::<true>(x)
    };
    if x < LOWEST { 0.0 } else { power }
}

#[cfg(test)]
mod tests {
    use pulp::{Arch, Scalar, Simd, WithSimd};

    use super::{exp, exp_below};

    struct Below(f32);

    impl WithSimd for Below {
        type Output = f32;

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> f32 {
            exp_below::<S>(self.0)
        }
    }

    fn below(x: f32) -> [f32; 2] {
        [
            Arch::new().dispatch(Below(x)),
            Below(x).with_simd(Scalar::new()),
        ]
    }

    #[test]
    fn it_is_the_exponential_to_single_precision() {
        for i in -8_700..8_800 {
            let x = i as f32 / 100.0;
            let exact = f64::from(x).exp();
            let error = |power: f32| (f64::from(power) - exact).abs() / exact;
            assert!(error(exp(x)) < 2e-7, "{x}: {}", error(exp(x)));
            for power in below(x).into_iter().filter(|_| i <= 0) {
                assert!(error(power) < 2e-7, "{x}: {}", error(power));
            }
        }
    }

    #[test]
    fn its_ends_are_tame() {
        assert_eq!(exp(f32::NEG_INFINITY).to_bits(), 0);
        assert_eq!(exp(-1000.0).to_bits(), 0);
        assert_eq!(exp(0.0).to_bits(), 1.0_f32.to_bits());
        assert!(exp(f32::INFINITY).is_finite());
        assert!(exp(f32::NAN).is_nan());
        for x in [f32::NEG_INFINITY, f32::MIN, -1000.0] {
            assert_eq!(below(x).map(f32::to_bits), [0, 0]);
        }
        assert!(below(f32::NAN).into_iter().all(f32::is_nan));
    }
}
