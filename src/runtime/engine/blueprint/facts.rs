//! Typed access to a model's configuration, whether it comes from a `config.json` or GGUF metadata.

use candle_core::quantized::gguf_file::{Content, Value as GgufValue};
use serde_json::{Map, Value};

use crate::engine::EngineError;

/// The name of a value in each format.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    /// The key in a `config.json`. Empty if that never has the value.
    config: &'static str,
    /// The key in GGUF metadata, without the architecture prefix. Empty if that never has the
    /// value.
    gguf: &'static str,
    /// Whether the key in GGUF metadata has an architecture prefix.
    has_prefix: bool,
}

impl Key {
    /// Names a value that both formats can have.
    pub(crate) const fn new(config: &'static str, gguf: &'static str) -> Self {
        Self {
            config,
            gguf,
            has_prefix: true,
        }
    }

    /// Names a value that only a `config.json` can have.
    pub(crate) const fn config(name: &'static str) -> Self {
        Self::new(name, "")
    }

    /// Names a value that only GGUF metadata can have.
    pub(crate) const fn gguf(name: &'static str) -> Self {
        Self::new("", name)
    }

    /// Names a value that only GGUF metadata can have, without an architecture prefix.
    pub(crate) const fn gguf_without_prefix(name: &'static str) -> Self {
        Self {
            has_prefix: false,
            ..Self::new("", name)
        }
    }
}

/// What a file says about a model.
///
/// Getters return `None` if a value is missing, and an error if it has the wrong type.
#[derive(Clone, Copy)]
pub(crate) struct Facts<'a> {
    source: Source<'a>,
    /// The path of the file, for messages.
    path: &'a str,
}

#[derive(Clone, Copy)]
enum Source<'a> {
    Config {
        /// `None` for a nested object that is missing.
        values: Option<&'a Map<String, Value>>,
        /// The path of a nested object, for messages, such as `rope_scaling.`.
        parent: &'static str,
        /// Keys that have another name in this family: `hidden_size` is `n_embd` in GPT-2.
        aliases: &'static [(&'static str, &'static str)],
    },
    Gguf {
        content: &'a Content,
        architecture: &'a str,
    },
}

impl<'a> Facts<'a> {
    /// Reads a `config.json`, in which some keys may have other names.
    pub(crate) const fn from_config(
        values: &'a Map<String, Value>,
        aliases: &'static [(&'static str, &'static str)],
        path: &'a str,
    ) -> Self {
        let source = Source::Config {
            values: Some(values),
            parent: "",
            aliases,
        };
        Self { source, path }
    }

    /// Reads GGUF metadata, in which the keys are prefixed with the architecture.
    pub(crate) const fn from_gguf(
        content: &'a Content,
        architecture: &'a str,
        path: &'a str,
    ) -> Self {
        let source = Source::Gguf {
            content,
            architecture,
        };
        Self { source, path }
    }

    /// Returns whether the values come from GGUF metadata.
    pub(crate) const fn is_gguf(&self) -> bool {
        matches!(self.source, Source::Gguf { .. })
    }

    /// Returns whether the file has a tensor of this name. Always false for a `config.json`.
    pub(crate) fn has_tensor(&self, name: &str) -> bool {
        match self.source {
            Source::Config { .. } => false,
            Source::Gguf { content, .. } => content.tensor_infos.contains_key(name),
        }
    }

    /// Returns the values in a nested object of a `config.json`. GGUF metadata is flat, so this
    /// returns the same values again.
    pub(crate) fn object(
        &self,
        name: &'static str,
        parent: &'static str,
    ) -> Result<Self, EngineError> {
        let Source::Config { values, .. } = self.source else {
            return Ok(*self);
        };
        let values = match values.and_then(|values| values.get(name)) {
            None | Some(Value::Null) => None,
            Some(Value::Object(values)) => Some(values),
            Some(_) => return Err(self.malformed(format!("{name} is not an object"))),
        };
        let source = Source::Config {
            values,
            parent,
            aliases: &[],
        };
        Ok(Self { source, ..*self })
    }

    /// Returns whether the nested object exists.
    pub(crate) const fn exists(&self) -> bool {
        !matches!(self.source, Source::Config { values: None, .. })
    }

