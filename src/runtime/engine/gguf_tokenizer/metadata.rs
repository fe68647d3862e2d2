//! Reads the tokens from GGUF metadata: their texts, kinds and scores, and which ones are added to
//! each text.
//!
//! The keys and numbers follow the GGUF specification and llama.cpp. Errors are strings, which the
//! caller wraps in an `EngineError`.

use std::borrow::Cow;
use std::collections::HashMap;

use candle_core::quantized::gguf_file::{Content, Value};

use crate::decoding::TokenId;
use crate::engine::tokenizer::Ends;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A piece of text that merges produce.
    Normal,
    /// Stands for text without a token.
    Unknown,
    /// A special token, such as the end of a text.
    Control,
    /// A piece of text that is never split.
    UserDefined,
    /// A single byte.
    Byte,
}

/// A token in the file.
#[derive(Debug, Clone)]
pub(super) struct Entry<'a> {
    pub text: Cow<'a, str>,
    pub kind: Kind,
    /// The priority of the merge that produces it. Higher scores are merged earlier.
    pub score: f32,
}

/// The metadata of a GGUF file, read by key.
pub(crate) struct Metadata<'a>(&'a HashMap<String, Value>);

impl<'a> Metadata<'a> {
    pub(crate) const fn new(content: &'a Content) -> Self {
        Self(&content.metadata)
    }

    pub(crate) fn text(&self, key: &str) -> Option<&'a str> {
        match self.0.get(key) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        match self.0.get(key) {
            Some(Value::Bool(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// Returns an integer of any width, or `None` if it is negative.
    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.0.get(key).and_then(integer)
    }

    pub(crate) fn list(&self, key: &str) -> Option<&'a [Value]> {
        match self.0.get(key) {
            Some(Value::Array(values)) => Some(values),
            _ => None,
        }
    }

    /// Returns a list of strings, or an error if it is missing or contains anything else.
    pub(crate) fn texts(&self, key: &str) -> Result<Vec<&'a str>, String> {
        let values = self.list(key).ok_or_else(|| format!("{key} is missing"))?;
        let text = |(index, value): (usize, &'a Value)| match value {
            Value::String(text) => Ok(text.as_str()),
            _ => Err(format!("entry {index} of {key} is not a string")),
        };
        values.iter().enumerate().map(text).collect()
    }

    /// Returns the tokens in the order of their ids. Fails if two have the same text.
    pub(super) fn entries(&self) -> Result<Vec<Entry<'a>>, String> {
        let texts = self.texts("tokenizer.ggml.tokens")?;
        if texts.is_empty() {
            return Err("it has no tokens".to_owned());
        }
        let kinds = self.column("tokenizer.ggml.token_type", texts.len())?;
        let scores = self.column("tokenizer.ggml.scores", texts.len())?;
        let mut ids = HashMap::new();
        let mut entries = Vec::with_capacity(texts.len());
        for (id, text) in texts.into_iter().enumerate() {
            // An empty text would match everywhere.
            let text = match text {
                "" => Cow::Owned(format!("[EMPTY_{id}]")),
                text => Cow::Borrowed(text),
            };
            if let Some(first) = ids.insert(text.clone(), id) {
                return Err(format!("its tokens {first} and {id} are both {text:?}"));
            }
            entries.push(Entry {
                text,
                kind: kinds
                    .and_then(|kinds| kinds.get(id))
                    .map_or(Kind::Normal, kind),
                score: scores.and_then(|scores| scores.get(id)).map_or(0.0, score),
            });
        }
        Ok(entries)
    }

    /// Returns a list with one value per token, or `None` if it is missing.
    fn column(&self, key: &str, n_tokens: usize) -> Result<Option<&'a [Value]>, String> {
        match self.list(key) {
            Some(values) if values.len() != n_tokens => Err(format!(
                "{key} has {} entries for {n_tokens} tokens",
                values.len()
            )),
            values => Ok(values),
        }
    }

    /// Returns the tokens to add before and after each text. `adds_bos` says whether to add the
    /// beginning-of-text token if the file does not.
    pub(super) fn ends(&self, entries: &[Entry<'_>], adds_bos: bool) -> Result<Ends, String> {
        let end = |name: &str, wanted: bool| {
            let wanted = self
                .flag(&format!("tokenizer.ggml.add_{name}_token"))
                .unwrap_or(wanted);
            let key = format!("tokenizer.ggml.{name}_token_id");
            let id = self.number(&key).and_then(|id| usize::try_from(id).ok());
            match id {
                Some(id) if id >= entries.len() => Err(format!(
                    "{key} is {id}, but there are {} tokens",
                    entries.len()
                )),
                None if wanted => Err(format!(
                    "it adds the {name} token to each text, but {key} is missing"
                )),
                id => Ok(id.filter(|_| wanted).map(|id| TokenId(id as u32))),
            }
        };
        Ok(Ends {
            prefix: end("bos", adds_bos)?.into_iter().collect(),
            suffix: end("eos", false)?.into_iter().collect(),
        })
    }
}

fn kind(value: &Value) -> Kind {
    match integer(value) {
        Some(2) => Kind::Unknown,
        Some(3) => Kind::Control,
        Some(4) => Kind::UserDefined,
        Some(6) => Kind::Byte,
        // Type 5 is an unused token, which counts as text if it occurs.
        _ => Kind::Normal,
    }
}

fn integer(value: &Value) -> Option<u64> {
    match *value {
        Value::U8(number) => Some(number.into()),
        Value::I8(number) => number.try_into().ok(),
        Value::U16(number) => Some(number.into()),
        Value::I16(number) => number.try_into().ok(),
        Value::U32(number) => Some(number.into()),
        Value::I32(number) => number.try_into().ok(),
        Value::U64(number) => Some(number),
        Value::I64(number) => number.try_into().ok(),
        _ => None,
    }
}

/// Reads a score. NaN and other types count as 0.
fn score(value: &Value) -> f32 {
    match *value {
        // Adding 0 turns -0 into 0, which would otherwise sort lower.
        Value::F32(score) if !score.is_nan() => score + 0.0,
        Value::F64(score) if !score.is_nan() => score as f32 + 0.0,
        Value::I32(score) => score as f32,
        _ => 0.0,
    }
}
