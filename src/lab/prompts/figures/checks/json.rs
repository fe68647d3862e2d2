//! JSON in answers: whole or somewhere in the text, with or without a schema.
//!
//! `serde_json` refuses values that are nested deeper than 128 levels.

use std::fmt;
use std::sync::Arc;

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Deserializer, Value};

use super::CheckError;
use super::words::brief;
use crate::json_words::json_reason;

/// The maximum size of each compiled pattern of a schema, in bytes.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// A JSON Schema that can be compiled, and refers to nothing outside itself.
#[derive(Clone)]
pub(super) struct Schema {
    source: Arc<Value>,
    /// Clones share it. Without it, each answer compiles the schema.
    validator: Option<Arc<Validator>>,
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.source).finish()
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Schema {
    /// Compiles a schema that begins at a column of its check.
    pub(super) fn parse(source: &str, column: usize) -> Result<Self, CheckError> {
        let value: Value = serde_json::from_str(source).map_err(|error| {
            let (byte, reason) = json_mistake(source, &error);
            let before = source.get(..byte).unwrap_or(source);
            let column = column + before.chars().count();
            CheckError::InvalidJson { reason, column }
        })?;
        let validator = compiled(&value).map_err(|error| {
            let reason = brief(&error.to_string());
            CheckError::InvalidSchema { reason, column }
        })?;
        Ok(Self {
            source: Arc::new(value),
            validator: Some(Arc::new(validator)),
        })
    }

    /// Frees the compiled schema.
    pub(super) fn release(&mut self) {
        self.validator = None;
    }

    /// Returns why a value doesn't satisfy the schema.
    fn mistake(&self, value: &Value) -> Option<String> {
        let error = match &self.validator {
            Some(validator) => validator.validate(value).err()?,
            // It was compiled before, so this doesn't fail.
            None => compiled(&self.source).ok()?.validate(value).err()?,
        };
        let what = brief(&error.masked_with("the value").to_string());
        Some(match error.instance_path().as_str() {
            "" => what,
            path => format!("at {}: {what}", brief(path)),
        })
    }

    pub(super) fn written(&self) -> String {
        self.source.to_string()
    }
}

fn compiled(schema: &Value) -> Result<Validator, ValidationError<'static>> {
    let patterns = PatternOptions::regex().size_limit(MAX_PATTERN_BYTES);
    let options = jsonschema::options().offline();
    options.with_pattern_options(patterns).build(schema)
}

/// Checks that a whole text is one JSON value that satisfies a schema. Returns why it isn't.
pub(super) fn whole(text: &str, schema: Option<&Schema>) -> Result<(), String> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let (_, reason) = json_mistake(text, &error);
        format!("the answer isn’t JSON: {reason}")
    })?;
    match schema.and_then(|schema| schema.mistake(&value)) {
        Some(mistake) => Err(mistake),
        None => Ok(()),
    }
}

/// Checks that an object or array that satisfies a schema begins somewhere in a text. Returns why none
/// does.
///
/// The time is linear: values of at most 128 levels overlap at most so often.
pub(super) fn within(text: &str, schema: Option<&Schema>) -> Result<(), String> {
    let mut why = None;
    let mut start = 0;
    while let Some(rest) = text.get(start..)
        && let Some(offset) = rest.find(['{', '['])
    {
        start += offset;
        let json = text.get(start..).unwrap_or_default();
        let mut values = Deserializer::from_str(json).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else {
            start += 1;
            continue;
        };
        match schema.and_then(|schema| schema.mistake(&value)) {
            None => return Ok(()),
            mistake => why = why.or(mistake),
        }
        start += values.byte_offset().max(1);
    }
    Err(why.unwrap_or_else(|| "the answer contains no JSON object or array".to_owned()))
}

/// Returns the byte at which JSON is wrong, and the reason without its place.
pub(in super::super) fn json_mistake(source: &str, error: &serde_json::Error) -> (usize, String) {
    let mut lines = source.split_inclusive('\n');
    let before: usize = lines
        .by_ref()
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum();
    let mut byte = (before + error.column().saturating_sub(1)).min(source.len());
    while !source.is_char_boundary(byte) {
        byte -= 1;
    }
    (byte, json_reason(error))
}
