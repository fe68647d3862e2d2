//! Random bits from a fixed seed, drawn faster than coins.

/// `SplitMix64`: Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators".
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// Returns a uniform number below `n`, up to a bias of n / 2⁶⁴.
    pub(super) const fn below(&mut self, n: usize) -> usize {
        ((self.bits() as u128 * n as u128) >> 64) as usize
    }
}
