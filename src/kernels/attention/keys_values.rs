//! Stores keys and values in the order in which attention reads them.

use std::ops::Range;

use pulp::Simd;

use super::byte_blocks::ByteBlocks;
use super::half::HalfLanes;
use super::prefetch::prefetch;
use super::{Heads, Lanes};
use crate::N_LANES;

/// The number format of cached keys and values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CacheType {
    /// Single precision, as computed.
    #[default]
    F32,
    /// Half precision: half the memory to hold, and to read at each step.
    F16,
    /// 8 bits: keys as `Q8_0` blocks, values with one scale per token and head. The queries and
    /// probabilities that multiply them are quantized too. Takes about a quarter of the memory, and
    /// products are byte products.
    Q8,
}

impl CacheType {
    /// All types, in menu order.
    pub const ALL: [Self; 3] = [Self::F32, Self::F16, Self::Q8];

    /// The short name: "f16".
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Q8 => "q8",
        }
    }

    /// The name with its article, for sentences: "an f16 cache".
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::F32 => "an f32 cache",
            Self::F16 => "an f16 cache",
            Self::Q8 => "a q8 cache",
        }
    }

    /// Memory for the keys and values of one position in one head, in bytes.
    pub const fn n_bytes(self, head_dim: usize) -> usize {
        let n_values = 2 * head_dim.next_multiple_of(N_LANES);
        match self {
            Self::F32 => 4 * n_values,
            Self::F16 => 2 * n_values,
            Self::Q8 => ByteBlocks::n_position_bytes(head_dim),
        }
    }

    /// A few words that describe the type in a menu.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::F32 => "as computed",
            Self::F16 => "half the memory",
            Self::Q8 => "about a quarter of the memory",
        }
    }
}

/// One layer's keys and values for a run of adjacent tokens, in blocks of 16 positions.
///
/// Blocks begin at multiples of 16 in the sequence, so the first and the last may be partly filled.
#[derive(Debug, Clone)]
pub struct KeysValues {
    heads: Heads,
    first_position: usize,
    blocks: Blocks,
}

#[derive(Debug, Clone)]
enum Blocks {
    F16(Vec<HeadBlocks<HalfLanes>>),
    F32(Vec<HeadBlocks<Lanes>>),
    Q8(Vec<ByteBlocks>),
}

/// The blocks of one head.
#[derive(Debug, Clone)]
pub(super) struct HeadBlocks<T> {
    /// `[block][dim][lane]`, so that one register holds the same dimension of 16 positions.
    keys: Vec<T>,
    /// `[block][lane][dim]`, padded with zeros to full registers.
    values: Vec<T>,
}

/// A cache line of stored numbers, which holds one or more registers.
pub(super) trait Stored: Copy {
    /// Registers per cache line.
    const N_REGISTERS: usize;

    /// All zeros.
    const ZERO: Self;

    /// Sets one lane.
    fn set(&mut self, register: usize, lane: usize, value: f32);

    /// Returns the registers in single precision: the stored ones if they already are, otherwise a
    /// converted copy.
    fn widen<'a, S: Simd>(simd: S, stored: &'a [Self], buffer: &'a mut Vec<Lanes>) -> &'a [Lanes];
}

impl Stored for Lanes {
    const N_REGISTERS: usize = 1;

    const ZERO: Self = Self::all(0.0);

    fn set(&mut self, _register: usize, lane: usize, value: f32) {
        if let Some(target) = self.0.get_mut(lane) {
            *target = value;
        }
    }

    #[inline(always)]
    fn widen<'a, S: Simd>(
        _simd: S,
        stored: &'a [Self],
        _buffer: &'a mut Vec<Lanes>,
    ) -> &'a [Lanes] {
        stored
    }
}

impl Stored for HalfLanes {
    const N_REGISTERS: usize = 2;

    const ZERO: Self = Self::ZERO;

    fn set(&mut self, register: usize, lane: usize, value: f32) {
        self.set(register, lane, value);
    }

