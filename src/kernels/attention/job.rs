//! One piece of work: the queries of some rows that share a key-value head, over some segments.

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

/// Blocks that are looked at together.
const N_TILE_BLOCKS: usize = 2;

/// Blocks whose values are added together: with 64 dimensions they take half of the first cache.
const N_VALUE_BLOCKS: usize = 4;

/// Blocks in 8 bits that queries are multiplied with before their scores are looked at.
const N_BYTE_TILE_BLOCKS: usize = 8;

/// Blocks of a segment.
pub const N_SEGMENT_BLOCKS: usize = N_SEGMENT / N_LANES;

/// The scores of what is not seen.
const HIDDEN: Lanes = Lanes::all(f32::NEG_INFINITY);

/// A piece of work. A type and not a closure, because only what is inlined in its method is compiled for
/// the processor that is there.
#[derive(Debug)]
pub struct Job<'a> {
    /// What it needs on the way.
    pub scratch: &'a mut Scratch,
    /// Of the model.
    pub heads: Heads,
    /// Which of the key-value heads.
    pub kv_head: usize,
    /// The rows.
    pub rows: &'a [Row<'a>],
    /// Their queries, keys and values, `[row][head][dim]`.
    pub qkv: &'a [f32],
    /// Which segments.
    pub segments: Range<usize>,
    /// Where the result goes.
    pub result: Result<'a>,
}

/// Where a job's result goes.
#[derive(Debug)]
pub enum Result<'a> {
    /// What one segment contributes, to be joined with the others.
    Partial(&'a mut Partial),
    /// The mixes, for each row those of the heads of the job.
    Mixed(Vec<&'a mut [f32]>),
}

/// Calls a function for a group of queries with their number as its last constant.
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
        // Its queries are others, whatever their numbers.
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

/// What jobs need on the way: one after another has it, so that its memory is asked for only once.
#[derive(Debug)]
pub struct Scratch {
    /// The queries of those who see the run at hand: `[group][dim][query]`.
    queries: Vec<f32>,
    /// The numbers of those whose queries these are.
    takers: Vec<usize>,
    /// Scores, and then what they become: `[query][block][lane]`.
    scores: Vec<Lanes>,
    /// Where values are kept in 8 bits, the scales of the positions that the query at hand sees: `[block][lane]`.
    scales: Vec<Lanes>,
    /// Keys or values that are kept in another precision.
    copy: Vec<Lanes>,
    bytes: ByteBench,
}

impl Scratch {
    /// For products with these instructions.
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

    /// Puts down whose queries are taken next. Returns whether they are others than those that are there.
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

/// A job at work.
struct Bench<'a> {
    heads: Heads,
    kv_head: usize,
    rows: &'a [Row<'a>],
    qkv: &'a [f32],
    /// The first block of the segment at hand.
    first_block: usize,
    scratch: &'a mut Scratch,
}

impl Bench<'_> {
    fn clear(&self, partial: &mut Partial) {
        let n_queries = self.rows.len() * self.heads.group();
        partial.clear(n_queries, n_value_registers(self.heads.head_dim));
    }

    /// Finds what a segment contributes.
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
        // A model keeps all of its keys and values alike.
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

    /// Turns the scores of all queries into e^(score − largest), times the scales of their positions' values, and
    /// rounds what becomes of them. One query after another, so that its scores stay near.
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
            // The queries of a row see the same.
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

    /// Takes the scales of all positions that a query sees in these blocks of the segment.
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

    /// The blocks of a segment that a query sees something of, by their numbers in the segment.
    fn blocks(&self, query: usize, positions: &Range<usize>) -> Range<usize> {
        let Some(row) = self.rows.get(query / self.heads.group()) else {
            return 0..0;
        };
        let first = row.visible.start.max(positions.start) / N_LANES;
        let end = row.visible.end.min(positions.end).div_ceil(N_LANES);
        first - self.first_block..end.max(first) - self.first_block
    }

    /// Hides the first and the last block of each query, of which it may see only a part.
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

    /// Takes the queries of those who see a run, if they are others than those that are there.
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

    /// Takes the queries of a group side by side, scaled.
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
