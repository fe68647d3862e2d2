//! Products with NEON and its 8-bit dot products, optionally with I8MM. Each format has one file.
//! Four registers hold the same four columns of a tile's 16 rows. The more rows of inputs, the
//! fewer of the four are processed at a time.
//!
//! The functions inside are safe: each enables the features it needs. They are called from outside
//! only through [`Dotprod`] and [`I8mm`], whose values prove that the features were detected.

#![expect(
    unsafe_code,
    reason = "calls functions that are compiled for detected instructions"
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
use super::attention::{ByteValues, IntLanes};
use super::format::multiply_by_format;
use super::product::ProductTask;

/// Multiplies all tiles of a task by all row groups of its inputs. `$format::sums::<D, Q, N>` takes
/// the cache lines of a tile, some of its quarters, and a group of N rows, and returns N × Q
/// accumulators.
macro_rules! multiply_task {
    ($task:expr, $dot:ident, $format:ident) => {{
        let mut task = $task;
        let (tiles, panels) = (task.tiles, task.inputs.panels());
        let pairs =
            panels.flat_map(|panel| tiles.iter().enumerate().map(move |tile| (panel, tile)));
        for (panel, (index, tile)) in pairs {
            for group in panel.groups() {
                match group.n_planes {
                    1 => multiply_group!(task, $dot, $format, index, tile, group, 4, 1),
                    2 => multiply_group!(task, $dot, $format, index, tile, group, 2, 2),
                    3 => multiply_group!(task, $dot, $format, index, tile, group, 2, 3),
                    4 => multiply_group!(task, $dot, $format, index, tile, group, 2, 4),
                    5 => multiply_group!(task, $dot, $format, index, tile, group, 1, 5),
                    6 => multiply_group!(task, $dot, $format, index, tile, group, 1, 6),
                    7 => multiply_group!(task, $dot, $format, index, tile, group, 1, 7),
                    _ => multiply_group!(task, $dot, $format, index, tile, group, 1, 8),
                }
            }
        }
    }};
}

macro_rules! multiply_group {
    ($task:ident, $dot:ident, $format:ident, $index:ident, $tile:ident, $group:ident, $q:literal, $n:literal) => {{
        let mut stored = [[0.0; N_LANES]; $n];
        for quarters in memory::Quarters::<$q>::all() {
            let sums = $format::sums::<$dot, $q, $n>($tile, quarters, &$group);
            quarters.store(sums, &mut stored);
        }
        $task.write_planes($index, &$group, &stored);
    }};
}

/// The most rows in a group: for one quarter of a tile, their integer accumulators, float
/// accumulators and inputs take eight registers each. The other eight of the 32 hold weights and
/// scales.
pub const MAX_GROUP_ROWS: usize = 8;

/// Proof that the CPU has NEON and its dot products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dotprod(());

/// Proof that the CPU has I8MM, products of 2 × 8 matrices, in addition to these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct I8mm(Dotprod);

impl Dotprod {
    /// Returns the proof if the CPU has the features.
    pub fn detect() -> Option<Self> {
        // Words of inputs have their first byte in the lowest byte of a register only in this byte
        // order.
        let found = cfg!(target_endian = "little")
            && is_aarch64_feature_detected!("neon")
            && is_aarch64_feature_detected!("dotprod");
        found.then_some(Self(()))
    }

    /// Multiplies the tiles of a task by all of its inputs.
    #[expect(clippy::unused_self, reason = "its existence is the proof")]
    pub fn multiply(self, task: ProductTask<'_>) {
        // SAFETY: `self` comes from `detect`, which found all features that `multiply` enables.
        unsafe { multiply::<dot::SdotDot>(task) }
    }

    /// Adds weighted values of an 8-bit cache to the accumulators of some queries.
    #[expect(clippy::unused_self, reason = "its existence is the proof")]
    pub fn add_values<const N: usize>(self, values: &ByteValues<'_, N>, sums: &mut [IntLanes]) {
        // SAFETY: `self` comes from `detect`, which found all features that `values::add` enables.
        unsafe { values::add(values, sums) }
    }
}

impl I8mm {
    /// Returns the proof if the CPU has the features.
    pub fn detect() -> Option<Self> {
        let dotprod = Dotprod::detect()?;
        is_aarch64_feature_detected!("i8mm").then_some(Self(dotprod))
    }

    /// Multiplies the tiles of a task by all of its inputs.
    #[expect(clippy::unused_self, reason = "its existence is the proof")]
    pub fn multiply(self, task: ProductTask<'_>) {
        // SAFETY: `self` comes from `detect`, which found all features that `multiply` enables, and
        // I8MM, which `SmmlaDot` needs.
        unsafe { multiply::<dot::SmmlaDot>(task) }
    }

    /// Adds weighted values of an 8-bit cache to the accumulators of some queries.
    pub fn add_values<const N: usize>(self, values: &ByteValues<'_, N>, sums: &mut [IntLanes]) {
        self.0.add_values(values, sums);
    }
}

/// # Safety
/// The CPU must have the instructions that `D` needs.
#[target_feature(enable = "neon,dotprod")]
unsafe fn multiply<D: Dot>(task: ProductTask<'_>) {
    multiply_by_format!(task, multiply_task, D);
}
