//! The inner loops of attention: some queries over one or two blocks of keys, or over one of values.
//!
//! Each sum goes through dimensions or positions one by one, so its bits are the same whichever queries and
//! blocks are at hand together. A block's 16 lanes are one vector or several, as the processor has them.

use std::ops::Range;

use pulp::Simd;

use super::Lanes;
use super::ahead::fetch_ahead;
use crate::engine::kernels::N_LANES;

/// The most queries that share a vector of keys or values: all their sums fit into registers.
pub const N_MOST_QUERIES: usize = 6;

/// The scores of the positions of neighbouring blocks, at most two: `keys` is `[block][dim][lane]`, `queries` is
/// `[dim][query]`, and the result is `[block][query]`.
#[inline(always)]
pub fn scores<S: Simd, const R: usize>(
    simd: S,
    keys: &[Lanes],
    queries: &[[f32; R]],
) -> [[Lanes; R]; 2] {
    let (first, second) = keys.split_at(queries.len().min(keys.len()));
    let mut found = [[[0.0; N_LANES]; R]; 2];
    let [found_first, found_second] = &mut found;
    if S::F32_LANES < N_LANES {
        for (keys, found) in [(first, found_first), (second, found_second)] {
            let (vectors, _) = S::as_simd_f32s(keys.as_flattened());
            let (pairs, _) = vectors.as_chunks::<2>();
            let n_pairs = N_LANES / S::F32_LANES / 2;
            for pair in 0..n_pairs {
                let keys = pairs.iter().skip(pair).step_by(n_pairs);
                let keys = keys.map(|keys| {
                    fetch_ahead(keys);
                    *keys
                });
                let sums = products(simd, keys, queries);
                for (found, sums) in found.iter_mut().zip(sums) {
                    let (vectors, _) = S::as_mut_simd_f32s(found);
                    if let Some(place) = vectors.as_chunks_mut().0.get_mut(pair) {
                        *place = sums;
                    }
                }
            }
        }
    } else if second.is_empty() {
        let (first, _) = S::as_simd_f32s(first.as_flattened());
        let sums = products(simd, first.iter().map(|keys| [*keys]), queries);
        for (found, [sum]) in found_first.iter_mut().zip(sums) {
            store::<S>(sum, found);
        }
    } else {
        let (first, _) = S::as_simd_f32s(first.as_flattened());
        let (second, _) = S::as_simd_f32s(second.as_flattened());
        let keys = first.iter().zip(second);
        let keys = keys.map(|(first, second)| {
            fetch_ahead(first);
            fetch_ahead(second);
            [*first, *second]
        });
        let sums = products(simd, keys, queries);
        let found = found_first.iter_mut().zip(found_second);
        for ((first, second), [first_sum, second_sum]) in found.zip(sums) {
            store::<S>(first_sum, first);
            store::<S>(second_sum, second);
        }
    }
    found
}

#[inline(always)]
fn store<S: Simd>(sum: S::f32s, place: &mut Lanes) {
    if let [place, ..] = S::as_mut_simd_f32s(place).0 {
        *place = sum;
    }
}

/// The products of R queries with C vectors of keys, summed over the dimensions.
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

/// What [`add_values`] adds: the values of some positions of a block, each times its probability.
pub struct Weighted<'a, const R: usize> {
    /// `[lane][dim]`.
    pub values: &'a [Lanes],
    /// Which positions.
    pub lanes: Range<usize>,
    /// For each query the probabilities of all lanes.
    pub probs: [&'a Lanes; R],
    /// For each query where its mix begins.
    pub places: [usize; R],
}

/// Adds values to mixes, each `[dim]`.
#[inline(always)]
pub fn add_values<S: Simd, const R: usize>(simd: S, values: &Weighted<'_, R>, mixed: &mut [Lanes]) {
    let n_lane_vectors = N_LANES / S::F32_LANES;
    let n_vectors = values.values.len() / N_LANES * n_lane_vectors;
    let (mixed, _) = S::as_mut_simd_f32s(mixed.as_flattened_mut());
    let places = values.places.map(|place| place * n_lane_vectors);
    let mut start = 0;
    if n_lane_vectors == 1 {
        while start + 4 <= n_vectors {
            values.add::<S, 4>(simd, start, places, mixed);
            start += 4;
        }
    }
    while start + 2 <= n_vectors {
        values.add::<S, 2>(simd, start, places, mixed);
        start += 2;
    }
    while start < n_vectors {
        values.add::<S, 1>(simd, start, places, mixed);
        start += 1;
    }
}

impl<const R: usize> Weighted<'_, R> {
    /// Adds P neighbouring vectors of each position's values; the sums stay in registers.
    #[inline(always)]
    fn add<S: Simd, const P: usize>(
        &self,
        simd: S,
        start: usize,
        places: [usize; R],
        mixed: &mut [S::f32s],
    ) {
        let mut sums = [[simd.splat_f32s(0.0); P]; R];
        for (sums, place) in sums.iter_mut().zip(places) {
            if let Some(mixed) = mixed.get(place + start..).and_then(<[_]>::first_chunk) {
                *sums = *mixed;
            }
        }
        let (vectors, _) = S::as_simd_f32s(self.values.as_flattened());
        let positions = vectors.chunks_exact(vectors.len() / N_LANES).enumerate();
        for (lane, values) in positions.skip(self.lanes.start).take(self.lanes.len()) {
            for ahead in values.iter().skip(start).take(P) {
                fetch_ahead(ahead);
            }
            let Some(values) = values.get(start..).and_then(<[_]>::first_chunk::<P>) else {
                continue;
            };
            for (sums, probs) in sums.iter_mut().zip(self.probs) {
                let prob = simd.splat_f32s(probs.get(lane).copied().unwrap_or(0.0));
                for (sum, values) in sums.iter_mut().zip(values) {
                    *sum = simd.mul_add_e_f32s(prob, *values, *sum);
                }
            }
        }
        for (sums, place) in sums.into_iter().zip(places) {
            let mixed = mixed.get_mut(place + start..);
            if let Some(mixed) = mixed.and_then(<[_]>::first_chunk_mut) {
                *mixed = sums;
            }
        }
    }
}
