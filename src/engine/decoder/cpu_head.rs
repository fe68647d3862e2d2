//! The inner loops of attention on the processor: one query head over blocks of keys and values.

use pulp::Simd;

use super::cpu_run::N_LANES;
use super::exp::exp;
use super::packed::multiply_add;
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

/// Adds the scores of the first `n_tokens` of a run.
#[inline(always)]
pub fn extend_scores<'a, S: Simd>(
    blocks: impl Iterator<Item = &'a [[f32; N_LANES]]>,
    query: &[f32],
    n_tokens: usize,
    scores: &mut Vec<f32>,
) {
    let end = scores.len() + n_tokens;
    for block in blocks.take(n_tokens.div_ceil(N_LANES)) {
        scores.extend(block_scores::<S>(block, query));
    }
    scores.truncate(end);
}

/// Turns scores into probabilities, but for their sum, by which they are still to be divided.
#[inline(always)]
pub fn softmax_parts(scores: &mut [f32]) -> f32 {
    let mut maxima = [f32::NEG_INFINITY; N_LANES];
    let (chunks, rest) = scores.as_chunks::<N_LANES>();
    for chunk in chunks {
        for (max, score) in maxima.iter_mut().zip(chunk) {
            *max = if *score > *max { *score } else { *max };
        }
    }
    let max = maxima
        .iter()
        .chain(rest)
        .copied()
        .fold(f32::NEG_INFINITY, f32::max);
    let mut sums = [0.0_f32; N_LANES];
    let (chunks, rest) = scores.as_chunks_mut::<N_LANES>();
    for chunk in chunks {
        for (sum, score) in sums.iter_mut().zip(chunk) {
            *score = exp(*score - max);
            *sum += *score;
        }
    }
    for (sum, score) in sums.iter_mut().zip(rest) {
        *score = exp(*score - max);
        *sum += *score;
    }
    sums.iter().sum()
}

/// The scores of one block's positions.
#[inline(always)]
fn block_scores<S: Simd>(block: &[[f32; N_LANES]], query: &[f32]) -> [f32; N_LANES] {
    // Four sums, because one would wait for itself.
    let mut sums = [[0.0_f32; N_LANES]; 4];
    let (keys, rest_of_keys) = block.as_chunks::<4>();
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

/// Adds the values of a run's first tokens, each times its probability.
#[inline(always)]
pub fn add_values<'a, S: Simd>(
    blocks: &(impl Iterator<Item = &'a [[f32; N_LANES]]> + Clone),
    probs: &[f32],
    mixed: &mut [f32],
) {
    let n_registers = mixed.len().div_ceil(N_LANES);
    let mut start = 0;
    while start < n_registers {
        let blocks = blocks.clone();
        start += match n_registers - start {
            1 => {
                let sums = panel::<S, 1>(blocks, probs, start, n_registers);
                add_to(mixed, start, &sums);
                1
            }
            2 | 3 => {
                let sums = panel::<S, 2>(blocks, probs, start, n_registers);
                add_to(mixed, start, &sums);
                2
            }
            _ => {
                let sums = panel::<S, 4>(blocks, probs, start, n_registers);
                add_to(mixed, start, &sums);
                4
            }
        };
    }
}

/// The part of [`add_values`] that stays in N registers, from register `start` of a position's
/// `n_registers` on.
#[inline(always)]
fn panel<'a, S: Simd, const N: usize>(
    blocks: impl Iterator<Item = &'a [[f32; N_LANES]]>,
    probs: &[f32],
    start: usize,
    n_registers: usize,
) -> [[f32; N_LANES]; N] {
    let mut sums = [[0.0_f32; N_LANES]; N];
    for (block, probs) in blocks.zip(probs.chunks(N_LANES)) {
        for (values, prob) in block.chunks_exact(n_registers).zip(probs) {
            let values = values.get(start..).and_then(|values| values.first_chunk());
            if let Some(values) = values {
                let values: &[[f32; N_LANES]; N] = values;
                for (sums, values) in sums.iter_mut().zip(values) {
                    add_product::<S>(*prob, values, sums);
                }
            }
        }
    }
    sums
}

#[inline(always)]
fn add_to(mixed: &mut [f32], start: usize, sums: &[[f32; N_LANES]]) {
    let mixed = mixed.iter_mut().skip(start * N_LANES);
    for (mixed, sum) in mixed.zip(sums.as_flattened()) {
        *mixed += sum;
    }
}

#[inline(always)]
fn add_product<S: Simd>(factor: f32, values: &[f32; N_LANES], sums: &mut [f32; N_LANES]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum = multiply_add::<S>(factor, *value, *sum);
    }
}
