//! One attention job: the queries of some rows that share a key-value head, over some segments.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::byte_scratch::{ByteScratch, VisibleByteRun};
use super::groups::{ScoreOutput, ValueSums, add_group_values, write_group_scores};
use super::keys_values::n_value_registers;
use super::partial::Partial;
use super::scores::{copy_visible, each_block, exponentials, scaled_exponentials, write_scores};
use super::visible_runs::{QueryGroup, QueryMask, VisibleRun, visible_runs};
use super::{Heads, Lanes, N_SEGMENT, Row};
use crate::{InstructionSet, N_LANES};

/// Blocks whose scores are computed together.
const N_TILE_BLOCKS: usize = 2;

/// Blocks whose values are accumulated together: with 64 dimensions they fill half of the L1 cache.
const N_VALUE_BLOCKS: usize = 4;

/// 8-bit blocks that are multiplied by the queries before the scores are stored.
const N_BYTE_TILE_BLOCKS: usize = 8;

pub(super) const N_SEGMENT_BLOCKS: usize = N_SEGMENT / N_LANES;

/// The scores of masked positions.
const MASKED: Lanes = Lanes::all(f32::NEG_INFINITY);

/// One attention job. It is a type rather than a closure because only code that is inlined into its
/// `with_simd` is compiled for the CPU's instructions.
#[derive(Debug)]
pub(super) struct Job<'a> {
    /// Buffers that the job may use.
    pub scratch: &'a mut Scratch,
    pub heads: Heads,
    /// The key-value head that the queries share.
    pub kv_head: usize,
    pub rows: &'a [Row<'a>],
    /// The queries, keys and values of the rows, `[row][head][dim]`.
    pub qkv: &'a [f32],
    /// The segments to attend to.
    pub segments: Range<usize>,
    pub target: JobTarget<'a>,
}

/// Where a job writes its result.
#[derive(Debug)]
pub(super) enum JobTarget<'a> {
    /// The partial softmax of one segment, to be merged with the others.
    Partial(&'a mut Partial),
    /// The attention output: for each row, the heads of this job.
    Output(Vec<&'a mut [f32]>),
}

/// Calls a function with the number of queries in a group as its last const generic argument.
macro_rules! with_size {
    ($group:expr, $function:ident$(::<$simd:ident>)?($($argument:expr),*)) => {
        match $group.masks.len() {
            1 => $function::<$($simd,)? 1>($($argument),*),
            2 => $function::<$($simd,)? 2>($($argument),*),
            3 => $function::<$($simd,)? 3>($($argument),*),
            4 => $function::<$($simd,)? 4>($($argument),*),
            5 => $function::<$($simd,)? 5>($($argument),*),
            _ => $function::<$($simd,)? 6>($($argument),*),
        }
    };
}
pub(super) use with_size;

impl WithSimd for Job<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            scratch,
            heads,
            kv_head,
            rows,
            qkv,
            segments,
            target,
        } = self;
        // The scratch memory may hold queries of another job under the same indices.
        scratch.loaded_queries.clear();
        let mut job = RunningJob {
            heads,
            kv_head,
            rows,
            qkv,
            first_block: 0,
            scratch,
        };
        match target {
            JobTarget::Partial(partial) => job.segment(simd, segments.start, partial),
            JobTarget::Output(outputs) => {
                let (mut merged, mut partial) = (Partial::default(), Partial::default());
                job.clear(&mut merged);
                for segment in segments {
                    job.segment(simd, segment, &mut partial);
                    merged.merge(&partial);
                }
                merged.add_sinks(heads.sinks(kv_head, rows));
                let outputs = outputs.into_iter();
                merged.write_output(outputs.flat_map(|row| row.chunks_exact_mut(heads.head_dim)));
            }
        }
    }
}

