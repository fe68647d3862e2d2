//! Where the tensors stand in a GGUF file.

use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};

use candle_core::quantized::gguf_file::Content;

use super::{Place, WHAT};
use crate::engine::EngineError;

/// The metadata and the list of tensors, which stand before the tensors themselves.
pub fn read_header<R: Read + Seek>(reader: &mut R, path: &str) -> Result<Content, EngineError> {
    // candle divides by the alignment that the file names, which a broken file may give as zero.
    let content = catch_unwind(AssertUnwindSafe(|| Content::read(reader)));
    let reason = match content {
        Ok(Ok(content)) => return Ok(content),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "its header contradicts itself".to_owned(),
    };
    let reason = reason.lines().next().unwrap_or_default();
    Err(EngineError::malformed(WHAT, reason, path))
}

pub(super) fn places(header: &Content, path: &str) -> Result<Vec<Place>, EngineError> {
    // The map's order is chance; messages should not be.
    let infos: BTreeMap<_, _> = header.tensor_infos.iter().collect();
    let mut places = Vec::new();
    for (name, info) in infos {
        let start = header.tensor_data_offset.saturating_add(info.offset);
        let shape = info.shape.dims().to_vec();
        let place = Place::new(name.clone(), info.ggml_dtype, shape, start)
            .map_err(|reason| EngineError::malformed(WHAT, reason, path))?;
        places.push(place);
    }
    Ok(places)
}
