//! One attention job: the queries of some rows that share a key-value head, over some segments.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::byte_bench::{ByteBench, SeenBytes};
use super::gather::{Group, Member, Seen, gather};
use super::groups::{Mixing, Scores, add_group, write_group};
use super::keys_values::n_value_registers;
use super::partial::Partial;
use super::scores::{each_block, exponentials, put_scores, put_seen, weigh};
use super::{Heads, Lanes, N_SEGMENT, Row};
use crate::kernels::{InstructionSet, N_LANES};

/// Blocks whose scores are computed together.
const N_TILE_BLOCKS: usize = 2;

/// Blocks whose values are accumulated together: with 64 dimensions they fill half of the L1 cache.
const N_VALUE_BLOCKS: usize = 4;

/// 8-bit blocks that are multiplied by the queries before the scores are stored.
const N_BYTE_TILE_BLOCKS: usize = 8;

pub const N_SEGMENT_BLOCKS: usize = N_SEGMENT / N_LANES;

/// The scores of masked positions.
const HIDDEN: Lanes = Lanes::all(f32::NEG_INFINITY);

/// One attention job. It is a type rather than a closure because only code that is inlined into its
/// `with_simd` is compiled for the CPU's instructions.
#[derive(Debug)]
pub struct Job<'a> {
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
    pub result: Result<'a>,
}

/// Where a job writes its result.
#[derive(Debug)]
pub enum Result<'a> {
    /// The partial softmax of one segment, to be merged with the others.
    Partial(&'a mut Partial),
    /// The attention output: for each row, the heads of this job.
    Mixed(Vec<&'a mut [f32]>),
}

/// Calls a function with the number of queries in a group as its last const generic argument.
macro_rules! with_size {
    ($group:expr, $function:ident$(::<$simd:ident>)?($($argument:expr),*)) => {
        match $group.members.len() {
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
            result,
        } = self;
        // The scratch memory may hold queries of another job under the same indices.
        scratch.takers.clear();
        let mut bench = Bench {
            heads,
            kv_head,
            rows,
            qkv,
            first_block: 0,
            scratch,
        };
        match result {
            Result::Partial(partial) => bench.segment(simd, segments.start, partial),
            Result::Mixed(outputs) => {
                let (mut joined, mut partial) = (Partial::default(), Partial::default());
                bench.clear(&mut joined);
                for segment in segments {
                    bench.segment(simd, segment, &mut partial);
                    joined.join(&partial);
                }
                let outputs = outputs.into_iter();
                joined.finish(outputs.flat_map(|row| row.chunks_exact_mut(heads.head_dim)));
            }
        }
    }
}

/// Buffers of a job. A thread reuses them for all of its jobs, to allocate only once.
#[derive(Debug)]
pub struct Scratch {
    /// The queries that attend to the current run: `[group][dim][query]`.
    queries: Vec<f32>,
    /// The indices of the queries in `queries`.
    takers: Vec<usize>,
    /// Scores, later replaced by probabilities: `[query][block][lane]`.
    scores: Vec<Lanes>,
    /// 8-bit cache only: the scales of the positions that the current query attends to:
    /// `[block][lane]`.
    scales: Vec<Lanes>,
    /// Keys or values converted to single precision.
    copy: Vec<Lanes>,
    bytes: ByteBench,
}

impl Scratch {
    /// Creates empty scratch memory for kernels that use these instructions.
    pub fn new(instructions: InstructionSet) -> Self {
        Self {
            queries: Vec::new(),
            takers: Vec::new(),
            scores: Vec::new(),
            scales: Vec::new(),
            copy: Vec::new(),
            bytes: ByteBench::new(instructions),
        }
    }

    /// Records which queries are about to be loaded. Returns `false` if they are loaded already.
    fn takes_others(&mut self, members: &[Member]) -> bool {
        let takers = members.iter().map(|member| member.query);
        if takers.clone().eq(self.takers.iter().copied()) {
            return false;
        }
        self.takers.clear();
        self.takers.extend(takers);
        true
    }
}

/// A running job.
struct Bench<'a> {
    heads: Heads,
    kv_head: usize,
    rows: &'a [Row<'a>],
    qkv: &'a [f32],
    /// The first block of the current segment.
    first_block: usize,
    scratch: &'a mut Scratch,
}

