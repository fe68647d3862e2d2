//! How weights are stored, in files and in tiles.

use super::formats::{
    BlockView, floats, q2_k, q3_k, q4_0, q4_1, q4_k, q5_0, q5_1, q5_k, q6_k, q8_0,
};
use super::line::Line;

/// How weights are stored. The names are those of ggml.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// 32-bit floating-point numbers.
    F32,
    /// 16-bit floating-point numbers of 11 significant bits.
    F16,
    /// The upper halves of 32-bit floating-point numbers: 8 significant bits.
    BF16,
    /// 256 numbers of 2 bits, with a scale and a minimum of 4 bits for each 16.
    Q2K,
    /// 256 numbers of 3 bits, less 4, with a scale of 6 bits for each 16.
    Q3K,
    /// 32 numbers of 4 bits, less 8, one 16-bit scale.
    Q4_0,
    /// 32 numbers of 4 bits, a scale and a minimum of 16 bits.
    Q4_1,
    /// 256 numbers of 4 bits, with a scale and a minimum of 6 bits for each 32.
    Q4K,
    /// 32 numbers of 5 bits, less 16, one 16-bit scale.
    Q5_0,
    /// 32 numbers of 5 bits, a scale and a minimum of 16 bits.
    Q5_1,
    /// 256 numbers of 5 bits, with a scale and a minimum of 6 bits for each 32.
    Q5K,
    /// 256 numbers of 6 bits, with a scale of 8 bits for each 16.
    Q6K,
    /// 32 signed bytes, one 16-bit scale.
    Q8_0,
}

/// How a format's tiles are laid out: 16 rows side by side, some columns at a time.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Columns of one block in the file.
    pub n_file_values: usize,
    /// Bytes of one block in the file.
    pub n_file_bytes: usize,
    /// Columns of one step through a tile; rows are filled up to whole steps with zeros.
    pub n_step_values: usize,
    /// Lines of one step.
    pub n_step_lines: usize,
    /// Writes one block of the file, number `block` of row `lane`, into the lines of its tile; up to 32
    /// columns where the file's blocks are smaller.
    pub pack: fn(tile: &mut [Line], block: usize, lane: usize, bytes: &[u8]),
    /// One row's weights in columns 32 × `block` and the 31 after it.
    pub view: fn(tile: &[Line], block: usize, lane: usize) -> BlockView,
}

impl Format {
    /// How its tiles are laid out.
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

    /// Whether inputs are rounded to 8 bits before they are multiplied; else they stay as they are.
    pub const fn rounds_inputs(self) -> bool {
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

/// Multiplies a part with what the vector instructions at hand have for its format: `floats::multiply`, or what a macro
/// `multiply` makes of the format's own module, with whatever else is given.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! multiply_by_format {
    ($part:ident, $multiply:ident $(, $dot:ident)?) => {{
        use $crate::kernels::Format;
        match $part.tiles.format {
            Format::F32 | Format::F16 | Format::BF16 => floats::multiply($part),
            Format::Q2K => $multiply!($part, $($dot,)? q2_k),
            Format::Q3K => $multiply!($part, $($dot,)? q3_k),
            Format::Q4_0 => $multiply!($part, $($dot,)? q4_0),
            Format::Q4_1 => $multiply!($part, $($dot,)? q4_1),
            Format::Q4K => $multiply!($part, $($dot,)? q4_k),
            Format::Q5_0 => $multiply!($part, $($dot,)? q5_0),
            Format::Q5_1 => $multiply!($part, $($dot,)? q5_1),
            Format::Q5K => $multiply!($part, $($dot,)? q5_k),
            Format::Q6K => $multiply!($part, $($dot,)? q6_k),
            Format::Q8_0 => $multiply!($part, $($dot,)? q8_0),
        }
    }};
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use multiply_by_format;
