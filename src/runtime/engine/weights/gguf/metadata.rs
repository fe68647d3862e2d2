//! The metadata of a GGUF file: key-value pairs of a dozen types.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use candle_core::quantized::gguf_file::Value;

use super::reader::Reader;
use crate::engine::EngineError;

/// The size of the smallest entry: the length of its key, its type, and a value of one byte.
const N_MIN_ENTRY_BYTES: u64 = 8 + 4 + 1;

/// The type number of arrays.
const ARRAY: u32 = 9;

/// Reads `n_entries` key-value pairs. Fails if a key occurs twice.
pub(super) fn read(
    reader: &mut Reader<'_>,
    n_entries: u64,
) -> Result<HashMap<String, Value>, EngineError> {
    let n_entries = reader.check_count(n_entries, N_MIN_ENTRY_BYTES, "entries")?;
    let mut metadata = HashMap::new();
    for _ in 0..n_entries {
        let (key, value) = entry(reader)?;
        match metadata.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(value);
            }
            Entry::Occupied(entry) => {
                return Err(reader.malformed(format!("its header contains {} twice", entry.key())));
            }
        }
    }
    Ok(metadata)
}

/// Reads at most `n_entries` key-value pairs, up to the first that can't be read.
pub(super) fn read_known(
    reader: &mut Reader<'_>,
    n_entries: u64,
) -> Result<HashMap<String, Value>, EngineError> {
    let n_entries = reader.check_count(n_entries, N_MIN_ENTRY_BYTES, "entries")?;
    let known = (0..n_entries).map_while(|_| entry(reader).ok());
    Ok(known.collect())
}

fn entry(reader: &mut Reader<'_>) -> Result<(String, Value), EngineError> {
    let key = trimmed(reader.text("a header key")?);
    let value = value(reader, &key)?;
    Ok((key, value))
}

fn value(reader: &mut Reader<'_>, key: &str) -> Result<Value, EngineError> {
    let value_type = reader.u32()?;
    if value_type != ARRAY {
        let value = single(reader, value_type, key)?;
        return Ok(match value {
            Value::String(text) => Value::String(trimmed(text)),
            other => other,
        });
    }
    let value_type = reader.u32()?;
    let n_values = reader.u64()?;
    let Some(n_value_bytes) = n_min_bytes(value_type) else {
        return Err(reader.malformed(format!("{key} is an array of {}", unknown(value_type))));
    };
    let n_values = reader.check_count(n_values, n_value_bytes, &format!("values of {key}"))?;
    let mut values = Vec::with_capacity(n_values);
    for _ in 0..n_values {
        values.push(single(reader, value_type, key)?);
    }
    Ok(Value::Array(values))
}

fn single(reader: &mut Reader<'_>, value_type: u32, key: &str) -> Result<Value, EngineError> {
    Ok(match value_type {
        0 => Value::U8(u8::from_le_bytes(reader.array()?)),
        1 => Value::I8(i8::from_le_bytes(reader.array()?)),
        2 => Value::U16(u16::from_le_bytes(reader.array()?)),
        3 => Value::I16(i16::from_le_bytes(reader.array()?)),
        4 => Value::U32(reader.u32()?),
        5 => Value::I32(i32::from_le_bytes(reader.array()?)),
        6 => Value::F32(f32::from_le_bytes(reader.array()?)),
        7 => match reader.array()? {
            [0] => Value::Bool(false),
            [1] => Value::Bool(true),
            [other] => {
                let reason = format!("{key} is {other}, which is neither true nor false");
                return Err(reader.malformed(reason));
            }
        },
        8 => Value::String(reader.text(key)?),
        10 => Value::U64(reader.u64()?),
        11 => Value::I64(i64::from_le_bytes(reader.array()?)),
        12 => Value::F64(f64::from_le_bytes(reader.array()?)),
        other => return Err(reader.malformed(format!("{key} has {}", unknown(other)))),
    })
}

/// Returns the smallest size of a value in bytes, or `None` if an array can't contain the type.
const fn n_min_bytes(value_type: u32) -> Option<u64> {
    match value_type {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        8 | 10..=12 => Some(8),
        _ => None,
    }
}

fn unknown(value_type: u32) -> String {
    match value_type {
        ARRAY => "arrays".to_owned(),
        other => format!("unknown type {other}"),
    }
}

/// Strips the terminating zeros that some writers copy from C strings.
fn trimmed(mut text: String) -> String {
    text.truncate(text.trim_end_matches('\0').len());
    text
}
