//! Divides attention among the threads.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::job::{Job, JobTarget, Scratch};
use super::keys_values::n_value_registers;
use super::partial::Partial;
use super::tile::MAX_GROUP_QUERIES;
use super::{Heads, N_SEGMENT, Row};
use crate::CpuContext;

/// Multiply-adds below which starting other threads costs more time than it saves.
const MIN_PARALLEL_PRODUCTS: usize = 1 << 17;

/// The most queries per job: their scores for one segment must stay in the L2 cache.
const MAX_JOB_QUERIES: usize = 64;

/// Jobs per thread, so that a thread that starts late gets fewer of them.
const JOBS_PER_THREAD: usize = 4;

/// With fewer jobs per thread than this, the rows are split further, although each part then reads
/// the keys again.
const MIN_JOBS_PER_THREAD: usize = 2;

/// Computes the attention output of each row over all positions that it attends to.
///
/// `qkv` is `[row][queries, keys, values]`, with the queries normalized and rotated. The rows' own
/// keys and values must already be in their runs. `output` is `[row][query head][dim]`.
pub fn attend(
    context: &CpuContext,
    heads: Heads,
    rows: &[Row<'_>],
    qkv: &[f32],
    output: &mut [f32],
) {
    let CpuContext {
        threads,
        instructions,
    } = context;
    let arch = instructions.arch();
    let n_task_rows = n_task_rows(threads.n_threads(), heads, rows);
    let parts = rows.chunks(n_task_rows);
    let parts = parts.zip(qkv.chunks(n_task_rows * heads.qkv_width()));
    let outputs = output.chunks_mut(n_task_rows * heads.q_width());
    let mut tasks: Vec<Task<'_>> = Vec::new();
    for ((rows, qkv), output) in parts.zip(outputs) {
        let first = tasks.len();
        tasks.extend((0..heads.n_kv_heads).map(|kv_head| Task {
            heads,
            kv_head,
            rows,
            qkv,
            outputs: Vec::with_capacity(rows.len()),
        }));
        let outputs = output.chunks_exact_mut(heads.group_size() * heads.head_dim);
        for (index, output) in outputs.enumerate() {
            if let Some(task) = tasks.get_mut(first + index % heads.n_kv_heads) {
                task.outputs.push(output);
            }
        }
    }
    // The last rows of a long prompt attend to the most positions, so they start first.
    tasks.reverse();
    let scratch = || Scratch::new(*instructions);
    let n_visible: usize = rows.iter().map(|row| row.visible.len()).sum();
    if 2 * n_visible * heads.q_width() < MIN_PARALLEL_PRODUCTS {
        let mut scratch = scratch();
        for task in tasks {
            arch.dispatch(task.into_job(&mut scratch));
        }
    } else if threads.n_threads() == 1 || tasks.len() >= JOBS_PER_THREAD * threads.n_threads() {
        threads.run_with(tasks, scratch, |scratch, task| {
            arch.dispatch(task.into_job(scratch));
        });
    } else {
        attend_by_segments(context, tasks);
    }
}

/// Chooses how many rows make one task: few enough that their scores stay in the cache and every
/// thread has work, but no fewer than share a load of keys anyway.
fn n_task_rows(n_threads: usize, heads: Heads, rows: &[Row<'_>]) -> usize {
    let rows_of = |n_queries: usize| (n_queries / heads.group_size()).max(1);
    let n_visible = rows.iter().map(|row| row.visible.len()).max().unwrap_or(0);
    let n_jobs = heads.n_kv_heads * n_visible.div_ceil(N_SEGMENT).max(1);
    let min_parts = rows.len().div_ceil(rows_of(MAX_JOB_QUERIES));
    let wanted_parts = (MIN_JOBS_PER_THREAD * n_threads).div_ceil(n_jobs);
    let max_parts = rows.len() / rows_of(MAX_GROUP_QUERIES);
    let n_parts = wanted_parts.min(max_parts).max(min_parts).max(1);
    rows.len().div_ceil(n_parts).max(1)
}

/// Divides a few tasks by segments.
fn attend_by_segments(context: &CpuContext, tasks: Vec<Task<'_>>) {
    let arch = context.instructions.arch();
    let mut task_partials: Vec<Vec<Partial>> = tasks
        .iter()
        .map(|task| vec![Partial::default(); task.segments().len()])
        .collect();
    let parts = tasks
        .iter()
        .zip(&mut task_partials)
        .flat_map(|(task, partials)| {
            let segments = task.segments().zip(partials);
            segments.map(move |(segment, partial)| (task, segment, partial))
        });
    let scratch = || Scratch::new(context.instructions);
    context.threads.run_with(
        parts.collect(),
        scratch,
        |scratch, (task, segment, partial)| {
            arch.dispatch(task.segment_job(scratch, segment, partial));
        },
    );
    for (task, partials) in tasks.into_iter().zip(task_partials) {
        arch.dispatch(MergeTask { task, partials });
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
    fn into_job(self, scratch: &'a mut Scratch) -> Job<'a> {
        Job {
            scratch,
            heads: self.heads,
            kv_head: self.kv_head,
            rows: self.rows,
            qkv: self.qkv,
            segments: self.segments(),
            target: JobTarget::Output(self.outputs),
        }
    }

    /// One segment as a job.
    fn segment_job<'b>(
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
            target: JobTarget::Partial(partial),
        }
    }
}

/// Merges the segments of a divided task.
struct MergeTask<'a> {
    task: Task<'a>,
    partials: Vec<Partial>,
}

impl WithSimd for MergeTask<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let Self { task, partials } = self;
        let heads = task.heads;
        let mut merged = Partial::default();
        merged.clear(
            task.rows.len() * heads.group_size(),
            n_value_registers(heads.head_dim),
        );
        for partial in &partials {
            merged.merge(partial);
        }
        merged.add_sinks(heads.sinks(task.kv_head, task.rows));
        let outputs = task.outputs.into_iter();
        merged.write_output(outputs.flat_map(|row| row.chunks_exact_mut(heads.head_dim)));
    }
}
