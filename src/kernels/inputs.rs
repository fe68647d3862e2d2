//! Rows of inputs, arranged as the micro-kernels read them.

use std::ops::Range;

use pulp::NullaryFnOnce;

use super::input_block::{InputBlock, padded};
use super::input_words::InputWords;
use super::{Format, InputBits, InstructionSet, N_BLOCK, ThreadPool};

/// Blocks of inputs are padded to a multiple of this, because some formats take two per step.
const N_STEP_BLOCKS: usize = 2;

/// Float columns are padded to a multiple of this, for the same reason.
pub(super) const N_STEP_COLUMNS: usize = 2;

/// The number of values below which starting other threads costs more time than it saves.
const MIN_PARALLEL_VALUES: usize = 1 << 15;

/// Bytes of inputs that are multiplied by one tile before the next, so that they and the tile stay
/// in a core's own cache.
const N_PANEL_BYTES: usize = 1 << 17;

/// Rows of inputs of equal width, in groups that share each load of a weight.
#[derive(Debug)]
pub struct Inputs {
    instructions: InstructionSet,
    bits: InputBits,
    n_rows: usize,
    width: usize,
    groups: Vec<Range<usize>>,
    /// `[group][block][row][plane]`, interleaved in pairs if the instructions read them so; empty
    /// if no weights need them.
    blocks: Vec<InputBlock>,
    /// `[group][block][row]`; empty if no weights need them.
    words: Vec<InputWords>,
    /// `[group][column][row]`; empty if no weights need them.
    floats: Vec<f32>,
}

/// The representations of the inputs that a product needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputKinds {
    /// Quantized, for integer weights of fewer than 8 bits.
    pub quantized: bool,
    /// Quantized, for 8-bit weights.
    pub quantized_for_bytes: bool,
    pub floats: bool,
}

impl InputKinds {
    /// Returns what matrices of these formats need.
    pub fn of(formats: impl IntoIterator<Item = Format>) -> Self {
        let mut kinds = Self {
            quantized: false,
            quantized_for_bytes: false,
            floats: false,
        };
        for format in formats {
            match format {
                Format::Q8_0 => kinds.quantized_for_bytes = true,
                _ if format.quantizes_inputs() => kinds.quantized = true,
                _ => kinds.floats = true,
            }
        }
        kinds
    }
}

/// Adjacent rows of inputs that are multiplied together.
#[derive(Debug, Clone)]
pub struct RowGroup<'a> {
    pub rows: Range<usize>,
    /// The planes of all rows. A micro-kernel multiplies each like a row of 8-bit inputs, and
    /// [`super::product::ProductTask::write_planes`] adds those of a row.
    pub n_planes: usize,
    /// `[block][row][plane]`, interleaved in pairs if the instructions read them so.
    pub blocks: &'a [InputBlock],
    /// `[block][row]`.
    pub words: &'a [InputWords],
    /// `[column][row]`.
    pub floats: &'a [f32],
}

impl RowGroup<'_> {
    /// Whether the planes are the two digits of 16-bit inputs; see
    /// [`adds_digits`](super::product::ProductTask::adds_digits).
    pub fn has_digits(&self) -> bool {
        self.n_planes == 2 * self.rows.len()
    }
}

impl Inputs {
    /// Creates an empty set of inputs for kernels that use these instructions.
    pub fn new(instructions: InstructionSet, bits: InputBits) -> Self {
        Self {
            instructions,
            bits,
            n_rows: 0,
            width: 0,
            groups: Vec::new(),
            blocks: Vec::new(),
            words: Vec::new(),
            floats: Vec::new(),
        }
    }

    /// Replaces the rows, converting them in parallel if there are many.
    pub fn set(&mut self, threads: &ThreadPool, values: &[f32], width: usize, kinds: InputKinds) {
        let n_values = values.len();
        let arch = self.instructions.arch();
        let jobs = self.arrange(values, width, kinds);
        if n_values < MIN_PARALLEL_VALUES {
            for job in jobs {
                arch.dispatch(job);
            }
        } else {
            threads.run(jobs, |job| arch.dispatch(job));
        }
    }

    /// Replaces the rows with quantized ones, on the calling thread.
    pub fn set_quantized(&mut self, values: &[f32], width: usize) {
        let kinds = InputKinds {
            quantized: true,
            quantized_for_bytes: false,
            floats: false,
        };
        let arch = self.instructions.arch();
        for job in self.arrange(values, width, kinds) {
            arch.dispatch(job);
        }
    }

