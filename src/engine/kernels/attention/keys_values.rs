//! Keys and values in the order in which attention wants them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::ahead::fetch_ahead;
use super::half::Halves;
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
    F16(Vec<HeadBlocks<Halves>>),
    F32(Vec<HeadBlocks<f32>>),
}

/// The blocks of one head.
#[derive(Debug, Clone)]
pub struct HeadBlocks<T> {
    /// `[block][dim][lane]`, so that one register holds the same dimension of many positions.
    keys: Vec<Lanes<T>>,
    /// `[block][lane][dim]`, filled up to whole registers with zeros.
    values: Vec<Lanes<T>>,
}

/// One number, or some of neighbouring registers.
pub trait Stored: Copy + Default {
    /// How many numbers it holds.
    const N_NUMBERS: usize;

    /// Writes one of its numbers.
    fn set(&mut self, index: usize, value: f32);

    /// Registers in full precision: themselves, or a copy.
    fn widen<'a>(stored: &'a [Lanes<Self>], copy: &'a mut Vec<Lanes>) -> &'a [Lanes];
}

impl Stored for f32 {
    const N_NUMBERS: usize = 1;

    fn set(&mut self, _index: usize, value: f32) {
        *self = value;
    }

    #[inline(always)]
    fn widen<'a>(stored: &'a [Lanes], _copy: &'a mut Vec<Lanes>) -> &'a [Lanes] {
        stored
    }
}

impl Stored for Halves {
    const N_NUMBERS: usize = 2;

    fn set(&mut self, index: usize, value: f32) {
        self.set(index, value);
    }

    #[inline(always)]
    fn widen<'a>(stored: &'a [Lanes<Self>], copy: &'a mut Vec<Lanes>) -> &'a [Lanes] {
        copy.resize(2 * stored.len(), Lanes::all(0.0));
        let (pairs, _) = copy.as_chunks_mut::<2>();
        for ([first, second], stored) in pairs.iter_mut().zip(stored) {
            fetch_ahead(stored);
            let numbers = first.0.iter_mut().zip(&mut second.0);
            for ((first, second), stored) in numbers.zip(&stored.0) {
                [*first, *second] = stored.get();
            }
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
    pub(super) fn keys<'a>(
        &'a self,
        kv_head: usize,
        numbers: &Range<usize>,
        copy: &'a mut Vec<Lanes>,
    ) -> &'a [Lanes] {
        let registers = self.registers(numbers, self.heads.head_dim);
        match &self.blocks {
            Blocks::F16(heads) => part(heads, kv_head, |head| &head.keys, &registers, copy),
            Blocks::F32(heads) => part(heads, kv_head, |head| &head.keys, &registers, copy),
        }
    }

    /// The values of one block of a head: `[lane][dim]`.
    #[inline(always)]
    pub(super) fn values<'a>(
        &'a self,
        kv_head: usize,
        number: usize,
        copy: &'a mut Vec<Lanes>,
    ) -> &'a [Lanes] {
        let n_registers = N_LANES * n_value_registers(self.heads.head_dim);
        let registers = self.registers(&(number..number + 1), n_registers);
        match &self.blocks {
            Blocks::F16(heads) => part(heads, kv_head, |head| &head.values, &registers, copy),
            Blocks::F32(heads) => part(heads, kv_head, |head| &head.values, &registers, copy),
        }
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
fn part<'a, T: Stored>(
    heads: &'a [HeadBlocks<T>],
    kv_head: usize,
    choose: impl FnOnce(&HeadBlocks<T>) -> &Vec<Lanes<T>>,
    registers: &Range<usize>,
    copy: &'a mut Vec<Lanes>,
) -> &'a [Lanes] {
    let stored = registers.start / T::N_NUMBERS..registers.end / T::N_NUMBERS;
    let stored = heads.get(kv_head).and_then(|head| choose(head).get(stored));
    T::widen(stored.unwrap_or_default(), copy)
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
        let first = block * head_dim / T::N_NUMBERS;
        let keys = keys.chunks(T::N_NUMBERS);
        for (lanes, keys) in self.keys.iter_mut().skip(first).zip(keys) {
            if let Some(place) = lanes.0.get_mut(lane) {
                for (index, key) in keys.iter().enumerate() {
                    place.set(index, *key);
                }
            }
        }
        let first = (block * N_LANES + lane) * n_registers;
        for (register, values) in (first..).zip(values.chunks(N_LANES)) {
            if let Some(lanes) = self.values.get_mut(register / T::N_NUMBERS) {
                for (place, value) in lanes.0.iter_mut().zip(values) {
                    place.set(register % T::N_NUMBERS, *value);
                }
            }
        }
    }
}

/// Makes room for so many registers.
fn grow<T: Stored>(stored: &mut Vec<Lanes<T>>, n_registers: usize) {
    let n_least = n_registers / T::N_NUMBERS;
    if stored.len() < n_least {
        stored.resize(n_least, Lanes([T::default(); N_LANES]));
    }
}
