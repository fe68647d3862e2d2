//! The mixes of data types in GGUF files, as llama.cpp's `llama-quantize` chooses them.

use candle_core::quantized::GgmlDType;

use super::shape::{Kind, Tensor};

/// A mix of data types, such as `Q4_K_M`.
#[derive(Debug, PartialEq)]
pub(super) struct FileType {
    /// The name on the command line.
    pub name: &'static str,
    /// The type of most matrices.
    main: GgmlDType,
    more_bits: MoreBits,
}

/// In which layers the value and feed-forward down projections get more bits than other matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MoreBits {
    None,
    /// `Q5_K` in the first layers.
    First,
    /// `Q6_K` in the first and last eighth of the layers, and in every third layer in between.
    Spread,
}

/// All supported file types.
pub(super) const FILE_TYPES: [FileType; 13] = [
    FileType::new("q4_0", GgmlDType::Q4_0, MoreBits::None),
    FileType::new("q4_1", GgmlDType::Q4_1, MoreBits::None),
    FileType::new("q4_k_s", GgmlDType::Q4K, MoreBits::First),
    FileType::new("q4_k_m", GgmlDType::Q4K, MoreBits::Spread),
    FileType::new("q5_0", GgmlDType::Q5_0, MoreBits::None),
    FileType::new("q5_1", GgmlDType::Q5_1, MoreBits::None),
    FileType::new("q5_k_s", GgmlDType::Q5K, MoreBits::None),
    FileType::new("q5_k_m", GgmlDType::Q5K, MoreBits::Spread),
    FileType::new("q6_k", GgmlDType::Q6K, MoreBits::None),
    FileType::new("q8_0", GgmlDType::Q8_0, MoreBits::None),
    FileType::new("bf16", GgmlDType::BF16, MoreBits::None),
    FileType::new("f16", GgmlDType::F16, MoreBits::None),
    FileType::new("f32", GgmlDType::F32, MoreBits::None),
];

impl FileType {
    const fn new(name: &'static str, main: GgmlDType, more_bits: MoreBits) -> Self {
        Self {
            name,
            main,
            more_bits,
        }
    }

    /// Returns the type of a tensor in a model with `n_layers` layers.
    pub(super) fn stored_as(&self, tensor: &Tensor, n_layers: usize) -> GgmlDType {
        let wanted = match tensor.kind {
            Kind::Norm | Kind::Bias => GgmlDType::F32,
            Kind::Embedding => self.head(tensor.width),
            Kind::Value { layer } => self.with_more_bits(layer, n_layers, 4),
            Kind::FfnDown { layer } => self.with_more_bits(layer, n_layers, n_layers / 8),
            Kind::Matrix => self.main,
        };
        or_fallback(wanted, tensor.width)
    }

    /// The embedding table gets more bits because it is also the output head.
    fn head(&self, width: usize) -> GgmlDType {
        match self.main {
            GgmlDType::F32 | GgmlDType::F16 | GgmlDType::BF16 | GgmlDType::Q8_0 => self.main,
            main if width.is_multiple_of(main.block_size()) => GgmlDType::Q6K,
            _ => GgmlDType::Q8_0,
        }
    }

    fn with_more_bits(&self, layer: usize, n_layers: usize, n_first: usize) -> GgmlDType {
        match self.more_bits {
            MoreBits::First if layer < n_first => GgmlDType::Q5K,
            MoreBits::Spread if gets_more_bits(layer, n_layers) => GgmlDType::Q6K,
            _ => self.main,
        }
    }
}

const fn gets_more_bits(layer: usize, n_layers: usize) -> bool {
    let eighth = n_layers / 8;
    layer < eighth || layer >= 7 * n_layers / 8 || (layer - eighth) % 3 == 2
}

/// Returns the wanted type, or its fallback if the rows are not whole blocks.
fn or_fallback(wanted: GgmlDType, width: usize) -> GgmlDType {
    match wanted {
        dtype if width.is_multiple_of(dtype.block_size()) => dtype,
        GgmlDType::Q4K => GgmlDType::Q5_0,
        GgmlDType::Q5K => GgmlDType::Q5_1,
        GgmlDType::Q6K => GgmlDType::Q8_0,
        _ => GgmlDType::F16,
    }
}

#[cfg(test)]
mod tests {
    use candle_core::quantized::GgmlDType;

    use super::FILE_TYPES;
    use crate::engine::synthetic::shape::SHAPES;

    /// Counts the matrices of each type, rarest type first.
    fn counts(shape: &str, file_type: &str) -> Vec<(GgmlDType, usize)> {
        let shape = SHAPES.iter().find(|known| known.name == shape).unwrap();
        let file_type = FILE_TYPES.iter().find(|known| known.name == file_type);
        let mut counts: Vec<(GgmlDType, usize)> = Vec::new();
        for tensor in shape.tensors() {
            if tensor.n_rows.is_none() {
                continue;
            }
            let dtype = file_type.unwrap().stored_as(&tensor, shape.n_layers);
            match counts.iter_mut().find(|(known, _)| *known == dtype) {
                Some((_, n)) => *n += 1,
                None => counts.push((dtype, 1)),
            }
        }
        counts.sort_by_key(|(_, n)| *n);
        counts
    }

    #[test]
    fn types_match_those_of_published_files() {
        // Llama 3.2 1B as Q4_K_M: 96 Q4_K and 17 Q6_K tensors.
        assert_eq!(
            counts("llama-3.2-1b", "q4_k_m"),
            [(GgmlDType::Q6K, 17), (GgmlDType::Q4K, 96)]
        );
        // The widths of SmolLM2 135M are not multiples of 256, except inside its feed-forward
        // network.
        assert_eq!(
            counts("smollm2-135m", "q4_k_m"),
            [
                (GgmlDType::Q6K, 14),
                (GgmlDType::Q8_0, 15),
                (GgmlDType::Q4K, 16),
                (GgmlDType::Q5_0, 166)
            ]
        );
        assert_eq!(
            counts("qwen3-0.6b", "q4_0"),
            [(GgmlDType::Q6K, 1), (GgmlDType::Q4_0, 28 * 7)]
        );
        assert_eq!(
            counts("qwen2.5-0.5b", "q8_0"),
            [(GgmlDType::Q8_0, 24 * 7 + 1)]
        );
    }
}
