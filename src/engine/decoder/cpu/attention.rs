//! Attention on the processor: one pass over plain slices, without a tensor operation in between.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::Batch;
use super::cap::soft_cap;
use super::head::{add_values, rms_norm, rotate, softmax, write_scores};
use super::run::{BlockShape, CpuRun, KeysValues, N_LANES};
use crate::engine::decoder::attention::{AttentionLayer, HeadNorms, HeadShape};
use crate::engine::decoder::batch::{Place, Turns};
use crate::engine::decoder::cache::Cache;
use crate::engine::kernels::Team;

/// Attention on the processor.
#[derive(Debug)]
pub struct CpuAttention {
    shape: HeadShape,
    arch: pulp::Arch,
}

/// Products below which other threads cost more than they give.
const N_MIN_PARALLEL_PRODUCTS: usize = 500_000;

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

    /// Norms and turns queries and keys, scales the queries, and writes keys and values to the tails.
    fn read(
        &self,
        layer: &AttentionLayer<Vec<f32>>,
        qkv: &mut [f32],
        batch: &Batch<'_>,
        caches: &mut [Cache<CpuRun>],
    ) {
        if let Some(norms) = &layer.norms {
            self.norm(norms, qkv);
        }
        if let Some(turns) = layer.turns(&batch.turns) {
            self.turn(turns, qkv);
        }
        let kv_width = self.shape.kv_width();
        for (row, place) in self.rows(qkv).zip(batch.places) {
            let (queries, keys_values) = row.split_at_mut(self.shape.q_width());
            let (keys, values) = keys_values.split_at(kv_width);
            for value in queries {
                *value *= self.shape.score_scale;
            }
            let Some(cache) = caches.get_mut(place.cache) else {
                continue;
            };
            let index = place.position - cache.n_shared();
            if let Some(run) = cache.tail_mut().layer_mut(layer.index) {
                run.write(self.block_shape(), index, keys, values);
            }
        }
    }

    fn rows<'a>(&self, qkv: &'a mut [f32]) -> impl Iterator<Item = &'a mut [f32]> {
        qkv.chunks_exact_mut(self.shape.q_width() + 2 * self.shape.kv_width())
    }

    fn norm(&self, norms: &HeadNorms<Vec<f32>>, qkv: &mut [f32]) {
        let (q_width, kv_width) = (self.shape.q_width(), self.shape.kv_width());
        for (weights, range) in [
            (&norms.queries, 0..q_width),
            (&norms.keys, q_width..q_width + kv_width),
        ] {
            for row in self.rows(qkv) {
                let heads = row.get_mut(range.clone()).unwrap_or_default();
                for part in heads.chunks_exact_mut(weights.len().max(1)) {
                    rms_norm(norms.eps, weights, part);
                }
            }
        }
    }

    fn turn(&self, turns: &Turns, qkv: &mut [f32]) {
        let turning_width = self.shape.q_width() + self.shape.kv_width();
        let n_planes = turns.n_dims / 2;
        let (cos, sin) = (&turns.cos, &turns.sin);
        let angles = cos.chunks_exact(n_planes).zip(sin.chunks_exact(n_planes));
        for (row, (cos, sin)) in self.rows(qkv).zip(angles) {
            let (turning, _) = row.split_at_mut(turning_width);
            for head in turning.chunks_exact_mut(self.shape.head_dim) {
                if let Some(head) = head.get_mut(..turns.n_dims) {
                    rotate(turns.form, cos, sin, head);
                }
            }
        }
    }

    /// Mixes the values for the query heads of one row that share key-value head `kv_head`. These go
    /// through each block together, while it is near.
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
        let start = kv_head * width;
        let heads = query.values.get(start..start + width).unwrap_or_default();
        let n_scores = query.n_visible.next_multiple_of(N_LANES);
        scores.clear();
        scores.resize(self.shape.group() * n_scores, f32::NEG_INFINITY);
        let mut n_done = 0;
        for (run, n_tokens) in query.runs() {
            for (keys, range) in run.keys(shape, kv_head).zip(blocks(n_done, n_tokens)) {
                if range.end <= query.first {
                    continue;
                }
                let heads = heads.chunks_exact(head_dim);
                for (head, scores) in heads.zip(scores.chunks_exact_mut(n_scores)) {
                    if let Some(scores) = scores.get_mut(range.clone()) {
                        write_scores::<S>(keys, head, scores);
                        if let Some(cap) = self.shape.score_cap {
                            soft_cap(cap, scores);
                        }
                    }
                }
            }
            n_done += n_tokens;
        }
        for scores in scores.chunks_exact_mut(n_scores) {
            // A block that reaches into the window begins at most a register before it, wherever its
            // run begins; whole registers before that hold nothing.
            let start = query.first.saturating_sub(N_LANES - 1) / N_LANES * N_LANES;
            if let Some(hidden) = scores.get_mut(start..query.first) {
                hidden.fill(f32::NEG_INFINITY);
            }
            softmax(scores.get_mut(start..).unwrap_or_default());
        }
        mixed.fill(0.0);
        let mut n_done = 0;
        for (run, n_tokens) in query.runs() {
            for (values, range) in run.values(shape, kv_head).zip(blocks(n_done, n_tokens)) {
                if range.end <= query.first {
                    continue;
                }
                let heads = mixed.chunks_exact_mut(head_dim);
                for (mixed, probs) in heads.zip(scores.chunks_exact(n_scores)) {
                    if let Some(probs) = probs.get(range.clone()) {
                        add_values::<S>(values, probs, mixed);
                    }
                }
            }
            n_done += n_tokens;
        }
    }
}

