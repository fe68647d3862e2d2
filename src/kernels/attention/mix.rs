//! Divides attention over the threads.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::job::{Job, Result, Scratch};
use super::keys_values::n_value_registers;
use super::partial::Partial;
use super::tile::N_MOST_QUERIES;
use super::{Heads, N_SEGMENT, Row};
use crate::kernels::{InstructionSet, ThreadPool};

/// Products below which other threads cost more than they give.
const N_MIN_PARALLEL_PRODUCTS: usize = 1 << 17;

/// The most queries that go through a run together: their scores with a segment stay in a near cache.
const N_MOST_JOB_QUERIES: usize = 64;

/// Jobs for each thread, so that one that comes late has less to do.
const N_THREAD_JOBS: usize = 4;

/// Fewer jobs than that for each thread are worth dividing the rows, though each part then reads the keys.
const N_LEAST_THREAD_JOBS: usize = 2;

/// Mixes for each row the values of all positions that it sees.
///
/// `qkv` is `[row][queries, keys, values]`, the queries normed and turned; the keys and values of the rows are in
/// their runs already. `mixed` is `[row][query head][dim]`.
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
    // The last rows of a long text see the most, so they come first.
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

/// How many rows make a part: few enough for their scores to stay near and for every thread to have work, but
/// no fewer than go through a run together anyway.
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

/// Few tasks, each divided by segments.
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
    /// For each row the place of these heads' mixes.
    outputs: Vec<&'a mut [f32]>,
}

impl<'a> Task<'a> {
    /// The segments that any row sees something of.
    fn segments(&self) -> Range<usize> {
        let starts = self.rows.iter().map(|row| row.visible.start);
        let ends = self.rows.iter().map(|row| row.visible.end);
        starts.min().unwrap_or(0) / N_SEGMENT..ends.max().unwrap_or(0).div_ceil(N_SEGMENT)
    }

    /// All of it as one job.
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

    /// One segment of it.
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

/// The last step of a task that was divided.
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
