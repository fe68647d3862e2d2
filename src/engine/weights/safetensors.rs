//! Where the tensors stand in a safetensors file: eight bytes of length, a JSON header, the tensors.
//! And the index of a model that stands in several of them.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::path::{Component, Path};

use serde::de::{DeserializeOwned, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::place::{Place, n_stored_bytes};
use super::stored_type::StoredType;
use super::{Source, WHAT};
use crate::engine::EngineError;

/// The format's own limit for its header.
const N_MAX_HEADER_BYTES: u64 = 100_000_000;

/// More dimensions than any tensor has.
const N_MAX_DIMS: usize = 8;

/// What the header says of one tensor.
#[derive(Deserialize)]
struct Entry {
    dtype: String,
    #[serde(deserialize_with = "shape")]
    shape: Vec<usize>,
    /// Begin and end, counted from the end of the header.
    data_offsets: (u64, u64),
}

/// Which file holds which tensor: a `model.safetensors.index.json`.
#[derive(Debug, Deserialize)]
pub struct Index {
    weight_map: Unique<String>,
}

impl Index {
    /// From the content of the file.
    pub fn from_json(json: &[u8], path: &str) -> Result<Self, EngineError> {
        serde_json::from_slice(json).map_err(|error| {
            EngineError::malformed("The index of the weights", error.to_string(), path)
        })
    }

    /// The files and the tensors that are looked for in each. Only names of files are followed: an index
    /// must not lead out of its folder.
    pub fn shards(self, path: &str) -> Result<BTreeMap<String, Vec<String>>, EngineError> {
        let mut shards: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (tensor, file) in self.weight_map.0 {
            if !is_file_name(&file) {
                let reason = format!("it looks for {tensor} outside its folder, in {file:?}");
                return Err(EngineError::malformed(
                    "The index of the weights",
                    reason,
                    path,
                ));
            }
            shards.entry(file).or_default().push(tensor);
        }
        Ok(shards)
    }
}

/// Whether this names a file of the same folder, on every system.
fn is_file_name(name: &str) -> bool {
    let mut components = Path::new(name).components();
    let first = components.next();
    matches!(first, Some(Component::Normal(_)))
        && components.next().is_none()
        && !name.contains(['/', '\\', ':', '\0'])
}

/// Where the tensors of a file stand.
pub(super) fn read_header(source: &Source) -> Result<Vec<Place>, EngineError> {
    let length = source.take(0, 8.min(source.n_bytes() as usize))?;
    let Some(length) = length.first_chunk().copied().map(u64::from_le_bytes) else {
        return Err(source.malformed("the file ends within its header"));
    };
    let n_max = N_MAX_HEADER_BYTES.min(source.n_bytes() - 8);
    if length > n_max {
        return Err(source.malformed(format!(
            "its header would have {length} bytes, but {n_max} is the most it can have"
        )));
    }
    // Before there is memory for 100 megabytes of something else.
    if source.take(8, 1.min(length as usize))? != b"{" {
        return Err(source.malformed("its header is not JSON"));
    }
    let header = source.take(8, length as usize)?;
    let entries: Unique<Entry> =
        serde_json::from_slice(&header).map_err(|error| source.malformed(error.to_string()))?;
    entries
        .0
        .into_iter()
        .map(|(name, entry)| place(name, entry, 8 + length))
        .collect::<Result<_, String>>()
        .map_err(|reason| EngineError::malformed(WHAT, reason, source.path()))
}

fn place(name: String, entry: Entry, data_start: u64) -> Result<Place, String> {
    let Entry {
        dtype,
        shape,
        data_offsets: (begin, end),
    } = entry;
    let stored_type = StoredType::from_safetensors(&dtype);
    let Some(n_bytes) = end.checked_sub(begin) else {
        return Err(format!("{name} ends before it begins"));
    };
    if matches!(stored_type, StoredType::Known(_))
        && n_stored_bytes(&stored_type, &shape) != Some(n_bytes)
    {
        return Err(format!(
            "{name} has {n_bytes} bytes, which are not those of the shape {shape:?} as {dtype}"
        ));
    }
    Ok(Place {
        name,
        stored_type,
        shape,
        file: 0,
        // What goes beyond all numbers is refused as being beyond the end of the file.
        start: data_start.saturating_add(begin),
        n_bytes,
    })
}

/// A JSON object without two values for one key, and without its `__metadata__`.
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
            let entry = entry.map_err(|error| A::Error::custom(format!("{name}: {error}")))?;
            if entries.contains_key(&name) {
                return Err(A::Error::custom(format!("there are two tensors {name}")));
            }
            entries.insert(name, entry);
        }
        Ok(Unique(entries))
    }
}

/// Reads dimensions, and stops where there are more than any tensor has.
fn shape<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<usize>, D::Error> {
    struct ShapeVisitor;

    impl<'de> Visitor<'de> for ShapeVisitor {
        type Value = Vec<usize>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{N_MAX_DIMS} dimensions at most")
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
