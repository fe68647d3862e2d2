//! Divides attention among the threads.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::job::{Job, Result, Scratch};
use super::keys_values::n_value_registers;
use super::partial::Partial;
use super::tile::N_MOST_QUERIES;
use super::{Heads, N_SEGMENT, Row};
use crate::kernels::{InstructionSet, ThreadPool};

/// Multiply-adds below which starting other threads costs more time than it saves.
const N_MIN_PARALLEL_PRODUCTS: usize = 1 << 17;

/// The most queries per job: their scores for one segment must stay in the L2 cache.
const N_MOST_JOB_QUERIES: usize = 64;

/// Jobs per thread, so that a thread that starts late gets fewer of them.
const N_THREAD_JOBS: usize = 4;

/// With fewer jobs per thread than this, the rows are split further, although each part then reads
/// the keys again.
const N_LEAST_THREAD_JOBS: usize = 2;

/// Computes the attention output of each row over all positions that it attends to.
///
/// `qkv` is `[row][queries, keys, values]`, with the queries normalized and rotated. The rows' own
/// keys and values must already be in their runs. `output` is `[row][query head][dim]`.
pub fn mix(
    (team, instructions): (&ThreadPool, InstructionSet),
    heads: Heads,
    rows: &[Row<'_>],
    qkv: &[f32],
    mixed: &mut [f32],
) {
    let arch = instructions.arch();
    let n_part_rows = n_part_rows(team.n_threads(), heads, rows);
    let parts = rows.chunks(n_part_rows);
    let parts = parts.zip(qkv.chunks(n_part_rows * heads.qkv_width()));
    let mixes = mixed.chunks_mut(n_part_rows * heads.q_width());
    let mut tasks: Vec<Task<'_>> = Vec::new();
    for ((rows, qkv), mixed) in parts.zip(mixes) {
        let first = tasks.len();
        tasks.extend((0..heads.n_kv_heads).map(|kv_head| Task {
            heads,
            kv_head,
            rows,
            qkv,
            outputs: Vec::with_capacity(rows.len()),
        }));
        let outputs = mixed.chunks_exact_mut(heads.group() * heads.head_dim);
        for (index, output) in outputs.enumerate() {
            if let Some(task) = tasks.get_mut(first + index % heads.n_kv_heads) {
                task.outputs.push(output);
            }
        }
    }
    // The last rows of a long prompt attend to the most positions, so they start first.
    tasks.reverse();
    let scratch = || Scratch::new(instructions);
    let n_seen: usize = rows.iter().map(|row| row.visible.len()).sum();
    if 2 * n_seen * heads.q_width() < N_MIN_PARALLEL_PRODUCTS {
        let mut scratch = scratch();
        for task in tasks {
            arch.dispatch(task.whole(&mut scratch));
        }
    } else if team.n_threads() == 1 || tasks.len() >= N_THREAD_JOBS * team.n_threads() {
        team.run_with(tasks, scratch, |scratch, task| {
            arch.dispatch(task.whole(scratch));
        });
    } else {
        mix_by_segments((team, instructions), tasks);
    }
}

/// Chooses how many rows make one task: few enough that their scores stay in the cache and every
/// thread has work, but no fewer than share a load of keys anyway.
fn n_part_rows(n_threads: usize, heads: Heads, rows: &[Row<'_>]) -> usize {
    let within = |n_queries: usize| (n_queries / heads.group()).max(1);
    let n_seen = rows.iter().map(|row| row.visible.len()).max().unwrap_or(0);
    let n_jobs = heads.n_kv_heads * n_seen.div_ceil(N_SEGMENT).max(1);
    let n_least_parts = rows.len().div_ceil(within(N_MOST_JOB_QUERIES));
    let n_wanted_parts = (N_LEAST_THREAD_JOBS * n_threads).div_ceil(n_jobs);
    let n_most_parts = rows.len() / within(N_MOST_QUERIES);
    let n_parts = n_wanted_parts.min(n_most_parts).max(n_least_parts).max(1);
    rows.len().div_ceil(n_parts).max(1)
}

/// Divides a few tasks by segments.
fn mix_by_segments((team, instructions): (&ThreadPool, InstructionSet), tasks: Vec<Task<'_>>) {
    let arch = instructions.arch();
    let mut found: Vec<Vec<Partial>> = tasks
        .iter()
        .map(|task| vec![Partial::default(); task.segments().len()])
        .collect();
    let parts = tasks.iter().zip(&mut found).flat_map(|(task, partials)| {
        let segments = task.segments().zip(partials);
        segments.map(move |(segment, partial)| (task, segment, partial))
    });
    let scratch = || Scratch::new(instructions);
    team.run_with(
        parts.collect(),
        scratch,
        |scratch, (task, segment, partial)| arch.dispatch(task.part(scratch, segment, partial)),
    );
    for (task, partials) in tasks.into_iter().zip(found) {
        arch.dispatch(Joining { task, partials });
    }
}

/// The queries of some rows that share a key-value head.
struct Task<'a> {
    heads: Heads,
    kv_head: usize,
    rows: &'a [Row<'a>],
    qkv: &'a [f32],
    /// For each row, the output of these heads.
    outputs: Vec<&'a mut [f32]>,
}

impl<'a> Task<'a> {
    /// The segments that any row attends to.
    fn segments(&self) -> Range<usize> {
        let starts = self.rows.iter().map(|row| row.visible.start);
        let ends = self.rows.iter().map(|row| row.visible.end);
        starts.min().unwrap_or(0) / N_SEGMENT..ends.max().unwrap_or(0).div_ceil(N_SEGMENT)
    }

    /// The entire task as one job.
    fn whole(self, scratch: &'a mut Scratch) -> Job<'a> {
        Job {
            scratch,
            heads: self.heads,
            kv_head: self.kv_head,
            rows: self.rows,
            qkv: self.qkv,
            segments: self.segments(),
            result: Result::Mixed(self.outputs),
        }
    }

    /// One segment as a job.
    fn part<'b>(
        &self,
        scratch: &'b mut Scratch,
        segment: usize,
        partial: &'b mut Partial,
    ) -> Job<'b>
    where
        'a: 'b,
    {
        Job {
            scratch,
            heads: self.heads,
            kv_head: self.kv_head,
            rows: self.rows,
            qkv: self.qkv,
            segments: segment..segment + 1,
            result: Result::Partial(partial),
        }
    }
}

/// Merges the segments of a divided task.
struct Joining<'a> {
    task: Task<'a>,
    partials: Vec<Partial>,
}

impl WithSimd for Joining<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let Self { task, partials } = self;
        let heads = task.heads;
        let mut joined = Partial::default();
        joined.clear(
            task.rows.len() * heads.group(),
            n_value_registers(heads.head_dim),
        );
        for partial in &partials {
            joined.join(partial);
        }
        let outputs = task.outputs.into_iter();
        joined.finish(outputs.flat_map(|row| row.chunks_exact_mut(heads.head_dim)));
    }
}
