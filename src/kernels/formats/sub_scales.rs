//! The block header of `Q4_K` and `Q5_K`: a 6-bit scale and a 6-bit minimum for every 32 columns.
//!
//! The file has 16 bytes per row: two 16-bit factors, one for all scales and one for all minima,
//! and twelve bytes of packed integers. In a tile the headers are four cache lines: one of
//! `[factor][lane]`, and three of words, `[lane]`, packed as in the file. So they take no more
//! memory than in the file.

use half::f16;

use super::words;
use crate::N_LANES;
use crate::cache_line::CacheLine;

/// Bytes of a header in the file.
pub(crate) const N_FILE_BYTES: usize = 16;

/// Cache lines of the headers of a tile's rows.
pub(crate) const N_LINES: usize = 4;

/// The low nibble of each byte.
pub(crate) const LOW_NIBBLES: u32 = 0x0f0f_0f0f;

/// Packs the header of one row.
pub(crate) fn pack(
    [factors, scales @ ..]: &mut [CacheLine; N_LINES],
    lane: usize,
    header: &[u8; N_FILE_BYTES],
) {
    let [low, high, low_min, high_min, rest @ ..] = *header;
    factors.set(lane, [low, high]);
    factors.set(N_LANES + lane, [low_min, high_min]);
    for (line, word) in scales.iter_mut().zip(words(&rest)) {
        line.set(lane, word.to_le_bytes());
    }
}

/// Returns the scale and the minimum of the 32 columns that start at 32 × `block`. A header has
/// eight such blocks.
pub(crate) fn unpack(
    [factors, scales @ ..]: &[CacheLine; N_LINES],
    block: usize,
    lane: usize,
) -> (f32, f32) {
    let [scale, min] = [0, N_LANES].map(|start| f16::from_le_bytes(factors.value(start + lane)));
    let (scales, mins) = unpack_integers(scales.each_ref().map(|line| {
        let word = line.value(lane);
        u32::from_le_bytes(word)
    }));
    let integer = |words: [u32; 2]| {
        let bytes = words.map(u32::to_le_bytes);
        let byte = bytes.as_flattened().get(block);
        f32::from(byte.copied().unwrap_or_default())
    };
    (
        scale.to_f32() * integer(scales),
        min.to_f32() * integer(mins),
    )
}

/// Unpacks the integers of scales and minima, four in a word, from the three words of the file. The
/// first two words have six bits of the first four scales and minima; the rest is in the two bits
/// above them and in the last word.
const fn unpack_integers([scales, mins, rest]: [u32; 3]) -> ([u32; 2], [u32; 2]) {
    const SIX: u32 = 0x3f3f_3f3f;
    const TWO: u32 = 0x3030_3030;
    (
        [scales & SIX, rest & LOW_NIBBLES | scales >> 2 & TWO],
        [mins & SIX, rest >> 4 & LOW_NIBBLES | mins >> 2 & TWO],
    )
}
