//! Keys and values in the order in which attention wants them.

use std::ops::Range;

use pulp::Simd;
use serde::{Deserialize, Serialize};

use super::ahead::fetch_ahead;
use super::half::HalfLanes;
use super::{Heads, Lanes};
use crate::engine::kernels::N_LANES;

/// As what keys and values are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheType {
    /// As they were computed.
    #[default]
    F32,
    /// In half precision: half the memory to hold, and to read at each step.
    F16,
}

impl CacheType {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::F32, Self::F16];

    /// How people call it: "f16".
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
        }
    }

    /// What there is to know of it, in a few words.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::F32 => "as computed",
            Self::F16 => "half the memory",
        }
    }
}

/// One layer's keys and values of neighbouring tokens, in blocks of 16 positions.
///
/// Blocks begin at multiples of 16 in the sequence, so the first and the last may be partly filled.
#[derive(Debug)]
pub struct KeysValues {
    heads: Heads,
    first_position: usize,
    blocks: Blocks,
}

#[derive(Debug)]
enum Blocks {
    F16(Vec<HeadBlocks<HalfLanes>>),
    F32(Vec<HeadBlocks<Lanes>>),
}

/// The blocks of one head.
#[derive(Debug, Clone)]
pub struct HeadBlocks<T> {
    /// `[block][dim][lane]`, so that one register holds the same dimension of many positions.
    keys: Vec<T>,
    /// `[block][lane][dim]`, filled up to whole registers with zeros.
    values: Vec<T>,
}

/// A cache line of stored numbers: one register, or some neighbouring ones.
pub trait Stored: Copy {
    /// How many registers it holds.
    const N_REGISTERS: usize;

    /// No number but zero.
    const ZERO: Self;

    /// Writes one number.
    fn set(&mut self, register: usize, lane: usize, value: f32);

    /// Registers in full precision: themselves, or a copy.
    fn widen<'a, S: Simd>(simd: S, stored: &'a [Self], copy: &'a mut Vec<Lanes>) -> &'a [Lanes];
}

impl Stored for Lanes {
    const N_REGISTERS: usize = 1;

    const ZERO: Self = Self::all(0.0);

    fn set(&mut self, _register: usize, lane: usize, value: f32) {
        if let Some(place) = self.0.get_mut(lane) {
            *place = value;
        }
    }

    #[inline(always)]
    fn widen<'a, S: Simd>(_simd: S, stored: &'a [Self], _copy: &'a mut Vec<Lanes>) -> &'a [Lanes] {
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
    fn widen<'a, S: Simd>(simd: S, stored: &'a [Self], copy: &'a mut Vec<Lanes>) -> &'a [Lanes] {
        copy.resize(2 * stored.len(), Lanes::all(0.0));
        let (pairs, _) = copy.as_chunks_mut::<2>();
        for (pair, stored) in pairs.iter_mut().zip(stored) {
            fetch_ahead(stored);
            *pair = stored.widen(simd);
        }
        copy
    }
}

impl KeysValues {
    /// Of a run that begins at this place in its sequence, with no token yet.
    pub fn new(heads: Heads, cache_type: CacheType, first_position: usize) -> Self {
        Self {
            heads,
            first_position,
            blocks: match cache_type {
                // Two registers share one, so heads of odd width stay as they are; no model has those.
                CacheType::F16 if heads.head_dim.is_multiple_of(2) => {
                    Blocks::F16(vec![HeadBlocks::EMPTY; heads.n_kv_heads])
                }
                _ => Blocks::F32(vec![HeadBlocks::EMPTY; heads.n_kv_heads]),
            },
        }
    }

    /// Where the run begins.
    pub const fn first_position(&self) -> usize {
        self.first_position
    }

    /// Writes the keys and values, each `[kv heads × head_dim]`, of the token at this place in the sequence.
    /// A place before the run's first is none of its.
    pub fn write(&mut self, position: usize, keys: &[f32], values: &[f32]) {
        if position < self.first_position {
            return;
        }
        let place = Place {
            block: position / N_LANES - self.first_position / N_LANES,
            lane: position % N_LANES,
            head_dim: self.heads.head_dim,
        };
        match &mut self.blocks {
            Blocks::F16(heads) => write(heads, place, keys, values),
            Blocks::F32(heads) => write(heads, place, keys, values),
        }
    }

