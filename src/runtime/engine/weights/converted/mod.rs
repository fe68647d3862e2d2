//! Stored types that no kernel multiplies. Their blocks are converted while they are read, to a type
//! that holds the same numbers in more bits.
//!
//! The layouts are those of gguf-py 0.19.0 (`gguf/quants.py`), and of the Open Compute Project's
//! formats for 8-bit floats. This module knows nothing about files.

mod four_bit;
mod grids;
mod iq1;
mod iq2;
mod iq3;
mod numbers;
mod target_blocks;
mod ternary;
#[cfg(test)]
mod tests;

use candle_core::quantized::GgmlDType;
use half::f16;

use super::factors::Factors;

/// A stored type that is converted while it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConvertedType {
    F64,
    /// 8-bit floats with 4 exponent bits and 3 mantissa bits, without infinities.
    F8E4M3,
    /// 8-bit floats with 5 exponent bits and 2 mantissa bits.
    F8E5M2,
    I8,
    I16,
    I32,
    I64,
    Iq1M,
    Iq1S,
    Iq2S,
    Iq2Xs,
    Iq2Xxs,
    Iq3S,
    Iq3Xxs,
    Iq4Nl,
    Iq4Xs,
    Mxfp4,
    /// The quants of `MXFP4`, whose exponents are stored elsewhere.
    Mxfp4Quants,
    Nvfp4,
    Q1_0,
    Tq1_0,
    Tq2_0,
}

/// How a type is stored, and what becomes of it.
struct Layout {
    /// Values per stored block.
    n_values: usize,
    /// Bytes per stored block.
    n_bytes: usize,
    target: GgmlDType,
    convert: Convert,
}

/// What converts stored blocks.
enum Convert {
    /// Converts one block to blocks of the target.
    Block(fn(block: &[u8], target: &mut [u8])),
    /// Decodes any number of blocks. The target is a floating-point type.
    Values(fn(blocks: &[u8], values: &mut [f32])),
}

impl ConvertedType {
    /// Looks up a type by its number in a GGUF file, as listed in ggml.
    pub(super) const fn from_gguf(number: u32) -> Option<Self> {
        Some(match number {
            16 => Self::Iq2Xxs,
            17 => Self::Iq2Xs,
            18 => Self::Iq3Xxs,
            19 => Self::Iq1S,
            20 => Self::Iq4Nl,
            21 => Self::Iq3S,
            22 => Self::Iq2S,
            23 => Self::Iq4Xs,
            24 => Self::I8,
            25 => Self::I16,
            26 => Self::I32,
            27 => Self::I64,
            28 => Self::F64,
            29 => Self::Iq1M,
            34 => Self::Tq1_0,
            35 => Self::Tq2_0,
            39 => Self::Mxfp4,
            40 => Self::Nvfp4,
            41 => Self::Q1_0,
            _ => return None,
        })
    }

