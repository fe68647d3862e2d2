//! Addressable randomness: the coins of a step depend only on the seed and the position.

use super::TokenId;

/// The coins of one step: a pure function of the seed and the position that never changes, on any
/// machine.
///
/// A coin is an output of Philox 4×32 with ten rounds. Its key is the seed, low word first. Its
/// counter is the position, low word first, then the use (0 the draw, 1 a stage, 2 a token's noise,
/// 3 the verification of a draft, 4 the replacement of one), then the index within that use (0 for
/// the draw). The first output word is the low half and the second the high half of 64 bits; the
/// upper 53 of them, divided by 2^53, are the coin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coins {
    pub seed: u64,
    /// The position of the sampled token in its sequence, counted from zero at the first prompt
    /// token. A branch, a replay and another pane with the same seed toss the same coins at the
    /// same position.
    pub position: u64,
}

impl Coins {
    /// Returns the coin in `[0, 1)` that picks the token.
    pub fn draw(self) -> f64 {
        self.toss(Use::Draw, 0)
    }

    /// Returns the coin in `[0, 1)` of the `index`-th random stage, counted from zero.
    pub fn stage(self, index: u32) -> f64 {
        self.toss(Use::Stage, index)
    }

    /// Returns the coin in `[0, 1)` of one token, for noise that is drawn per token.
    #[inline(always)]
    pub fn token(self, token: TokenId) -> f64 {
        self.toss(Use::Token, token.0)
    }

    /// Returns the coin in `[0, 1)` that decides whether a draft is accepted.
    pub fn acceptance(self) -> f64 {
        self.toss(Use::Acceptance, 0)
    }

    /// Returns the coin in `[0, 1)` that picks the replacement for a rejected draft.
    pub fn replacement(self) -> f64 {
        self.toss(Use::Replacement, 0)
    }

    /// Returns the coins of a second draw at the same position, which are independent of the first.
    #[must_use]
    pub const fn redraw(self) -> Self {
        Self {
            position: self.position ^ REDRAW,
            ..self
        }
    }

    #[inline(always)]
    fn toss(self, purpose: Use, index: u32) -> f64 {
        let counter = [
            self.position as u32,
            (self.position >> 32) as u32,
            purpose as u32,
            index,
        ];
        let key = [self.seed as u32, (self.seed >> 32) as u32];
        let [low, high, _, _] = philox4x32_10(counter, key);
        let bits = (u64::from(high) << 32 | u64::from(low)) >> 11;
        bits as f64 / (1_u64 << 53) as f64
    }
}

/// The bit of the position that tells the coins of a second draw from those of the first. No text is
/// long enough to reach it.
const REDRAW: u64 = 1 << 63;

/// What a coin is used for. Different uses at one position must not share a coin.
#[derive(Clone, Copy)]
enum Use {
    Draw = 0,
    Stage = 1,
    Token = 2,
    Acceptance = 3,
    Replacement = 4,
}

/// Philox 4×32 with ten rounds: a counter-based generator, so any coin can be computed directly.
///
/// Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3".
#[inline(always)]
pub(super) fn philox4x32_10(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let [c0, c1, c2, c3] = counter;
        let product_0 = u64::from(c0) * 0xD251_1F53;
        let product_1 = u64::from(c2) * 0xCD9E_8D57;
        counter = [
            (product_1 >> 32) as u32 ^ c1 ^ key[0],
            product_1 as u32,
            (product_0 >> 32) as u32 ^ c3 ^ key[1],
            product_0 as u32,
        ];
        key = [
            key[0].wrapping_add(0x9E37_79B9),
            key[1].wrapping_add(0xBB67_AE85),
        ];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::{Coins, philox4x32_10};
    use crate::decoding::TokenId;

    /// The known answers published with the authors' reference implementation.
    #[test]
    fn philox_returns_the_published_answers() {
        let ones = u32::MAX;
        let pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        for (counter, key, expected) in [
            (
                [0; 4],
                [0; 2],
                [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8],
            ),
            (
                [ones; 4],
                [ones; 2],
                [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd],
            ),
            (
                pi,
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ] {
            assert_eq!(philox4x32_10(counter, key), expected);
        }
    }

    #[test]
    fn the_first_coins_of_seed_42_never_change() {
        let coins: Vec<String> = (0..4)
            .map(|position| format!("{:.12}", Coins { seed: 42, position }.draw()))
            .collect();
        let expected = [
            "0.468586518339",
            "0.327063381203",
            "0.658315527212",
            "0.670639852930",
        ];
        assert_eq!(coins, expected);
    }

    #[test]
    fn coins_are_below_one_and_uniform() {
        let n = 100_000;
        let mut bins = [0_u32; 10];
        for position in 0..n {
            let coin = Coins { seed: 1, position }.draw();
            let n_passed = (1..10).filter(|bin| coin >= f64::from(*bin) / 10.0).count();
            bins[n_passed] += 1;
        }
        // With nine degrees of freedom, one seed in 10,000 exceeds 33.7.
        let expected = n as f64 / 10.0;
        let chi_squared: f64 = bins
            .iter()
            .map(|count| (f64::from(*count) - expected).powi(2) / expected)
            .sum();
        assert!(chi_squared < 33.7, "{chi_squared}");
    }

    #[test]
    fn every_use_and_index_has_its_own_coin() {
        let coins = Coins {
            seed: 7,
            position: 3,
        };
        let elsewhere = Coins {
            seed: 7,
            position: 4,
        };
        let other_seed = Coins {
            seed: 8,
            position: 3,
        };
        for other in [
            coins.stage(0),
            coins.stage(1),
            coins.token(TokenId(0)),
            coins.acceptance(),
            coins.replacement(),
            elsewhere.draw(),
            other_seed.draw(),
        ] {
            assert!((coins.draw() - other).abs() > 1e-12);
        }
    }
}
