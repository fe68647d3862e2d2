//! Products with 256-bit registers, for CPUs without AVX-512. Each format has one file, the
//! narrower counterpart of the AVX-512 file of that name. A tile is multiplied in two halves of
//! eight rows.
//!
//! The functions inside are safe: each enables the features it needs. They are called from outside
//! only through [`Avx2`] and [`AvxVnni`], whose values prove that the features were detected.

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
mod words;

use dot::Dot;

use super::attention::{ByteValues, IntLanes};
use super::format::multiply_by_format;
use super::formats;
use super::product::ProductTask;

/// Multiplies all tiles of a task by all row groups of its inputs. `$format::add_step::<D, HALF,
/// N>` takes the cache lines of a step and the inputs of N rows, and adds to N accumulators for one
/// half of the tile. The halves of a step alternate, so that memory keeps delivering cache lines
/// during both.
macro_rules! multiply_task {
    ($task:expr, $dot:ident, $format:ident) => {{
        let mut task = $task;
        let (tiles, panels) = (task.tiles, task.inputs.panels());
        let pairs =
            panels.flat_map(|panel| tiles.iter().enumerate().map(move |tile| (panel, tile)));
        for (panel, (index, tile)) in pairs {
            for group in panel.groups() {
                match group.n_planes {
                    1 => multiply_group!(task, $dot, $format, index, tile, group, 1),
                    2 => multiply_group!(task, $dot, $format, index, tile, group, 2),
                    3 => multiply_group!(task, $dot, $format, index, tile, group, 3),
                    4 => multiply_group!(task, $dot, $format, index, tile, group, 4),
                    5 => multiply_group!(task, $dot, $format, index, tile, group, 5),
                    _ => multiply_group!(task, $dot, $format, index, tile, group, 6),
                }
            }
        }
    }};
}

macro_rules! multiply_group {
    ($task:ident, $dot:ident, $format:ident, $index:ident, $tile:ident, $group:ident, $n:literal) => {{
        let mut sums = [memory::zeros::<$n>(); 2];
        let steps = $tile.as_chunks::<{ formats::$format::N_STEP_LINES }>().0;
        let inputs = $group.blocks.as_chunks::<$n>().0.as_chunks().0;
        for (step, inputs) in steps.iter().zip(inputs) {
            let [low, high] = &mut sums;
            $format::add_step::<$dot, 0, $n>(step, inputs, low);
            $format::add_step::<$dot, 1, $n>(step, inputs, high);
        }
        $task.write_planes($index, &$group, &memory::store(sums));
    }};
}

/// The most rows in a group: their accumulators for one block and one register of weights fit into
/// the 16 registers.
pub(super) const MAX_GROUP_ROWS: usize = 6;

/// Proof that the CPU has AVX2, FMA and F16C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx2(());

/// Proof that the CPU has AVX-VNNI in addition to these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AvxVnni(());

impl Avx2 {
    /// Returns the proof if the CPU has the features.
    pub fn detect() -> Option<Self> {
        let found = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c");
        found.then_some(Self(()))
    }

    /// Multiplies the tiles of a task by all of its inputs.
    #[expect(clippy::unused_self, reason = "its existence is the proof")]
    pub fn multiply(self, task: ProductTask<'_>) {
        // SAFETY: `self` comes from `detect`, which found all features that `multiply` enables.
        unsafe { multiply::<dot::MaddDot>(task) }
    }

    /// Adds weighted values of an 8-bit cache to the accumulators of some queries.
    #[expect(clippy::unused_self, reason = "its existence is the proof")]
    pub fn add_values<const N: usize>(self, values: &ByteValues<'_, N>, sums: &mut [IntLanes]) {
        // SAFETY: `self` comes from `detect`, which found all features that `add_values` enables.
        unsafe { add_values::<dot::MaddDot, N>(values, sums) }
    }
}

impl AvxVnni {
    /// Returns the proof if the CPU has the features.
    pub fn detect() -> Option<Self> {
        let found = Avx2::detect().is_some() && is_x86_feature_detected!("avxvnni");
        found.then_some(Self(()))
    }

    /// Multiplies the tiles of a task by all of its inputs.
    #[expect(clippy::unused_self, reason = "its existence is the proof")]
    pub fn multiply(self, task: ProductTask<'_>) {
        // SAFETY: `self` comes from `detect`, which found all features that `multiply` enables, and
        // AVX-VNNI, which `VnniDot` needs.
        unsafe { multiply::<dot::VnniDot>(task) }
    }

    /// Adds weighted values of an 8-bit cache to the accumulators of some queries.
    #[expect(clippy::unused_self, reason = "its existence is the proof")]
    pub fn add_values<const N: usize>(self, values: &ByteValues<'_, N>, sums: &mut [IntLanes]) {
        // SAFETY: `self` comes from `detect`, which found all features that `add_values` enables,
        // and AVX-VNNI, which `VnniDot` needs.
        unsafe { add_values::<dot::VnniDot, N>(values, sums) }
    }
}

/// # Safety
/// The CPU must have the instructions that `D` needs.
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn multiply<D: Dot>(task: ProductTask<'_>) {
    if task.adds_digits() {
        words::multiply::<D>(task);
    } else {
        multiply_by_format!(task, multiply_task, D);
    }
}

/// Adds weighted values of an 8-bit cache to the accumulators of some queries.
///
/// # Safety
/// The CPU must have the instructions that `D` needs.
#[target_feature(enable = "avx2")]
unsafe fn add_values<D: Dot, const N: usize>(values: &ByteValues<'_, N>, sums: &mut [IntLanes]) {
    values::add::<D, N>(values, sums);
}
