//! `Q2_K`: 256 numbers of 2 bits, a scale and a minimum of 4 bits for each 16, and two of 16 bits for all.
//!
//! A step of a tile is one block: a line of what all scales and all minima are multiplied by,
//! `[factor][lane]`, and four parts of 64 columns. A part is a line of words `[lane]` of four scales, with the
//! minima in the upper halves of their bytes, and for each 16 columns a line of bytes `[lane][column % 4]`
//! with the bits of column `c` from `c / 4 × 2` on.

use super::q4_1::{pack_factors, view_factors};
use super::{BlockView, words};
use crate::kernels::N_BLOCK;
use crate::kernels::format::Layout;
use crate::kernels::line::Line;

/// Columns of one block of the file.
pub const N_VALUES: usize = 256;

/// Columns that share a scale of their own.
pub const N_SCALED: usize = 16;

/// Parts of a step, and the scales of each.
const N_PARTS: usize = 4;

/// Lines of a part.
pub const N_PART_LINES: usize = 1 + N_PARTS;

/// Lines of one step.
pub const N_STEP_LINES: usize = 1 + N_PARTS * N_PART_LINES;

/// The lowest two bits of each byte.
pub const TWO: u32 = 0x0303_0303;

/// How it is laid out.
pub const LAYOUT: Layout = Layout {
    n_file_values: N_VALUES,
    n_file_bytes: N_VALUES / N_SCALED + N_VALUES / 4 + 4,
    n_step_values: N_VALUES,
    n_step_lines: N_STEP_LINES,
    pack,
    view,
};

fn pack(tile: &mut [Line], block: usize, lane: usize, bytes: &[u8]) {
    let step: Option<&mut [Line; N_STEP_LINES]> = tile.as_chunks_mut().0.get_mut(block);
    let (scales, rest) = bytes.split_at(bytes.len().min(N_VALUES / N_SCALED));
    let (numbers, head) = rest.split_at(rest.len().min(N_VALUES / 4));
    if let (Some([factors, parts @ ..]), [head]) = (step, head.as_chunks().0) {
        pack_factors(factors, lane, *head);
        let numbers: Vec<u32> = numbers_of_file(numbers).collect();
        let numbers = numbers.as_chunks().0.as_chunks::<N_PARTS>().0;
        let parts = parts.as_chunks_mut::<N_PART_LINES>().0.iter_mut();
        for ((part, scales), numbers) in parts.zip(words(scales)).zip(numbers) {
            let [scale_line, lines @ ..] = part;
            scale_line.put(lane, swap_middle(scales).to_le_bytes());
            for (line, [a, b, c, d]) in lines.iter_mut().zip(numbers) {
                line.put(lane, (a | b << 2 | c << 4 | d << 6).to_le_bytes());
            }
        }
    }
}

/// The lower two bits in the order of their columns, four in a word. The file has 128 columns in 32 bytes,
/// the first 32 in their lowest bits.
pub fn numbers_of_file(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let blocks = bytes.chunks_exact(N_BLOCK);
    let blocks = blocks.flat_map(|bytes| [0, 2, 4, 6].map(|shift| (bytes, shift)));
    blocks.flat_map(|(bytes, shift)| words(bytes).map(move |word| word >> shift & TWO))
}

/// Four scales with the two in the middle exchanged, there and back: then those of the first 32 columns are
/// in the lower bytes of 16 bits each, and those of the second 32 in the upper.
pub const fn swap_middle(scales: u32) -> u32 {
    let [a, b, c, d] = scales.to_le_bytes();
    u32::from_le_bytes([a, c, b, d])
}

fn view(tile: &[Line], block: usize, lane: usize) -> BlockView {
    let mut view = BlockView::ZERO;
    let n_blocks = N_VALUES / N_BLOCK;
    let Some((factors, part)) = part(tile, block / n_blocks, block % n_blocks / 2) else {
        return view;
    };
    let [scale_line, lines @ ..] = part;
    let scales = swap_middle(u32::from_le_bytes(scale_line.value(lane))).to_le_bytes();
    let halves = lines.iter().zip(scales).skip(block % 2 * 2);
    let halves = halves.zip(view.values.as_chunks_mut().0);
    let [factor, min_factor] = view_factors(factors, lane);
    let factors = view.scales.iter_mut().zip(&mut view.mins);
    for (((line, whole), places), (scale, min)) in halves.zip(factors) {
        *scale = factor * f32::from(whole & 0x0f);
        *min = min_factor * f32::from(whole >> 4);
        *places = view_scaled(line, lane).map(f32::from);
    }
    view
}

/// The line of factors and one part of a step.
fn part(tile: &[Line], step: usize, part: usize) -> Option<(&Line, &[Line; N_PART_LINES])> {
    let [factors, parts @ ..] = tile.as_chunks::<N_STEP_LINES>().0.get(step)?;
    Some((factors, parts.as_chunks().0.get(part)?))
}

/// The numbers of 16 columns.
fn view_scaled(line: &Line, lane: usize) -> [u8; N_SCALED] {
    let word = u32::from_le_bytes(line.value(lane));
    let numbers = [0, 2, 4, 6].map(|shift| (word >> shift & TWO).to_le_bytes());
    numbers.as_flattened().try_into().unwrap_or_default()
}
