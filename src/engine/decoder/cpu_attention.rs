//! Attention on the processor: one pass over plain slices, without a tensor operation in between.

use std::ops::Range;

use candle_core::{Device, Tensor};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::attention::{Attention, Batch, HeadShape, Place};
use super::cache::Cache;
use super::cpu_head::{add_values, rotate, softmax, write_scores};
use super::cpu_run::{BlockShape, CpuRun, KeysValues, N_LANES};
use super::cpu_tensor::with_values;

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
                        for value in head {
                            *value *= scale;
                        }
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
                let heads = heads.chunks_exact(head_dim);
                for (head, scores) in heads.zip(scores.chunks_exact_mut(n_scores)) {
                    if let Some(scores) = scores.get_mut(range.clone()) {
                        write_scores::<S>(keys, head, scores);
                    }
                }
            }
            n_done += n_tokens;
        }
        for scores in scores.chunks_exact_mut(n_scores) {
            softmax(scores);
        }
        mixed.fill(0.0);
        let mut n_done = 0;
        for (run, n_tokens) in query.runs() {
            for (values, range) in run.values(shape, kv_head).zip(blocks(n_done, n_tokens)) {
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
        let work = Work {
            attention: self,
            layer,
            qkv: &qkv,
            batch,
            caches,
        };
        work.mix_all(&mut mixed);
        Tensor::from_vec(mixed, (batch.places.len(), q_width), &Device::Cpu)
    }
}

/// One layer's work: a task for each row and each of its key-value heads.
struct Work<'a> {
    attention: &'a CpuAttention,
    layer: usize,
    qkv: &'a [f32],
    batch: &'a Batch,
    caches: &'a [Cache<CpuRun>],
}

impl Work<'_> {
    /// Does all tasks, on several threads where that pays.
    fn mix_all(&self, mixed: &mut [f32]) {
        let shape = self.attention.shape;
        if n_products(&self.batch.places, shape.q_width()) < N_MIN_PARALLEL_PRODUCTS {
            self.mix_some(0, mixed);
            return;
        }
        let n_tasks = self.batch.places.len() * shape.n_kv_heads;
        let n_part_tasks = n_tasks.div_ceil(4 * rayon::current_num_threads());
        mixed
            .par_chunks_mut(n_part_tasks * self.task_width())
            .enumerate()
            .for_each(|(part, mixed)| self.mix_some(part * n_part_tasks, mixed));
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
            layer: self.layer,
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

#[cfg(test)]
mod tests {
    use super::super::tensor_attention::TensorAttention;
    use super::*;
    use crate::engine::blueprint::{Rope, RopeForm};
    use candle_core::Device;

    /// Two sequences that part from one, read in chunks, with all that a cache can go through.
    fn mix<A: Attention>(attention: &A, shape: HeadShape) -> Vec<f32> {
        let steps = shape.rope.inverse_wavelengths(shape.head_dim);
        let mut mixed = Vec::new();
        let mut read = |caches: &mut [Cache<A::Run>], rows: &[usize]| {
            let mut places: Vec<Place> = Vec::new();
            for &cache in rows {
                let n_before = places.iter().filter(|place| place.cache == cache).count();
                let position = caches[cache].n_read() + n_before;
                places.push(Place { cache, position });
            }
            let width = shape.q_width() + 2 * shape.kv_width();
            let values = (0..rows.len() * width).map(|i| ((i + mixed.len()) as f32 * 0.77).sin());
            let values: Vec<f32> = values.map(|value| 2.0 * value).collect();
            let qkv = Tensor::from_vec(values, (rows.len(), width), &Device::Cpu).unwrap();
            let batch = Batch::new(places, &steps, &Device::Cpu).unwrap();
            let found = attention.forward(0, &qkv, &batch, caches).unwrap();
            mixed.extend(found.flatten_all().unwrap().to_vec1::<f32>().unwrap());
            for &cache in rows {
                caches[cache].commit(1);
            }
        };
        let mut caches = vec![Cache::new()];
        read(&mut caches, &[0; 21]);
        let fork = caches[0].fork();
        caches.push(fork);
        read(&mut caches, &[0, 1, 1, 0, 1]);
        caches[0].truncate(17);
        read(&mut caches, &[1, 0]);
        let fork = caches[1].fork();
        caches.push(fork);
        read(&mut caches, &[2, 1, 0, 0, 2, 2]);
        caches[2].truncate(3);
        read(&mut caches, &[0, 2, 1]);
        mixed
    }

    #[test]
    fn slices_agree_with_tensors() {
        for form in [RopeForm::Interleaved, RopeForm::HalfSplit] {
            for (n_heads, n_kv_heads, head_dim) in [
                (4, 2, 16),
                (3, 1, 2),
                (2, 2, 24),
                (4, 1, 30),
                (2, 1, 80),
                (1, 1, 128),
            ] {
                let shape = HeadShape {
                    n_heads,
                    n_kv_heads,
                    head_dim,
                    rope: Rope { theta: 100.0, form },
                };
                let fast = mix(&CpuAttention::new(shape), shape);
                let plain = mix(&TensorAttention::new(shape), shape);
                assert_eq!(fast.len(), plain.len());
                for (fast, plain) in fast.iter().zip(&plain) {
                    assert!((fast - plain).abs() < 1e-5, "{shape:?}: {fast} {plain}");
                }
            }
        }
    }

    #[test]
    fn many_rows_on_several_threads_agree_with_tensors() {
        let rope = Rope {
            theta: 100.0,
            form: RopeForm::HalfSplit,
        };
        let shape = HeadShape {
            n_heads: 4,
            n_kv_heads: 2,
            head_dim: 32,
            rope,
        };
        let rows = vec![
            Place {
                cache: 0,
                position: 0
            };
            80
        ];
        let places: Vec<Place> = (0..)
            .zip(rows)
            .map(|(position, place)| Place { position, ..place })
            .collect();
        assert!(n_products(&places, shape.q_width()) > N_MIN_PARALLEL_PRODUCTS);
        let steps = rope.inverse_wavelengths(32);
        let batch = Batch::new(places, &steps, &Device::Cpu).unwrap();
        let values: Vec<f32> = (0..80 * 256).map(|i| (i as f32 * 0.77).sin()).collect();
        let qkv = Tensor::from_vec(values, (80, 256), &Device::Cpu).unwrap();
        let fast = CpuAttention::new(shape).forward(0, &qkv, &batch, &mut [Cache::new()]);
        let plain = TensorAttention::new(shape).forward(0, &qkv, &batch, &mut [Cache::new()]);
        let difference = (fast.unwrap() - plain.unwrap()).unwrap().abs().unwrap();
        assert!(difference.max_all().unwrap().to_scalar::<f32>().unwrap() < 1e-5);
    }
}
