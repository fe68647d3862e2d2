//! The exponential function for vectorized loops.

#![expect(
    clippy::inline_always,
    reason = "a loop is compiled for the instructions of its dispatch only if it is inlined there"
)]

use pulp::Simd;

/// Below this, e^x is no longer a normal number.
const MIN_EXPONENT: f32 = -87.0;

/// `e^x` with a relative error below 2e-7. Returns 0 below −87, and at most e^88.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let power = exp_normal::<false>(x.clamp(MIN_EXPONENT, 88.0));
    if x < MIN_EXPONENT { 0.0 } else { power }
}

/// `e^x` for `x` ≤ 0, with fused multiply-add if the instructions have it.
#[inline(always)]
pub(super) fn exp_nonpositive<S: Simd>(x: f32) -> f32 {
    let power = if S::IS_SCALAR {
        exp_normal::<false>(x)
    } else {
        exp_normal::<true>(x)
    };
    if x < MIN_EXPONENT { 0.0 } else { power }
}

/// `e^x` for x from −87.3 to 88, with a relative error below 2e-7.
///
/// `x = n · ln 2 + r` with an integer `n` and `|r| ≤ ln 2 / 2`. `exp(r)` is its Taylor polynomial
/// of degree 7, and `2^n` is assembled from its bits. The logarithm is split in two so that `r`
/// keeps all its digits (Cody, Waite 1980, "Software Manual for the Elementary Functions").
///
/// With `FUSED`, each multiply-add is rounded once, for CPUs that have the instruction.
#[inline(always)]
pub fn exp_normal<const FUSED: bool>(x: f32) -> f32 {
    /// Adding and subtracting 1.5 · 2^23 rounds to an integer, which ends up in the lowest bits.
    const ROUNDING: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let shifted = multiply_add::<FUSED>(x, std::f32::consts::LOG2_E, ROUNDING);
    let n = shifted - ROUNDING;
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

/// Returns a × b + c. `mul_add` is slow on CPUs without the instruction.
#[inline(always)]
fn multiply_add<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

#[cfg(test)]
mod tests {
    use pulp::{Arch, Scalar, Simd, WithSimd};

    use super::{exp, exp_nonpositive};

    struct ExpNonpositive(f32);

    impl WithSimd for ExpNonpositive {
        type Output = f32;

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> f32 {
            exp_nonpositive::<S>(self.0)
        }
    }

    fn exp_nonpositive_both_ways(x: f32) -> [f32; 2] {
        [
            Arch::new().dispatch(ExpNonpositive(x)),
            ExpNonpositive(x).with_simd(Scalar::new()),
        ]
    }

    #[test]
    fn it_is_accurate_to_single_precision() {
        for i in -8_700..8_800 {
            let x = i as f32 / 100.0;
            let exact = f64::from(x).exp();
            let error = |power: f32| (f64::from(power) - exact).abs() / exact;
            assert!(error(exp(x)) < 2e-7, "{x}: {}", error(exp(x)));
            for power in exp_nonpositive_both_ways(x).into_iter().filter(|_| i <= 0) {
                assert!(error(power) < 2e-7, "{x}: {}", error(power));
            }
        }
    }

    #[test]
    fn extreme_inputs_are_handled() {
        assert_eq!(exp(f32::NEG_INFINITY).to_bits(), 0);
        assert_eq!(exp(-1000.0).to_bits(), 0);
        assert_eq!(exp(0.0).to_bits(), 1.0_f32.to_bits());
        assert!(exp(f32::INFINITY).is_finite());
        assert!(exp(f32::NAN).is_nan());
        for x in [f32::NEG_INFINITY, f32::MIN, -1000.0] {
            assert_eq!(exp_nonpositive_both_ways(x).map(f32::to_bits), [0, 0]);
        }
        assert!(
            exp_nonpositive_both_ways(f32::NAN)
                .into_iter()
                .all(f32::is_nan)
        );
    }
}
