//! How a model's weights are stored: the type that the file names, and the formats of its matrices.

use std::collections::BTreeMap;

use candle_core::quantized::gguf_file::Value;

use super::gguf::Header;
use super::stored_type::StoredType;
use super::{Catalog, TensorEntry};
use crate::generation::Conversion;

/// A type of GGUF file: a mix of formats, such as `Q4_K_M`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileType {
    name: &'static str,
    /// The format that gives the mix its name.
    base: &'static str,
}

/// How many values a thread converts per second. Measured; formats differ by a factor of 5.
const N_CONVERTED_PER_SEC: u64 = 300_000_000;

/// Added to the number if the type was guessed from the tensors.
const GUESSED: u64 = 1024;

impl FileType {
    /// Returns the type that the header of a file names, if it is known.
    pub(super) fn of(header: &Header) -> Option<Self> {
        let number = match header.content.metadata.get("general.file_type")? {
            Value::I32(number) => u64::try_from(*number).ok()?,
            number => number.to_u64().ok()?,
        };
        Self::from_number(number & !GUESSED)
    }

    /// Looks up a type by its number, as in `LlamaFileType` of gguf-py 0.19.0.
    const fn from_number(number: u64) -> Option<Self> {
        let (name, base) = match number {
            0 => ("F32", "F32"),
            1 => ("F16", "F16"),
            2 => ("Q4_0", "Q4_0"),
            3 => ("Q4_1", "Q4_1"),
            7 => ("Q8_0", "Q8_0"),
            8 => ("Q5_0", "Q5_0"),
            9 => ("Q5_1", "Q5_1"),
            10 => ("Q2_K", "Q2_K"),
            11 => ("Q3_K_S", "Q3_K"),
            12 => ("Q3_K_M", "Q3_K"),
            13 => ("Q3_K_L", "Q3_K"),
            14 => ("Q4_K_S", "Q4_K"),
            15 => ("Q4_K_M", "Q4_K"),
            16 => ("Q5_K_S", "Q5_K"),
            17 => ("Q5_K_M", "Q5_K"),
            18 => ("Q6_K", "Q6_K"),
            19 => ("IQ2_XXS", "IQ2_XXS"),
            20 => ("IQ2_XS", "IQ2_XS"),
            21 => ("Q2_K_S", "Q2_K"),
            22 => ("IQ3_XS", "IQ3_S"),
            23 => ("IQ3_XXS", "IQ3_XXS"),
            24 => ("IQ1_S", "IQ1_S"),
            25 => ("IQ4_NL", "IQ4_NL"),
            26 => ("IQ3_S", "IQ3_S"),
            27 => ("IQ3_M", "IQ3_S"),
            28 => ("IQ2_S", "IQ2_XS"),
            29 => ("IQ2_M", "IQ2_S"),
            30 => ("IQ4_XS", "IQ4_XS"),
            31 => ("IQ1_M", "IQ1_M"),
            32 => ("BF16", "BF16"),
            36 => ("TQ1_0", "TQ1_0"),
            37 => ("TQ2_0", "TQ2_0"),
            38 => ("MXFP4", "MXFP4"),
            39 => ("NVFP4", "NVFP4"),
            40 => ("Q1_0", "Q1_0"),
            _ => return None,
        };
        Some(Self { name, base })
    }
}

impl Catalog {
    /// Returns the name of the quantization: the type that a GGUF file names, such as "`Q4_K_M`", if
    /// a matrix has the format that it is named after. Otherwise, the format of most values outside
    /// of the embedding table and the head, which often have more bits than all other matrices.
    pub(crate) fn quantization(&self) -> String {
        if let Some(named) = self.file_type
            && self.formats().iter().any(|format| format == named.base)
        {
            return named.name.to_owned();
        }
        let inner = formats_of(self.matrices().filter(|entry| !is_vocabulary(&entry.name)));
        let most = inner.into_iter().next();
        most.or_else(|| self.main_format()).unwrap_or_default()
    }

    /// Returns the formats of the matrices, those with the most values first.
    pub(crate) fn formats(&self) -> Vec<String> {
        formats_of(self.matrices())
    }

    /// Returns the format of most values of the model.
    pub(crate) fn main_format(&self) -> Option<String> {
        formats_of(self.entries()).into_iter().next()
    }

    /// Returns what is converted while the weights are loaded, or `None` if nothing is.
    pub(crate) fn conversion(&self) -> Option<Conversion> {
        let is_converted =
            |entry: &&TensorEntry| matches!(entry.stored_type, StoredType::Converted(_));
        let converted: Vec<&TensorEntry> = self.weights().filter(is_converted).collect();
        let sum = |count: fn(&TensorEntry) -> u64| {
            let counts = converted.iter().map(|entry| count(entry));
            counts.fold(0, u64::saturating_add)
        };
        let target = |format: &String| {
            let of_format = |entry: &&&TensorEntry| entry.stored_type.to_string() == *format;
            let dtype = converted.iter().find(of_format)?.stored_type.dtype()?;
            Some((format.clone(), StoredType::Known(dtype).to_string()))
        };
        let formats = formats_of(converted.iter().copied());
        let n_values_per_sec = N_CONVERTED_PER_SEC * rayon::current_num_threads() as u64;
        (!converted.is_empty()).then(|| Conversion {
            formats: formats.iter().filter_map(target).collect(),
            n_file_bytes: sum(|entry| entry.n_bytes),
            n_memory_bytes: sum(TensorEntry::n_memory_bytes),
            n_secs: sum(TensorEntry::n_values) / n_values_per_sec,
        })
    }

