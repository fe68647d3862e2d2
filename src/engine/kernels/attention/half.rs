//! 16-bit floating-point numbers, converted in steps that a compiler can turn into vector instructions.

/// Two numbers in IEEE's binary16, the first in the lower half.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Halves(u32);

/// The largest number.
const MAX: u32 = 0x7BFF;

/// Multiplying with this moves the exponent's bias from 15 to 127, also for numbers below 2^-14.
const BIAS: f32 = f32::from_bits((127 + 112) << 23);

impl Halves {
    /// Writes the number at 0 or 1.
    #[inline(always)]
    pub const fn set(&mut self, index: usize, value: f32) {
        let rounded = round(value);
        self.0 = if index == 0 {
            (self.0 & 0xFFFF_0000) | rounded
        } else {
            (self.0 & 0xFFFF) | (rounded << 16)
        };
    }

    /// The numbers in single precision. What is no number becomes a large one.
    #[inline(always)]
    pub const fn get(self) -> [f32; 2] {
        let first = ((self.0 << 16) & 0x8000_0000) | ((self.0 << 13) & 0x0FFF_E000);
        let second = (self.0 & 0x8000_0000) | ((self.0 >> 3) & 0x0FFF_E000);
        [f32::from_bits(first) * BIAS, f32::from_bits(second) * BIAS]
    }
}

/// The bits of the nearest number, of two the even one. Beyond the largest it is the largest, because one
/// infinite key would hide all others.
#[inline(always)]
const fn round(value: f32) -> u32 {
    let bits = value.to_bits();
    let sign = (bits >> 16) & 0x8000;
    let magnitude = bits & 0x7FFF_FFFF;
    // The exponent's bias goes from 127 to 15; 13 bits are rounded away, a carry goes into the exponent.
    let rounding = 0xFFF + ((magnitude >> 13) & 1);
    let normal = magnitude.wrapping_add(rounding).wrapping_sub(112 << 23) >> 13;
    // Below 2^-14 numbers are multiples of 2^-24: so is every sum with one half in single precision.
    let small = (f32::from_bits(magnitude) + 0.5)
        .to_bits()
        .wrapping_sub(0.5_f32.to_bits());
    let finite = if normal < MAX { normal } else { MAX };
    sign | if magnitude < 113 << 23 { small } else { finite }
}

#[cfg(test)]
mod tests {
    use half::f16;

    use super::Halves;

    fn rounded(value: f32) -> f32 {
        let mut halves = Halves(0x1234_5678);
        halves.set(0, value);
        halves.set(1, -value);
        let [first, second] = halves.get();
        assert_eq!(first.to_bits(), (-second).to_bits());
        first
    }

    #[test]
    fn every_number_comes_back() {
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
    fn numbers_between_go_to_the_nearest_and_then_to_the_even_one() {
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
    fn what_is_too_large_is_the_largest() {
        for value in [65_519.0, 65_520.0, 1e9, f32::MAX, f32::INFINITY] {
            assert_eq!(rounded(value).to_bits(), 65_504.0_f32.to_bits());
        }
        assert!(rounded(f32::NAN).abs() > 65_000.0);
    }
}
