//! Products with NEON and its 8-bit dot products, or with I8MM beside them: one file for each format, four
//! registers for the same four columns of the 16 rows of a tile. The more rows of inputs, the fewer of the four go
//! through a tile at a time.
//!
//! The functions inside are safe: each names the instructions that it needs, and only [`Dotprod`] and [`I8mm`],
//! whose values exist where they were detected, call in from outside.

#![expect(
    unsafe_code,
    reason = "the one step from detected instructions to functions compiled for them"
)]

mod blocks;
mod dot;
mod floats;
mod half_scales;
mod memory;
mod q2_k;
mod q3_k;
mod q4_0;
mod q4_1;
mod q4_k;
mod q5_0;
mod q5_1;
mod q5_k;
mod q6_k;
mod q8_0;
mod sub_scales;
mod values;

use std::arch::is_aarch64_feature_detected;

use dot::Dot;

use super::N_LANES;
use super::attention::{ByteValues, Whole};
use super::format::multiply_by_format;
use super::product::Part;

/// Multiplies all tiles of a part with all groups of its inputs. `$format::sums::<D, Q, N>` takes the lines
/// of a tile, which of its quarters, and a group of N rows, and returns N × Q registers of sums.
macro_rules! multiply_part {
    ($part:expr, $dot:ident, $format:ident) => {{
        let mut part = $part;
        let (tiles, panels) = (part.tiles, part.inputs.panels());
        let pairs =
            panels.flat_map(|panel| tiles.iter().enumerate().map(move |tile| (panel, tile)));
        for (panel, (index, tile)) in pairs {
            for group in panel.groups() {
                match group.rows.len() {
                    1 => multiply_group!(part, $dot, $format, index, tile, group, 4, 1),
                    2 => multiply_group!(part, $dot, $format, index, tile, group, 2, 2),
                    3 => multiply_group!(part, $dot, $format, index, tile, group, 2, 3),
                    4 => multiply_group!(part, $dot, $format, index, tile, group, 2, 4),
                    5 => multiply_group!(part, $dot, $format, index, tile, group, 1, 5),
                    6 => multiply_group!(part, $dot, $format, index, tile, group, 1, 6),
                    7 => multiply_group!(part, $dot, $format, index, tile, group, 1, 7),
                    _ => multiply_group!(part, $dot, $format, index, tile, group, 1, 8),
                }
            }
        }
    }};
}

macro_rules! multiply_group {
    ($part:ident, $dot:ident, $format:ident, $index:ident, $tile:ident, $group:ident, $q:literal, $n:literal) => {{
        let mut stored = [[0.0; N_LANES]; $n];
        for quarters in memory::Quarters::<$q>::all() {
            let sums = $format::sums::<$dot, $q, $n>($tile, quarters, &$group);
            quarters.store(sums, &mut stored);
        }
        $part.write($index, $group.rows.start, &stored);
    }};
}

/// The most rows of inputs that are multiplied together: of one quarter of a tile their sums of whole
/// numbers, their sums of floats and their inputs take eight registers each, and the other eight of the 32
/// are left for weights and scales.
pub const N_MOST_ROWS: usize = 8;

/// Exists only where the processor has NEON and its dot products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dotprod(());

/// Exists only where the processor has I8MM, products of two rows with two rows, beside those.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct I8mm(Dotprod);

impl Dotprod {
    /// Asks the processor.
    pub fn detect() -> Option<Self> {
        // The words of inputs have their first number in the lowest byte of a register only in this order.
        let found = cfg!(target_endian = "little")
            && is_aarch64_feature_detected!("neon")
            && is_aarch64_feature_detected!("dotprod");
        found.then_some(Self(()))
    }

    /// Multiplies some tiles with all inputs.
    #[expect(clippy::unused_self, reason = "that it exists is the proof")]
    pub fn multiply(self, part: Part<'_>) {
        // SAFETY: `self` was made by `detect`, which found all features that `multiply` enables.
        unsafe { multiply::<dot::Rows>(part) }
    }

    /// Adds values of a cache to the sums of some queries.
    #[expect(clippy::unused_self, reason = "that it exists is the proof")]
    pub fn add_values<const N: usize>(self, values: &ByteValues<'_, N>, sums: &mut [Whole]) {
        // SAFETY: `self` was made by `detect`, which found all features that `values::add` enables.
        unsafe { values::add(values, sums) }
    }
}

impl I8mm {
    /// Asks the processor.
    pub fn detect() -> Option<Self> {
        let dotprod = Dotprod::detect()?;
        is_aarch64_feature_detected!("i8mm").then_some(Self(dotprod))
    }

    /// Multiplies some tiles with all inputs.
    #[expect(clippy::unused_self, reason = "that it exists is the proof")]
    pub fn multiply(self, part: Part<'_>) {
        // SAFETY: `self` was made by `detect`, which found all features that `multiply` enables, and I8MM,
        // which `Pairs` needs.
        unsafe { multiply::<dot::Pairs>(part) }
    }

    /// Adds values of a cache to the sums of some queries.
    pub fn add_values<const N: usize>(self, values: &ByteValues<'_, N>, sums: &mut [Whole]) {
        self.0.add_values(values, sums);
    }
}

/// Multiplies all tiles.
///
/// # Safety
/// The processor has the instructions that `D` needs.
#[target_feature(enable = "neon,dotprod")]
unsafe fn multiply<D: Dot>(part: Part<'_>) {
    multiply_by_format!(part, multiply_part, D);
}