    /// The keys of some neighbouring blocks of a head, which are numbered in the sequence: `[block][dim][lane]`.
    #[inline(always)]
    pub(super) fn keys<'a, S: Simd>(
        &'a self,
        simd: S,
        kv_head: usize,
        numbers: &Range<usize>,
        copy: &'a mut Vec<Lanes>,
    ) -> &'a [Lanes] {
        let registers = self.registers(numbers, self.heads.head_dim);
        let found = match &self.blocks {
            Blocks::F16(heads) => heads
                .get(kv_head)
                .map(|head| part(simd, &head.keys, &registers, copy)),
            Blocks::F32(heads) => heads
                .get(kv_head)
                .map(|head| part(simd, &head.keys, &registers, copy)),
        };
        found.unwrap_or_default()
    }

    /// The values of some neighbouring blocks of a head: `[block][lane][dim]`.
    #[inline(always)]
    pub(super) fn values<'a, S: Simd>(
        &'a self,
        simd: S,
        kv_head: usize,
        numbers: &Range<usize>,
        copy: &'a mut Vec<Lanes>,
    ) -> &'a [Lanes] {
        let n_registers = N_LANES * n_value_registers(self.heads.head_dim);
        let registers = self.registers(numbers, n_registers);
        let found = match &self.blocks {
            Blocks::F16(heads) => heads
                .get(kv_head)
                .map(|head| part(simd, &head.values, &registers, copy)),
            Blocks::F32(heads) => heads
                .get(kv_head)
                .map(|head| part(simd, &head.values, &registers, copy)),
        };
        found.unwrap_or_default()
    }

    /// Where the registers of blocks lie, which have so many each.
    const fn registers(&self, numbers: &Range<usize>, n_registers: usize) -> Range<usize> {
        let first = self.first_position / N_LANES;
        (numbers.start - first) * n_registers..(numbers.end - first) * n_registers
    }
}

/// Registers for one position's values of a head.
pub const fn n_value_registers(head_dim: usize) -> usize {
    head_dim.div_ceil(N_LANES)
}

#[inline(always)]
fn part<'a, T: Stored, S: Simd>(
    simd: S,
    stored: &'a [T],
    registers: &Range<usize>,
    copy: &'a mut Vec<Lanes>,
) -> &'a [Lanes] {
    let lines = registers.start / T::N_REGISTERS..registers.end / T::N_REGISTERS;
    T::widen(simd, stored.get(lines).unwrap_or_default(), copy)
}

/// Where a token's keys and values lie.
#[derive(Clone, Copy)]
struct Place {
    block: usize,
    lane: usize,
    head_dim: usize,
}

fn write<T: Stored>(heads: &mut [HeadBlocks<T>], place: Place, keys: &[f32], values: &[f32]) {
    let keys = keys.chunks_exact(place.head_dim);
    let values = values.chunks_exact(place.head_dim);
    for (head, (keys, values)) in heads.iter_mut().zip(keys.zip(values)) {
        head.write(place, keys, values);
    }
}

impl<T: Stored> HeadBlocks<T> {
    const EMPTY: Self = Self {
        keys: Vec::new(),
        values: Vec::new(),
    };

    fn write(&mut self, place: Place, keys: &[f32], values: &[f32]) {
        let Place {
            block,
            lane,
            head_dim,
        } = place;
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

/// Makes room for so many registers.
fn grow<T: Stored>(stored: &mut Vec<T>, n_registers: usize) {
    let n_least = n_registers / T::N_REGISTERS;
    if stored.len() < n_least {
        stored.resize(n_least, T::ZERO);
    }
}

/// Writes one number of a register.
fn set<T: Stored>(stored: &mut [T], register: usize, lane: usize, value: f32) {
    if let Some(line) = stored.get_mut(register / T::N_REGISTERS) {
        line.set(register % T::N_REGISTERS, lane, value);
    }
}
