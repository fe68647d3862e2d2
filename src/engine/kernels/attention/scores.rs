//! What becomes of scores, block by block.

use std::ops::Range;

use pulp::Simd;

use super::Lanes;
use super::gather::Member;
use crate::engine::kernels::N_LANES;
use crate::engine::kernels::cap::soft_cap;
use crate::engine::kernels::exp::exp_below;

/// Calls a function with the lanes of each of some neighbouring blocks that a query sees, and with what is there
/// and what comes to it. In the blocks between the first and the last those are all, and there the compiler
/// knows it.
#[inline(always)]
pub fn each_block<T>(
    member: &Member,
    blocks: &Range<usize>,
    places: &mut [Lanes],
    found: &[T],
    put: impl Fn(Range<usize>, &mut Lanes, &T),
) {
    let (whole, others) = member.parts(blocks);
    let range = whole.start - blocks.start..whole.end - blocks.start;
    let pair = (places.get_mut(range.clone()), found.get(range));
    if let (Some(places), Some(found)) = pair {
        for (place, found) in places.iter_mut().zip(found) {
            put(0..N_LANES, place, found);
        }
    }
    for block in others.into_iter().flatten() {
        let index = block - blocks.start;
        if let (Some(place), Some(found)) = (places.get_mut(index), found.get(index)) {
            put(member.lanes(block), place, found);
        }
    }
}

/// Puts the scores of a block where they are seen.
#[inline(always)]
pub fn put_scores(cap: Option<f32>, lanes: Range<usize>, mut found: Lanes, scores: &mut Lanes) {
    if let Some(cap) = cap {
        soft_cap(cap, &mut found.0);
    }
    if lanes == (0..N_LANES) {
        *scores = found;
    } else if let (Some(scores), Some(found)) =
        (scores.0.get_mut(lanes.clone()), found.0.get(lanes))
    {
        scores.copy_from_slice(found);
    }
}

/// Multiplies some numbers of a block with their positions' scales.
#[inline(always)]
pub fn scale(lanes: Range<usize>, probs: &mut Lanes, scales: &Lanes) {
    if lanes == (0..N_LANES) {
        for (prob, scale) in probs.0.iter_mut().zip(scales.0) {
            *prob *= scale;
        }
    } else if let (Some(probs), Some(scales)) =
        (probs.0.get_mut(lanes.clone()), scales.0.get(lanes))
    {
        for (prob, scale) in probs.iter_mut().zip(scales) {
            *prob *= scale;
        }
    }
}

/// Turns scores into e^(score − largest). Returns the largest score and the sum.
#[inline(always)]
pub fn exponentials<S: Simd>(scores: &mut [Lanes]) -> (f32, f32) {
    let mut maxima = [f32::NEG_INFINITY; N_LANES];
    for scores in &*scores {
        for (max, score) in maxima.iter_mut().zip(scores.0) {
            *max = if score > *max { score } else { *max };
        }
    }
    let max = maxima.into_iter().fold(f32::NEG_INFINITY, f32::max);
    // Where nothing is seen, nothing less nothing would be no number.
    let shift = if max == f32::NEG_INFINITY { 0.0 } else { max };
    let mut sums = [0.0_f32; N_LANES];
    for scores in scores {
        for (sum, score) in sums.iter_mut().zip(&mut scores.0) {
            *score = exp_below::<S>(*score - shift);
            *sum += *score;
        }
    }
    (max, sums.iter().sum())
}