    /// Allocates the rows. Returns the conversion job of each group.
    fn arrange<'a>(
        &'a mut self,
        values: &'a [f32],
        width: usize,
        kinds: InputKinds,
    ) -> Vec<ConversionJob<'a>> {
        self.width = width;
        self.n_rows = values.len().checked_div(width).unwrap_or(0);
        let has_words = kinds.quantized_for_bytes
            && self.bits == InputBits::Sixteen
            && self.instructions.multiplies_words();
        let has_planes = kinds.quantized || kinds.quantized_for_bytes && !has_words;
        let n_planes = if has_planes { self.bits.n_planes() } else { 1 };
        self.groups.clear();
        self.groups
            .extend(self.instructions.groups(self.n_rows, n_planes));
        let n_blocks = n_blocks(width);
        let n_words = if has_words { n_blocks } else { 0 };
        let n_blocks = if has_planes { n_blocks * n_planes } else { 0 };
        let n_columns = if kinds.floats { n_columns(width) } else { 0 };
        // The jobs overwrite every element.
        self.blocks
            .resize(self.n_rows * n_blocks, InputBlock::default());
        self.words
            .resize(self.n_rows * n_words, InputWords::default());
        self.floats.resize(self.n_rows * n_columns, 0.0);
        let (mut values, mut blocks, mut floats) = (values, &mut *self.blocks, &mut *self.floats);
        let mut words = &mut *self.words;
        let mut jobs = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            let n_group = group.len();
            jobs.push(ConversionJob {
                n_rows: n_group,
                n_planes,
                width,
                interleaves_rows: self.instructions.interleaves_rows(),
                values: values.split_off(..n_group * width).unwrap_or_default(),
                blocks: blocks
                    .split_off_mut(..n_group * n_blocks)
                    .unwrap_or_default(),
                words: words.split_off_mut(..n_group * n_words).unwrap_or_default(),
                floats: floats
                    .split_off_mut(..n_group * n_columns)
                    .unwrap_or_default(),
            });
        }
        jobs
    }

    /// The instructions that the rows are arranged for.
    pub const fn instructions(&self) -> InstructionSet {
        self.instructions
    }

    /// How finely the rows are rounded.
    pub const fn bits(&self) -> InputBits {
        self.bits
    }

    /// The number of rows.
    pub const fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The length of a row.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// The groups in row order, in panels that stay in a core's cache while they are multiplied by
    /// one tile after another.
    pub fn panels(&self) -> impl Iterator<Item = Panel<'_>> {
        let n_bytes = size_of_val(self.blocks.as_slice())
            + size_of_val(self.words.as_slice())
            + size_of_val(self.floats.as_slice());
        let n_group_bytes = n_bytes.div_ceil(self.groups.len().max(1));
        let n_groups = (N_PANEL_BYTES / n_group_bytes.max(1)).max(1);
        let panels = self.groups.chunks(n_groups);
        panels.map(|groups| Panel {
            inputs: self,
            groups,
        })
    }
}

/// Adjacent groups that fit into a core's cache together.
#[derive(Debug, Clone, Copy)]
pub struct Panel<'a> {
    inputs: &'a Inputs,
    groups: &'a [Range<usize>],
}

impl<'a> Panel<'a> {
    /// The groups, in row order.
    pub fn groups(self) -> impl Iterator<Item = RowGroup<'a>> {
        let Inputs {
            n_rows,
            bits,
            blocks,
            words,
            floats,
            ..
        } = self.inputs;
        let n_blocks = blocks.len() / n_rows.max(&1);
        let n_words = words.len() / n_rows.max(&1);
        let n_columns = floats.len() / n_rows.max(&1);
        self.groups.iter().map(move |rows| {
            let block_range = rows.start * n_blocks..rows.end * n_blocks;
            let word_range = rows.start * n_words..rows.end * n_words;
            let float_range = rows.start * n_columns..rows.end * n_columns;
            RowGroup {
                rows: rows.clone(),
                n_planes: rows.len() * bits.n_planes(),
                blocks: blocks.get(block_range).unwrap_or_default(),
                words: words.get(word_range).unwrap_or_default(),
                floats: floats.get(float_range).unwrap_or_default(),
            }
        })
    }
}

/// The conversion of one group.
struct ConversionJob<'a> {
    n_rows: usize,
    /// Planes per row.
    n_planes: usize,
    width: usize,
    interleaves_rows: bool,
    values: &'a [f32],
    blocks: &'a mut [InputBlock],
    words: &'a mut [InputWords],
    floats: &'a mut [f32],
}

impl NullaryFnOnce for ConversionJob<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "it is compiled for the instructions of its caller only if it is inlined there"
    )]
    fn call(self) {
        for (row, values) in self.values.chunks_exact(self.width.max(1)).enumerate() {
            let (full, rest) = values.as_chunks();
            let blocks = self.blocks.chunks_exact_mut(self.n_planes);
            let mut blocks = blocks.skip(row).step_by(self.n_rows);
            // In this order, `zip` takes no target without a value for it.
            for (values, planes) in full.iter().zip(blocks.by_ref()) {
                InputBlock::quantize_planes(values, planes);
            }
            if !rest.is_empty()
                && let Some(planes) = blocks.next()
            {
                InputBlock::quantize_planes(&padded(rest), planes);
            }
            for planes in blocks {
                planes.fill(InputBlock::default());
            }
            let mut words = self.words.iter_mut().skip(row).step_by(self.n_rows);
            for (values, words) in full.iter().zip(words.by_ref()) {
                *words = InputWords::quantize(values);
            }
            if !rest.is_empty()
                && let Some(words) = words.next()
            {
                *words = InputWords::quantize(&padded(rest));
            }
            for words in words {
                *words = InputWords::default();
            }
            let mut targets = self.floats.iter_mut().skip(row).step_by(self.n_rows);
            for (value, target) in values.iter().zip(targets.by_ref()) {
                *target = *value;
            }
            for target in targets {
                *target = 0.0;
            }
        }
        if self.interleaves_rows && (self.n_rows * self.n_planes).is_multiple_of(2) {
            for [first, second] in self.blocks.as_chunks_mut().0 {
                InputBlock::interleave(first, second);
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
