//! Rows of inputs in the form in which products read them.

use std::ops::Range;

use pulp::NullaryFnOnce;

use super::input_block::InputBlock;
use super::{Format, InstructionSet, N_BLOCK, ThreadPool};

/// Blocks of inputs are filled up to a multiple of this, because some tiles take so many in a step.
const N_STEP_BLOCKS: usize = 2;

/// Columns of inputs that stay as they are are filled up to a multiple of this, for the same reason.
pub const N_STEP_COLUMNS: usize = 2;

/// Values below which other threads cost more than they give.
const N_MIN_PARALLEL_VALUES: usize = 1 << 15;

/// Inputs that are multiplied with one tile before the next: they and the tile stay in a core's own cache.
const N_PANEL_BYTES: usize = 1 << 17;

/// Rows of inputs, all of one width, in groups that are multiplied together with each weight that is
/// loaded.
#[derive(Debug)]
pub struct Inputs {
    instructions: InstructionSet,
    n_rows: usize,
    width: usize,
    groups: Vec<Range<usize>>,
    /// `[group][block][row]`, entwined in pairs where the instructions read them so; empty where only floating-point
    /// weights follow.
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
    /// `[block][row]`, entwined in pairs where the instructions read them so.
    pub blocks: &'a [InputBlock],
    /// `[column][row]`.
    pub floats: &'a [f32],
}

impl Inputs {
    /// No rows yet, for products with these instructions.
    pub fn new(instructions: InstructionSet) -> Self {
        Self {
            instructions,
            n_rows: 0,
            width: 0,
            groups: Vec::new(),
            blocks: Vec::new(),
            floats: Vec::new(),
        }
    }

    /// Takes in rows of this width, in place of those that were there.
    pub fn set(&mut self, team: &ThreadPool, values: &[f32], width: usize, forms: Forms) {
        let n_values = values.len();
        let arch = self.instructions.arch();
        let jobs = self.arrange(values, width, forms);
        if n_values < N_MIN_PARALLEL_VALUES {
            for job in jobs {
                arch.dispatch(job);
            }
        } else {
            team.run(jobs, |job| arch.dispatch(job));
        }
    }

    /// Takes in rows of this width to be rounded, with one thread.
    pub fn set_rounded(&mut self, values: &[f32], width: usize) {
        let forms = Forms {
            rounded: true,
            floats: false,
        };
        let arch = self.instructions.arch();
        for job in self.arrange(values, width, forms) {
            arch.dispatch(job);
        }
    }

    /// Makes room for rows of this width. Returns how each group is filled.
    fn arrange<'a>(&'a mut self, values: &'a [f32], width: usize, forms: Forms) -> Vec<Job<'a>> {
        self.width = width;
        self.n_rows = values.len().checked_div(width).unwrap_or(0);
        self.groups.clear();
        self.groups.extend(self.instructions.groups(self.n_rows));
        let n_blocks = if forms.rounded { n_blocks(width) } else { 0 };
        let n_columns = if forms.floats { n_columns(width) } else { 0 };
        let n_all = (self.n_rows * n_blocks, self.n_rows * n_columns);
        // Each is written when its group is filled.
        self.blocks.resize(n_all.0, InputBlock::default());
        self.floats.resize(n_all.1, 0.0);
        let (mut values, mut blocks, mut floats) = (values, &mut *self.blocks, &mut *self.floats);
        let mut jobs = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            let n_group = group.len();
            jobs.push(Job {
                n_rows: n_group,
                width,
                reads_pairs: self.instructions.reads_pairs(),
                values: values.split_off(..n_group * width).unwrap_or_default(),
                blocks: blocks
                    .split_off_mut(..n_group * n_blocks)
                    .unwrap_or_default(),
                floats: floats
                    .split_off_mut(..n_group * n_columns)
                    .unwrap_or_default(),
            });
        }
        jobs
    }

    /// The instructions that it is arranged for.
    pub const fn instructions(&self) -> InstructionSet {
        self.instructions
    }

    /// How many rows there are.
    pub const fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The length of a row.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// The groups in the order of their rows, in panels that stay in a core's cache while one tile after
    /// another passes.
    pub fn panels(&self) -> impl Iterator<Item = Panel<'_>> {
        let n_bytes = size_of_val(self.blocks.as_slice()) + size_of_val(self.floats.as_slice());
        let n_group_bytes = n_bytes.div_ceil(self.groups.len().max(1));
        let n_groups = (N_PANEL_BYTES / n_group_bytes.max(1)).max(1);
        let panels = self.groups.chunks(n_groups);
        panels.map(|groups| Panel {
            inputs: self,
            groups,
        })
    }
}

/// Neighbouring groups.
#[derive(Debug, Clone, Copy)]
pub struct Panel<'a> {
    inputs: &'a Inputs,
    groups: &'a [Range<usize>],
}

impl<'a> Panel<'a> {
    /// The groups, in the order of their rows.
    pub fn groups(self) -> impl Iterator<Item = Group<'a>> {
        let Inputs {
            n_rows,
            blocks,
            floats,
            ..
        } = self.inputs;
        let n_blocks = blocks.len() / n_rows.max(&1);
        let n_columns = floats.len() / n_rows.max(&1);
        self.groups.iter().map(move |rows| {
            let block_range = rows.start * n_blocks..rows.end * n_blocks;
            let float_range = rows.start * n_columns..rows.end * n_columns;
            Group {
                rows: rows.clone(),
                blocks: blocks.get(block_range).unwrap_or_default(),
                floats: floats.get(float_range).unwrap_or_default(),
            }
        })
    }
}

/// One group to be brought into its forms.
struct Job<'a> {
    n_rows: usize,
    width: usize,
    reads_pairs: bool,
    values: &'a [f32],
    blocks: &'a mut [InputBlock],
    floats: &'a mut [f32],
}

impl NullaryFnOnce for Job<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "it is compiled for the instructions of its caller only where it is part of it"
    )]
    fn call(self) {
        for (row, values) in self.values.chunks_exact(self.width.max(1)).enumerate() {
            let (whole, rest) = values.as_chunks();
            let mut blocks = self.blocks.iter_mut().skip(row).step_by(self.n_rows);
            // In this order no place is taken for what is not there.
            for (values, place) in whole.iter().zip(blocks.by_ref()) {
                *place = InputBlock::round(values);
            }
            if !rest.is_empty()
                && let Some(place) = blocks.next()
            {
                *place = InputBlock::round_some(rest);
            }
            for place in blocks {
                *place = InputBlock::default();
            }
            let mut places = self.floats.iter_mut().skip(row).step_by(self.n_rows);
            for (value, place) in values.iter().zip(places.by_ref()) {
                *place = *value;
            }
            for place in places {
                *place = 0.0;
            }
        }
        if self.reads_pairs && self.n_rows.is_multiple_of(2) {
            for [first, second] in self.blocks.as_chunks_mut().0 {
                InputBlock::entwine(first, second);
            }
        }
    }
}

const fn n_columns(width: usize) -> usize {
    width.next_multiple_of(N_STEP_COLUMNS)
}

const fn n_blocks(width: usize) -> usize {
    width.div_ceil(N_BLOCK).next_multiple_of(N_STEP_BLOCKS)
}