/// Buffers of a job. A thread reuses them for all of its jobs, to allocate only once.
#[derive(Debug)]
pub(super) struct Scratch {
    /// The queries that attend to the current run: `[group][dim][query]`.
    queries: Vec<f32>,
    /// The indices of the queries in `queries`.
    loaded_queries: Vec<usize>,
    /// Scores, later replaced by probabilities: `[query][block][lane]`.
    scores: Vec<Lanes>,
    /// The scales of the positions that the current query attends to, `[block][lane]`. Only used
    /// with an 8-bit cache.
    scales: Vec<Lanes>,
    /// Keys or values converted to single precision.
    widened: Vec<Lanes>,
    bytes: ByteScratch,
}

impl Scratch {
    /// Creates empty scratch memory for kernels that use these instructions.
    pub(super) fn new(instructions: InstructionSet) -> Self {
        Self {
            queries: Vec::new(),
            loaded_queries: Vec::new(),
            scores: Vec::new(),
            scales: Vec::new(),
            widened: Vec::new(),
            bytes: ByteScratch::new(instructions),
        }
    }

    /// Records which queries are about to be loaded. Returns `false` if they are loaded already.
    fn switch_queries(&mut self, masks: &[QueryMask]) -> bool {
        let queries = masks.iter().map(|mask| mask.query);
        if queries.clone().eq(self.loaded_queries.iter().copied()) {
            return false;
        }
        self.loaded_queries.clear();
        self.loaded_queries.extend(queries);
        true
    }
}

/// A running job.
struct RunningJob<'a> {
    heads: Heads,
    kv_head: usize,
    rows: &'a [Row<'a>],
    qkv: &'a [f32],
    /// The first block of the current segment.
    first_block: usize,
    scratch: &'a mut Scratch,
}

