//! The data type of a stored tensor, and its name in each file format.

use std::fmt;

use candle_core::quantized::GgmlDType;

/// The data type of a stored tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoredType {
    /// A type that we can read.
    Known(GgmlDType),
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
            _ => return Self::Foreign(foreign_name(number)),
        };
        Self::Known(known)
    }

    /// Looks up a type by its name in a safetensors file.
    pub(crate) fn from_safetensors(name: &str) -> Self {
        match name {
            "F32" => Self::Known(GgmlDType::F32),
            "F16" => Self::Known(GgmlDType::F16),
            "BF16" => Self::Known(GgmlDType::BF16),
            other => Self::Foreign(other.to_owned()),
        }
    }
}

impl fmt::Display for StoredType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Known(dtype) => name(*dtype),
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

/// Returns ggml's name for a type that candle does not support.
fn foreign_name(number: u32) -> String {
    let name = match number {
        4 => "Q4_2",
        5 => "Q4_3",
        16 => "IQ2_XXS",
        17 => "IQ2_XS",
        18 => "IQ3_XXS",
        19 => "IQ1_S",
        20 => "IQ4_NL",
        21 => "IQ3_S",
        22 => "IQ2_S",
        23 => "IQ4_XS",
        24 => "I8",
        25 => "I16",
        26 => "I32",
        27 => "I64",
        28 => "F64",
        29 => "IQ1_M",
        31 => "Q4_0_4_4",
        32 => "Q4_0_4_8",
        33 => "Q4_0_8_8",
        34 => "TQ1_0",
        35 => "TQ2_0",
        36 => "IQ4_NL_4_4",
        37 => "IQ4_NL_4_8",
        38 => "IQ4_NL_8_8",
        39 => "MXFP4",
        40 => "NVFP4",
        other => return format!("type {other}"),
    };
    name.to_owned()
}
