//! Finds a model's chat template among those in its files.

use std::collections::BTreeMap;

use candle_core::quantized::gguf_file::{Content, Value};
use serde::Deserialize;

use super::{ChatError, ChatTemplate};
use crate::engine::gguf_tokenizer::Metadata;

const KEY: &str = "tokenizer.chat_template";

/// One of several templates of a model.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct NamedTemplate {
    /// Its purpose, such as "default" or "`tool_use`".
    pub name: String,
    /// The Jinja source.
    pub template: String,
}

/// Returns the template for chats without tools or documents: the one named "default", or the only
/// one.
pub(crate) fn default_template(templates: &[NamedTemplate]) -> Result<&str, ChatError> {
    let default = templates.iter().find(|named| named.name == "default");
    match (default, templates) {
        (Some(named), _) | (None, [named]) => Ok(&named.template),
        _ => {
            let names: Vec<&str> = templates.iter().map(|named| named.name.as_str()).collect();
            let names = names.join(", ");
            Err(ChatError::NoDefault { names })
        }
    }
}

/// Parses the chat template in the metadata of a GGUF file. Returns `None` if it has none.
pub(crate) fn of_gguf(content: &Content) -> Option<Result<ChatTemplate, ChatError>> {
    let metadata = Metadata::new(content);
    if let Some(template) = metadata.text(KEY) {
        return Some(ChatTemplate::parse(template, special_tokens(&metadata)));
    }
    let names = metadata.list("tokenizer.chat_templates")?;
    let named = |name: &Value| match name {
        Value::String(name) => Some(NamedTemplate {
            name: name.clone(),
            template: metadata.text(&format!("{KEY}.{name}"))?.to_owned(),
        }),
        _ => None,
    };
    let templates: Vec<NamedTemplate> = names.iter().filter_map(named).collect();
    if templates.is_empty() {
        return None;
    }
    let template = default_template(&templates);
    Some(template.and_then(|template| ChatTemplate::parse(template, special_tokens(&metadata))))
}

/// Returns the texts of the special tokens that a template may name, from the file's vocabulary.
fn special_tokens(metadata: &Metadata<'_>) -> BTreeMap<String, String> {
    let Some(tokens) = metadata.list("tokenizer.ggml.tokens") else {
        return BTreeMap::new();
    };
    let names = [
        ("bos_token", "bos"),
        ("cls_token", "cls"),
        ("eos_token", "eos"),
        ("mask_token", "mask"),
        ("pad_token", "padding"),
        // The misspelling is part of the format.
        ("sep_token", "seperator"),
        ("unk_token", "unknown"),
    ];
    names
        .into_iter()
        .filter_map(|(name, key)| {
            let id = metadata.number(&format!("tokenizer.ggml.{key}_token_id"))?;
            match tokens.get(usize::try_from(id).ok()?)? {
                Value::String(text) => Some((name.to_owned(), text.clone())),
                _ => None,
            }
        })
        .collect()
}