impl RunningJob<'_> {
    fn clear(&self, partial: &mut Partial) {
        let n_queries = self.rows.len() * self.heads.group_size();
        partial.clear(n_queries, n_value_registers(self.heads.head_dim));
    }

    /// Computes the partial softmax of a segment.
    #[inline(always)]
    fn segment<S: Simd>(&mut self, simd: S, segment: usize, partial: &mut Partial) {
        self.clear(partial);
        let positions = segment * N_SEGMENT..(segment + 1) * N_SEGMENT;
        let runs = visible_runs(self.rows, self.heads.group_size(), &positions);
        if runs.is_empty() {
            return;
        }
        self.first_block = segment * N_SEGMENT_BLOCKS;
        let n_scores = partial.sums.len() * N_SEGMENT_BLOCKS;
        self.scratch.scores.resize(n_scores, Lanes::all(0.0));
        self.mask_edges(&positions);
        let byte_runs = runs
            .iter()
            .filter_map(|run| VisibleByteRun::of(run, self.kv_head));
        let byte_runs: Vec<VisibleByteRun<'_>> = byte_runs.collect();
        // All runs of a model use the same cache type.
        if byte_runs.is_empty() {
            for run in &runs {
                self.write_scores(simd, run);
            }
            self.exponentiate::<S>(&positions, partial);
            for run in &runs {
                self.add_values(simd, run, partial);
            }
        } else {
            for run in &byte_runs {
                self.write_byte_scores(run);
            }
            self.exponentiate_and_quantize(simd, &byte_runs, &positions, partial);
            for run in &byte_runs {
                self.scratch.bytes.add(run, self.heads, self.first_block);
            }
            self.scratch.bytes.write_output(&mut partial.weighted_sums);
        }
    }

    #[inline(always)]
    fn write_byte_scores(&mut self, run: &VisibleByteRun<'_>) {
        let (masks, blocks) = (run.masks(), run.blocks());
        if self.scratch.switch_queries(masks) {
            self.scratch.queries.clear();
            for mask in masks {
                let query = self.heads.query(self.qkv, self.kv_head, mask.query);
                let scale = self.heads.score_scale;
                self.scratch
                    .queries
                    .extend(query.iter().map(|value| value * scale));
            }
            let head_dim = self.heads.head_dim;
            self.scratch
                .bytes
                .quantize_queries(&self.scratch.queries, head_dim);
        }
        for start in blocks.clone().step_by(N_BYTE_TILE_BLOCKS) {
            let tile = start..(start + N_BYTE_TILE_BLOCKS).min(blocks.end);
            let scores = self
                .scratch
                .bytes
                .multiply(run, &tile, self.heads)
                .as_chunks()
                .0;
            for (mask, scores) in masks.iter().zip(scores.chunks_exact(tile.len())) {
                let start = mask.query * N_SEGMENT_BLOCKS + tile.start - self.first_block;
                let targets = self.scratch.scores.get_mut(start..start + tile.len());
                let targets = targets.unwrap_or_default();
                each_block(mask, &tile, targets, scores, |lanes, target, scores| {
                    write_scores(self.heads.score_cap, lanes, Lanes(*scores), target);
                });
            }
        }
    }

    /// Turns the scores of all queries into e^(score − largest), multiplies them by the scales of
    /// their positions' values, and quantizes the products. It finishes one query before the next,
    /// so that the scores stay in the cache.
    #[inline(always)]
    fn exponentiate_and_quantize<S: Simd>(
        &mut self,
        simd: S,
        runs: &[VisibleByteRun<'_>],
        positions: &Range<usize>,
        partial: &mut Partial,
    ) {
        self.scratch.bytes.clear(partial.sums.len(), self.heads);
        let sums = partial.maxima.iter_mut().zip(&mut partial.sums);
        for (query, (max, sum)) in sums.enumerate() {
            let blocks = self.blocks(query, positions);
            // All queries of a row attend to the same positions.
            if query % self.heads.group_size() == 0 {
                self.load_scales(query, runs, &blocks);
            }
            let start = query * N_SEGMENT_BLOCKS;
            let range = start + blocks.start..start + blocks.end;
            let weights = self.scratch.scores.get_mut(range).unwrap_or_default();
            let stats = scaled_exponentials(simd, weights, &self.scratch.scales);
            (*max, *sum) = (stats.max, stats.sum);
            self.scratch
                .bytes
                .quantize_probs(blocks.start, weights, stats.largest);
        }
    }

    /// Loads the scales of all positions in these blocks that a query attends to.
    #[inline(always)]
    fn load_scales(&mut self, query: usize, runs: &[VisibleByteRun<'_>], blocks: &Range<usize>) {
        self.scratch.scales.clear();
        self.scratch.scales.resize(blocks.len(), Lanes::all(0.0));
        let start = self.first_block + blocks.start;
        for run in runs {
            let Some(mask) = run.mask(query) else {
                continue;
            };
            let visible = mask.blocks();
            let targets = self
                .scratch
                .scales
                .get_mut(visible.start - start..visible.end - start);
            let targets = targets.unwrap_or_default();
            each_block(mask, &visible, targets, run.scales(&visible), copy_visible);
        }
    }

    /// The blocks of the segment that a query attends to, numbered in the segment.
    fn blocks(&self, query: usize, positions: &Range<usize>) -> Range<usize> {
        let Some(row) = self.rows.get(query / self.heads.group_size()) else {
            return 0..0;
        };
        let first = row.visible.start.max(positions.start) / N_LANES;
        let end = row.visible.end.min(positions.end).div_ceil(N_LANES);
        first - self.first_block..end.max(first) - self.first_block
    }

    /// Masks the first and the last block of each query, which may be partly visible.
    fn mask_edges(&mut self, positions: &Range<usize>) {
        for query in 0..self.scratch.scores.len() / N_SEGMENT_BLOCKS {
            let blocks = self.blocks(query, positions);
            let start = query * N_SEGMENT_BLOCKS;
            let visible = self
                .scratch
                .scores
                .get_mut(start + blocks.start..start + blocks.end);
            if let Some([first, .., last]) = visible {
                *first = MASKED;
                *last = MASKED;
            } else if let Some([only]) = visible {
                *only = MASKED;
            }
        }
    }

    #[inline(always)]
    fn write_scores<S: Simd>(&mut self, simd: S, run: &VisibleRun<'_>) {
        let head_dim = self.heads.head_dim;
        self.load_queries(run);
        let blocks = run.blocks();
        let mut widened = std::mem::take(&mut self.scratch.widened);
        for block in blocks.clone().step_by(N_TILE_BLOCKS) {
            let tile = block..(block + N_TILE_BLOCKS).min(blocks.end);
            let keys = run
                .keys_values
                .keys(simd, self.kv_head, &tile, &mut widened);
            for group in run.groups().filter(|group| group.sees_any(&tile)) {
                let start = group.start * head_dim;
                let queries = self
                    .scratch
                    .queries
                    .get(start..start + group.masks.len() * head_dim);
                let queries = queries.unwrap_or_default();
                let mut output = ScoreOutput {
                    group,
                    block,
                    cap: self.heads.score_cap,
                    first_block: self.first_block,
                    scores: &mut self.scratch.scores,
                };
                with_size!(
                    group,
                    write_group_scores::<S>(simd, keys, queries, &mut output)
                );
            }
        }
        self.scratch.widened = widened;
    }

    /// Loads the queries that attend to a run, unless they are loaded already.
    #[inline(always)]
    fn load_queries(&mut self, run: &VisibleRun<'_>) {
        if !self.scratch.switch_queries(run.masks()) {
            return;
        }
        self.scratch.queries.clear();
        for group in run.groups() {
            self.load_group_queries(group);
        }
    }

    /// Loads the queries of a group, interleaved and scaled.
    #[inline(always)]
    fn load_group_queries(&mut self, group: QueryGroup<'_>) {
        let Heads {
            head_dim,
            score_scale,
            ..
        } = self.heads;
        let start = self.scratch.queries.len();
        let n_queries = group.masks.len();
        self.scratch
            .queries
            .resize(start + n_queries * head_dim, 0.0);
        let targets = self.scratch.queries.get_mut(start..).unwrap_or_default();
        for (index, mask) in group.masks.iter().enumerate() {
            let query = self.heads.query(self.qkv, self.kv_head, mask.query);
            for (targets, value) in targets.chunks_exact_mut(n_queries).zip(query) {
                if let Some(target) = targets.get_mut(index) {
                    *target = value * score_scale;
                }
            }
        }
    }

    /// Turns the scores of all queries into e^(score − largest).
    #[inline(always)]
    fn exponentiate<S: Simd>(&mut self, positions: &Range<usize>, partial: &mut Partial) {
        let sums = partial.maxima.iter_mut().zip(&mut partial.sums);
        for (query, (max, sum)) in sums.enumerate() {
            let blocks = self.blocks(query, positions);
            let start = query * N_SEGMENT_BLOCKS;
            let scores = self
                .scratch
                .scores
                .get_mut(start + blocks.start..start + blocks.end);
            (*max, *sum) = exponentials::<S>(scores.unwrap_or_default());
        }
    }

    #[inline(always)]
    fn add_values<S: Simd>(&mut self, simd: S, run: &VisibleRun<'_>, partial: &mut Partial) {
        let mut widened = std::mem::take(&mut self.scratch.widened);
        let blocks = run.blocks();
        for block in blocks.clone().step_by(N_VALUE_BLOCKS) {
            let tile = block..(block + N_VALUE_BLOCKS).min(blocks.end);
            let values = run
                .keys_values
                .values(simd, self.kv_head, &tile, &mut widened);
            let mut value_sums = ValueSums {
                values,
                tile: tile.clone(),
                first_block: self.first_block,
                scores: &self.scratch.scores,
                weighted_sums: &mut partial.weighted_sums,
            };
            for group in run.groups() {
                let full = group.fully_visible_blocks(&tile);
                value_sums.add_each(simd, group, tile.start..full.start);
                with_size!(
                    group,
                    add_group_values::<S>(simd, group, full.clone(), &mut value_sums)
                );
                value_sums.add_each(simd, group, full.end..tile.end);
            }
        }
        self.scratch.widened = widened;
    }
}