    /// Returns whether the nested object exists and is not empty.
    pub(crate) fn has_values(&self) -> bool {
        match self.source {
            Source::Config { values, .. } => values.is_some_and(|values| !values.is_empty()),
            Source::Gguf { .. } => true,
        }
    }

    /// Returns a non-negative integer.
    pub(crate) fn size(&self, key: Key) -> Result<Option<usize>, EngineError> {
        self.typed(key, "a whole number", size_of)
    }

    /// Returns a non-negative integer, or an error if it is missing.
    pub(crate) fn required_size(&self, key: Key) -> Result<usize, EngineError> {
        self.size(key)?.ok_or_else(|| self.missing(key))
    }

    /// Returns a size that a `config.json` states for a single layer.
    pub(crate) fn size_in_layer(
        &self,
        layer: usize,
        name: &str,
    ) -> Result<Option<usize>, EngineError> {
        let Source::Config { values, .. } = self.source else {
            return Ok(None);
        };
        let layers = values.and_then(|values| values.get("per_layer_config"));
        let sizes = layers.and_then(|layers| layers.get(layer.to_string()));
        match sizes.and_then(|sizes| sizes.get(name)) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                let malformed = || {
                    let name = format!("per_layer_config.{layer}.{name}");
                    self.malformed(format!("{name} is not a whole number"))
                };
                size_of(value).ok_or_else(malformed).map(Some)
            }
        }
    }

    /// Returns a number.
    pub(crate) fn number(&self, key: Key) -> Result<Option<f32>, EngineError> {
        self.typed(key, "a number up to 3.4e38", number_of)
    }

    /// Returns a number, or an error if it is missing.
    pub(crate) fn required_number(&self, key: Key) -> Result<f32, EngineError> {
        self.number(key)?.ok_or_else(|| self.missing(key))
    }

    /// Returns a boolean.
    pub(crate) fn flag(&self, key: Key) -> Result<Option<bool>, EngineError> {
        self.typed(key, "true or false", Value::as_bool)
    }

    /// Returns a string.
    pub(crate) fn text(&self, key: Key) -> Result<Option<String>, EngineError> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        self.typed(key, "a string", text)
    }

    /// Returns a list of non-negative integers.
    pub(crate) fn sizes(&self, key: Key) -> Result<Option<Vec<usize>>, EngineError> {
        self.typed(key, "a list of whole numbers", |value| {
            list_of(value, size_of)
        })
    }

    /// Returns a list of numbers.
    pub(crate) fn numbers(&self, key: Key) -> Result<Option<Vec<f32>>, EngineError> {
        self.typed(key, "a list of numbers", |value| list_of(value, number_of))
    }

    /// Returns a list of numbers, which may be infinite.
    pub(crate) fn ends(&self, key: Key) -> Result<Option<Vec<f32>>, EngineError> {
        self.typed(key, "a list of numbers", |value| list_of(value, end_of))
    }

    /// Returns the ends of a range, which may be infinite.
    pub(crate) fn range(&self, key: Key) -> Result<Option<[f32; 2]>, EngineError> {
        self.typed(key, "a list of two numbers", |value| {
            match value.as_array()?.as_slice() {
                [low, high] => Some([end_of(low)?, end_of(high)?]),
                _ => None,
            }
        })
    }

    /// Returns a list of strings.
    pub(crate) fn texts(&self, key: Key) -> Result<Option<Vec<String>>, EngineError> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        self.typed(key, "a list of strings", |value| list_of(value, text))
    }

    /// Returns a list of booleans, which may be written as 1 and 0.
    pub(crate) fn flags(&self, key: Key) -> Result<Option<Vec<bool>>, EngineError> {
        let flag = |value: &Value| match value {
            Value::Bool(flag) => Some(*flag),
            number => number.as_u64().map(|number| number != 0),
        };
        self.typed(key, "a list of booleans", |value| list_of(value, flag))
    }

    /// Returns whether the value is a list. Some files write a single number instead.
    pub(crate) fn is_list(&self, key: Key) -> bool {
        self.value(key).is_some_and(|value| value.is_array())
    }

    /// Returns whether the file has the key, even if its value is null.
    pub(crate) fn mentions(&self, key: Key) -> bool {
        match self.source {
            Source::Config { values, .. } => {
                values.is_some_and(|values| values.contains_key(key.config))
            }
            Source::Gguf { .. } => self.value(key).is_some(),
        }
    }

    /// Returns an error saying that a required value is missing.
    pub(crate) fn missing(&self, key: Key) -> EngineError {
        self.malformed(format!("{} is missing", self.name(key)))
    }

    /// Returns an error saying that the configuration is malformed.
    pub(crate) fn malformed(&self, reason: String) -> EngineError {
        EngineError::malformed(self.what(), reason, self.path)
    }

    /// Returns an error saying that the model needs a feature that we don't support.
    pub(crate) fn unsupported(&self, feature: String) -> EngineError {
        EngineError::UnsupportedFeature {
            feature,
            path: self.path.to_owned(),
        }
    }

    /// Returns what to call the configuration in messages.
    const fn what(&self) -> &'static str {
        match self.source {
            Source::Config { .. } => "The model’s configuration",
            Source::Gguf { .. } => "The model’s metadata",
        }
    }

    /// Returns the full name of a value as spelled in the file.
    pub(crate) fn name(&self, key: Key) -> String {
        match self.source {
            Source::Config {
                parent, aliases, ..
            } => format!("{parent}{}", alias(aliases, key.config)),
            Source::Gguf { architecture, .. } if key.has_prefix => {
                format!("{architecture}.{}", key.gguf)
            }
            Source::Gguf { .. } => key.gguf.to_owned(),
        }
    }

    fn typed<T>(
        &self,
        key: Key,
        kind: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, EngineError> {
        match self.value(key) {
            None => Ok(None),
            Some(value) => match read(&value) {
                Some(value) => Ok(Some(value)),
                None => Err(self.malformed(format!("{} is not {kind}", self.name(key)))),
            },
        }
    }

    fn value(&self, key: Key) -> Option<Value> {
        match self.source {
            Source::Config {
                values, aliases, ..
            } => {
                let value = values?.get(alias(aliases, key.config))?;
                (!value.is_null()).then(|| value.clone())
            }
            Source::Gguf { .. } if key.gguf.is_empty() => None,
            Source::Gguf { content, .. } => content.metadata.get(&self.name(key)).map(json_of_gguf),
        }
    }
}

