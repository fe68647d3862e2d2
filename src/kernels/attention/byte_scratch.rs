//! Scratch memory of an attention job over an 8-bit KV cache.
//!
//! Keys are a `Q8_0` matrix whose rows are positions, so scores come from the same micro-kernels as
//! products with weights. Probabilities, each multiplied by the scale of its position's values, are
//! rounded to integers with one scale per segment. Their sums over values are therefore exact,
//! whatever the order of the runs.

use std::ops::Range;

use super::byte_blocks::ByteBlocks;
use super::byte_values::{ByteValues, IntLanes, MAX_PROB, QuantizedProbs};
use super::job::{N_SEGMENT_BLOCKS, with_size};
use super::keys_values::n_value_registers;
use super::visible_runs::{QueryGroup, QueryMask, VisibleRun};
use super::{Heads, Lanes};
use crate::cache_line::CacheLine;
use crate::input_block::quantize_value;
use crate::inputs::Inputs;
use crate::product::ProductTask;
use crate::{InputBits, InstructionSet, N_LANES};

/// Blocks whose values are accumulated together: with 64 dimensions they fill half of the L1 cache.
const N_TILE_BLOCKS: usize = 16;

/// Buffers that a job reuses from segment to segment.
#[derive(Debug)]
pub(super) struct ByteScratch {
    instructions: InstructionSet,
    /// The queries that attend to the current run.
    inputs: Inputs,
    /// The scores of these queries: `[query][block][lane]`.
    scores: Vec<f32>,
    /// `[query][block of the segment]`.
    probs: Vec<QuantizedProbs>,
    /// For each query, the scale of its integer probabilities.
    prob_scales: Vec<f32>,
    /// `[query][dim / 16]`.
    sums: Vec<IntLanes>,
}

/// An 8-bit run and those of its blocks that are visible to any query.
pub(super) struct VisibleByteRun<'a> {
    visible: &'a VisibleRun<'a>,
    bytes: &'a ByteBlocks,
    /// Block numbers in the sequence.
    blocks: Range<usize>,
    /// The same blocks, numbered in the run.
    numbers: Range<usize>,
}

impl<'a> VisibleByteRun<'a> {
    /// Returns the visible blocks of this key-value head, or `None` if the cache is not 8-bit.
    pub(super) fn of(visible: &'a VisibleRun<'a>, kv_head: usize) -> Option<Self> {
        let blocks = visible.blocks();
        let (bytes, numbers) = visible.keys_values.bytes(kv_head, &blocks)?;
        Some(Self {
            visible,
            bytes,
            blocks,
            numbers,
        })
    }

    /// The queries that attend to this run.
    pub(super) fn masks(&self) -> &'a [QueryMask] {
        self.visible.masks()
    }

    /// The positions of this run that a query attends to, or `None` if it attends to none.
    pub(super) fn mask(&self, query: usize) -> Option<&'a QueryMask> {
        let masks = self.visible.masks();
        let index = masks.binary_search_by_key(&query, |mask| mask.query);
        masks.get(index.ok()?)
    }

    /// Converts block numbers in the sequence to block numbers in the run.
    fn run_numbers(&self, blocks: &Range<usize>) -> Range<usize> {
        let number = |block: usize| block - self.blocks.start + self.numbers.start;
        number(blocks.start)..number(blocks.end)
    }

    /// The visible blocks, numbered in the sequence.
    pub(super) fn blocks(&self) -> Range<usize> {
        self.blocks.clone()
    }

    /// The scales of the values in some blocks (numbered in the sequence): `[block][lane]`.
    pub(super) fn scales(&self, blocks: &Range<usize>) -> &'a [Lanes] {
        self.bytes.scales(&self.run_numbers(blocks))
    }
}