    /// Returns the name of the type in its file format.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::F64 => "F64",
            Self::F8E4M3 => "F8_E4M3",
            Self::F8E5M2 => "F8_E5M2",
            Self::I8 => "I8",
            Self::I16 => "I16",
            Self::I32 => "I32",
            Self::I64 => "I64",
            Self::Iq1M => "IQ1_M",
            Self::Iq1S => "IQ1_S",
            Self::Iq2S => "IQ2_S",
            Self::Iq2Xs => "IQ2_XS",
            Self::Iq2Xxs => "IQ2_XXS",
            Self::Iq3S => "IQ3_S",
            Self::Iq3Xxs => "IQ3_XXS",
            Self::Iq4Nl => "IQ4_NL",
            Self::Iq4Xs => "IQ4_XS",
            Self::Mxfp4 | Self::Mxfp4Quants => "MXFP4",
            Self::Nvfp4 => "NVFP4",
            Self::Q1_0 => "Q1_0",
            Self::Tq1_0 => "TQ1_0",
            Self::Tq2_0 => "TQ2_0",
        }
    }

    /// Returns how the type is stored and converted.
    ///
    /// The target is the smallest type that holds all products of scales and quants. It is exact,
    /// unless a factor has to be divided by 2 or 8 and is too small for that in 16 bits, with these
    /// exceptions:
    ///
    /// - `IQ4_XS` and `IQ2_XXS` have scales that are products with up to 16 significant bits, which
    ///   `Q8_0` rounds to the 11 of a 16-bit float.
    /// - `IQ2_XS` and `IQ2_S` have a scale for every 16 values, and values too far apart for the
    ///   6 bits of `Q6_K`, so each becomes a 16-bit float, rounded.
    /// - `NVFP4` and 8-bit floats are multiplied by 32-bit factors and then rounded to 16-bit floats.
    const fn layout(self) -> Layout {
        use Convert::{Block, Values};
        use GgmlDType::{F16, F32, Q2K, Q4_0, Q5_0, Q6K, Q8_0};
        let (n_values, n_bytes, target, convert) = match self {
            Self::F64 => (1, 8, F32, Values(numbers::f64)),
            Self::F8E4M3 => (1, 1, F16, Values(numbers::f8_e4m3)),
            Self::F8E5M2 => (1, 1, F16, Values(numbers::f8_e5m2)),
            Self::I8 => (1, 1, F32, Values(numbers::i8)),
            Self::I16 => (1, 2, F32, Values(numbers::i16)),
            Self::I32 => (1, 4, F32, Values(numbers::i32)),
            Self::I64 => (1, 8, F32, Values(numbers::i64)),
            Self::Iq1M => (256, 56, Q6K, Block(iq1::iq1_m)),
            Self::Iq1S => (256, 50, Q6K, Block(iq1::iq1_s)),
            Self::Iq2S => (256, 82, F16, Values(iq2::iq2_s)),
            Self::Iq2Xs => (256, 74, F16, Values(iq2::iq2_xs)),
            Self::Iq2Xxs => (256, 66, Q8_0, Block(iq2::iq2_xxs)),
            Self::Iq3S => (256, 110, Q6K, Block(iq3::iq3_s)),
            Self::Iq3Xxs => (256, 98, Q6K, Block(iq3::iq3_xxs)),
            Self::Iq4Nl => (32, 18, Q8_0, Block(four_bit::iq4_nl)),
            Self::Iq4Xs => (256, 136, Q8_0, Block(four_bit::iq4_xs)),
            Self::Mxfp4 => (32, 17, Q5_0, Block(four_bit::mxfp4)),
            // Converted with their exponents, as `Mxfp4`.
            Self::Mxfp4Quants => (32, 16, Q5_0, Block(four_bit::mxfp4)),
            Self::Nvfp4 => (64, 36, F16, Values(four_bit::nvfp4)),
            Self::Q1_0 => (128, 18, Q4_0, Block(ternary::q1_0)),
            Self::Tq1_0 => (256, 54, Q2K, Block(ternary::tq1_0)),
            Self::Tq2_0 => (256, 66, Q2K, Block(ternary::tq2_0)),
        };
        Layout {
            n_values,
            n_bytes,
            target,
            convert,
        }
    }

    /// Returns the type to which the values are converted.
    pub(super) const fn target(self) -> GgmlDType {
        self.layout().target
    }

    /// Returns the number of values in a stored block.
    pub(super) const fn n_block_values(self) -> usize {
        self.layout().n_values
    }

    /// Returns the size of a stored block in bytes.
    pub(super) const fn n_block_bytes(self) -> usize {
        self.layout().n_bytes
    }

    /// Returns the size of a converted block in bytes.
    pub(super) fn n_target_bytes(self) -> usize {
        let Layout {
            n_values, target, ..
        } = self.layout();
        n_values / target.block_size() * target.type_size()
    }

    /// Converts whole blocks, the first of which starts at value `first` of its tensor. `factors`
    /// only apply to types that are converted to floats. A scale that is not finite, or too large
    /// for the target, is not finite in the target either.
    pub(super) fn convert(
        self,
        blocks: &[u8],
        first: usize,
        factors: Option<&Factors>,
        target: &mut [u8],
    ) {
        let layout = self.layout();
        match layout.convert {
            Convert::Block(convert) => {
                let targets = target.chunks_exact_mut(self.n_target_bytes());
                for (block, target) in blocks.chunks_exact(layout.n_bytes).zip(targets) {
                    convert(block, target);
                }
            }
            Convert::Values(decode) => {
                let mut values = vec![0.0; blocks.len() / layout.n_bytes * layout.n_values];
                decode(blocks, &mut values);
                if let Some(factors) = factors {
                    factors.multiply(first, &mut values);
                }
                write_floats(&values, layout.target, target);
            }
        }
    }
}

fn write_floats(values: &[f32], dtype: GgmlDType, target: &mut [u8]) {
    if dtype == GgmlDType::F16 {
        for (target, value) in target.as_chunks_mut().0.iter_mut().zip(values) {
            *target = f16::from_f32(*value).to_le_bytes();
        }
    } else {
        for (target, value) in target.as_chunks_mut().0.iter_mut().zip(values) {
            *target = value.to_le_bytes();
        }
    }
}
