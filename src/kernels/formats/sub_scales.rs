//! The head of a block of `Q4_K` and `Q5_K`: a scale and a minimum for each 32 columns, in 6 bits each.
//!
//! A file keeps 16 bytes a row: two 16-bit numbers, by which all scales and all minima are multiplied, and
//! twelve bytes of whole numbers. In a tile they are four lines: one of `[factor][lane]`, and three of
//! `[lane]` words, as the file has them: so they cost no more memory than there.

use half::f16;

use super::words;
use crate::kernels::N_LANES;
use crate::kernels::line::Line;

/// Bytes of a head in the file.
pub const N_FILE_BYTES: usize = 16;

/// Lines of the heads of a tile's rows.
pub const N_LINES: usize = 4;

/// The lower half of each byte.
pub const LOW: u32 = 0x0f0f_0f0f;

/// Writes the head of one row.
pub fn pack([factors, scales @ ..]: &mut [Line; N_LINES], lane: usize, head: &[u8; N_FILE_BYTES]) {
    let [low, high, low_min, high_min, rest @ ..] = *head;
    factors.put(lane, [low, high]);
    factors.put(N_LANES + lane, [low_min, high_min]);
    for (line, word) in scales.iter_mut().zip(words(&rest)) {
        line.put(lane, word.to_le_bytes());
    }
}

/// The scale and the minimum of the 32 columns from 32 × `block` on, of eight such blocks.
pub fn view([factors, scales @ ..]: &[Line; N_LINES], block: usize, lane: usize) -> (f32, f32) {
    let [scale, min] = [0, N_LANES].map(|start| f16::from_le_bytes(factors.value(start + lane)));
    let (scales, mins) = unpack(scales.each_ref().map(|line| {
        let word = line.value(lane);
        u32::from_le_bytes(word)
    }));
    let whole = |words: [u32; 2]| {
        let bytes = words.map(u32::to_le_bytes);
        let byte = bytes.as_flattened().get(block);
        f32::from(byte.copied().unwrap_or_default())
    };
    (scale.to_f32() * whole(scales), min.to_f32() * whole(mins))
}

/// The whole numbers of scales and of minima, four in a word, from the three words of the file: six bits of
/// the first four of each, and in the two bits above them and in the last word those of the others.
const fn unpack([scales, mins, rest]: [u32; 3]) -> ([u32; 2], [u32; 2]) {
    const SIX: u32 = 0x3f3f_3f3f;
    const TWO: u32 = 0x3030_3030;
    (
        [scales & SIX, rest & LOW | scales >> 2 & TWO],
        [mins & SIX, rest >> 4 & LOW | mins >> 2 & TWO],
    )
}
