//! What a model's file says of it, asked for in one way for both formats.

use candle_core::quantized::gguf_file::{Content, Value as GgufValue};
use serde_json::{Map, Value};

use crate::engine::EngineError;

/// A fact's name in each format.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// In a `config.json`; empty where that does not have it.
    config: &'static str,
    /// In GGUF metadata, without the architecture in front; empty where that does not have it.
    gguf: &'static str,
}

impl Key {
    /// A fact that both formats can hold.
    pub const fn new(config: &'static str, gguf: &'static str) -> Self {
        Self { config, gguf }
    }

    /// A fact that only a `config.json` holds.
    pub const fn config(name: &'static str) -> Self {
        Self::new(name, "")
    }

    /// A fact that only GGUF metadata hold.
    pub const fn gguf(name: &'static str) -> Self {
        Self::new("", name)
    }
}

/// What a file says of a model.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    source: Source<'a>,
    /// The file, for messages.
    path: &'a str,
}

#[derive(Clone, Copy)]
enum Source<'a> {
    Config {
        /// `None` for an object that is not there.
        values: Option<&'a Map<String, Value>>,
        /// The names of the objects around it, for messages: `rope_scaling.`.
        parent: &'static str,
        /// What this family calls a key: `hidden_size` is `n_embd` in GPT-2.
        aliases: &'static [(&'static str, &'static str)],
    },
    Gguf {
        content: &'a Content,
        architecture: &'a str,
    },
}

impl<'a> Facts<'a> {
    /// Those of a `config.json`, in which some keys have other names.
    pub const fn of_config(
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

    /// Those of GGUF metadata, whose keys begin with the architecture.
    pub const fn of_gguf(content: &'a Content, architecture: &'a str, path: &'a str) -> Self {
        let source = Source::Gguf {
            content,
            architecture,
        };
        Self { source, path }
    }

    /// Whether they come from GGUF metadata.
    pub const fn are_gguf(&self) -> bool {
        matches!(self.source, Source::Gguf { .. })
    }

    /// Whether the file has a tensor of this name; only GGUF metadata can tell.
    pub fn has_tensor(&self, name: &str) -> bool {
        match self.source {
            Source::Config { .. } => false,
            Source::Gguf { content, .. } => content.tensor_infos.contains_key(name),
        }
    }

    /// What stands in an object of a `config.json`, where it is there. GGUF metadata have no
    /// objects: there it is the same facts again.
    pub fn object(&self, name: &'static str, parent: &'static str) -> Result<Self, EngineError> {
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

    /// Whether they come from an object that is there.
    pub const fn exist(&self) -> bool {
        !matches!(self.source, Source::Config { values: None, .. })
    }

    /// A whole number.
    pub fn size(&self, key: Key) -> Result<Option<usize>, EngineError> {
        self.typed(key, "one whole number", size_of)
    }

    /// A whole number without which there is no model.
    pub fn required_size(&self, key: Key) -> Result<usize, EngineError> {
        self.size(key)?.ok_or_else(|| self.missing(key))
    }

    /// A number.
    pub fn number(&self, key: Key) -> Result<Option<f32>, EngineError> {
        self.typed(key, "a number", number_of)
    }

    /// A number without which there is no model.
    pub fn required_number(&self, key: Key) -> Result<f32, EngineError> {
        self.number(key)?.ok_or_else(|| self.missing(key))
    }

    /// True or false.
    pub fn flag(&self, key: Key) -> Result<Option<bool>, EngineError> {
        self.typed(key, "true or false", Value::as_bool)
    }

    /// A text.
    pub fn text(&self, key: Key) -> Result<Option<String>, EngineError> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        self.typed(key, "a text", text)
    }

    /// Several whole numbers.
    pub fn sizes(&self, key: Key) -> Result<Option<Vec<usize>>, EngineError> {
        self.typed(key, "a list of whole numbers", |value| {
            list_of(value, size_of)
        })
    }

    /// Several numbers.
    pub fn numbers(&self, key: Key) -> Result<Option<Vec<f32>>, EngineError> {
        self.typed(key, "a list of numbers", |value| list_of(value, number_of))
    }

    /// Several texts.
    pub fn texts(&self, key: Key) -> Result<Option<Vec<String>>, EngineError> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        self.typed(key, "a list of texts", |value| list_of(value, text))
    }

    /// Several times true or false, also written as 1 and 0.
    pub fn flags(&self, key: Key) -> Result<Option<Vec<bool>>, EngineError> {
        let flag = |value: &Value| match value {
            Value::Bool(flag) => Some(*flag),
            number => number.as_u64().map(|number| number != 0),
        };
        self.typed(key, "a list of true and false", |value| {
            list_of(value, flag)
        })
    }

    /// Whether the fact is a list, for those that some files write as one number.
    pub fn is_list(&self, key: Key) -> bool {
        self.value(key).is_some_and(|value| value.is_array())
    }

    /// Whether a `config.json` has the key, if only to say that there is nothing behind it.
    pub fn mentions(&self, key: Key) -> bool {
        match self.source {
            Source::Config { values, .. } => {
                values.is_some_and(|values| values.contains_key(key.config))
            }
            Source::Gguf { .. } => self.value(key).is_some(),
        }
    }

    /// A fact that must be there is not.
    pub fn missing(&self, key: Key) -> EngineError {
        self.malformed(format!("{} is missing", self.name(key)))
    }

    /// The file can't be understood.
    pub fn malformed(&self, reason: String) -> EngineError {
        EngineError::malformed(self.what(), reason, self.path)
    }

    /// The model needs something that the decoder lacks.
    pub fn unsupported(&self, feature: String) -> EngineError {
        EngineError::FeatureMissing {
            feature,
            path: self.path.to_owned(),
        }
    }

    /// What the facts are, for messages.
    const fn what(&self) -> &'static str {
        match self.source {
            Source::Config { .. } => "The model's configuration",
            Source::Gguf { .. } => "The model's metadata",
        }
    }

    /// The full name of a fact, as the file writes it.
    pub fn name(&self, key: Key) -> String {
        match self.source {
            Source::Config {
                parent, aliases, ..
            } => format!("{parent}{}", alias(aliases, key.config)),
            Source::Gguf { architecture, .. } => format!("{architecture}.{}", key.gguf),
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
    value.as_f64().map(|number| number as f32)
}

fn list_of<T>(value: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(read).collect()
}

/// JSON knows no infinity and no NaN; those become text, so that no number is read from them.
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