fn alias(aliases: &[(&'static str, &'static str)], name: &'static str) -> &'static str {
    let alias = aliases.iter().find(|(key, _)| *key == name);
    alias.map_or(name, |(_, alias)| alias)
}

fn size_of(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|size| usize::try_from(size).ok())
}

fn number_of(value: &Value) -> Option<f32> {
    let number = value.as_f64()? as f32;
    number.is_finite().then_some(number)
}

/// Returns a number, which may be infinite. JSON has no infinities: transformers writes them as
/// objects, and those of GGUF metadata become strings here.
fn end_of(value: &Value) -> Option<f32> {
    let infinity = value.get("__float__").unwrap_or(value);
    match infinity.as_str() {
        Some("Infinity" | "inf") => Some(f32::INFINITY),
        Some("-Infinity" | "-inf") => Some(f32::NEG_INFINITY),
        _ => number_of(value),
    }
}

fn list_of<T>(value: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(read).collect()
}

/// Converts a GGUF value to JSON. Infinities and NaNs become strings, so that they fail to parse as
/// numbers.
fn json_of_gguf(value: &GgufValue) -> Value {
    let number = |value: f64| match serde_json::Number::from_f64(value) {
        Some(number) => Value::Number(number),
        None => Value::String(value.to_string()),
    };
    match value {
        GgufValue::U8(value) => (*value).into(),
        GgufValue::I8(value) => (*value).into(),
        GgufValue::U16(value) => (*value).into(),
        GgufValue::I16(value) => (*value).into(),
        GgufValue::U32(value) => (*value).into(),
        GgufValue::I32(value) => (*value).into(),
        GgufValue::U64(value) => (*value).into(),
        GgufValue::I64(value) => (*value).into(),
        GgufValue::F32(value) => number(f64::from(*value)),
        GgufValue::F64(value) => number(*value),
        GgufValue::Bool(value) => (*value).into(),
        GgufValue::String(value) => value.as_str().into(),
        GgufValue::Array(values) => values.iter().map(json_of_gguf).collect(),
    }
}
