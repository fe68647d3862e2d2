//! Attention on the processor: one pass over plain slices, without a tensor operation in between.

use std::ops::Range;
use std::sync::Mutex;

use candle_core::{Device, Tensor};
use pulp::{Simd, WithSimd};

use super::attention::{Attention, Batch, HeadShape, Place};
use super::cache::Cache;
use super::cpu_run::{BlockShape, CpuRun, KeysValues, N_LANES};
use super::cpu_tensor::with_values;
use super::exp::exp;
use super::packed::multiply_add;
use crate::engine::blueprint::RopeForm;

/// Attention on the processor.
#[derive(Debug)]
pub struct CpuAttention {
    shape: HeadShape,
    arch: pulp::Arch,
}

/// Products below which other threads cost more than they give. candle's threads spin while they wait,
/// so that one which the system does not run holds up all.
const N_MIN_PARALLEL_PRODUCTS: usize = 8_000_000;

impl CpuAttention {
    /// For heads of this shape.
    pub fn new(shape: HeadShape) -> Self {
        Self {
            shape,
            arch: pulp::Arch::new(),
        }
    }

    const fn block_shape(&self) -> BlockShape {
        BlockShape {
            n_kv_heads: self.shape.n_kv_heads,
            head_dim: self.shape.head_dim,
        }
    }

    /// Turns and scales the queries, and writes keys and values to the tails.
    fn read(
        &self,
        layer: usize,
        qkv: &mut [f32],
        batch: &Batch,
        caches: &mut [Cache<CpuRun>],
    ) -> candle_core::Result<()> {
        let (q_width, kv_width) = (self.shape.q_width(), self.shape.kv_width());
        let head_dim = self.shape.head_dim;
        let scale = 1.0 / (head_dim as f32).sqrt();
        with_values(&batch.cos, |cos| {
            with_values(&batch.sin, |sin| {
                let angles = cos
                    .chunks_exact(head_dim / 2)
                    .zip(sin.chunks_exact(head_dim / 2));
                let rows = qkv.chunks_exact_mut(q_width + 2 * kv_width);
                for ((row, place), (cos, sin)) in rows.zip(&batch.places).zip(angles) {
                    let (queries, keys_values) = row.split_at_mut(q_width);
                    let (keys, values) = keys_values.split_at_mut(kv_width);
                    for head in queries.chunks_exact_mut(head_dim) {
                        rotate(self.shape.rope.form, cos, sin, head);
                        head.iter_mut().for_each(|value| *value *= scale);
                    }
                    for head in keys.chunks_exact_mut(head_dim) {
                        rotate(self.shape.rope.form, cos, sin, head);
                    }
                    let Some(cache) = caches.get_mut(place.cache) else {
                        continue;
                    };
                    let index = place.position - cache.n_shared();
                    if let Some(run) = cache.tail_mut().layer_mut(layer) {
                        run.write(self.block_shape(), index, keys, values);
                    }
                }
            })
        })?
    }

    /// Does all tasks, on several threads where that pays.
    fn mix_all<'a>(&self, work: &'a Work<'a, '_>) {
        let n_tasks = work.tasks.len();
        if n_products(&work.batch.places, self.shape.q_width()) < N_MIN_PARALLEL_PRODUCTS {
            self.arch.dispatch(Part(work, 0..n_tasks));
        } else {
            candle_core::utils::barrier_pool().execute_chunked(n_tasks, |range| {
                self.arch.dispatch(Part(work, range));
            });
        }
    }

    /// Mixes the values for the query heads of one row that share key-value head `kv_head`.
    #[inline(always)]
    fn mix<S: Simd>(
        &self,
        query: &Query<'_>,
        kv_head: usize,
        scores: &mut Vec<f32>,
        mixed: &mut [f32],
    ) {
        let (shape, head_dim) = (self.block_shape(), self.shape.head_dim);
        let width = self.shape.group() * head_dim;
        let queries = query
            .values
            .chunks_exact(width)
            .nth(kv_head)
            .unwrap_or_default();
        let heads = queries
            .chunks_exact(head_dim)
            .zip(mixed.chunks_exact_mut(head_dim));
        for (head, mixed) in heads {
            scores.clear();
            for (run, n_tokens) in query.runs() {
                extend_scores::<S>(run.keys(shape, kv_head), head, n_tokens, scores);
            }
            let sum = softmax_parts(scores);
            mixed.fill(0.0);
            let mut probs = scores.as_slice();
            for (run, n_tokens) in query.runs() {
                let (now, later) = probs.split_at_checked(n_tokens).unwrap_or_default();
                add_values::<S>(run.values(shape, kv_head), now, mixed);
                probs = later;
            }
            for value in mixed {
                *value /= sum;
            }
        }
    }
}

