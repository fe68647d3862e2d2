//! The formats of weights, in files and in packed tiles.

use super::cache_line::CacheLine;
use super::formats::{
    UnpackedBlock, floats, q2_k, q3_k, q4_0, q4_1, q4_k, q5_0, q5_1, q5_k, q6_k, q8_0,
};

/// The storage format of weights. The names are ggml's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Single precision.
    F32,
    /// Half precision (binary16): 11 significant bits.
    F16,
    /// bfloat16, the upper half of a single-precision number: 8 significant bits.
    BF16,
    /// 256 2-bit quants, with a 4-bit scale and a 4-bit minimum for every 16.
    Q2K,
    /// 256 3-bit quants minus 4, with a 6-bit scale for every 16.
    Q3K,
    /// 32 4-bit quants minus 8, with a 16-bit scale.
    Q4_0,
    /// 32 4-bit quants, with a scale and a minimum of 16 bits each.
    Q4_1,
    /// 256 4-bit quants, with a 6-bit scale and a 6-bit minimum for every 32.
    Q4K,
    /// 32 5-bit quants minus 16, with a 16-bit scale.
    Q5_0,
    /// 32 5-bit quants, with a scale and a minimum of 16 bits each.
    Q5_1,
    /// 256 5-bit quants, with a 6-bit scale and a 6-bit minimum for every 32.
    Q5K,
    /// 256 6-bit quants minus 32, with an 8-bit scale for every 16.
    Q6K,
    /// 32 signed bytes, with a 16-bit scale.
    Q8_0,
}

/// How a format's weights are packed into tiles: 16 rows side by side, a fixed number of columns
/// per step.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Columns per block in the file.
    pub n_file_values: usize,
    /// Bytes per block in the file.
    pub n_file_bytes: usize,
    /// Columns per step through a tile. Rows are padded with zeros to full steps.
    pub n_step_values: usize,
    /// Cache lines per step.
    pub n_step_lines: usize,
    /// Packs one block of the file, number `block` of row `lane`, into the cache lines of its tile.
    /// Formats whose blocks are smaller pack up to 32 columns.
    pub pack: fn(tile: &mut [CacheLine], block: usize, lane: usize, bytes: &[u8]),
    /// Unpacks one row's weights in the 32 columns that start at 32 × `block`.
    pub unpack: fn(tile: &[CacheLine], block: usize, lane: usize) -> UnpackedBlock,
}

impl Format {
    /// The layout of the format's packed tiles.
    pub const fn layout(self) -> Layout {
        match self {
            Self::F32 => floats::F32,
            Self::F16 => floats::F16,
            Self::BF16 => floats::BF16,
            Self::Q2K => q2_k::LAYOUT,
            Self::Q3K => q3_k::LAYOUT,
            Self::Q4_0 => q4_0::LAYOUT,
            Self::Q4_1 => q4_1::LAYOUT,
            Self::Q4K => q4_k::LAYOUT,
            Self::Q5_0 => q5_0::LAYOUT,
            Self::Q5_1 => q5_1::LAYOUT,
            Self::Q5K => q5_k::LAYOUT,
            Self::Q6K => q6_k::LAYOUT,
            Self::Q8_0 => q8_0::LAYOUT,
        }
    }

    /// Whether inputs are quantized before they are multiplied, as
    /// [`InputBits`](super::InputBits) says. Otherwise they stay floats.
    pub const fn quantizes_inputs(self) -> bool {
        match self {
            Self::F32 | Self::F16 | Self::BF16 => false,
            Self::Q2K
            | Self::Q3K
            | Self::Q4_0
            | Self::Q4_1
            | Self::Q4K
            | Self::Q5_0
            | Self::Q5_1
            | Self::Q5K
            | Self::Q6K
            | Self::Q8_0 => true,
        }
    }
}

/// Multiplies a task with the micro-kernel of its format: `floats::multiply`, or the expansion of
/// the macro `$multiply` for the format's own module.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! multiply_by_format {
    ($task:ident, $multiply:ident $(, $dot:ident)?) => {{
        use $crate::Format;
        match $task.tiles.format {
            Format::F32 | Format::F16 | Format::BF16 => floats::multiply($task),
            Format::Q2K => $multiply!($task, $($dot,)? q2_k),
            Format::Q3K => $multiply!($task, $($dot,)? q3_k),
            Format::Q4_0 => $multiply!($task, $($dot,)? q4_0),
            Format::Q4_1 => $multiply!($task, $($dot,)? q4_1),
            Format::Q4K => $multiply!($task, $($dot,)? q4_k),
            Format::Q5_0 => $multiply!($task, $($dot,)? q5_0),
            Format::Q5_1 => $multiply!($task, $($dot,)? q5_1),
            Format::Q5K => $multiply!($task, $($dot,)? q5_k),
            Format::Q6K => $multiply!($task, $($dot,)? q6_k),
            Format::Q8_0 => $multiply!($task, $($dot,)? q8_0),
        }
    }};
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use multiply_by_format;
