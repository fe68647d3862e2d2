//! Scratch memory of an attention job over an 8-bit KV cache.
//!
//! Keys are a `Q8_0` matrix whose rows are positions, so scores come from the same micro-kernels as
//! products with weights. Probabilities, each multiplied by the scale of its position's values, are
//! rounded to integers with one scale per segment. Their sums over values are therefore exact,
//! whatever the order of the runs.

use std::ops::Range;

use super::byte_blocks::ByteBlocks;
use super::byte_values::{ByteValues, MOST_PROB, Probs, Whole};
use super::gather::{Group, Member, Seen};
use super::job::{N_SEGMENT_BLOCKS, with_size};
use super::keys_values::n_value_registers;
use super::{Heads, Lanes};
use crate::kernels::input_block::rounded;
use crate::kernels::inputs::Inputs;
use crate::kernels::line::Line;
use crate::kernels::product::Part;
use crate::kernels::{InstructionSet, N_LANES};

/// Blocks whose values are accumulated together: with 64 dimensions they fill half of the L1 cache.
const N_TILE_BLOCKS: usize = 16;

/// Buffers that a job reuses from segment to segment.
#[derive(Debug)]
pub struct ByteBench {
    instructions: InstructionSet,
    /// The queries that attend to the current run.
    inputs: Inputs,
    /// The scores of these queries: `[query][block][lane]`.
    scores: Vec<f32>,
    /// `[query][block of the segment]`.
    probs: Vec<Probs>,
    /// For each query, the scale of its integer probabilities.
    units: Vec<f32>,
    /// `[query][dim / 16]`.
    sums: Vec<Whole>,
}

/// An 8-bit run and those of its blocks that are visible to any query.
pub struct SeenBytes<'a> {
    seen: &'a Seen<'a>,
    bytes: &'a ByteBlocks,
    /// Block numbers in the sequence.
    blocks: Range<usize>,
    /// The same blocks, numbered in the run.
    numbers: Range<usize>,
}

impl<'a> SeenBytes<'a> {
    /// Returns the visible blocks of this key-value head, or `None` if the cache is not 8-bit.
    pub fn of(seen: &'a Seen<'a>, kv_head: usize) -> Option<Self> {
        let blocks = seen.blocks();
        let (bytes, numbers) = seen.keys_values.bytes(kv_head, &blocks)?;
        Some(Self {
            seen,
            bytes,
            blocks,
            numbers,
        })
    }

    /// The queries that attend to this run.
    pub fn members(&self) -> &'a [Member] {
        self.seen.members()
    }

    /// The positions of this run that a query attends to, or `None` if it attends to none.
    pub fn member(&self, query: usize) -> Option<&'a Member> {
        let members = self.seen.members();
        let found = members.binary_search_by_key(&query, |member| member.query);
        members.get(found.ok()?)
    }

    /// Converts block numbers in the sequence to block numbers in the run.
    fn numbers(&self, blocks: &Range<usize>) -> Range<usize> {
        let number = |block: usize| block - self.blocks.start + self.numbers.start;
        number(blocks.start)..number(blocks.end)
    }

    /// The visible blocks, numbered in the sequence.
    pub fn blocks(&self) -> Range<usize> {
        self.blocks.clone()
    }

    /// The scales of the values in some blocks (numbered in the sequence): `[block][lane]`.
    pub fn scales(&self, blocks: &Range<usize>) -> &'a [Lanes] {
        self.bytes.scales(&self.numbers(blocks))
    }
}

