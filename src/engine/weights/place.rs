//! Where a tensor stands in its file, and that all of them have room there.

use std::collections::BTreeMap;

use super::Source;
use super::stored_type::StoredType;
use crate::engine::EngineError;
use crate::generation::ByteSize;

/// Where a tensor stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its name in the file.
    pub name: String,
    /// How its values are stored.
    pub stored_type: StoredType,
    /// Its dimensions, the innermost last.
    pub shape: Vec<usize>,
    /// Which of the model's files it stands in.
    pub file: usize,
    /// From the beginning of that file, in bytes.
    pub start: u64,
    /// How many bytes it takes.
    pub n_bytes: u64,
}

impl Place {
    /// How many values it holds.
    pub fn n_values(&self) -> u64 {
        self.shape
            .iter()
            .fold(1, |product: u64, dim| product.saturating_mul(*dim as u64))
    }
}

/// How many bytes a tensor takes that is stored so; none where it can't have that shape.
pub fn n_stored_bytes(stored_type: &StoredType, shape: &[usize]) -> Option<u64> {
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

/// Refuses tensors that don't lie inside their file and apart: so they can never need more memory than
/// the file has bytes.
pub fn check_places(
    places: &BTreeMap<String, Place>,
    sources: &[Source],
) -> Result<(), EngineError> {
    for (file, source) in sources.iter().enumerate() {
        let mut places: Vec<&Place> = places
            .values()
            .filter(|place| place.file == file && place.n_bytes > 0)
            .collect();
        places.sort_by(|a, b| (a.start, &a.name).cmp(&(b.start, &b.name)));
        check_ends(&places, source)?;
        for pair in places.windows(2) {
            if let [first, second] = pair
                && first.start + first.n_bytes > second.start
            {
                let reason = format!("{} and {} overlap", first.name, second.name);
                return Err(source.malformed(reason));
            }
        }
    }
    Ok(())
}

fn check_ends(places: &[&Place], source: &Source) -> Result<(), EngineError> {
    let mut n_needed = 0;
    for place in places {
        let Some(end) = place.start.checked_add(place.n_bytes) else {
            let reason = format!("{} lies beyond the end of any file", place.name);
            return Err(source.malformed(reason));
        };
        n_needed = end.max(n_needed);
    }
    if n_needed > source.n_bytes() {
        return Err(EngineError::FileCutOff {
            n_bytes: ByteSize(source.n_bytes()),
            n_needed: ByteSize(n_needed),
            path: source.path().to_owned(),
        });
    }
    Ok(())
}
