//! The header of a GGUF file: its metadata and its list of tensors.
//!
//! candle's own reader panics if the alignment is zero, accepts duplicate keys, and allocates
//! without limit. This one does none of that, and returns candle's types.

mod metadata;
mod reader;
mod split;

use std::collections::HashMap;

use candle_core::quantized::gguf_file::{Content, TensorInfo, Value, VersionedMagic};

use self::reader::Reader;
use super::Source;
use super::stored_type::StoredType;
use super::tensor_entry::{TensorEntry, n_stored_bytes};
use crate::engine::EngineError;

pub(crate) use split::Split;

/// The alignment of tensors, in bytes, if the file does not specify one.
const DEFAULT_ALIGNMENT: u64 = 32;

/// The most dimensions that a ggml tensor can have.
const N_MAX_DIMS: u64 = 4;

/// The size of a tensor's smallest entry: the length of its name, its number of dimensions, its
/// type and its offset.
const N_MIN_TENSOR_BYTES: u64 = 8 + 4 + 4 + 8;

/// The header of a GGUF file.
#[derive(Debug)]
pub(crate) struct Header {
    /// The metadata and the tensors in candle's types.
    pub content: Content,
    /// The tensors in file order.
    pub entries: Vec<TensorEntry>,
    /// Which part of a split model this file is. `None` for a model in one file.
    pub split: Option<Split>,
}

/// Reads the header of a GGUF file. Checks every claimed count and length against the size of the
/// file before it allocates memory.
pub(crate) fn read_header(source: &Source) -> Result<Header, EngineError> {
    let mut reader = Reader::new(source);
    let magic = read_version(&mut reader)?;
    let n_tensors = reader.u64()?;
    let n_entries = reader.u64()?;
    let metadata = metadata::read(&mut reader, n_entries)?;
    let alignment = alignment(&metadata, &reader)?;
    let mut entries = read_entries(&mut reader, n_tensors, alignment)?;
    let data_start = reader.position().next_multiple_of(alignment);
    let infos = entries.iter().filter_map(tensor_info);
    let content = Content {
        magic,
        tensor_infos: infos.collect(),
        tensor_data_offset: data_start,
        metadata,
    };
    for entry in &mut entries {
        // A saturated offset is later rejected as beyond the end of the file.
        entry.start = entry.start.saturating_add(data_start);
    }
    Ok(Header {
        split: Split::of(&content, source)?,
        content,
        entries,
    })
}

/// Reads the metadata of a GGUF file of which only the first bytes are known, up to the first entry
/// that is incomplete. It has no tensors.
pub(crate) fn read_known_metadata(source: &Source) -> Result<Content, EngineError> {
    let mut reader = Reader::new(source);
    let magic = read_version(&mut reader)?;
    let _n_tensors = reader.u64()?;
    let n_entries = reader.u64()?;
    Ok(Content {
        magic,
        metadata: metadata::read_known(&mut reader, n_entries)?,
        tensor_infos: HashMap::new(),
        tensor_data_offset: 0,
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
            Err(reader.malformed("it is big-endian, and Quartet reads only little-endian files"))
        }
        version => Err(reader.malformed(format!(
            "it uses version {version} of the GGUF format; Quartet reads versions 2 and 3"
        ))),
    }
}

/// Describes a file that is not GGUF, if it is one that users often mistake for it.
fn foreign_file(magic: [u8; 4]) -> &'static str {
    match &magic {
        b"vers" => "it is a Git LFS pointer, not the model; download the actual file from its page",
        b"<!DO" | b"<!do" | b"<htm" => "it is a web page, not a model; download the file itself",
        b"ggjt" | b"ggml" | b"lmgg" | b"tjgg" => {
            "its format is older than GGUF; look for a GGUF file of this model"
        }
        b"PK\x03\x04" => {
            "it is a PyTorch file, which could run code; Quartet reads GGUF and safetensors"
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
        _ => Err(reader.malformed("general.alignment must be a power of two, such as 32")),
    }
}

/// Reads the list of tensors. Offsets are still relative to the first tensor.
fn read_entries(
    reader: &mut Reader<'_>,
    n_tensors: u64,
    alignment: u64,
) -> Result<Vec<TensorEntry>, EngineError> {
    let n_tensors = reader.check_count(n_tensors, N_MIN_TENSOR_BYTES, "tensors")?;
    let mut entries = Vec::new();
    for _ in 0..n_tensors {
        let entry = read_entry(reader)?;
        let name = &entry.name;
        if !entry.start.is_multiple_of(alignment) {
            let reason = format!(
                "tensor {name} starts at {}, which is not a multiple of {alignment}",
                entry.start
            );
            return Err(reader.malformed(reason));
        }
        entries.push(entry);
    }
    Ok(entries)
}

fn read_entry(reader: &mut Reader<'_>) -> Result<TensorEntry, EngineError> {
    let name = reader.text("a tensor name")?;
    let n_dims = u64::from(reader.u32()?);
    if n_dims > N_MAX_DIMS {
        let reason =
            format!("tensor {name} has {n_dims} dimensions, but at most {N_MAX_DIMS} are possible");
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
        return Err(EngineError::UnsupportedTensorType {
            tensor: name,
            stored_as,
            instead: "the model’s Q4_K_M or Q8_0 file",
            path: reader.path().to_owned(),
        });
    }
    let n_bytes = n_stored_bytes(&stored_type, &shape).filter(|n_bytes| *n_bytes > 0);
    let Some(n_bytes) = n_bytes else {
        let reason = format!("tensor {name} can’t have shape {shape:?} in {stored_type}");
        return Err(reader.malformed(reason));
    };
    Ok(TensorEntry {
        name,
        stored_type,
        shape,
        file: 0,
        start,
        n_bytes,
    })
}

fn tensor_info(entry: &TensorEntry) -> Option<(String, TensorInfo)> {
    let info = TensorInfo {
        ggml_dtype: entry.stored_type.dtype()?,
        shape: entry.shape.clone().into(),
        offset: entry.start,
    };
    Some((entry.name.clone(), info))
}
