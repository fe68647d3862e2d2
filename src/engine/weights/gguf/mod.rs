//! The header of a GGUF file: metadata, and where the tensors stand.
//!
//! candle has a reader of its own, but it panics at an alignment of zero, takes the last of two entries
//! with one name, and has no limit on what it allocates for them. What is read here is handed on in
//! its types.

mod metadata;
mod reader;
mod split;

use std::collections::HashMap;

use candle_core::quantized::gguf_file::{Content, TensorInfo, Value, VersionedMagic};

use self::reader::Reader;
use super::Source;
use super::place::{Place, n_stored_bytes};
use super::stored_type::StoredType;
use crate::engine::EngineError;

pub use split::Split;

/// How far tensors stand apart where the file does not say.
const DEFAULT_ALIGNMENT: u64 = 32;

/// The most dimensions that a tensor of ggml can have.
const N_MAX_DIMS: u64 = 4;

/// A tensor's entry has at least the length of its name, the number of its dimensions, its type and
/// its offset.
const N_MIN_TENSOR_BYTES: u64 = 8 + 4 + 4 + 8;

/// What stands before the tensors of a GGUF file.
#[derive(Debug)]
pub struct Header {
    /// The metadata and the tensors, as candle has them.
    pub content: Content,
    /// Where the tensors stand, in the order in which they are named.
    pub places: Vec<Place>,
    /// Which part of a model this file is; none where it is whole.
    pub split: Option<Split>,
}

/// Reads what stands before the tensors of a GGUF file. Nothing that it promises is believed before it
/// is known to fit into the file.
pub fn read_header(source: &Source) -> Result<Header, EngineError> {
    let mut reader = Reader::new(source);
    let magic = read_version(&mut reader)?;
    let n_tensors = reader.u64()?;
    let n_entries = reader.u64()?;
    let metadata = metadata::read(&mut reader, n_entries)?;
    let alignment = alignment(&metadata, &reader)?;
    let mut places = read_places(&mut reader, n_tensors, alignment)?;
    let data_start = reader.position().next_multiple_of(alignment);
    let infos = places.iter().filter_map(tensor_info);
    let content = Content {
        magic,
        tensor_infos: infos.collect(),
        tensor_data_offset: data_start,
        metadata,
    };
    for place in &mut places {
        // What goes beyond all numbers is refused as being beyond the end of the file.
        place.start = place.start.saturating_add(data_start);
    }
    Ok(Header {
        split: Split::of(&content, source)?,
        content,
        places,
    })
}

fn read_version(reader: &mut Reader<'_>) -> Result<VersionedMagic, EngineError> {
    let magic = reader.array()?;
    if &magic != b"GGUF" {
        return Err(reader.malformed(foreign_file(magic)));
    }
    match reader.u32()? {
        2 => Ok(VersionedMagic::GgufV2),
        3 => Ok(VersionedMagic::GgufV3),
        version if version > 0 && version.trailing_zeros() >= 16 => {
            Err(reader.malformed("it was written for processors of the other byte order"))
        }
        version => Err(reader.malformed(format!(
            "it has version {version} of the GGUF format; Quartet reads 2 and 3"
        ))),
    }
}

/// What a file may be that people take for a GGUF file.
fn foreign_file(magic: [u8; 4]) -> &'static str {
    match &magic {
        b"vers" => {
            "it is not the model but a Git LFS pointer to it; download the file from its page"
        }
        b"<!DO" | b"<!do" | b"<htm" => "it is a web page and not a model; download the file itself",
        b"ggjt" | b"ggml" | b"lmgg" | b"tjgg" => {
            "it has the format that came before GGUF; look for a newer file of this model"
        }
        b"PK\x03\x04" => {
            "it is a PyTorch file; Quartet reads GGUF and safetensors, which can't run programs"
        }
        _ => "it is not a GGUF file",
    }
}

fn alignment(metadata: &HashMap<String, Value>, reader: &Reader<'_>) -> Result<u64, EngineError> {
    let Some(value) = metadata.get("general.alignment") else {
        return Ok(DEFAULT_ALIGNMENT);
    };
    match value.to_u64() {
        Ok(alignment) if alignment.is_power_of_two() && alignment <= 1 << 20 => Ok(alignment),
        _ => Err(reader.malformed("general.alignment is not a power of two such as 32")),
    }
}

/// The tensors, each with its start counted from the first one's.
fn read_places(
    reader: &mut Reader<'_>,
    n_tensors: u64,
    alignment: u64,
) -> Result<Vec<Place>, EngineError> {
    let n_tensors = reader.expect(n_tensors, N_MIN_TENSOR_BYTES, "tensors")?;
    let mut places = Vec::new();
    for _ in 0..n_tensors {
        let place = read_place(reader)?;
        let name = &place.name;
        if !place.start.is_multiple_of(alignment) {
            let reason = format!(
                "{name} begins at {}, not at a multiple of {alignment}",
                place.start
            );
            return Err(reader.malformed(reason));
        }
        places.push(place);
    }
    Ok(places)
}

fn read_place(reader: &mut Reader<'_>) -> Result<Place, EngineError> {
    let name = reader.text("the name of a tensor")?;
    let n_dims = u64::from(reader.u32()?);
    if n_dims > N_MAX_DIMS {
        let reason = format!("{name} has {n_dims} dimensions, {N_MAX_DIMS} are the most");
        return Err(reader.malformed(reason));
    }
    let mut shape = Vec::new();
    for _ in 0..n_dims {
        // The innermost dimension comes first in the file.
        shape.insert(0, usize::try_from(reader.u64()?).unwrap_or(usize::MAX));
    }
    let stored_type = StoredType::from_gguf(reader.u32()?);
    let start = reader.u64()?;
    if let StoredType::Foreign(stored_as) = stored_type {
        return Err(EngineError::TypeUnknown {
            tensor: name,
            stored_as,
            instead: "the model's Q4_K_M or Q8_0 file",
            path: reader.path().to_owned(),
        });
    }
    let n_bytes = n_stored_bytes(&stored_type, &shape).filter(|n_bytes| *n_bytes > 0);
    let Some(n_bytes) = n_bytes else {
        let reason = format!("{name} can't have the shape {shape:?} as {stored_type}");
        return Err(reader.malformed(reason));
    };
    Ok(Place {
        name,
        stored_type,
        shape,
        file: 0,
        start,
        n_bytes,
    })
}

fn tensor_info(place: &Place) -> Option<(String, TensorInfo)> {
    let StoredType::Known(ggml_dtype) = place.stored_type else {
        return None;
    };
    let info = TensorInfo {
        ggml_dtype,
        shape: place.shape.clone().into(),
        offset: place.start,
    };
    Some((place.name.clone(), info))
}
