//! The inner loops of attention: a few queries against one or two blocks of keys, or against the
//! values of some blocks.
//!
//! Each sum visits dimensions or positions one by one, so its bits do not depend on which queries
//! and blocks are processed together. W is the number of vectors that hold 16 floats.

use std::ops::Range;

use pulp::Simd;

use super::Lanes;
use super::prefetch::prefetch;
use crate::N_LANES;

/// The most queries that share a load of keys or values: all their accumulators fit into registers.
pub(super) const MAX_GROUP_QUERIES: usize = 6;

const ZEROS: Lanes = Lanes::all(0.0);

/// Computes the scores of one or two adjacent blocks: `keys` is `[block][dim][lane]`, `queries` is
/// `[dim][query]`, and the result is `[block][query]`.
#[inline(always)]
pub(super) fn scores<S: Simd, const R: usize>(
    simd: S,
    keys: &[Lanes],
    queries: &[[f32; R]],
) -> [[Lanes; R]; 2] {
    let (first, second) = keys.split_at(queries.len().min(keys.len()));
    let mut scores = [[Lanes::all(0.0); R]; 2];
    let [first_scores, second_scores] = &mut scores;
    if S::F32_LANES == N_LANES && !second.is_empty() {
        let keys = first.iter().zip(second).map(|(first, second)| {
            let [first] = load_and_prefetch::<S, 1>(simd, first);
            let [second] = load_and_prefetch::<S, 1>(simd, second);
            [first, second]
        });
        let sums = products(simd, keys, queries);
        let targets = first_scores.iter_mut().zip(second_scores);
        for ((first, second), [first_sum, second_sum]) in targets.zip(sums) {
            *first = store::<S, 1>([first_sum]);
            *second = store::<S, 1>([second_sum]);
        }
    } else {
        block_scores(simd, first, queries, first_scores);
        block_scores(simd, second, queries, second_scores);
    }
    scores
}

/// Computes the scores of one block.
#[inline(always)]
fn block_scores<S: Simd, const R: usize>(
    simd: S,
    keys: &[Lanes],
    queries: &[[f32; R]],
    scores: &mut [Lanes; R],
) {
    match N_LANES / S::F32_LANES {
        1 => write_scores::<S, R, 1>(simd, keys, queries, scores),
        2 => write_scores::<S, R, 2>(simd, keys, queries, scores),
        4 => write_scores::<S, R, 4>(simd, keys, queries, scores),
        _ => write_scores::<S, R, N_LANES>(simd, keys, queries, scores),
    }
}

#[inline(always)]
fn write_scores<S: Simd, const R: usize, const W: usize>(
    simd: S,
    keys: &[Lanes],
    queries: &[[f32; R]],
    scores: &mut [Lanes; R],
) {
    let keys = keys
        .iter()
        .map(|keys| load_and_prefetch::<S, W>(simd, keys));
    let sums = products(simd, keys, queries);
    for (scores, sums) in scores.iter_mut().zip(sums) {
        *scores = store::<S, W>(sums);
    }
}

/// Multiplies R queries by C vectors of keys and sums over the dimensions.
#[inline(always)]
fn products<S: Simd, const R: usize, const C: usize>(
    simd: S,
    keys: impl Iterator<Item = [S::f32s; C]>,
    queries: &[[f32; R]],
) -> [[S::f32s; C]; R] {
    let mut sums = [[simd.splat_f32s(0.0); C]; R];
    for (keys, queries) in keys.zip(queries) {
        for (sums, query) in sums.iter_mut().zip(queries) {
            let query = simd.splat_f32s(*query);
            for (sum, keys) in sums.iter_mut().zip(&keys) {
                *sum = simd.mul_add_e_f32s(query, *keys, *sum);
            }
        }
    }
    sums
}

/// The input of [`add_values`]: the values of some positions and their probabilities.
pub(super) struct WeightedValues<'a, const R: usize> {
    /// `[block][lane][dim]`.
    pub values: &'a [Lanes],
    /// Registers per position.
    pub n_registers: usize,
    /// The visible positions of each block.
    pub lanes: Range<usize>,
    /// For each query, the probabilities: `[block][lane]`.
    pub probs: [&'a [Lanes]; R],
    /// For each query, the index of its first weighted sum.
    pub offsets: [usize; R],
}

