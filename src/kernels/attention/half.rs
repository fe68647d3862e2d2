//! Half precision (binary16) storage for keys and values; attention computes in single precision.

#[cfg(target_arch = "x86_64")]
use std::any::Any;

use pulp::Simd;
#[cfg(target_arch = "x86_64")]
use pulp::x86::V4;

use super::Lanes;
use crate::N_LANES;

/// Two registers of IEEE binary16 numbers in one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct HalfLanes([[u16; N_LANES]; 2]);

/// The bits of the largest finite number.
const MAX: u32 = 0x7BFF;

/// Multiplying by this moves the exponent bias from 15 to 127, for subnormal numbers too.
const BIAS: f32 = f32::from_bits((127 + 112) << 23);

impl HalfLanes {
    /// All zeros.
    pub(super) const ZERO: Self = Self([[0; N_LANES]; 2]);

    /// Sets one lane of the first or the second register.
    pub(super) fn set(&mut self, register: usize, lane: usize, value: f32) {
        let targets = self.0.get_mut(register);
        if let Some(target) = targets.and_then(|lanes| lanes.get_mut(lane)) {
            *target = round(value) as u16;
        }
    }

    /// Converts to single precision, exactly. NaN and infinity never occur, because [`round`] does
    /// not produce them. No closures here or below: they would not be compiled for the instructions
    /// of the dispatch.
    #[inline(always)]
    pub(super) fn widen<S: Simd>(&self, simd: S) -> [Lanes; 2] {
        let [first, second] = self.0;
        [widen(simd, first), widen(simd, second)]
    }
}

/// Converts one register to single precision.
#[inline(always)]
fn widen<S: Simd>(simd: S, numbers: [u16; N_LANES]) -> Lanes {
    #[cfg(target_arch = "x86_64")]
    if let Some(v4) = (&simd as &dyn Any).downcast_ref::<V4>() {
        return Lanes(pulp::cast(v4.avx512f._mm512_cvtph_ps(pulp::cast(numbers))));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _: S = simd;
    let mut widened = Lanes::all(0.0);
    for (target, number) in widened.0.iter_mut().zip(numbers) {
        let number = u32::from(number);
        let magnitude = f32::from_bits((number & 0x7FFF) << 13) * BIAS;
        *target = f32::from_bits(magnitude.to_bits() | (number & 0x8000) << 16);
    }
    widened
}

/// Rounds to the nearest binary16 number, ties to even, and returns its bits. Larger magnitudes
/// saturate, because one infinite key would hide all others.
#[inline(always)]
const fn round(value: f32) -> u32 {
    let bits = value.to_bits();
    let sign = (bits >> 16) & 0x8000;
    let magnitude = bits & 0x7FFF_FFFF;
    // The exponent bias changes from 127 to 15. Rounding drops 13 bits, and a carry goes into the
    // exponent.
    let rounding = 0xFFF + ((magnitude >> 13) & 1);
    let normal = magnitude.wrapping_add(rounding).wrapping_sub(112 << 23) >> 13;
    // Below 2^-14, binary16 numbers are multiples of 2^-24, and so are single-precision numbers
    // just above 0.5.
    let small = (f32::from_bits(magnitude) + 0.5)
        .to_bits()
        .wrapping_sub(0.5_f32.to_bits());
    let finite = if normal < MAX { normal } else { MAX };
    sign | if magnitude < 113 << 23 { small } else { finite }
}

#[cfg(test)]
mod tests {
    use half::f16;
    use pulp::{Arch, Scalar, Simd, WithSimd};

    use super::HalfLanes;

    struct Widening(HalfLanes);

    impl WithSimd for Widening {
        type Output = [f32; 2];

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> [f32; 2] {
            let [first, second] = self.0.widen(simd);
            [first.0[3], second.0[5]]
        }
    }

    /// Rounds a value and widens it again; checks that the sign and the instruction set make no
    /// difference.
    fn rounded(value: f32) -> f32 {
        let mut lanes = HalfLanes::ZERO;
        lanes.set(0, 3, value);
        lanes.set(1, 5, -value);
        let [first, second] = Arch::new().dispatch(Widening(lanes));
        assert_eq!(first.to_bits(), (-second).to_bits());
        let alone = Widening(lanes).with_simd(Scalar::new());
        assert_eq!(alone.map(f32::to_bits), [first, second].map(f32::to_bits));
        first
    }

    #[test]
    fn every_finite_number_survives_the_round_trip() {
        for bits in 0..=u16::MAX {
            let number = f16::from_bits(bits);
            if number.is_finite() {
                assert_eq!(
                    rounded(number.to_f32()).to_bits(),
                    number.to_f32().to_bits()
                );
            }
        }
    }

    #[test]
    fn values_round_to_nearest_ties_to_even() {
        for bits in (0..0x477F_E000_u32).step_by(997) {
            let value = f32::from_bits(bits);
            assert_eq!(
                rounded(value).to_bits(),
                f16::from_f32(value).to_f32().to_bits()
            );
        }
        for bits in 0..0x7BFF_u16 {
            let ends = [bits, bits + 1].map(|bits| f16::from_bits(bits).to_f32());
            let middle = f32::midpoint(ends[0], ends[1]);
            for value in [middle, middle.next_down(), middle.next_up()] {
                let expected = f16::from_f32(value).to_f32();
                assert_eq!(rounded(value).to_bits(), expected.to_bits(), "{value}");
            }
        }
    }

    #[test]
    fn large_values_saturate() {
        for value in [65_519.0, 65_520.0, 1e9, f32::MAX, f32::INFINITY] {
            assert_eq!(rounded(value).to_bits(), 65_504.0_f32.to_bits());
        }
        assert!(rounded(f32::NAN).abs() > 65_000.0);
    }
}