impl Bench<'_> {
    fn clear(&self, partial: &mut Partial) {
        let n_queries = self.rows.len() * self.heads.group();
        partial.clear(n_queries, n_value_registers(self.heads.head_dim));
    }

    /// Computes the partial softmax of a segment.
    #[inline(always)]
    fn segment<S: Simd>(&mut self, simd: S, segment: usize, partial: &mut Partial) {
        self.clear(partial);
        let positions = segment * N_SEGMENT..(segment + 1) * N_SEGMENT;
        let found = gather(self.rows, self.heads.group(), &positions);
        if found.is_empty() {
            return;
        }
        self.first_block = segment * N_SEGMENT_BLOCKS;
        let n_scores = partial.sums.len() * N_SEGMENT_BLOCKS;
        self.scratch.scores.resize(n_scores, Lanes::all(0.0));
        self.hide(&positions);
        let in_bytes = found
            .iter()
            .filter_map(|seen| SeenBytes::of(seen, self.kv_head));
        let in_bytes: Vec<SeenBytes<'_>> = in_bytes.collect();
        // All runs of a model use the same cache type.
        if in_bytes.is_empty() {
            for seen in &found {
                self.write_scores(simd, seen);
            }
            self.weigh::<S>(&positions, partial);
            for seen in &found {
                self.add_values(simd, seen, partial);
            }
        } else {
            for seen in &in_bytes {
                self.write_byte_scores(seen);
            }
            self.weigh_bytes(simd, &in_bytes, &positions, partial);
            for seen in &in_bytes {
                self.scratch.bytes.add(seen, self.heads, self.first_block);
            }
            self.scratch.bytes.finish(&mut partial.mixed);
        }
    }

    #[inline(always)]
    fn write_byte_scores(&mut self, seen: &SeenBytes<'_>) {
        let (members, blocks) = (seen.members(), seen.blocks());
        if self.scratch.takes_others(members) {
            self.scratch.queries.clear();
            for member in members {
                let query = self.heads.query(self.qkv, self.kv_head, member.query);
                let scale = self.heads.score_scale;
                self.scratch
                    .queries
                    .extend(query.iter().map(|value| value * scale));
            }
            let head_dim = self.heads.head_dim;
            self.scratch
                .bytes
                .take_queries(&self.scratch.queries, head_dim);
        }
        for start in blocks.clone().step_by(N_BYTE_TILE_BLOCKS) {
            let tile = start..(start + N_BYTE_TILE_BLOCKS).min(blocks.end);
            let found = self
                .scratch
                .bytes
                .products(seen, &tile, self.heads)
                .as_chunks()
                .0;
            for (member, found) in members.iter().zip(found.chunks_exact(tile.len())) {
                let start = member.query * N_SEGMENT_BLOCKS + tile.start - self.first_block;
                let scores = self.scratch.scores.get_mut(start..start + tile.len());
                let scores = scores.unwrap_or_default();
                each_block(member, &tile, scores, found, |lanes, scores, found| {
                    put_scores(self.heads.score_cap, lanes, Lanes(*found), scores);
                });
            }
        }
    }

    /// Turns the scores of all queries into e^(score − largest), multiplies them by the scales of
    /// their positions' values, and quantizes the products. It finishes one query before the next,
    /// so that the scores stay in the cache.
    #[inline(always)]
    fn weigh_bytes<S: Simd>(
        &mut self,
        simd: S,
        found: &[SeenBytes<'_>],
        positions: &Range<usize>,
        partial: &mut Partial,
    ) {
        self.scratch.bytes.clear(partial.sums.len(), self.heads);
        let sums = partial.maxima.iter_mut().zip(&mut partial.sums);
        for (query, (max, sum)) in sums.enumerate() {
            let blocks = self.blocks(query, positions);
            // All queries of a row attend to the same positions.
            if query % self.heads.group() == 0 {
                self.take_scales(query, found, &blocks);
            }
            let start = query * N_SEGMENT_BLOCKS;
            let range = start + blocks.start..start + blocks.end;
            let weights = self.scratch.scores.get_mut(range).unwrap_or_default();
            let weighed = weigh(simd, weights, &self.scratch.scales);
            (*max, *sum) = (weighed.max, weighed.sum);
            self.scratch
                .bytes
                .round(blocks.start, weights, weighed.largest);
        }
    }

    /// Loads the scales of all positions in these blocks that a query attends to.
    #[inline(always)]
    fn take_scales(&mut self, query: usize, found: &[SeenBytes<'_>], blocks: &Range<usize>) {
        self.scratch.scales.clear();
        self.scratch.scales.resize(blocks.len(), Lanes::all(0.0));
        let start = self.first_block + blocks.start;
        for seen in found {
            let Some(member) = seen.member(query) else {
                continue;
            };
            let own = member.blocks();
            let places = self
                .scratch
                .scales
                .get_mut(own.start - start..own.end - start);
            let places = places.unwrap_or_default();
            each_block(member, &own, places, seen.scales(&own), put_seen);
        }
    }

    /// The blocks of the segment that a query attends to, numbered in the segment.
    fn blocks(&self, query: usize, positions: &Range<usize>) -> Range<usize> {
        let Some(row) = self.rows.get(query / self.heads.group()) else {
            return 0..0;
        };
        let first = row.visible.start.max(positions.start) / N_LANES;
        let end = row.visible.end.min(positions.end).div_ceil(N_LANES);
        first - self.first_block..end.max(first) - self.first_block
    }

    /// Masks the first and the last block of each query, which may be partly visible.
    fn hide(&mut self, positions: &Range<usize>) {
        for query in 0..self.scratch.scores.len() / N_SEGMENT_BLOCKS {
            let blocks = self.blocks(query, positions);
            let start = query * N_SEGMENT_BLOCKS;
            let seen = self
                .scratch
                .scores
                .get_mut(start + blocks.start..start + blocks.end);
            if let Some([first, .., last]) = seen {
                *first = HIDDEN;
                *last = HIDDEN;
            } else if let Some([only]) = seen {
                *only = HIDDEN;
            }
        }
    }

    #[inline(always)]
    fn write_scores<S: Simd>(&mut self, simd: S, seen: &Seen<'_>) {
        let head_dim = self.heads.head_dim;
        self.take_all_queries(seen);
        let blocks = seen.blocks();
        let mut copy = std::mem::take(&mut self.scratch.copy);
        for block in blocks.clone().step_by(N_TILE_BLOCKS) {
            let tile = block..(block + N_TILE_BLOCKS).min(blocks.end);
            let keys = seen.keys_values.keys(simd, self.kv_head, &tile, &mut copy);
            for group in seen.groups().filter(|group| group.sees_any_of(&tile)) {
                let start = group.start * head_dim;
                let queries = self
                    .scratch
                    .queries
                    .get(start..start + group.members.len() * head_dim);
                let queries = queries.unwrap_or_default();
                let mut scores = Scores {
                    group,
                    block,
                    cap: self.heads.score_cap,
                    first_block: self.first_block,
                    found: &mut self.scratch.scores,
                };
                with_size!(group, write_group::<S>(simd, keys, queries, &mut scores));
            }
        }
        self.scratch.copy = copy;
    }

    /// Loads the queries that attend to a run, unless they are loaded already.
    #[inline(always)]
    fn take_all_queries(&mut self, seen: &Seen<'_>) {
        if !self.scratch.takes_others(seen.members()) {
            return;
        }
        self.scratch.queries.clear();
        for group in seen.groups() {
            self.take_queries(group);
        }
    }

    /// Loads the queries of a group, interleaved and scaled.
    #[inline(always)]
    fn take_queries(&mut self, group: Group<'_>) {
        let Heads {
            head_dim,
            score_scale,
            ..
        } = self.heads;
        let start = self.scratch.queries.len();
        let n_members = group.members.len();
        self.scratch
            .queries
            .resize(start + n_members * head_dim, 0.0);
        let places = self.scratch.queries.get_mut(start..).unwrap_or_default();
        for (index, member) in group.members.iter().enumerate() {
            let query = self.heads.query(self.qkv, self.kv_head, member.query);
            for (places, value) in places.chunks_exact_mut(n_members).zip(query) {
                if let Some(place) = places.get_mut(index) {
                    *place = value * score_scale;
                }
            }
        }
    }

    /// Turns the scores of all queries into e^(score − largest).
    #[inline(always)]
    fn weigh<S: Simd>(&mut self, positions: &Range<usize>, partial: &mut Partial) {
        let found = partial.maxima.iter_mut().zip(&mut partial.sums);
        for (query, (max, sum)) in found.enumerate() {
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
    fn add_values<S: Simd>(&mut self, simd: S, seen: &Seen<'_>, partial: &mut Partial) {
        let mut copy = std::mem::take(&mut self.scratch.copy);
        let blocks = seen.blocks();
        for block in blocks.clone().step_by(N_VALUE_BLOCKS) {
            let tile = block..(block + N_VALUE_BLOCKS).min(blocks.end);
            let values = seen
                .keys_values
                .values(simd, self.kv_head, &tile, &mut copy);
            let mut mixing = Mixing {
                values,
                tile: tile.clone(),
                first_block: self.first_block,
                scores: &self.scratch.scores,
                mixed: &mut partial.mixed,
            };
            for group in seen.groups() {
                let whole = group.blocks_that_all_see(&tile);
                mixing.add_singly(simd, group, tile.start..whole.start);
                with_size!(
                    group,
                    add_group::<S>(simd, group, whole.clone(), &mut mixing)
                );
                mixing.add_singly(simd, group, whole.end..tile.end);
            }
        }
        self.scratch.copy = copy;
    }
}