/// Adds weighted values to the sums, `[dim]` each.
#[inline(always)]
pub(super) fn add_values<S: Simd, const R: usize>(
    simd: S,
    values: &WeightedValues<'_, R>,
    weighted_sums: &mut [Lanes],
) {
    let n_registers = values.n_registers;
    let mut start = 0;
    if S::F32_LANES == N_LANES {
        while start + 4 <= n_registers {
            values.add::<S, 4, 1>(simd, start, weighted_sums);
            start += 4;
        }
    }
    while start < n_registers {
        match N_LANES / S::F32_LANES {
            1 => values.add::<S, 1, 1>(simd, start, weighted_sums),
            2 => values.add::<S, 1, 2>(simd, start, weighted_sums),
            4 => values.add::<S, 1, 4>(simd, start, weighted_sums),
            _ => values.add::<S, 1, N_LANES>(simd, start, weighted_sums),
        }
        start += 1;
    }
}

impl<const R: usize> WeightedValues<'_, R> {
    /// Adds P adjacent registers of each position's values; the accumulators stay in registers.
    #[inline(always)]
    fn add<S: Simd, const P: usize, const W: usize>(
        &self,
        simd: S,
        start: usize,
        weighted_sums: &mut [Lanes],
    ) {
        let n_registers = self.n_registers;
        let mut sums = [[[simd.splat_f32s(0.0); W]; P]; R];
        for (sums, offset) in sums.iter_mut().zip(self.offsets) {
            for (sums, stored) in sums
                .iter_mut()
                .zip(weighted_sums.iter().skip(offset + start))
            {
                *sums = load(simd, stored);
            }
        }
        let blocks = self.values.chunks_exact(N_LANES * n_registers);
        for (block, values) in blocks.enumerate() {
            let probs = self.probs.map(|probs| probs.get(block).unwrap_or(&ZEROS));
            let values = values.get(start..).unwrap_or_default().chunks(n_registers);
            if self.lanes == (0..N_LANES) {
                for (lane, values) in (0..N_LANES).zip(values) {
                    add_position(simd, values, probs, lane, &mut sums);
                }
            } else {
                for (lane, values) in self.lanes.clone().zip(values.skip(self.lanes.start)) {
                    add_position(simd, values, probs, lane, &mut sums);
                }
            }
        }
        for (sums, offset) in sums.into_iter().zip(self.offsets) {
            for (sums, stored) in sums
                .into_iter()
                .zip(weighted_sums.iter_mut().skip(offset + start))
            {
                *stored = store::<S, W>(sums);
            }
        }
    }
}

/// Adds the values of one position.
#[inline(always)]
fn add_position<S: Simd, const R: usize, const P: usize, const W: usize>(
    simd: S,
    values: &[Lanes],
    probs: [&Lanes; R],
    lane: usize,
    sums: &mut [[[S::f32s; W]; P]; R],
) {
    let values = values.first_chunk().unwrap_or(&[ZEROS; P]);
    let mut loaded = [[simd.splat_f32s(0.0); W]; P];
    for (loaded, values) in loaded.iter_mut().zip(values) {
        *loaded = load_and_prefetch(simd, values);
    }
    for (sums, probs) in sums.iter_mut().zip(probs) {
        let prob = simd.splat_f32s(probs.0.get(lane).copied().unwrap_or(0.0));
        let pairs = sums
            .as_flattened_mut()
            .iter_mut()
            .zip(loaded.as_flattened());
        for (sum, value) in pairs {
            *sum = simd.mul_add_e_f32s(prob, *value, *sum);
        }
    }
}

#[inline(always)]
fn load_and_prefetch<S: Simd, const W: usize>(simd: S, register: &Lanes) -> [S::f32s; W] {
    prefetch(register);
    load(simd, register)
}

#[inline(always)]
fn load<S: Simd, const W: usize>(simd: S, lanes: &Lanes) -> [S::f32s; W] {
    let (vectors, _) = S::as_simd_f32s(&lanes.0);
    *vectors.first_chunk().unwrap_or(&[simd.splat_f32s(0.0); W])
}

#[inline(always)]
fn store<S: Simd, const W: usize>(vectors: [S::f32s; W]) -> Lanes {
    let mut lanes = Lanes::all(0.0);
    let (targets, _) = S::as_mut_simd_f32s(&mut lanes.0);
    for (target, vector) in targets.iter_mut().zip(vectors) {
        *target = vector;
    }
    lanes
}
