//! The data type of a stored tensor, and its name in each file format.

use std::fmt;

use candle_core::quantized::GgmlDType;

use super::converted::ConvertedType;

/// The data type of a stored tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoredType {
    /// A type that the backends use as it is.
    Known(GgmlDType),
    /// A type that is converted while it is read.
    Converted(ConvertedType),
    /// Any other type, by its name.
    Foreign(String),
}

impl StoredType {
    /// Looks up a type by its number in a GGUF file, as listed in ggml.
    pub(crate) fn from_gguf(number: u32) -> Self {
        let known = match number {
            0 => GgmlDType::F32,
            1 => GgmlDType::F16,
            2 => GgmlDType::Q4_0,
            3 => GgmlDType::Q4_1,
            6 => GgmlDType::Q5_0,
            7 => GgmlDType::Q5_1,
            8 => GgmlDType::Q8_0,
            9 => GgmlDType::Q8_1,
            10 => GgmlDType::Q2K,
            11 => GgmlDType::Q3K,
            12 => GgmlDType::Q4K,
            13 => GgmlDType::Q5K,
            14 => GgmlDType::Q6K,
            15 => GgmlDType::Q8K,
            30 => GgmlDType::BF16,
            _ => {
                let converted = ConvertedType::from_gguf(number).map(Self::Converted);
                return converted.unwrap_or_else(|| Self::Foreign(foreign_name(number)));
            }
        };
        Self::Known(known)
    }

    /// Looks up a type by its name in a safetensors file.
    pub(crate) fn from_safetensors(name: &str) -> Self {
        match name {
            "F32" => Self::Known(GgmlDType::F32),
            "F16" => Self::Known(GgmlDType::F16),
            "BF16" => Self::Known(GgmlDType::BF16),
            "F64" => Self::Converted(ConvertedType::F64),
            "F8_E4M3" => Self::Converted(ConvertedType::F8E4M3),
            "F8_E5M2" => Self::Converted(ConvertedType::F8E5M2),
            other => Self::Foreign(other.to_owned()),
        }
    }

    /// Returns the type of the values in memory, or `None` if they can't be read.
    pub(crate) const fn dtype(&self) -> Option<GgmlDType> {
        match self {
            Self::Known(dtype) => Some(*dtype),
            Self::Converted(converted) => Some(converted.target()),
            Self::Foreign(_) => None,
        }
    }

    /// Returns the number of values and of bytes in a block of the file, or `None` if they are
    /// unknown.
    pub(super) fn block(&self) -> Option<(usize, usize)> {
        match self {
            Self::Known(dtype) => Some((dtype.block_size(), dtype.type_size())),
            Self::Converted(converted) => {
                Some((converted.n_block_values(), converted.n_block_bytes()))
            }
            Self::Foreign(_) => None,
        }
    }
}

impl fmt::Display for StoredType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Known(dtype) => name(*dtype),
            Self::Converted(converted) => converted.name(),
            Self::Foreign(name) => name,
        })
    }
}

/// Returns whether the values are 16-bit floating-point numbers.
pub(crate) const fn is_half(dtype: GgmlDType) -> bool {
    matches!(dtype, GgmlDType::F16 | GgmlDType::BF16)
}

const fn name(dtype: GgmlDType) -> &'static str {
    match dtype {
        GgmlDType::F32 => "F32",
        GgmlDType::F16 => "F16",
        GgmlDType::BF16 => "BF16",
        GgmlDType::Q4_0 => "Q4_0",
        GgmlDType::Q4_1 => "Q4_1",
        GgmlDType::Q5_0 => "Q5_0",
        GgmlDType::Q5_1 => "Q5_1",
        GgmlDType::Q8_0 => "Q8_0",
        GgmlDType::Q8_1 => "Q8_1",
        GgmlDType::Q2K => "Q2_K",
        GgmlDType::Q3K => "Q3_K",
        GgmlDType::Q4K => "Q4_K",
        GgmlDType::Q5K => "Q5_K",
        GgmlDType::Q6K => "Q6_K",
        GgmlDType::Q8K => "Q8_K",
    }
}

/// Returns ggml's name for a type that it has dropped, or the number of one that is unknown.
fn foreign_name(number: u32) -> String {
    let name = match number {
        4 => "Q4_2",
        5 => "Q4_3",
        31 => "Q4_0_4_4",
        32 => "Q4_0_4_8",
        33 => "Q4_0_8_8",
        36 => "IQ4_NL_4_4",
        37 => "IQ4_NL_4_8",
        38 => "IQ4_NL_8_8",
        other => return format!("type {other}"),
    };
    name.to_owned()
}
