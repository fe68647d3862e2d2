//! What tools make of a JSON schema.

use super::Value;
use crate::decoding::{GrammarKind, GrammarRule};

/// The schema of any JSON for llama.cpp, whose converter takes an empty schema as any object
/// (`common/json-schema-to-grammar.cpp`, `visit`).
pub(super) const ANY_JSON: &str =
    r#"{"type":["object","array","string","number","boolean","null"]}"#;

/// The schema of any object.
pub(super) const ANY_OBJECT: &str = r#"{"type":"object"}"#;

/// The schema of what vLLM's JSON mode writes: by default it uses the JSON grammar of xgrammar
/// (`cpp/grammar.cc`).
pub(super) const OBJECT_OR_LIST: &str = r#"{"type":["object","array"]}"#;

/// Reads a schema as JSON Schema defines it: an empty one allows any JSON.
pub(super) fn schema_rule(schema: &str) -> GrammarRule {
    if is_any(schema) {
        return GrammarRule::new(GrammarKind::Json, "");
    }
    GrammarRule::new(GrammarKind::Schema, schema.trim())
}

/// Reads a schema as llama.cpp does: an empty one allows any object.
pub(super) fn llama_schema(schema: &str) -> GrammarRule {
    match schema.trim() {
        "{}" => GrammarRule::new(GrammarKind::Schema, ANY_OBJECT),
        schema => schema_rule(schema),
    }
}

/// Whether a schema allows any JSON.
pub(super) fn is_any(schema: &str) -> bool {
    let parsed = |schema: &str| serde_json::from_str::<serde_json::Value>(schema).ok();
    let schema = parsed(schema);
    schema.is_some()
        && ["{}", "true", ANY_JSON]
            .into_iter()
            .any(|any| parsed(any) == schema)
}

/// Whether a schema has an empty one inside. Values that are no schemas don't count.
pub(super) fn holds_empty(schema: &serde_json::Value) -> bool {
    use serde_json::Value::{Array, Object};
    let is_empty = |value: &serde_json::Value| {
        value.as_object().is_some_and(serde_json::Map::is_empty) || holds_empty(value)
    };
    match schema {
        Array(schemas) => schemas.iter().any(is_empty),
        Object(entries) => entries
            .iter()
            .any(|(name, value)| match (name.as_str(), value) {
                ("const" | "default" | "enum" | "examples", _) => false,
                ("properties" | "patternProperties" | "$defs" | "definitions", Object(named)) => {
                    named.values().any(is_empty)
                }
                _ => is_empty(value),
            }),
        _ => false,
    }
}

/// A schema that can't be parsed stays a text; the grammar is invalid anyway.
pub(super) fn json_value(schema: &str) -> Value {
    match serde_json::from_str::<serde_json::Value>(schema) {
        Ok(schema) => Value::from(schema),
        Err(_) => Value::text(schema),
    }
}
