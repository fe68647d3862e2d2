//! Rewrites a `config.json` so that candle-transformers reads it correctly.

use serde_json::{Map, Value, json};

use super::families::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::MAX_SIZE;

/// Rewrites a configuration for candle-transformers: moves the rotary settings to the top level,
/// renames keys, and fills in the defaults of transformers. Rejects settings that
/// candle-transformers would ignore.
pub(super) fn adapt_config(
    family: &Family,
    mut values: Map<String, Value>,
    path: &str,
) -> Result<Map<String, Value>, EngineError> {
    let unsupported = |feature: String| EngineError::UnsupportedFeature {
        feature,
        path: path.to_owned(),
    };
    if let Some(reason) = size_error(&values) {
        return Err(EngineError::malformed(
            "The model’s configuration",
            reason,
            path,
        ));
    }
    flatten_rope(&mut values).map_err(unsupported)?;
    values.retain(|_, value| !value.is_null());
    // Some files specify a window that is not in use.
    if values.get("use_sliding_window") == Some(&json!(false)) {
        values.remove("sliding_window");
    }
    for (name, other) in family.aliases {
        if let Some(value) = values.get(*other).cloned() {
            values.entry(*name).or_insert(value);
        }
    }
    let common_defaults = [
        ("hidden_act", json!("silu")),
        ("rope_theta", json!(10_000.0)),
        ("tie_word_embeddings", json!(false)),
    ];
    let defaults = family.defaults.iter();
    let defaults = defaults.map(|(name, text)| (*name, parse_json(text)));
    for (name, value) in defaults.chain(common_defaults) {
        values.entry(name).or_insert(value);
    }
    for (name, expected) in family.fixed {
        if let Some(value) = values.get(*name)
            && !equals(value, &parse_json(expected))
        {
            return Err(unsupported(format!("{name} {value} for this family")));
        }
    }
    // Some models require these keys. The tokens are never used, and the cache always is.
    values.insert("bos_token_id".to_owned(), json!(0));
    values.insert("eos_token_id".to_owned(), json!(0));
    values.insert("use_cache".to_owned(), json!(true));
    Ok(values)
}

/// Rejects any number so large that a product of two sizes could overflow.
fn size_error(values: &Map<String, Value>) -> Option<String> {
    let sizes = values.iter().filter(|(name, _)| *name != "rope_theta");
    let mut sizes = sizes.filter_map(|(name, value)| Some((name, value.as_u64()?)));
    let (name, size) = sizes.find(|(_, size)| *size > MAX_SIZE as u64)?;
    Some(format!("{name} is {size}"))
}

/// Compares JSON values, treating 1 and 1.0 as equal.
fn equals(value: &Value, expected: &Value) -> bool {
    let numbers = value.as_f64().zip(expected.as_f64());
    numbers.map_or_else(
        || value == expected,
        |(number, expected)| (number - expected).abs() < f64::EPSILON,
    )
}

/// Parses a value from the table of families.
fn parse_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// Moves the rotary settings of `rope_scaling` (older files) or `rope_parameters` (newer files) to
/// the top level. As in transformers, the older object counts if a file has both, and either of
/// them counts more than the top level. Rejects scaled rotary embedding.
fn flatten_rope(values: &mut Map<String, Value>) -> Result<(), String> {
    let objects = ["rope_scaling", "rope_parameters"].map(|name| values.remove(name));
    let mut objects = objects.into_iter().flatten();
    let Some(rope) = objects.find_map(|object| match object {
        Value::Object(rope) if !rope.is_empty() => Some(rope),
        _ => None,
    }) else {
        return Ok(());
    };
    for key in ["rope_type", "type"] {
        if let Some(kind) = rope.get(key).filter(|kind| *kind != "default") {
            return Err(format!("rotary scaling {kind} for this family"));
        }
    }
    for key in ["rope_theta", "partial_rotary_factor"] {
        if let Some(value) = rope.get(key) {
            values.insert(key.to_owned(), value.clone());
        }
    }
    Ok(())
}