    #[inline(always)]
    fn widen<'a, S: Simd>(simd: S, stored: &'a [Self], buffer: &'a mut Vec<Lanes>) -> &'a [Lanes] {
        buffer.resize(2 * stored.len(), Lanes::all(0.0));
        let (pairs, _) = buffer.as_chunks_mut::<2>();
        for (pair, stored) in pairs.iter_mut().zip(stored) {
            prefetch(stored);
            *pair = stored.widen(simd);
        }
        buffer
    }
}

impl KeysValues {
    /// Creates an empty run that begins at this position of its sequence.
    pub fn new(heads: Heads, cache_type: CacheType, first_position: usize) -> Self {
        Self {
            heads,
            first_position,
            blocks: match cache_type {
                // Two registers share a cache line, so heads of odd width fall back to F32. No
                // known model has them.
                CacheType::F16 if heads.head_dim.is_multiple_of(2) => {
                    Blocks::F16(vec![HeadBlocks::EMPTY; heads.n_kv_heads])
                }
                CacheType::Q8 => Blocks::Q8(vec![ByteBlocks::default(); heads.n_kv_heads]),
                _ => Blocks::F32(vec![HeadBlocks::EMPTY; heads.n_kv_heads]),
            },
        }
    }

    /// The position of the run's first token in its sequence.
    pub const fn first_position(&self) -> usize {
        self.first_position
    }

    /// Memory in use, in bytes.
    pub fn n_bytes(&self) -> usize {
        match &self.blocks {
            Blocks::F16(heads) => heads.iter().map(HeadBlocks::n_bytes).sum(),
            Blocks::F32(heads) => heads.iter().map(HeadBlocks::n_bytes).sum(),
            Blocks::Q8(heads) => heads.iter().map(ByteBlocks::n_bytes).sum(),
        }
    }

    /// Stores the keys and values, `[kv heads × head_dim]` each, of the token at this position.
    /// Positions before the start of the run are ignored.
    pub fn write(&mut self, position: usize, keys: &[f32], values: &[f32]) {
        if position < self.first_position {
            return;
        }
        let address = CacheAddress {
            block: position / N_LANES - self.first_position / N_LANES,
            lane: position % N_LANES,
            head_dim: self.heads.head_dim,
        };
        match &mut self.blocks {
            Blocks::F16(heads) => each_head(heads, address, keys, values, HeadBlocks::write),
            Blocks::F32(heads) => each_head(heads, address, keys, values, HeadBlocks::write),
            Blocks::Q8(heads) => each_head(heads, address, keys, values, ByteBlocks::write),
        }
    }

    /// Returns an 8-bit head and the numbers of these blocks in the run, or `None` if the cache is
    /// not 8-bit.
    pub(super) fn bytes(
        &self,
        kv_head: usize,
        blocks: &Range<usize>,
    ) -> Option<(&ByteBlocks, Range<usize>)> {
        let Blocks::Q8(heads) = &self.blocks else {
            return None;
        };
        Some((heads.get(kv_head)?, self.register_range(blocks, 1)))
    }

