//! The header of a safetensors file, and the index of a model in several files.
//!
//! A file consists of the header's length in eight bytes, a JSON header, and the tensors.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::marker::PhantomData;
use std::path::{Component, Path};

use serde::de::{DeserializeOwned, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::stored_type::StoredType;
use super::tensor_entry::{TensorEntry, n_stored_bytes};
use super::{Source, WHAT};
use crate::engine::EngineError;
use crate::json_words::{json_words, reader_words};

/// The format's own limit for the header.
const N_MAX_HEADER_BYTES: u64 = 100_000_000;

/// More dimensions than any tensor has.
const N_MAX_DIMS: usize = 8;

/// The header's entry for one tensor.
#[derive(Deserialize)]
struct Entry {
    dtype: String,
    #[serde(deserialize_with = "shape")]
    shape: Vec<usize>,
    /// Start and end in bytes, counted from the end of the header.
    data_offsets: (u64, u64),
}

/// The content of a `model.safetensors.index.json`: which file holds which tensor.
#[derive(Debug, Deserialize)]
pub(crate) struct Index {
    weight_map: Unique<String>,
}

impl Index {
    /// Parses the content of the index. `path` appears in error messages.
    pub(crate) fn from_json(json: &[u8], path: &str) -> Result<Self, EngineError> {
        serde_json::from_slice(json).map_err(|error| {
            EngineError::malformed("The index of the weights", json_words(&error), path)
        })
    }

    /// Returns the files in the order of their names. Fails if one contains a path, since an index
    /// must not point outside its folder.
    pub(crate) fn files(self, path: &str) -> Result<BTreeSet<String>, EngineError> {
        let mut files = BTreeSet::new();
        for (tensor, file) in self.weight_map.0 {
            if !is_file_name(&file) {
                let reason = format!("it places tensor {tensor} outside its folder, in {file:?}");
                return Err(EngineError::malformed(
                    "The index of the weights",
                    reason,
                    path,
                ));
            }
            files.insert(file);
        }
        Ok(files)
    }
}

/// Returns whether this names a file in the same folder, on every operating system.
fn is_file_name(name: &str) -> bool {
    let mut components = Path::new(name).components();
    let first = components.next();
    matches!(first, Some(Component::Normal(_)))
        && components.next().is_none()
        && !name.contains(['/', '\\', ':', '\0'])
}

/// Reads the header of a file and returns its tensors.
pub(super) fn read_header(source: &Source) -> Result<Vec<TensorEntry>, EngineError> {
    let length = source.take(0, 8.min(source.n_bytes() as usize))?;
    let Some(length) = length.first_chunk().copied().map(u64::from_le_bytes) else {
        return Err(source.malformed("the file ends inside its header"));
    };
    let n_max = N_MAX_HEADER_BYTES.min(source.n_bytes() - 8);
    if length > n_max {
        return Err(source.malformed(format!(
            "its header claims to have {length} bytes, but at most {n_max} are possible"
        )));
    }
    // Checked before 100 MB are allocated for a file in another format.
    if source.take(8, 1.min(length as usize))? != b"{" {
        return Err(source.malformed("its header is not JSON"));
    }
    source.require(8 + length)?;
    let header = source.take(8, length as usize)?;
    let entries: Unique<Entry> =
        serde_json::from_slice(&header).map_err(|error| source.malformed(json_words(&error)))?;
    entries
        .0
        .into_iter()
        .map(|(name, entry)| tensor_entry(name, entry, 8 + length))
        .collect::<Result<_, String>>()
        .map_err(|reason| EngineError::malformed(WHAT, reason, source.path()))
}

fn tensor_entry(name: String, entry: Entry, data_start: u64) -> Result<TensorEntry, String> {
    let Entry {
        dtype,
        shape,
        data_offsets: (begin, end),
    } = entry;
    let stored_type = StoredType::from_safetensors(&dtype);
    let Some(n_bytes) = end.checked_sub(begin) else {
        return Err(format!("tensor {name} ends before it starts"));
    };
    if !matches!(stored_type, StoredType::Foreign(_))
        && n_stored_bytes(&stored_type, &shape) != Some(n_bytes)
    {
        return Err(format!(
            "tensor {name} has {n_bytes} bytes, which does not match shape {shape:?} in {dtype}"
        ));
    }
    Ok(TensorEntry {
        name,
        stored_type,
        shape,
        file: 0,
        // A saturated offset is later rejected as beyond the end of the file.
        start: data_start.saturating_add(begin),
        n_bytes,
    })
}

/// A JSON object without duplicate keys, and without its `__metadata__`.
#[derive(Debug)]
struct Unique<T>(BTreeMap<String, T>);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Unique<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(UniqueVisitor(PhantomData))
    }
}

struct UniqueVisitor<T>(PhantomData<T>);

impl<'de, T: DeserializeOwned> Visitor<'de> for UniqueVisitor<T> {
    type Value = Unique<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = BTreeMap::new();
        while let Some(name) = map.next_key::<String>()? {
            if name == "__metadata__" {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let entry = map.next_value();
            let entry = entry.map_err(|error: A::Error| {
                let reason = reader_words(&error.to_string());
                A::Error::custom(format!("{name}: {reason}"))
            })?;
            if entries.contains_key(&name) {
                return Err(A::Error::custom(format!("it contains tensor {name} twice")));
            }
            entries.insert(name, entry);
        }
        Ok(Unique(entries))
    }
}

/// Reads dimensions, and fails if there are more than any tensor has.
fn shape<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<usize>, D::Error> {
    struct ShapeVisitor;

    impl<'de> Visitor<'de> for ShapeVisitor {
        type Value = Vec<usize>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "at most {N_MAX_DIMS} dimensions")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
            let mut shape = Vec::new();
            while let Some(dim) = sequence.next_element()? {
                if shape.len() == N_MAX_DIMS {
                    return Err(A::Error::invalid_length(shape.len() + 1, &self));
                }
                shape.push(dim);
            }
            Ok(shape)
        }
    }

    deserializer.deserialize_seq(ShapeVisitor)
}

#[cfg(test)]
mod tests {
    use super::is_file_name;

    #[test]
    fn an_index_stays_in_its_folder() {
        assert!(is_file_name("model-00001-of-00002.safetensors"));
        for name in [
            "", ".", "..", "../w", "/w", "a/w", "a\\w", "C:w", "w/", "./w", "w\0",
        ] {
            assert!(!is_file_name(name), "{name:?}");
        }
    }
}