/// One row's queries, and what they see.
struct Query<'a> {
    layer: usize,
    values: &'a [f32],
    cache: &'a Cache<CpuRun>,
    n_visible: usize,
}

impl Query<'_> {
    #[inline(always)]
    fn runs(&self) -> impl Iterator<Item = (&KeysValues, usize)> {
        self.cache
            .runs(self.n_visible)
            .filter_map(|(run, n_tokens)| Some((run.layer(self.layer)?, n_tokens)))
    }
}

impl Attention for CpuAttention {
    type Run = CpuRun;

    fn forward(
        &self,
        layer: usize,
        qkv: &Tensor,
        batch: &Batch,
        caches: &mut [Cache<CpuRun>],
    ) -> candle_core::Result<Tensor> {
        let mut qkv = with_values(qkv, <[f32]>::to_vec)?;
        self.read(layer, &mut qkv, batch, caches)?;
        let q_width = self.shape.q_width();
        let mut mixed = vec![0.0; batch.places.len() * q_width];
        let width = self.shape.group() * self.shape.head_dim;
        self.mix_all(&Work {
            attention: self,
            layer,
            qkv: &qkv,
            batch,
            caches,
            tasks: mixed.chunks_exact_mut(width).map(Mutex::new).collect(),
        });
        Tensor::from_vec(mixed, (batch.places.len(), q_width), &Device::Cpu)
    }
}

/// One layer's work: a task for each row and each of its key-value heads.
struct Work<'a, 'm> {
    attention: &'a CpuAttention,
    layer: usize,
    qkv: &'a [f32],
    batch: &'a Batch,
    caches: &'a [Cache<CpuRun>],
    /// Where the results go. No task is handed out twice, so no lock is ever waited for.
    tasks: Vec<Mutex<&'m mut [f32]>>,
}

/// Some of the tasks. A type and not a closure, because only what is inlined here is compiled for
/// the processor that is there.
struct Part<'a, 'm>(&'a Work<'a, 'm>, Range<usize>);

impl WithSimd for Part<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let Self(work, range) = self;
        let mut scores = Vec::new();
        let n_kv_heads = work.attention.shape.n_kv_heads;
        for (index, task) in work
            .tasks
            .iter()
            .enumerate()
            .take(range.end)
            .skip(range.start)
        {
            if let (Some(query), Ok(mut mixed)) = (work.query(index / n_kv_heads), task.try_lock())
            {
                let kv_head = index % n_kv_heads;
                work.attention
                    .mix::<S>(&query, kv_head, &mut scores, &mut mixed);
            }
        }
    }
}

impl Work<'_, '_> {
    fn query(&self, row: usize) -> Option<Query<'_>> {
        let shape = self.attention.shape;
        let place = self.batch.places.get(row)?;
        let start = row * (shape.q_width() + 2 * shape.kv_width());
        Some(Query {
            layer: self.layer,
            values: self.qkv.get(start..start + shape.q_width())?,
            cache: self.caches.get(place.cache)?,
            n_visible: place.position + 1,
        })
    }
}

/// How many products the queries and the values take.
fn n_products(places: &[Place], q_width: usize) -> usize {
    let n_seen: usize = places.iter().map(|place| place.position + 1).sum();
    2 * n_seen * q_width
}

#[inline(always)]
fn rotate(form: RopeForm, cos: &[f32], sin: &[f32], head: &mut [f32]) {
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
fn extend_scores<'a, S: Simd>(
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
fn softmax_parts(scores: &mut [f32]) -> f32 {
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
    std::array::from_fn(|lane| (first[lane] + second[lane]) + (third[lane] + fourth[lane]))
}

/// Adds the values of a run's first tokens, each times its probability.
#[inline(always)]
fn add_values<'a, S: Simd>(
    blocks: impl Iterator<Item = &'a [[f32; N_LANES]]> + Clone,
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
