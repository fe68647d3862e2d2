//! The codebooks of the IQ types: which combinations of values a code stands for.
//!
//! They are data of llama.cpp, in the packed form in which its gguf-py 0.19.0 has them (MIT license,
//! Copyright (c) 2023 Georgi Gerganov; `assets/licenses/gguf-py.txt`).
//! `tests/quantizations/make_fixtures.py` writes `grids.bin`, which holds them one after another, with
//! 16 bits for each code.

use std::array::from_fn;

const GRIDS: &[u8] = include_bytes!("grids.bin");

/// A codebook. Each code has 16 bits: eight values of 2 bits, or four of 4 bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    /// Offset within [`GRIDS`], in bytes.
    start: usize,
    n_codes: usize,
}

pub(super) const IQ2_XXS: Grid = Grid::after(None, 256);
pub(super) const IQ2_XS: Grid = Grid::after(Some(IQ2_XXS), 512);
pub(super) const IQ2_S: Grid = Grid::after(Some(IQ2_XS), 1024);
pub(super) const IQ3_XXS: Grid = Grid::after(Some(IQ2_S), 256);
pub(super) const IQ3_S: Grid = Grid::after(Some(IQ3_XXS), 512);
pub(super) const IQ1: Grid = Grid::after(Some(IQ3_S), 2048);

impl Grid {
    const fn after(previous: Option<Self>, n_codes: usize) -> Self {
        let start = match previous {
            Some(previous) => previous.start + 2 * previous.n_codes,
            None => 0,
        };
        Self { start, n_codes }
    }

    /// Returns the eight 2-bit values of a code.
    pub(super) fn eight(self, code: u16) -> [u8; 8] {
        let bits = self.bits(code);
        from_fn(|index| (bits >> (2 * index) & 3) as u8)
    }

    /// Returns the four values of a code.
    pub(super) fn four(self, code: u16) -> [u8; 4] {
        let bits = self.bits(code);
        from_fn(|index| (bits >> (4 * index) & 0xF) as u8)
    }

    fn bits(self, code: u16) -> u16 {
        let start = self.start + 2 * usize::from(code) % (2 * self.n_codes);
        let bits = GRIDS.get(start..).and_then(|rest| rest.first_chunk());
        bits.map_or(0, |bits| u16::from_le_bytes(*bits))
    }
}

/// Returns the signs of eight values, one a bit: seven are stored, and the number of negative values
/// is even.
pub(super) const fn eight_signs(stored: u32) -> u8 {
    let signs = (stored & 0x7F) as u8;
    signs | (signs.count_ones() as u8 & 1) << 7
}

/// Negates a value if its bit is set.
pub(super) const fn signed(value: i8, signs: u8, index: usize) -> i8 {
    if signs >> index & 1 == 0 {
        value
    } else {
        -value
    }
}
