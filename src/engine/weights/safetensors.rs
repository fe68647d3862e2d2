//! Where the tensors stand in a safetensors file: eight bytes of length, a JSON header, the tensors.

use candle_core::quantized::GgmlDType;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Place, Source, WHAT};
use crate::engine::EngineError;

/// The format's own limit for its header.
const N_MAX_HEADER_BYTES: u64 = 100_000_000;

/// What the header says of one tensor.
#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    /// Begin and end, counted from the end of the header.
    data_offsets: (u64, u64),
}

/// The header's bytes as they were read, and the places that it names.
pub(super) fn read_header(source: &mut Source<'_>) -> Result<(Vec<u8>, Vec<Place>), EngineError> {
    let path = source.path;
    let malformed = |reason: String| EngineError::malformed(WHAT, reason, path);
    let mut bytes = source.take(8)?;
    let length = bytes.first_chunk().copied().map_or(0, u64::from_le_bytes);
    let n_max = N_MAX_HEADER_BYTES.min(source.n_bytes.saturating_sub(8));
    if length > n_max {
        return Err(malformed(format!(
            "its header would have {length} bytes, but {n_max} is the most it can have"
        )));
    }
    let header = source.take(length as usize)?;
    let entries: Map<String, Value> =
        serde_json::from_slice(&header).map_err(|error| malformed(error.to_string()))?;
    let mut places = Vec::new();
    for (name, entry) in entries {
        if name != "__metadata__" {
            let place = place(name, entry, 8 + length).map_err(malformed)?;
            places.push(place);
        }
    }
    bytes.extend(header);
    Ok((bytes, places))
}

fn place(name: String, entry: Value, data_start: u64) -> Result<Place, String> {
    let entry: Entry = serde_json::from_value(entry).map_err(|error| format!("{name}: {error}"))?;
    let dtype = match entry.dtype.as_str() {
        "F32" => GgmlDType::F32,
        "F16" => GgmlDType::F16,
        "BF16" => GgmlDType::BF16,
        other => {
            return Err(format!(
                "{name} is stored as {other}, which Quartet does not read"
            ));
        }
    };
    let (begin, end) = entry.data_offsets;
    let place = Place::new(name, dtype, entry.shape, data_start.saturating_add(begin))?;
    if end.checked_sub(begin) == Some(place.n_bytes as u64) {
        Ok(place)
    } else {
        Err(format!("{} has another length than its shape", place.name))
    }
}
