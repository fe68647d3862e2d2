//! The inner loops of attention on the processor: one query head over blocks of keys and values.

use pulp::Simd;

use super::exp::exp;
use super::run::N_LANES;
use crate::engine::blueprint::RopeForm;

/// Turns a head to its position.
#[inline(always)]
pub fn rotate(form: RopeForm, cos: &[f32], sin: &[f32], head: &mut [f32]) {
    let turn = |first: &mut f32, second: &mut f32, cos: f32, sin: f32| {
        let (x, y) = (*first, *second);
        *first = x * cos - y * sin;
        *second = x * sin + y * cos;
    };
    let angles = cos.iter().zip(sin);
    match form {
        RopeForm::Interleaved => {
            for (pair, (cos, sin)) in head.as_chunks_mut().0.iter_mut().zip(angles) {
                let [first, second] = pair;
                turn(first, second, *cos, *sin);
            }
        }
        RopeForm::HalfSplit => {
            let (first, second) = head.split_at_mut(head.len() / 2);
            for ((first, second), (cos, sin)) in first.iter_mut().zip(second).zip(angles) {
                turn(first, second, *cos, *sin);
            }
        }
    }
}

/// Brings values to one length.
///
/// Zhang, Sennrich 2019, "Root Mean Square Layer Normalization".
pub fn rms_norm(eps: f32, weights: &[f32], values: &mut [f32]) {
    let sum: f32 = values.iter().map(|value| value * value).sum();
    let scale = 1.0 / (sum / values.len() as f32 + eps).sqrt();
    for (value, weight) in values.iter_mut().zip(weights) {
        *value *= scale * weight;
    }
}

/// Writes the scores of a block's first positions, as many as there is room for.
#[inline(always)]
pub fn write_scores<S: Simd>(keys: &[[f32; N_LANES]], query: &[f32], scores: &mut [f32]) {
    let found = block_scores::<S>(keys, query);
    match scores.as_mut_array() {
        Some(scores) => *scores = found,
        None => scores
            .iter_mut()
            .zip(found)
            .for_each(|(score, found)| *score = found),
    }
}

/// The scores of one block's positions.
#[inline(always)]
fn block_scores<S: Simd>(keys: &[[f32; N_LANES]], query: &[f32]) -> [f32; N_LANES] {
    // Four sums, because one would wait for itself.
    let mut sums = [[0.0_f32; N_LANES]; 4];
    let (keys, rest_of_keys) = keys.as_chunks::<4>();
    let (queries, rest_of_queries) = query.as_chunks::<4>();
    for (keys, queries) in keys.iter().zip(queries) {
        for ((sums, keys), query) in sums.iter_mut().zip(keys).zip(queries) {
            add_product::<S>(*query, keys, sums);
        }
    }
    let [mut first, second, third, fourth] = sums;
    for (keys, query) in rest_of_keys.iter().zip(rest_of_queries) {
        add_product::<S>(*query, keys, &mut first);
    }
    let others = second.iter().zip(third).zip(fourth);
    for (sum, ((second, third), fourth)) in first.iter_mut().zip(others) {
        *sum = (*sum + second) + (third + fourth);
    }
    first
}

/// Turns scores into probabilities. There must be whole registers of them, filled up with minus
/// infinity.
#[inline(always)]
pub fn softmax(scores: &mut [f32]) {
    let (chunks, _) = scores.as_chunks_mut::<N_LANES>();
    let mut maxima = [f32::NEG_INFINITY; N_LANES];
    for chunk in &*chunks {
        for (max, score) in maxima.iter_mut().zip(chunk) {
            *max = if *score > *max { *score } else { *max };
        }
    }
    let max = maxima.into_iter().fold(f32::NEG_INFINITY, f32::max);
    let mut sums = [0.0_f32; N_LANES];
    for chunk in &mut *chunks {
        for (sum, score) in sums.iter_mut().zip(chunk) {
            *score = exp(*score - max);
            *sum += *score;
        }
    }
    let scale = 1.0 / sums.iter().sum::<f32>();
    for chunk in chunks {
        for score in chunk {
            *score *= scale;
        }
    }
}

/// Adds the values of a block's first positions, each times its probability.
#[inline(always)]
pub fn add_values<S: Simd>(values: &[[f32; N_LANES]], probs: &[f32], mixed: &mut [f32]) {
    match mixed.len().div_ceil(N_LANES) {
        1 => add_to(mixed, &panels::<S, 1>(values, probs, 0, 1)),
        2 => add_to(mixed, &panels::<S, 2>(values, probs, 0, 1)),
        4 => add_to(mixed, &panels::<S, 4>(values, probs, 0, 1)),
        8 => {
            for (start, mixed) in mixed.chunks_mut(4 * N_LANES).enumerate() {
                add_to(mixed, &panels::<S, 4>(values, probs, start, 2));
            }
        }
        n_registers => {
            for (start, mixed) in mixed.chunks_mut(N_LANES).enumerate() {
                add_to(mixed, &panels::<S, 1>(values, probs, start, n_registers));
            }
        }
    }
}

/// The part of [`add_values`] that stays in N registers: of each position's `step` panels of N
/// registers the one at `start`.
#[inline(always)]
fn panels<S: Simd, const N: usize>(
    values: &[[f32; N_LANES]],
    probs: &[f32],
    start: usize,
    step: usize,
) -> [[f32; N_LANES]; N] {
    // Two sums in turn, because one would wait for itself.
    let mut even = [[0.0_f32; N_LANES]; N];
    let mut odd = [[0.0_f32; N_LANES]; N];
    let (panels, _) = values.as_chunks::<N>();
    let mut positions = panels.iter().skip(start).step_by(step);
    for probs in probs.chunks(2) {
        if let ([first, ..], Some(values)) = (probs, positions.next()) {
            add_products::<S, N>(*first, values, &mut even);
        }
        if let ([_, second], Some(values)) = (probs, positions.next()) {
            add_products::<S, N>(*second, values, &mut odd);
        }
    }
    add_products::<S, N>(1.0, &odd, &mut even);
    even
}

#[inline(always)]
fn add_products<S: Simd, const N: usize>(
    factor: f32,
    values: &[[f32; N_LANES]; N],
    sums: &mut [[f32; N_LANES]; N],
) {
    for (sums, values) in sums.iter_mut().zip(values) {
        add_product::<S>(factor, values, sums);
    }
}

#[inline(always)]
fn add_to(mixed: &mut [f32], sums: &[[f32; N_LANES]]) {
    for (mixed, sum) in mixed.iter_mut().zip(sums.as_flattened()) {
        *mixed += sum;
    }
}

#[inline(always)]
fn add_product<S: Simd>(factor: f32, values: &[f32; N_LANES], sums: &mut [f32; N_LANES]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum = multiply_add::<S>(factor, *value, *sum);
    }
}

/// a × b + c: in one step where the processor has that, because the step's emulation is slow.
#[inline(always)]
fn multiply_add<S: Simd>(a: f32, b: f32, c: f32) -> f32 {
    if S::IS_SCALAR {
        a * b + c
    } else {
        a.mul_add(b, c)
    }
}
