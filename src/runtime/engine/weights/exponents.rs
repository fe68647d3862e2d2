//! 4-bit floats in safetensors: their quants are in one tensor, whose name ends in `_blocks`, and the
//! exponents of their blocks in another, whose name ends in `_scales`.
//!
//! Open Compute Project 2023, "OCP Microscaling Formats (MX) Specification".

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use super::Source;
use super::converted::ConvertedType;
use super::stored_type::StoredType;
use super::tensor_entry::TensorEntry;

/// Bytes of quants in a block.
const N_BLOCK_BYTES: usize = 16;
/// Values in a block.
const N_BLOCK_VALUES: usize = 32;

const BLOCKS: &str = "_blocks";
/// How the names of the exponents end.
pub(super) const SCALES: &str = "_scales";

/// Where the exponents of a tensor are stored, one byte for each block.
#[derive(Debug, Clone)]
pub(super) struct Exponents {
    pub source: Arc<Source>,
    /// Offset from the start of the file, in bytes.
    pub start: u64,
}

impl Exponents {
    /// Returns the exponents of the values after the first `n_values`.
    #[must_use]
    pub(super) fn after(self, n_values: usize) -> Self {
        Self {
            start: self.start + (n_values / N_BLOCK_VALUES) as u64,
            ..self
        }
    }

    /// Turns quants from block number `first` on into blocks as GGUF stores them: the exponent comes
    /// first, and the first half of the values is in the low bits.
    pub(super) fn with_quants(&self, first: usize, quants: &[u8]) -> io::Result<Vec<u8>> {
        let (quants, _) = quants.as_chunks::<N_BLOCK_BYTES>();
        let mut exponents = vec![0; quants.len()];
        let start = self.start.saturating_add(first as u64);
        self.source.read_at(start, &mut exponents)?;
        let mut blocks = Vec::with_capacity(quants.len() * (1 + N_BLOCK_BYTES));
        for (exponent, quants) in exponents.into_iter().zip(quants) {
            blocks.push(exponent);
            let (first_half, second_half) = quants.split_at(N_BLOCK_BYTES / 2);
            for (first, second) in first_half.iter().zip(second_half) {
                blocks.push(first & 0xF | second << 4);
                blocks.push(first >> 4 | second & 0xF0);
            }
        }
        Ok(blocks)
    }
}

/// Combines quants and exponents to one tensor of 4-bit floats, where a file has both.
pub(super) fn combine(entries: &mut BTreeMap<String, TensorEntry>) {
    let names = entries.keys().filter_map(|name| name.strip_suffix(BLOCKS));
    let names: Vec<String> = names.map(str::to_owned).collect();
    for name in names {
        let blocks_name = format!("{name}{BLOCKS}");
        let Some(blocks) = entries.get(&blocks_name) else {
            continue;
        };
        let scales = entries.get(&format!("{name}{SCALES}"));
        let shape = scales.and_then(|scales| shape_of(blocks, scales));
        let Some(shape) = shape.filter(|_| !entries.contains_key(&name)) else {
            continue;
        };
        let combined = TensorEntry {
            name: name.clone(),
            stored_type: StoredType::Converted(ConvertedType::Mxfp4Quants),
            shape,
            ..blocks.clone()
        };
        entries.remove(&blocks_name);
        entries.insert(name, combined);
    }
}

/// Returns the shape of the values, or `None` if the two tensors don't belong together.
fn shape_of(blocks: &TensorEntry, scales: &TensorEntry) -> Option<Vec<usize>> {
    let is_bytes = |entry: &TensorEntry| {
        entry.stored_type == StoredType::Foreign("U8".to_owned())
            && entry.n_bytes == entry.n_values()
    };
    let (n_block_bytes, outer) = blocks.shape.split_last()?;
    let fits = *n_block_bytes == N_BLOCK_BYTES && outer == scales.shape;
    if !(fits && is_bytes(blocks) && is_bytes(scales)) {
        return None;
    }
    let (n_blocks, outer) = outer.split_last()?;
    let width = n_blocks.checked_mul(N_BLOCK_VALUES)?;
    Some([outer, &[width]].concat())
}
