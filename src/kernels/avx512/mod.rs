//! Products with AVX-512 and its 8-bit dot products. Each format has one file. One register holds
//! the same four columns of a tile's 16 rows.
//!
//! The functions inside are safe: each enables the features it needs. They are called from outside
//! only through [`Avx512`], whose values prove that the features were detected.

#![expect(
    unsafe_code,
    reason = "calls functions that are compiled for detected instructions"
)]

mod blocks;
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

use super::attention::{ByteValues, IntLanes};
use super::format::multiply_by_format;
use super::product::ProductTask;

/// Multiplies all tiles of a task by all row groups of its inputs. `$format::sums::<N>` takes the
/// cache lines of a tile and a group of N planes, and returns N accumulators.
macro_rules! multiply_task {
    ($task:expr, $format:ident) => {{
        use $crate::avx512::memory::store;
        let mut task = $task;
        let (tiles, panels) = (task.tiles, task.inputs.panels());
        let pairs =
            panels.flat_map(|panel| tiles.iter().enumerate().map(move |tile| (panel, tile)));
        for (panel, (index, tile)) in pairs {
            for group in panel.groups() {
                match group.n_planes {
                    1 => task.write_planes(index, &group, &store($format::sums::<1>(tile, &group))),
                    2 => task.write_planes(index, &group, &store($format::sums::<2>(tile, &group))),
                    3 => task.write_planes(index, &group, &store($format::sums::<3>(tile, &group))),
                    4 => task.write_planes(index, &group, &store($format::sums::<4>(tile, &group))),
                    5 => task.write_planes(index, &group, &store($format::sums::<5>(tile, &group))),
                    6 => task.write_planes(index, &group, &store($format::sums::<6>(tile, &group))),
                    7 => task.write_planes(index, &group, &store($format::sums::<7>(tile, &group))),
                    8 => task.write_planes(index, &group, &store($format::sums::<8>(tile, &group))),
                    9 => task.write_planes(index, &group, &store($format::sums::<9>(tile, &group))),
                    10 => {
                        task.write_planes(index, &group, &store($format::sums::<10>(tile, &group)))
                    }
                    11 => {
                        task.write_planes(index, &group, &store($format::sums::<11>(tile, &group)))
                    }
                    _ => {
                        task.write_planes(index, &group, &store($format::sums::<12>(tile, &group)))
                    }
                }
            }
        }
    }};
}
/// The most rows in a group: their accumulators and the weights of a block fit into the 32
/// registers.
pub(super) const MAX_GROUP_ROWS: usize = 12;

/// Proof that the CPU has the instructions that this module is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx512(());

impl Avx512 {
    /// Returns the proof if the CPU has the features.
    pub fn detect() -> Option<Self> {
        let found = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vnni");
        found.then_some(Self(()))
    }

    /// Multiplies the tiles of a task by all of its inputs.
    #[expect(clippy::unused_self, reason = "its existence is the proof")]
    pub fn multiply(self, task: ProductTask<'_>) {
        // SAFETY: `self` comes from `detect`, which found all features that `multiply` enables.
        unsafe { multiply(task) }
    }

    /// Adds weighted values of an 8-bit cache to the accumulators of some queries.
    #[expect(clippy::unused_self, reason = "its existence is the proof")]
    pub fn add_values<const N: usize>(self, values: &ByteValues<'_, N>, sums: &mut [IntLanes]) {
        // SAFETY: `self` comes from `detect`, which found all features that `add` enables.
        unsafe { values::add(values, sums) }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn multiply(task: ProductTask<'_>) {
    multiply_by_format!(task, multiply_task);
}
