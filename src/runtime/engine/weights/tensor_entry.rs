//! A tensor as a file header lists it, and the check that all tensors fit into their file.

use std::collections::BTreeMap;

use super::Source;
use super::converted::ConvertedType;
use super::stored_type::StoredType;
use crate::engine::EngineError;
use crate::generation::ByteSize;

/// A tensor as a file header lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TensorEntry {
    pub name: String,
    pub stored_type: StoredType,
    /// The dimensions, innermost last.
    pub shape: Vec<usize>,
    /// Index of the file among the model's files.
    pub file: usize,
    /// Offset from the start of the file, in bytes.
    pub start: u64,
    pub n_bytes: u64,
}

impl TensorEntry {
    /// Returns the number of values, the product of the dimensions.
    pub(crate) fn n_values(&self) -> u64 {
        self.shape
            .iter()
            .fold(1, |product: u64, dim| product.saturating_mul(*dim as u64))
    }

    /// Returns the size of the values in memory, in bytes. Larger than in the file if they are
    /// converted.
    pub(crate) fn n_memory_bytes(&self) -> u64 {
        match &self.stored_type {
            StoredType::Converted(converted) => {
                let n_blocks = self.n_bytes / converted.n_block_bytes() as u64;
                n_blocks.saturating_mul(converted.n_target_bytes() as u64)
            }
            StoredType::Known(_) | StoredType::Foreign(_) => self.n_bytes,
        }
    }

    /// Returns whether this holds factors of a weight or of its inputs rather than weights.
    pub(crate) fn is_factor(&self) -> bool {
        const ENDS: [&str; 7] = [
            ".weight_scale",
            ".weight_scale_inv",
            ".activation_scale",
            ".input_scale",
            ".k_scale",
            ".v_scale",
            "_proj_scales",
        ];
        ENDS.iter().any(|end| self.name.ends_with(end))
    }

    /// Returns the names that a file may give to the factors of this tensor.
    pub(super) fn factor_names(&self) -> Vec<String> {
        let name = &self.name;
        match &self.stored_type {
            StoredType::Converted(ConvertedType::F8E4M3 | ConvertedType::F8E5M2) => {
                vec![format!("{name}_scale"), format!("{name}_scale_inv")]
            }
            StoredType::Converted(ConvertedType::Nvfp4) => {
                let stem = name.strip_suffix(".weight").unwrap_or(name);
                vec![format!("{stem}.scale")]
            }
            _ => Vec::new(),
        }
    }
}

/// Returns the size of a tensor in bytes, or `None` if the type can't have that shape.
pub(super) fn n_stored_bytes(stored_type: &StoredType, shape: &[usize]) -> Option<u64> {
    let (n_block_values, n_block_bytes) = stored_type.block()?;
    let whole_blocks = shape
        .last()
        .copied()
        .unwrap_or(1)
        .is_multiple_of(n_block_values);
    let n_values = shape
        .iter()
        .try_fold(1_usize, |product, dim| product.checked_mul(*dim));
    n_values
        .filter(|_| whole_blocks)
        .and_then(|n_values| (n_values / n_block_values).checked_mul(n_block_bytes))
        .map(|n_bytes| n_bytes as u64)
}

/// Rejects tensors that overlap or extend beyond their file. As a result, the memory for loading them
/// is bounded by the size of the file: the same size, or at most seven times as much for types that
/// are converted.
pub(super) fn check_entries(
    entries: &BTreeMap<String, TensorEntry>,
    sources: &[Source],
) -> Result<(), EngineError> {
    for (file, source) in sources.iter().enumerate() {
        let mut entries: Vec<&TensorEntry> = entries
            .values()
            .filter(|entry| entry.file == file && entry.n_bytes > 0)
            .collect();
        entries.sort_by(|a, b| (a.start, &a.name).cmp(&(b.start, &b.name)));
        check_ends(&entries, source)?;
        for pair in entries.windows(2) {
            if let [first, second] = pair
                && first.start + first.n_bytes > second.start
            {
                let reason = format!("tensors {} and {} overlap", first.name, second.name);
                return Err(source.malformed(reason));
            }
        }
    }
    Ok(())
}

fn check_ends(entries: &[&TensorEntry], source: &Source) -> Result<(), EngineError> {
    let mut n_needed = 0;
    for entry in entries {
        let Some(end) = entry.start.checked_add(entry.n_bytes) else {
            let reason = format!("the offset of tensor {} is out of range", entry.name);
            return Err(source.malformed(reason));
        };
        n_needed = end.max(n_needed);
    }
    if n_needed > source.n_bytes() {
        return Err(EngineError::FileTruncated {
            n_bytes: ByteSize(source.n_bytes()),
            n_needed: ByteSize(n_needed),
            path: source.path().to_owned(),
        });
    }
    Ok(())
}
