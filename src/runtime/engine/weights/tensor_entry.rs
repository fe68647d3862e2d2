//! A tensor as a file header lists it, and the check that all tensors fit into their file.

use std::collections::BTreeMap;

use super::Source;
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
}

/// Returns the size of a tensor in bytes, or `None` if the type can't have that shape.
pub(super) fn n_stored_bytes(stored_type: &StoredType, shape: &[usize]) -> Option<u64> {
    let StoredType::Known(dtype) = stored_type else {
        return None;
    };
    let whole_blocks = shape
        .last()
        .copied()
        .unwrap_or(1)
        .is_multiple_of(dtype.block_size());
    let n_values = shape
        .iter()
        .try_fold(1_usize, |product, dim| product.checked_mul(*dim));
    n_values
        .filter(|_| whole_blocks)
        .and_then(|n_values| (n_values / dtype.block_size()).checked_mul(dtype.type_size()))
        .map(|n_bytes| n_bytes as u64)
}

/// Rejects tensors that overlap or extend beyond their file. As a result, loading them never needs
/// more memory than the size of the file.
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