    fn matrices(&self) -> impl Iterator<Item = &TensorEntry> {
        let is_matrix =
            |entry: &&TensorEntry| entry.shape.iter().filter(|dim| **dim > 1).count() > 1;
        let weights = self.entries().filter(|entry| !entry.is_factor());
        weights.filter(is_matrix)
    }
}

fn formats_of<'a>(entries: impl Iterator<Item = &'a TensorEntry>) -> Vec<String> {
    let mut n_values: BTreeMap<String, u64> = BTreeMap::new();
    for entry in entries {
        let sum = n_values.entry(entry.stored_type.to_string()).or_default();
        *sum = sum.saturating_add(entry.n_values());
    }
    let mut formats: Vec<(String, u64)> = n_values.into_iter().collect();
    formats.sort_by_key(|(_, n_values)| std::cmp::Reverse(*n_values));
    formats.into_iter().map(|(name, _)| name).collect()
}

/// Returns whether a tensor has a row for each token of the vocabulary, by its name.
fn is_vocabulary(name: &str) -> bool {
    const ENDS: [&str; 6] = [
        "embed_tokens.weight",
        "embeddings.weight",
        "lm_head.weight",
        "token_embd.weight",
        "wpe.weight",
        "wte.weight",
    ];
    name == "output.weight" || ENDS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::FileType;
    use crate::engine::weights::stored_type::StoredType;
    use crate::engine::weights::{Catalog, TensorEntry};
    use crate::generation::Conversion;

    /// A catalog of tensors: name, number of the format in a GGUF file, and shape.
    fn catalog(file_type: Option<u64>, tensors: &[(&str, u32, [usize; 2])]) -> Catalog {
        let entries = tensors.iter().map(|(name, number, shape)| {
            let entry = TensorEntry {
                name: (*name).to_owned(),
                stored_type: StoredType::from_gguf(*number),
                shape: shape.to_vec(),
                file: 0,
                start: 0,
                n_bytes: 0,
            };
            (entry.name.clone(), entry)
        });
        Catalog {
            sources: Vec::new(),
            entries: entries.collect::<BTreeMap<_, _>>(),
            file_type: file_type.and_then(FileType::from_number),
        }
    }

    #[test]
    fn a_file_is_called_what_it_says_and_not_what_its_embeddings_are() {
        // The proportions of gemma-3-270m-q4_k_m.
        let tensors = [
            ("token_embd.weight", 8, [262_144, 640]),
            ("blk.0.attn_q.weight", 6, [1024, 640]),
            ("blk.0.ffn_down.weight", 12, [640, 2048]),
            ("blk.0.attn_norm.weight", 0, [640, 1]),
        ];
        for (file_type, name) in [
            (Some(15), "Q4_K_M"),
            (Some(14), "Q4_K_S"),
            // No matrix is Q2_K, so the file contradicts itself.
            (Some(10), "Q4_K"),
            (Some(9_999), "Q4_K"),
            (None, "Q4_K"),
        ] {
            let catalog = catalog(file_type, &tensors);
            assert_eq!(catalog.quantization(), name, "{file_type:?}");
            assert_eq!(catalog.formats(), ["Q8_0", "Q4_K", "Q5_0"]);
            assert_eq!(catalog.main_format().as_deref(), Some("Q8_0"));
        }
    }

    #[test]
    fn what_is_converted_is_listed_with_its_size() {
        assert_eq!(catalog(None, &[("w", 8, [64, 256])]).conversion(), None);
        let mut catalog = catalog(
            None,
            &[
                ("small", 22, [1, 256]),
                ("plain", 0, [64, 256]),
                ("large", 23, [64, 256]),
            ],
        );
        for (name, n_bytes) in [("small", 82), ("plain", 65_536), ("large", 64 * 136)] {
            catalog.entries.get_mut(name).unwrap().n_bytes = n_bytes;
        }
        let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        assert_eq!(
            catalog.conversion(),
            Some(Conversion {
                formats: vec![pair("IQ4_XS", "Q8_0"), pair("IQ2_S", "F16")],
                n_file_bytes: 82 + 64 * 136,
                n_memory_bytes: 512 + 64 * 8 * 34,
                n_secs: 0,
            })
        );
    }

    #[test]
    fn a_file_of_one_format_is_called_after_it() {
        let attention = ("blk.0.attn_output.weight", 8, [64, 64]);
        assert_eq!(catalog(None, &[attention]).quantization(), "Q8_0");
        // Nothing but embeddings and vectors.
        let others = [("output.weight", 1, [100, 64]), ("norm.weight", 0, [64, 1])];
        assert_eq!(catalog(None, &others).quantization(), "F16");
        assert_eq!(catalog(Some(15), &[]).quantization(), "");
    }
}
