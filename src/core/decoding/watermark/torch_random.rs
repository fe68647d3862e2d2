//! The random numbers of `PyTorch` on a CPU, which determine transformers' green tokens.

const N: usize = 624;
const M: usize = 397;

/// The generator behind `torch.Generator` on a CPU, of which `manual_seed` uses the lower 32 bits.
///
/// Matsumoto, Nishimura 1998, "Mersenne Twister: a 623-dimensionally equidistributed uniform
/// pseudo-random number generator".
pub(super) struct MersenneTwister {
    state: [u32; N],
    next: usize,
}

impl MersenneTwister {
    pub(super) fn new(seed: u32) -> Self {
        let mut last = seed;
        let state = std::array::from_fn(|index| {
            if index > 0 {
                last = (last ^ last >> 30)
                    .wrapping_mul(1_812_433_253)
                    .wrapping_add(index as u32);
            }
            last
        });
        Self { state, next: N }
    }

    fn at(&self, index: usize) -> u32 {
        self.state.get(index % N).copied().unwrap_or_default()
    }

    fn refill(&mut self) {
        for index in 0..N {
            let bits = self.at(index) & 0x8000_0000 | self.at(index + 1) & 0x7FFF_FFFF;
            let odd = if bits & 1 == 1 { 0x9908_B0DF } else { 0 };
            let new = self.at(index + M) ^ bits >> 1 ^ odd;
            if let Some(slot) = self.state.get_mut(index) {
                *slot = new;
            }
        }
        self.next = 0;
    }

    pub(super) fn random(&mut self) -> u32 {
        if self.next == N {
            self.refill();
        }
        let mut bits = self.at(self.next);
        self.next += 1;
        bits ^= bits >> 11;
        bits ^= bits << 7 & 0x9D2C_5680;
        bits ^= bits << 15 & 0xEFC6_0000;
        bits ^ bits >> 18
    }
}

/// The swaps of `torch.randperm(n)`: step i swaps the contents of place i and the returned place.
pub(super) fn swaps(seed: u32, n: u32) -> impl Iterator<Item = u32> {
    let mut generator = MersenneTwister::new(seed);
    // The last place has nothing to swap with, and draws no number.
    (0..n).map(move |place| match n - place {
        1 => place,
        n_left => place + generator.random() % n_left,
    })
}

#[cfg(test)]
mod tests {
    use super::{MersenneTwister, swaps};

    #[test]
    fn the_generator_returns_the_published_numbers() {
        // The first for the default seed, and the 10,000th, which the C++ standard specifies.
        let mut generator = MersenneTwister::new(5489);
        assert_eq!(generator.random(), 3_499_211_612);
        let last = (0..9_999).map(|_| generator.random()).last();
        assert_eq!(last, Some(4_123_659_995));
    }

    /// `torch.randperm(9, generator=torch.Generator().manual_seed(42))`.
    #[test]
    fn swaps_make_the_permutation_of_torch() {
        let mut places: Vec<usize> = (0..9).collect();
        for (place, other) in swaps(42, 9).enumerate() {
            places.swap(place, other as usize);
        }
        assert_eq!(places, RANDPERM_9);
    }

    const RANDPERM_9: [usize; 9] = [6, 4, 0, 7, 5, 8, 3, 2, 1];
}
