//! Where chat templates come from.

use std::collections::BTreeMap;

use candle_core::quantized::gguf_file::{Content, Value};
use serde::Deserialize;

use super::{ChatError, ChatTemplate};
use crate::engine::gguf_tokenizer::Metadata;

const KEY: &str = "tokenizer.chat_template";

/// A template among several.
#[derive(Debug, Clone, Deserialize)]
pub struct Named {
    /// What it is for: "default", "`tool_use`".
    pub name: String,
    /// Its Jinja.
    pub template: String,
}

/// The template that is for chats without tools or documents.
pub fn standard(templates: &[Named]) -> Result<&str, ChatError> {
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

/// The template of a GGUF file that has one.
pub fn of_gguf(content: &Content) -> Option<Result<ChatTemplate, ChatError>> {
    let metadata = Metadata::new(content);
    if let Some(template) = metadata.text(KEY) {
        return Some(ChatTemplate::parse(template, special_tokens(&metadata)));
    }
    let names = metadata.list("tokenizer.chat_templates")?;
    let named = |name: &Value| match name {
        Value::String(name) => Some(Named {
            name: name.clone(),
            template: metadata.text(&format!("{KEY}.{name}"))?.to_owned(),
        }),
        _ => None,
    };
    let templates: Vec<Named> = names.iter().filter_map(named).collect();
    if templates.is_empty() {
        return None;
    }
    let template = standard(&templates);
    Some(template.and_then(|template| ChatTemplate::parse(template, special_tokens(&metadata))))
}

/// The signs that a template may write by name, as the file's list of tokens writes them.
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
        // The misspelling is the format's.
        ("sep_token", "seperator"),
        ("unk_token", "unknown"),
    ];
    names
        .into_iter()
        .filter_map(|(name, sign)| {
            let id = metadata.number(&format!("tokenizer.ggml.{sign}_token_id"))?;
            match tokens.get(usize::try_from(id).ok()?)? {
                Value::String(text) => Some((name.to_owned(), text.clone())),
                _ => None,
            }
        })
        .collect()
}
