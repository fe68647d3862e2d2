//! Rows of inputs in the form in which products read them.

use std::ops::Range;

use super::{Format, InstructionSet, N_BLOCK};

/// Blocks of inputs are filled up to a multiple of this, because some tiles take so many in a step.
const N_STEP_BLOCKS: usize = 2;

/// 32 inputs of one row, rounded to 8 bits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C)]
pub struct InputBlock {
    /// The whole numbers, four in a word, the first in its lowest byte.
    pub words: [i32; N_BLOCK / 4],
    /// What a whole number stands for.
    pub scale: f32,
    /// The sum of the numbers times the scale.
    pub scaled_sum: f32,
    /// The sums of the first and the second 16 numbers: 16 bits each, the first in the lower ones.
    pub half_sums: i32,
}

/// Rows of inputs, all of one width, in groups that are multiplied together with each weight that is
/// loaded.
#[derive(Debug, Default)]
pub struct Inputs {
    n_rows: usize,
    width: usize,
    groups: Vec<Range<usize>>,
    /// `[group][block][row]`; empty where only floating-point weights follow.
    blocks: Vec<InputBlock>,
    /// `[group][column][row]`; empty where only rounded weights follow.
    floats: Vec<f32>,
}

/// Which forms of the inputs a product needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forms {
    /// Rounded to 8 bits.
    pub rounded: bool,
    /// As they are.
    pub floats: bool,
}

impl Forms {
    /// Those that matrices of these formats need.
    pub fn of(formats: impl IntoIterator<Item = Format>) -> Self {
        let mut forms = Self {
            rounded: false,
            floats: false,
        };
        for format in formats {
            forms.rounded |= format.rounds_inputs();
            forms.floats |= !format.rounds_inputs();
        }
        forms
    }
}

/// Neighbouring rows of inputs that are multiplied together.
#[derive(Debug, Clone)]
pub struct Group<'a> {
    /// Which rows these are.
    pub rows: Range<usize>,
    /// `[block][row]`.
    pub blocks: &'a [InputBlock],
    /// `[column][row]`.
    pub floats: &'a [f32],
}

impl Inputs {
    /// Takes in rows of this width, in place of those that were there.
    pub fn set(
        &mut self,
        values: &[f32],
        width: usize,
        forms: Forms,
        instructions: InstructionSet,
    ) {
        self.width = width;
        self.n_rows = values.len() / width.max(1);
        self.groups = instructions.groups(self.n_rows);
        self.blocks.clear();
        self.floats.clear();
        for group in &self.groups {
            let rows = values.get(group.start * width..group.end * width);
            let rows = rows.unwrap_or_default();
            if forms.rounded {
                let start = self.blocks.len();
                let n_blocks = n_blocks(width);
                let n_group = group.len();
                self.blocks
                    .resize(start + n_group * n_blocks, InputBlock::default());
                for (row, values) in rows.chunks_exact(width.max(1)).enumerate() {
                    let places = self.blocks.iter_mut().skip(start + row).step_by(n_group);
                    for (place, values) in places.zip(values.chunks(N_BLOCK)) {
                        *place = InputBlock::round(values);
                    }
                }
            }
            if forms.floats {
                for column in 0..width {
                    let column = rows.iter().skip(column).step_by(width);
                    self.floats.extend(column);
                }
            }
        }
    }

    /// How many rows there are.
    pub const fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The length of a row.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// The groups, in the order of their rows.
    pub fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        self.groups.iter().map(|rows| {
            let n_blocks = n_blocks(self.width);
            let blocks = rows.start * n_blocks..rows.end * n_blocks;
            let floats = rows.start * self.width..rows.end * self.width;
            Group {
                rows: rows.clone(),
                blocks: self.blocks.get(blocks).unwrap_or_default(),
                floats: self.floats.get(floats).unwrap_or_default(),
            }
        })
    }
}

const fn n_blocks(width: usize) -> usize {
    width.div_ceil(N_BLOCK).next_multiple_of(N_STEP_BLOCKS)
}

impl InputBlock {
    /// Rounds up to 32 values to whole numbers between −127 and 127.
    fn round(values: &[f32]) -> Self {
        let largest = values
            .iter()
            .fold(0.0_f32, |max, value| max.max(value.abs()));
        let scale = largest / 127.0;
        let steps = if scale > 0.0 { 1.0 / scale } else { 0.0 };
        let mut block = Self {
            scale,
            ..Self::default()
        };
        let mut sums = [0; 2];
        for (index, value) in values.iter().enumerate() {
            let rounded = (value * steps).round_ties_even() as i8;
            if let Some(word) = block.words.get_mut(index / 4) {
                let mut bytes = word.to_le_bytes();
                if let Some(byte) = bytes.get_mut(index % 4) {
                    *byte = rounded.cast_unsigned();
                }
                *word = i32::from_le_bytes(bytes);
            }
            if let Some(sum) = sums.get_mut(index / (N_BLOCK / 2)) {
                *sum += i32::from(rounded);
            }
        }
        let [low, high] = sums;
        block.scaled_sum = scale * (low + high) as f32;
        block.half_sums = (low & 0xffff) | (high << 16);
        block
    }
}
