//! What the metadata says of tokens: their texts, kinds and scores, and which of them frame a text.
//!
//! The keys and numbers are those of the GGUF specification and of llama.cpp. Every fault is a
//! sentence without a full stop, to be put into an error by the caller.

use std::borrow::Cow;
use std::collections::HashMap;

use candle_core::quantized::gguf_file::{Content, Value};

use crate::decoding::TokenId;
use crate::engine::tokenizer::Ends;

/// What a token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A part of texts that merges lead to.
    Normal,
    /// The sign for what has no token.
    Unknown,
    /// A sign for the model.
    Control,
    /// Text that is never split.
    UserDefined,
    /// One byte.
    Byte,
}

/// A token as the file lists it.
#[derive(Debug, Clone)]
pub(super) struct Entry<'a> {
    pub text: Cow<'a, str>,
    pub kind: Kind,
    /// How early a merge leads to it: higher is earlier.
    pub score: f32,
}

/// The metadata of a GGUF file, read by key.
pub struct Metadata<'a>(&'a HashMap<String, Value>);

impl<'a> Metadata<'a> {
    pub const fn new(content: &'a Content) -> Self {
        Self(&content.metadata)
    }

    pub fn text(&self, key: &str) -> Option<&'a str> {
        match self.0.get(key) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    pub fn flag(&self, key: &str) -> Option<bool> {
        match self.0.get(key) {
            Some(Value::Bool(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// A whole number of any width; one below zero stands for none.
    pub fn number(&self, key: &str) -> Option<u64> {
        self.0.get(key).and_then(whole)
    }

    pub fn list(&self, key: &str) -> Option<&'a [Value]> {
        match self.0.get(key) {
            Some(Value::Array(values)) => Some(values),
            _ => None,
        }
    }

    /// The texts of a list.
    pub fn texts(&self, key: &str) -> Result<Vec<&'a str>, String> {
        let values = self.list(key).ok_or_else(|| format!("{key} is missing"))?;
        let text = |(index, value): (usize, &'a Value)| match value {
            Value::String(text) => Ok(text.as_str()),
            _ => Err(format!("entry {index} of {key} is not a text")),
        };
        values.iter().enumerate().map(text).collect()
    }

    /// The tokens, in the order of their ids. No two have the same text.
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
            // An empty text would be found everywhere.
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

    /// A list with one value for each token; it may be missing.
    fn column(&self, key: &str, n_tokens: usize) -> Result<Option<&'a [Value]>, String> {
        match self.list(key) {
            Some(values) if values.len() != n_tokens => Err(format!(
                "{key} has {} entries for {n_tokens} tokens",
                values.len()
            )),
            values => Ok(values),
        }
    }

    /// What stands in front of every text and after it. `begins` holds where the file is silent.
    pub(super) fn ends(&self, entries: &[Entry<'_>], begins: bool) -> Result<Ends, String> {
        let end = |sign: &str, wanted: bool| {
            let wanted = self
                .flag(&format!("tokenizer.ggml.add_{sign}_token"))
                .unwrap_or(wanted);
            let key = format!("tokenizer.ggml.{sign}_token_id");
            let id = self.number(&key).and_then(|id| usize::try_from(id).ok());
            match id {
                Some(id) if id >= entries.len() => Err(format!(
                    "{key} is {id}, but there are {} tokens",
                    entries.len()
                )),
                None if wanted => Err(format!(
                    "it puts a token at an end of each text, but {key} is missing"
                )),
                id => Ok(id.filter(|_| wanted).map(|id| TokenId(id as u32))),
            }
        };
        Ok(Ends {
            prefix: end("bos", begins)?.into_iter().collect(),
            suffix: end("eos", false)?.into_iter().collect(),
        })
    }
}

fn kind(value: &Value) -> Kind {
    match whole(value) {
        Some(2) => Kind::Unknown,
        Some(3) => Kind::Control,
        Some(4) => Kind::UserDefined,
        Some(6) => Kind::Byte,
        // 5 is a token that no text leads to; it is text where it turns up all the same.
        _ => Kind::Normal,
    }
}

fn whole(value: &Value) -> Option<u64> {
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

/// A score that is no number says nothing.
fn score(value: &Value) -> f32 {
    match *value {
        // A negative zero would count as less than zero.
        Value::F32(score) if !score.is_nan() => score + 0.0,
        Value::F64(score) if !score.is_nan() => score as f32 + 0.0,
        Value::I32(score) => score as f32,
        _ => 0.0,
    }
}