impl ByteScratch {
    /// Creates empty scratch memory for kernels that use these instructions.
    pub(super) fn new(instructions: InstructionSet) -> Self {
        Self {
            instructions,
            inputs: Inputs::new(instructions, InputBits::Eight),
            scores: Vec::new(),
            probs: Vec::new(),
            prob_scales: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// Quantizes the queries, `[query][dim]`.
    pub(super) fn quantize_queries(&mut self, queries: &[f32], head_dim: usize) {
        self.inputs.set_quantized(queries, head_dim);
    }

    /// Multiplies the loaded queries by the keys of some blocks. Returns `[query][block][lane]`.
    pub(super) fn multiply(
        &mut self,
        run: &VisibleByteRun<'_>,
        blocks: &Range<usize>,
        heads: Heads,
    ) -> &[f32] {
        let n_positions = blocks.len() * N_LANES;
        self.scores.resize(self.inputs.n_rows() * n_positions, 0.0);
        self.instructions.multiply(ProductTask {
            tiles: run.bytes.keys(&run.run_numbers(blocks), heads),
            inputs: &self.inputs,
            outputs: self.scores.chunks_exact_mut(n_positions).collect(),
        });
        &self.scores
    }

    /// Resizes the buffers for this many queries and zeroes the accumulators.
    pub(super) fn clear(&mut self, n_queries: usize, heads: Heads) {
        let n_sums = n_queries * n_value_registers(heads.head_dim);
        self.probs
            .resize(n_queries * N_SEGMENT_BLOCKS, QuantizedProbs::NONE);
        self.prob_scales.clear();
        self.sums.clear();
        self.sums.resize(n_sums, IntLanes::ZERO);
    }

    /// Quantizes the weights of the next query: its probabilities, each multiplied by the scale of
    /// its position. `largest` is the largest of them, and `first` is the number of their first
    /// block in the segment.
    #[inline(always)]
    pub(super) fn quantize_probs(&mut self, first: usize, weights: &[Lanes], largest: f32) {
        let start = self.prob_scales.len() * N_SEGMENT_BLOCKS + first;
        let inverse_scale = if largest > 0.0 {
            MAX_PROB as f32 / largest
        } else {
            0.0
        };
        let targets = self.probs.iter_mut().skip(start);
        for (target, weights) in targets.zip(weights) {
            let mut quants = [0; N_LANES];
            for (quant, weight) in quants.iter_mut().zip(&weights.0) {
                *quant = quantize_value(*weight, inverse_scale);
            }
            *target = QuantizedProbs::new(&quants);
        }
        self.prob_scales.push(largest / MAX_PROB as f32);
    }

    /// Adds the values of a run to the accumulators of the queries that attend to it. `first_block`
    /// is the number of the segment's first block.
    pub(super) fn add(&mut self, run: &VisibleByteRun<'_>, heads: Heads, first_block: usize) {
        let mut value_sums = ByteValueSums {
            scratch: self,
            run,
            heads,
            first_block,
        };
        for start in run.blocks().step_by(N_TILE_BLOCKS) {
            let tile = start..(start + N_TILE_BLOCKS).min(run.blocks.end);
            for group in run.visible.groups() {
                let full = group.fully_visible_blocks(&tile);
                value_sums.add_each(group, tile.start..full.start);
                with_size!(
                    group,
                    add_group_values(&mut value_sums, group, full.clone())
                );
                value_sums.add_each(group, full.end..tile.end);
            }
        }
    }

    /// Converts the accumulators to floats: `[query][dim]`.
    #[inline(always)]
    pub(super) fn write_output(&self, weighted_sums: &mut [Lanes]) {
        let n_registers = self.sums.len() / self.prob_scales.len().max(1);
        let targets = weighted_sums.chunks_exact_mut(n_registers.max(1));
        let sums = self.sums.chunks_exact(n_registers.max(1));
        for ((targets, sums), prob_scale) in targets.zip(sums).zip(&self.prob_scales) {
            for (target, sums) in targets.iter_mut().zip(sums) {
                let mut floats = [0.0; N_LANES];
                for (float, sum) in floats.iter_mut().zip(&sums.0) {
                    *float = *sum as f32 * prob_scale;
                }
                target.0 = floats;
            }
        }
    }
}

/// The state of [`ByteScratch::add`].
struct ByteValueSums<'a> {
    scratch: &'a mut ByteScratch,
    run: &'a VisibleByteRun<'a>,
    heads: Heads,
    first_block: usize,
}

/// Adds blocks that are fully visible to every query of a group.
fn add_group_values<const N: usize>(
    value_sums: &mut ByteValueSums<'_>,
    group: QueryGroup<'_>,
    blocks: Range<usize>,
) {
    let Some(masks) = group.masks.first_chunk::<N>() else {
        return;
    };
    if blocks.is_empty() {
        return;
    }
    let values = value_sums.values(&blocks);
    let ByteScratch {
        instructions,
        probs,
        sums,
        ..
    } = &mut *value_sums.scratch;
    let (mut group_probs, mut offsets): ([&[QuantizedProbs]; N], _) = ([&[]; N], [0; N]);
    for ((group_probs, offset), mask) in group_probs.iter_mut().zip(&mut offsets).zip(masks) {
        let start = mask.query * N_SEGMENT_BLOCKS + blocks.start - value_sums.first_block;
        *group_probs = probs.get(start..start + blocks.len()).unwrap_or_default();
        *offset = mask.query * n_value_registers(value_sums.heads.head_dim);
    }
    let values = ByteValues {
        lines: values,
        n_registers: n_value_registers(value_sums.heads.head_dim),
        probs: group_probs,
        offsets,
    };
    instructions.add_values(&values, sums);
}

impl<'a> ByteValueSums<'a> {
    /// Adds partly visible blocks, one query at a time.
    fn add_each(&mut self, group: QueryGroup<'_>, blocks: Range<usize>) {
        for block in blocks {
            let values = self.values(&(block..block + 1));
            for mask in group.masks {
                let lanes = mask.lanes(block);
                let index = mask.query * N_SEGMENT_BLOCKS + block - self.first_block;
                let probs = self.scratch.probs.get(index).filter(|_| !lanes.is_empty());
                let Some(probs) = probs.map(|probs| probs.within(&lanes)) else {
                    continue;
                };
                let n_registers = n_value_registers(self.heads.head_dim);
                let values = ByteValues {
                    lines: values,
                    n_registers,
                    probs: [std::slice::from_ref(&probs)],
                    offsets: [mask.query * n_registers],
                };
                let sums = &mut self.scratch.sums;
                self.scratch.instructions.add_values(&values, sums);
            }
        }
    }

    /// The values of some blocks, numbered in the sequence.
    fn values(&self, blocks: &Range<usize>) -> &'a [CacheLine] {
        self.run
            .bytes
            .values(&self.run.run_numbers(blocks), self.heads)
    }
}