impl ByteBench {
    /// Creates empty scratch memory for kernels that use these instructions.
    pub fn new(instructions: InstructionSet) -> Self {
        Self {
            instructions,
            inputs: Inputs::new(instructions),
            scores: Vec::new(),
            probs: Vec::new(),
            units: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// Quantizes the queries, `[query][dim]`.
    pub fn take_queries(&mut self, queries: &[f32], head_dim: usize) {
        self.inputs.set_rounded(queries, head_dim);
    }

    /// Multiplies the loaded queries by the keys of some blocks. Returns `[query][block][lane]`.
    pub fn products(
        &mut self,
        seen: &SeenBytes<'_>,
        blocks: &Range<usize>,
        heads: Heads,
    ) -> &[f32] {
        let n_positions = blocks.len() * N_LANES;
        self.scores.resize(self.inputs.n_rows() * n_positions, 0.0);
        self.instructions.multiply(Part {
            tiles: seen.bytes.keys(&seen.numbers(blocks), heads),
            inputs: &self.inputs,
            outputs: self.scores.chunks_exact_mut(n_positions).collect(),
        });
        &self.scores
    }

    /// Resizes the buffers for this many queries and zeroes the accumulators.
    pub fn clear(&mut self, n_queries: usize, heads: Heads) {
        let n_sums = n_queries * n_value_registers(heads.head_dim);
        self.probs.resize(n_queries * N_SEGMENT_BLOCKS, Probs::NONE);
        self.units.clear();
        self.sums.clear();
        self.sums.resize(n_sums, Whole::ZERO);
    }

    /// Quantizes the weights of the next query: its probabilities, each multiplied by the scale of
    /// its position. `largest` is the largest of them, and `first` is the number of their first
    /// block in the segment.
    #[inline(always)]
    pub fn round(&mut self, first: usize, weights: &[Lanes], largest: f32) {
        let start = self.units.len() * N_SEGMENT_BLOCKS + first;
        let steps = if largest > 0.0 {
            MOST_PROB as f32 / largest
        } else {
            0.0
        };
        let places = self.probs.iter_mut().skip(start);
        for (place, weights) in places.zip(weights) {
            let mut numbers = [0; N_LANES];
            for (number, weight) in numbers.iter_mut().zip(&weights.0) {
                *number = rounded(*weight, steps);
            }
            *place = Probs::new(&numbers);
        }
        self.units.push(largest / MOST_PROB as f32);
    }

    /// Adds the values of a run to the accumulators of the queries that attend to it. `first_block`
    /// is the number of the segment's first block.
    pub fn add(&mut self, seen: &SeenBytes<'_>, heads: Heads, first_block: usize) {
        let mut adding = Adding {
            bench: self,
            seen,
            heads,
            first_block,
        };
        for start in seen.blocks().step_by(N_TILE_BLOCKS) {
            let tile = start..(start + N_TILE_BLOCKS).min(seen.blocks.end);
            for group in seen.seen.groups() {
                let whole = group.blocks_that_all_see(&tile);
                adding.add_singly(group, tile.start..whole.start);
                with_size!(group, add_group(&mut adding, group, whole.clone()));
                adding.add_singly(group, whole.end..tile.end);
            }
        }
    }

    /// Converts the accumulators to floats: `[query][dim]`.
    #[inline(always)]
    pub fn finish(&self, mixed: &mut [Lanes]) {
        let n_registers = self.sums.len() / self.units.len().max(1);
        let mixes = mixed.chunks_exact_mut(n_registers.max(1));
        let sums = self.sums.chunks_exact(n_registers.max(1));
        for ((mixed, sums), unit) in mixes.zip(sums).zip(&self.units) {
            for (mixed, sums) in mixed.iter_mut().zip(sums) {
                let mut floats = [0.0; N_LANES];
                for (float, sum) in floats.iter_mut().zip(&sums.0) {
                    *float = *sum as f32 * unit;
                }
                mixed.0 = floats;
            }
        }
    }
}

/// The state of [`ByteScratch::add`].
struct Adding<'a> {
    bench: &'a mut ByteBench,
    seen: &'a SeenBytes<'a>,
    heads: Heads,
    first_block: usize,
}

/// Adds blocks that are fully visible to every query of a group.
fn add_group<const N: usize>(adding: &mut Adding<'_>, group: Group<'_>, blocks: Range<usize>) {
    let Some(members) = group.members.first_chunk::<N>() else {
        return;
    };
    if blocks.is_empty() {
        return;
    }
    let values = adding.values(&blocks);
    let ByteBench {
        instructions,
        probs,
        sums,
        ..
    } = &mut *adding.bench;
    let (mut found, mut places): ([&[Probs]; N], _) = ([&[]; N], [0; N]);
    for ((found, place), member) in found.iter_mut().zip(&mut places).zip(members) {
        let start = member.query * N_SEGMENT_BLOCKS + blocks.start - adding.first_block;
        *found = probs.get(start..start + blocks.len()).unwrap_or_default();
        *place = member.query * n_value_registers(adding.heads.head_dim);
    }
    let values = ByteValues {
        lines: values,
        n_registers: n_value_registers(adding.heads.head_dim),
        probs: found,
        places,
    };
    instructions.add_values(&values, sums);
}

impl<'a> Adding<'a> {
    /// Adds partly visible blocks, one query at a time.
    fn add_singly(&mut self, group: Group<'_>, blocks: Range<usize>) {
        for block in blocks {
            let values = self.values(&(block..block + 1));
            for member in group.members {
                let lanes = member.lanes(block);
                let place = member.query * N_SEGMENT_BLOCKS + block - self.first_block;
                let probs = self.bench.probs.get(place).filter(|_| !lanes.is_empty());
                let Some(probs) = probs.map(|probs| probs.within(&lanes)) else {
                    continue;
                };
                let n_registers = n_value_registers(self.heads.head_dim);
                let values = ByteValues {
                    lines: values,
                    n_registers,
                    probs: [std::slice::from_ref(&probs)],
                    places: [member.query * n_registers],
                };
                let sums = &mut self.bench.sums;
                self.bench.instructions.add_values(&values, sums);
            }
        }
    }

    /// The values of some blocks, numbered in the sequence.
    fn values(&self, blocks: &Range<usize>) -> &'a [Line] {
        self.seen
            .bytes
            .values(&self.seen.numbers(blocks), self.heads)
    }
}
