//! What a job needs on the way where keys and values are kept in 8 bits.
//!
//! Keys are a matrix whose rows are positions, so their products with queries are those of weights in `Q8_0` with
//! inputs. Probabilities, each times the scale of its position's values, are rounded to whole numbers of one
//! segment, so that their sums over values are exact in whatever order runs come.

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

/// Blocks whose values are added together: with 64 dimensions they take half of the first cache.
const N_TILE_BLOCKS: usize = 16;

/// What a job needs.
#[derive(Debug)]
pub struct ByteBench {
    instructions: InstructionSet,
    /// The queries of those who see the run at hand.
    inputs: Inputs,
    /// Their scores: `[member][block][lane]`.
    scores: Vec<f32>,
    /// `[query][block of the segment]`.
    probs: Vec<Probs>,
    /// For each query what a whole number stands for.
    units: Vec<f32>,
    /// `[query][dim / 16]`.
    sums: Vec<Whole>,
}

/// A run in 8 bits, and its blocks that any query sees something of.
pub struct SeenBytes<'a> {
    seen: &'a Seen<'a>,
    bytes: &'a ByteBlocks,
    /// Their numbers in the sequence.
    blocks: Range<usize>,
    /// Their numbers in the run.
    numbers: Range<usize>,
}

impl<'a> SeenBytes<'a> {
    /// What is seen of this key-value head; nothing where it is kept in other numbers.
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

    /// The queries that see something of it.
    pub fn members(&self) -> &'a [Member] {
        self.seen.members()
    }

    /// What a query sees of it, where it does.
    pub fn member(&self, query: usize) -> Option<&'a Member> {
        let members = self.seen.members();
        let found = members.binary_search_by_key(&query, |member| member.query);
        members.get(found.ok()?)
    }

    /// The numbers in the run of some blocks, which are numbered in the sequence.
    fn numbers(&self, blocks: &Range<usize>) -> Range<usize> {
        let number = |block: usize| block - self.blocks.start + self.numbers.start;
        number(blocks.start)..number(blocks.end)
    }

    /// The blocks, by their numbers in the sequence.
    pub fn blocks(&self) -> Range<usize> {
        self.blocks.clone()
    }

    /// What whole numbers stand for in some blocks, which are numbered in the sequence: `[block][lane]`.
    pub fn scales(&self, blocks: &Range<usize>) -> &'a [Lanes] {
        self.bytes.scales(&self.numbers(blocks))
    }
}

impl ByteBench {
    /// For products with these instructions.
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

    /// Takes in queries, `[member][dim]`.
    pub fn take_queries(&mut self, queries: &[f32], head_dim: usize) {
        self.inputs.set_rounded(queries, head_dim);
    }

    /// The products of the queries at hand with the keys of some blocks: `[member][block][lane]`.
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

    /// Makes room for the sums of so many queries.
    pub fn clear(&mut self, n_queries: usize, heads: Heads) {
        let n_sums = n_queries * n_value_registers(heads.head_dim);
        self.probs.resize(n_queries * N_SEGMENT_BLOCKS, Probs::NONE);
        self.units.clear();
        self.sums.clear();
        self.sums.resize(n_sums, Whole::ZERO);
    }

    /// Takes in the probabilities of the next query, each times its position's scale, of which this is the largest:
    /// those of neighbouring blocks of the segment from this one on.
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

    /// Adds the values of a run to the sums of those who see it. The segment's first block has this number.
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

    /// Writes what the sums stand for: `[query][dim]`.
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

/// Adds values to sums.
struct Adding<'a> {
    bench: &'a mut ByteBench,
    seen: &'a SeenBytes<'a>,
    heads: Heads,
    first_block: usize,
}

/// Adds blocks of which each query of a group sees all.
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
    /// Adds what each query of a group alone sees of some blocks.
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

    /// The values of some blocks, which are numbered in the sequence.
    fn values(&self, blocks: &Range<usize>) -> &'a [Line] {
        self.seen
            .bytes
            .values(&self.seen.numbers(blocks), self.heads)
    }
}
