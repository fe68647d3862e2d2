//! Random bits from a seed: faster than coins, and without their address.

/// `SplitMix64`: Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators".
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

/// By how much the state grows with each number.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

impl SplitMix64 {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the generator of a seed after it has drawn `n` numbers.
    pub const fn after(seed: u64, n: u64) -> Self {
        Self(seed.wrapping_add(n.wrapping_mul(STEP)))
    }

    /// Draws the next number.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let bits = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// Draws a uniform number below `n`, up to a bias of n / 2⁶⁴.
    pub const fn below(&mut self, n: usize) -> usize {
        ((self.bits() as u128 * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::SplitMix64;

    #[test]
    fn the_numbers_are_those_of_the_authors_code() {
        let mut random = SplitMix64::new(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973];
        assert_eq!([random.bits(), random.bits()], expected);
        assert_eq!(SplitMix64::after(1_234_567, 1).bits(), expected[1]);
    }
}