/// One row's queries, and what they see.
struct Query<'a> {
    layer: usize,
    values: &'a [f32],
    cache: &'a Cache<CpuRun>,
    /// The first position that it sees, and how many there are up to its own.
    first: usize,
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

impl CpuAttention {
    /// Norms and turns queries and keys, writes keys and values to the tails, and mixes for each row the
    /// values of all tokens up to its own, or of as many as the layer's window holds.
    ///
    /// `qkv` is `[rows, q_width + 2 × kv_width]`; `mixed` is `[rows, q_width]`.
    pub fn forward(
        &self,
        team: &Team,
        layer: &AttentionLayer<Vec<f32>>,
        qkv: &mut [f32],
        (batch, caches): (&Batch<'_>, &mut [Cache<CpuRun>]),
        mixed: &mut [f32],
    ) {
        self.read(layer, qkv, batch, caches);
        let work = Work {
            attention: self,
            layer,
            qkv,
            batch,
            caches,
        };
        work.mix_all(team, mixed);
    }
}

/// One layer's work: a task for each row and each of its key-value heads.
struct Work<'a> {
    attention: &'a CpuAttention,
    layer: &'a AttentionLayer<Vec<f32>>,
    qkv: &'a [f32],
    batch: &'a Batch<'a>,
    caches: &'a [Cache<CpuRun>],
}

impl Work<'_> {
    /// Does all tasks, on several threads where that pays.
    fn mix_all(&self, team: &Team, mixed: &mut [f32]) {
        let shape = self.attention.shape;
        if n_products(self.batch.places, shape.q_width()) < N_MIN_PARALLEL_PRODUCTS {
            self.mix_some(0, mixed);
            return;
        }
        let n_tasks = self.batch.places.len() * shape.n_kv_heads;
        let n_part_tasks = n_tasks.div_ceil(4 * team.n_threads());
        let parts = mixed.chunks_mut(n_part_tasks * self.task_width());
        team.run(parts.enumerate().collect(), |(part, mixed)| {
            self.mix_some(part * n_part_tasks, mixed);
        });
    }

    fn mix_some(&self, first_task: usize, mixed: &mut [f32]) {
        self.attention.arch.dispatch(Part {
            work: self,
            first_task,
            mixed,
        });
    }

    /// The values of the query heads that share a key-value head.
    const fn task_width(&self) -> usize {
        self.attention.shape.group() * self.attention.shape.head_dim
    }

    fn query(&self, row: usize) -> Option<Query<'_>> {
        let shape = self.attention.shape;
        let place = self.batch.places.get(row)?;
        let start = row * (shape.q_width() + 2 * shape.kv_width());
        Some(Query {
            layer: self.layer.index,
            first: self.layer.first_visible(place.position),
            values: self.qkv.get(start..start + shape.q_width())?,
            cache: self.caches.get(place.cache)?,
            n_visible: place.position + 1,
        })
    }
}

/// Some of the tasks. A type and not a closure, because only what is inlined here is compiled for
/// the processor that is there.
struct Part<'a> {
    work: &'a Work<'a>,
    first_task: usize,
    mixed: &'a mut [f32],
}

impl WithSimd for Part<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let attention = self.work.attention;
        let n_kv_heads = attention.shape.n_kv_heads;
        let mut scores = Vec::new();
        let tasks = self.mixed.chunks_exact_mut(self.work.task_width());
        for (task, mixed) in (self.first_task..).zip(tasks) {
            if let Some(query) = self.work.query(task / n_kv_heads) {
                attention.mix::<S>(&query, task % n_kv_heads, &mut scores, mixed);
            }
        }
    }
}

/// The places of a run's blocks among all that a row sees; the last block may be cut.
#[inline(always)]
fn blocks(start: usize, n_tokens: usize) -> impl Iterator<Item = Range<usize>> {
    let end = start + n_tokens;
    (start..end)
        .step_by(N_LANES)
        .map(move |first| first..(first + N_LANES).min(end))
}

/// How many products the queries and the values take.
fn n_products(places: &[Place], q_width: usize) -> usize {
    let n_seen: usize = places.iter().map(|place| place.position + 1).sum();
    2 * n_seen * q_width
}