    /// The keys of adjacent blocks, numbered in the sequence: `[block][dim][lane]`.
    #[inline(always)]
    pub(super) fn keys<'a, S: Simd>(
        &'a self,
        simd: S,
        kv_head: usize,
        blocks: &Range<usize>,
        buffer: &'a mut Vec<Lanes>,
    ) -> &'a [Lanes] {
        let range = self.register_range(blocks, self.heads.head_dim);
        let registers = match &self.blocks {
            Blocks::F16(heads) => heads
                .get(kv_head)
                .map(|head| part(simd, &head.keys, &range, buffer)),
            Blocks::F32(heads) => heads
                .get(kv_head)
                .map(|head| part(simd, &head.keys, &range, buffer)),
            Blocks::Q8(_) => None,
        };
        registers.unwrap_or_default()
    }

    /// The values of adjacent blocks, numbered in the sequence: `[block][lane][dim]`.
    #[inline(always)]
    pub(super) fn values<'a, S: Simd>(
        &'a self,
        simd: S,
        kv_head: usize,
        blocks: &Range<usize>,
        buffer: &'a mut Vec<Lanes>,
    ) -> &'a [Lanes] {
        let n_registers = N_LANES * n_value_registers(self.heads.head_dim);
        let range = self.register_range(blocks, n_registers);
        let registers = match &self.blocks {
            Blocks::F16(heads) => heads
                .get(kv_head)
                .map(|head| part(simd, &head.values, &range, buffer)),
            Blocks::F32(heads) => heads
                .get(kv_head)
                .map(|head| part(simd, &head.values, &range, buffer)),
            Blocks::Q8(_) => None,
        };
        registers.unwrap_or_default()
    }

    /// The registers of some blocks, each of which has `n_registers`.
    const fn register_range(&self, blocks: &Range<usize>, n_registers: usize) -> Range<usize> {
        let first = self.first_position / N_LANES;
        (blocks.start - first) * n_registers..(blocks.end - first) * n_registers
    }
}

/// Registers per position for the values of one head.
pub(super) const fn n_value_registers(head_dim: usize) -> usize {
    head_dim.div_ceil(N_LANES)
}

#[inline(always)]
fn part<'a, T: Stored, S: Simd>(
    simd: S,
    stored: &'a [T],
    registers: &Range<usize>,
    buffer: &'a mut Vec<Lanes>,
) -> &'a [Lanes] {
    let lines = registers.start / T::N_REGISTERS..registers.end / T::N_REGISTERS;
    T::widen(simd, stored.get(lines).unwrap_or_default(), buffer)
}

/// The location of one token's keys and values within a head.
#[derive(Debug, Clone, Copy)]
pub(super) struct CacheAddress {
    /// The block's number in the run.
    pub block: usize,
    /// The position within the block.
    pub lane: usize,
    pub head_dim: usize,
}

/// Stores a token's keys and values in all heads.
fn each_head<H>(
    heads: &mut [H],
    address: CacheAddress,
    keys: &[f32],
    values: &[f32],
    write: impl Fn(&mut H, CacheAddress, &[f32], &[f32]),
) {
    let keys = keys.chunks_exact(address.head_dim);
    let values = values.chunks_exact(address.head_dim);
    for (head, (keys, values)) in heads.iter_mut().zip(keys.zip(values)) {
        write(head, address, keys, values);
    }
}

impl<T: Stored> HeadBlocks<T> {
    const EMPTY: Self = Self {
        keys: Vec::new(),
        values: Vec::new(),
    };

    fn n_bytes(&self) -> usize {
        size_of_val(self.keys.as_slice()) + size_of_val(self.values.as_slice())
    }

    fn write(&mut self, address: CacheAddress, keys: &[f32], values: &[f32]) {
        let CacheAddress {
            block,
            lane,
            head_dim,
        } = address;
        let n_registers = n_value_registers(head_dim);
        grow(&mut self.keys, (block + 1) * head_dim);
        grow(&mut self.values, (block + 1) * N_LANES * n_registers);
        let first = block * head_dim;
        for (register, key) in (first..).zip(keys) {
            set(&mut self.keys, register, lane, *key);
        }
        let first = (block * N_LANES + lane) * n_registers;
        for (register, values) in (first..).zip(values.chunks(N_LANES)) {
            for (lane, value) in values.iter().enumerate() {
                set(&mut self.values, register, lane, *value);
            }
        }
    }
}

/// Grows the storage to at least this many registers.
fn grow<T: Stored>(stored: &mut Vec<T>, n_registers: usize) {
    let n_min = n_registers / T::N_REGISTERS;
    if stored.len() < n_min {
        stored.resize(n_min, T::ZERO);
    }
}

/// Sets one lane of a register.
fn set<T: Stored>(stored: &mut [T], register: usize, lane: usize, value: f32) {
    if let Some(line) = stored.get_mut(register / T::N_REGISTERS) {
        line.set(register % T::N_REGISTERS, lane, value);
    }
}
