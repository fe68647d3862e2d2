//! The softmax, block by block.

use std::ops::Range;

use pulp::Simd;

use super::Lanes;
use super::visible_runs::QueryMask;
use crate::N_LANES;
use crate::exp::exp_nonpositive;
use crate::soft_cap::soft_cap;

/// Calls `write` for each of some adjacent blocks, with the visible lanes, the target and the
/// source. All lanes are visible in the blocks between the first and the last; there the compiler
/// knows it.
#[inline(always)]
pub(super) fn each_block<T>(
    mask: &QueryMask,
    blocks: &Range<usize>,
    targets: &mut [Lanes],
    sources: &[T],
    write: impl Fn(Range<usize>, &mut Lanes, &T),
) {
    let (full, others) = mask.split(blocks);
    let range = full.start - blocks.start..full.end - blocks.start;
    let pair = (targets.get_mut(range.clone()), sources.get(range));
    if let (Some(targets), Some(sources)) = pair {
        for (target, source) in targets.iter_mut().zip(sources) {
            write(0..N_LANES, target, source);
        }
    }
    for block in others.into_iter().flatten() {
        let index = block - blocks.start;
        if let (Some(target), Some(source)) = (targets.get_mut(index), sources.get(index)) {
            write(mask.lanes(block), target, source);
        }
    }
}

/// Applies the soft cap to the scores of a block and stores those of the visible lanes.
#[inline(always)]
pub(super) fn write_scores(
    cap: Option<f32>,
    lanes: Range<usize>,
    mut scores: Lanes,
    target: &mut Lanes,
) {
    if let Some(cap) = cap {
        soft_cap(cap, &mut scores.0);
    }
    copy_visible(lanes, target, &scores);
}

/// Copies the visible lanes of a block.
#[inline(always)]
pub(super) fn copy_visible(lanes: Range<usize>, target: &mut Lanes, source: &Lanes) {
    if lanes == (0..N_LANES) {
        *target = *source;
    } else if let (Some(target), Some(source)) =
        (target.0.get_mut(lanes.clone()), source.0.get(lanes))
    {
        target.copy_from_slice(source);
    }
}

/// Turns scores into e^(score − largest). Returns the largest score and the sum.
#[inline(always)]
pub(super) fn exponentials<S: Simd>(scores: &mut [Lanes]) -> (f32, f32) {
    let max = largest(scores);
    let shift = shift(max);
    let mut sums = [0.0_f32; N_LANES];
    for lanes in scores {
        for (sum, score) in sums.iter_mut().zip(&mut lanes.0) {
            *score = exp_nonpositive::<S>(*score - shift);
            *sum += *score;
        }
    }
    (max, sums.iter().sum())
}

/// Statistics of one query's softmax.
#[derive(Debug, Clone, Copy)]
pub(super) struct SoftmaxStats {
    /// The largest score.
    pub max: f32,
    /// The sum of e^(score − largest), before scaling.
    pub sum: f32,
    /// The largest scaled exponential, or NaN if any of them is NaN.
    pub largest: f32,
}

/// Turns scores into e^(score − largest), each multiplied by the scale of its position.
#[inline(always)]
pub(super) fn scaled_exponentials<S: Simd>(
    simd: S,
    scores: &mut [Lanes],
    scales: &[Lanes],
) -> SoftmaxStats {
    let max = largest(scores);
    let shift = shift(max);
    let mut sums = [0.0_f32; N_LANES];
    let (mut max_weight, mut total) = (simd.splat_f32s(0.0), simd.splat_f32s(0.0));
    for (scores, scales) in scores.iter_mut().zip(scales) {
        for (sum, score) in sums.iter_mut().zip(&mut scores.0) {
            *score = exp_nonpositive::<S>(*score - shift);
            *sum += *score;
        }
        // Explicit vectors: the compiler does not vectorize this by itself.
        let registers = S::as_mut_simd_f32s(&mut scores.0).0.iter_mut();
        for (score, scale) in registers.zip(S::as_simd_f32s(&scales.0).0) {
            *score = simd.mul_f32s(*score, *scale);
            max_weight = simd.max_f32s(max_weight, *score);
            total = simd.add_f32s(total, *score);
        }
    }
    let has_no_nan = !simd.reduce_sum_f32s(total).is_nan();
    SoftmaxStats {
        max,
        sum: sums.iter().sum(),
        largest: if has_no_nan {
            simd.reduce_max_f32s(max_weight)
        } else {
            f32::NAN
        },
    }
}

/// The largest score, or −∞ if nothing is visible.
#[inline(always)]
fn largest(scores: &[Lanes]) -> f32 {
    let mut maxima = [f32::NEG_INFINITY; N_LANES];
    for lanes in scores {
        for (max, score) in maxima.iter_mut().zip(lanes.0) {
            *max = if score > *max { score } else { *max };
        }
    }
    maxima.into_iter().fold(f32::NEG_INFINITY, f32::max)
}

/// The number to subtract from all scores. If nothing is visible, −∞ − (−∞) would be NaN.
#[inline(always)]
const fn shift(max: f32) -> f32 {
    if max == f32::NEG_INFINITY { 0.0 } else { max }
}
