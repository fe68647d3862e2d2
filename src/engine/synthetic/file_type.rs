//! The mixes of types that GGUF files have, as llama.cpp's `llama-quantize` chooses them.

use candle_core::quantized::GgmlDType;

use super::shape::{Kind, Tensor};

/// How a file's matrices are stored.
#[derive(Debug, PartialEq)]
pub struct FileType {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// The type of most matrices.
    main: GgmlDType,
    /// Which layers' values and last feed-forward matrices get more bits.
    finer: Finer,
}

/// Which layers' values and last feed-forward matrices get more bits than the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Finer {
    None,
    /// `Q5_K` in the first layers.
    First,
    /// `Q6_K` in the first and last eighth of the layers, and in every third between.
    Spread,
}

/// All mixes that are known.
pub const FILE_TYPES: [FileType; 13] = [
    FileType::new("q4_0", GgmlDType::Q4_0, Finer::None),
    FileType::new("q4_1", GgmlDType::Q4_1, Finer::None),
    FileType::new("q4_k_s", GgmlDType::Q4K, Finer::First),
    FileType::new("q4_k_m", GgmlDType::Q4K, Finer::Spread),
    FileType::new("q5_0", GgmlDType::Q5_0, Finer::None),
    FileType::new("q5_1", GgmlDType::Q5_1, Finer::None),
    FileType::new("q5_k_s", GgmlDType::Q5K, Finer::None),
    FileType::new("q5_k_m", GgmlDType::Q5K, Finer::Spread),
    FileType::new("q6_k", GgmlDType::Q6K, Finer::None),
    FileType::new("q8_0", GgmlDType::Q8_0, Finer::None),
    FileType::new("bf16", GgmlDType::BF16, Finer::None),
    FileType::new("f16", GgmlDType::F16, Finer::None),
    FileType::new("f32", GgmlDType::F32, Finer::None),
];

impl FileType {
    const fn new(name: &'static str, main: GgmlDType, finer: Finer) -> Self {
        Self { name, main, finer }
    }

    /// How a tensor is stored in a model of so many layers.
    pub fn stored_as(&self, tensor: &Tensor, n_layers: usize) -> GgmlDType {
        let wanted = match tensor.kind {
            Kind::Norm | Kind::Bias => GgmlDType::F32,
            Kind::Embedding => self.head(tensor.width),
            Kind::Value { layer } => self.finer(layer, n_layers, 4),
            Kind::FfnDown { layer } => self.finer(layer, n_layers, n_layers / 8),
            Kind::Matrix => self.main,
        };
        fitting(wanted, tensor.width)
    }

    /// The table that is also the output head is worth more bits.
    fn head(&self, width: usize) -> GgmlDType {
        match self.main {
            GgmlDType::F32 | GgmlDType::F16 | GgmlDType::BF16 | GgmlDType::Q8_0 => self.main,
            main if width.is_multiple_of(main.block_size()) => GgmlDType::Q6K,
            _ => GgmlDType::Q8_0,
        }
    }

    fn finer(&self, layer: usize, n_layers: usize, n_first: usize) -> GgmlDType {
        match self.finer {
            Finer::First if layer < n_first => GgmlDType::Q5K,
            Finer::Spread if gets_more_bits(layer, n_layers) => GgmlDType::Q6K,
            _ => self.main,
        }
    }
}

const fn gets_more_bits(layer: usize, n_layers: usize) -> bool {
    let eighth = n_layers / 8;
    layer < eighth || layer >= 7 * n_layers / 8 || (layer - eighth) % 3 == 2
}

/// The type itself, or the one that stands in for it where rows are not whole blocks.
fn fitting(wanted: GgmlDType, width: usize) -> GgmlDType {
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

    /// How many matrices of a shape are stored in each type, the rarest first.
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
    fn matrices_get_the_types_that_published_files_have() {
        // Llama 3.2 1B as Q4_K_M: 96 Q4_K and 17 Q6_K tensors.
        assert_eq!(
            counts("llama-3.2-1b", "q4_k_m"),
            [(GgmlDType::Q6K, 17), (GgmlDType::Q4K, 96)]
        );
        // The widths of SmolLM2 135M are no multiples of 256, except within its feed-forward network.
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
