//! What the files beside `tokenizer.json` add to a tokenizer: the texts of special tokens and the
//! chat template. Where they contradict each other, the file counts that counts in transformers
//! (5.24, `PreTrainedTokenizerBase._from_pretrained`), and a warning says so if that can change a
//! text.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::chat_template::{NamedTemplate, default_template};
use super::model_folder::ModelFolder;
use super::{ChatError, ChatTemplate, EngineError, Tokenizer};
use crate::json_words::json_words;

const WHAT: &str = "The tokenizer’s configuration";
const WHAT_MAP: &str = "The map of special tokens";
const WHAT_ADDED: &str = "The list of added tokens";

/// The optional files next to `tokenizer.json`. Every setting may be missing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TokenizerConfig {
    add_bos_token: Option<bool>,
    add_eos_token: Option<bool>,
    /// The added tokens by their ids.
    added_tokens_decoder: Option<BTreeMap<String, SpecialToken>>,
    /// The ids of `added_tokens.json`, which is older.
    #[serde(skip)]
    added_tokens: BTreeMap<String, u64>,
    /// Whether this comes from a folder, where a template writes a chat with all special tokens.
    #[serde(skip)]
    is_of_folder: bool,
    chat_template: Option<Templates>,
    bos_token: Option<SpecialToken>,
    cls_token: Option<SpecialToken>,
    eos_token: Option<SpecialToken>,
    mask_token: Option<SpecialToken>,
    pad_token: Option<SpecialToken>,
    sep_token: Option<SpecialToken>,
    unk_token: Option<SpecialToken>,
}

/// One template, or several with names.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Templates {
    One(String),
    Several(Vec<NamedTemplate>),
}

/// A special token: its text, or an object that contains it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum SpecialToken {
    Text(String),
    Token { content: String },
}

impl TokenizerConfig {
    /// Reads the files in a model's folder. A missing file is not an error.
    pub(super) fn of_folder(folder: ModelFolder<'_>) -> Result<Self, EngineError> {
        let mut config = match read(folder, "tokenizer_config.json")? {
            Some((json, path)) => serde_json::from_str(&json)
                .map_err(|error| EngineError::malformed(WHAT, json_words(&error), &path))?,
            None => Self::default(),
        };
        // Files with the newer list of added tokens don't need the older files.
        if config.added_tokens_decoder.is_none() {
            if let Some((json, path)) = read(folder, "special_tokens_map.json")? {
                config.replace_special_tokens(&json, &path)?;
            }
            if let Some((json, path)) = read(folder, "added_tokens.json")? {
                config.added_tokens = serde_json::from_str(&json).map_err(|error| {
                    EngineError::malformed(WHAT_ADDED, json_words(&error), &path)
                })?;
            }
        }
        if let Some((template, _)) = read(folder, "chat_template.jinja")? {
            config.chat_template = Some(Templates::One(template));
        }
        config.is_of_folder = true;
        Ok(config)
    }

    /// Takes the special tokens that a `special_tokens_map.json` names.
    fn replace_special_tokens(&mut self, json: &str, path: &str) -> Result<(), EngineError> {
        let map: Self = serde_json::from_str(json)
            .map_err(|error| EngineError::malformed(WHAT_MAP, json_words(&error), path))?;
        for (own, other) in [
            (&mut self.bos_token, map.bos_token),
            (&mut self.cls_token, map.cls_token),
            (&mut self.eos_token, map.eos_token),
            (&mut self.mask_token, map.mask_token),
            (&mut self.pad_token, map.pad_token),
            (&mut self.sep_token, map.sep_token),
            (&mut self.unk_token, map.unk_token),
        ] {
            if other.is_some() {
                *own = other;
            }
        }
        Ok(())
    }

    /// Sets how a chat begins, and adds a warning for each contradiction to `tokenizer.json`, which
    /// counts.
    pub(super) fn apply(&self, tokenizer: &mut Tokenizer) {
        if self.is_of_folder {
            tokenizer.leave_chats_to_template();
        }
        for warning in self.contradictions(tokenizer) {
            tokenizer.add_warning(warning);
        }
    }

    fn contradictions(&self, tokenizer: &Tokenizer) -> Vec<String> {
        let id = |token: &Option<SpecialToken>| tokenizer.token(token.as_ref()?.text());
        let ends = tokenizer.ends();
        let mut contradictions = Vec::new();
        for (key, asked, token, added) in [
            (
                "add_bos_token",
                self.add_bos_token,
                &self.bos_token,
                &ends.prefix,
            ),
            (
                "add_eos_token",
                self.add_eos_token,
                &self.eos_token,
                &ends.suffix,
            ),
        ] {
            let Some(token) = id(token) else { continue };
            let is_added = added.contains(&token);
            if asked.is_some_and(|asked| asked != is_added) {
                let does = if is_added { "adds" } else { "does not add" };
                contradictions.push(format!(
                    "tokenizer_config.json sets {key} to {}, but tokenizer.json {does} that \
                     token; as in transformers 5, tokenizer.json counts",
                    !is_added
                ));
            }
        }
        let listed = self.added_tokens_decoder.iter().flatten();
        let listed = listed.map(|(id, token)| (token.text(), id.parse().ok()));
        let older = self.added_tokens.iter();
        let older = older.map(|(text, id)| (text.as_str(), u32::try_from(*id).ok()));
        let differs = |(text, id): &(&str, Option<u32>)| {
            tokenizer
                .token(text)
                .is_none_or(|token| Some(token.0) != *id)
        };
        let differing: Vec<&str> = listed.chain(older).filter(differs).map(|it| it.0).collect();
        if let Some(first) = differing.first() {
            let others = match differing.len() {
                1 => String::new(),
                n => format!(" and {} more", n - 1),
            };
            contradictions.push(format!(
                "The tokenizer’s other files give {first:?}{others} an id that tokenizer.json does \
                 not; tokenizer.json counts"
            ));
        }
        contradictions
    }

    /// Parses the chat template. Returns `None` if the model has none.
    pub(super) fn chat_template(&self) -> Option<Result<ChatTemplate, ChatError>> {
        let template = match self.chat_template.as_ref()? {
            Templates::One(template) => Ok(template.as_str()),
            Templates::Several(templates) if templates.is_empty() => return None,
            Templates::Several(templates) => default_template(templates),
        };
        Some(template.and_then(|template| ChatTemplate::parse(template, self.special_tokens())))
    }

    fn special_tokens(&self) -> BTreeMap<String, String> {
        let tokens = [
            ("bos_token", &self.bos_token),
            ("cls_token", &self.cls_token),
            ("eos_token", &self.eos_token),
            ("mask_token", &self.mask_token),
            ("pad_token", &self.pad_token),
            ("sep_token", &self.sep_token),
            ("unk_token", &self.unk_token),
        ];
        tokens
            .into_iter()
            .filter_map(|(name, token)| {
                let text = token.as_ref()?.text().to_owned();
                Some((name.to_owned(), text))
            })
            .collect()
    }
}

impl SpecialToken {
    fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Token { content: text } => text,
        }
    }
}

/// Returns a file's text and its path, or `None` if there is no such file.
fn read(folder: ModelFolder<'_>, name: &str) -> Result<Option<(String, String)>, EngineError> {
    if !folder.has(name) {
        return Ok(None);
    }
    let path = folder.path_of(name);
    match String::from_utf8(folder.settings(name, WHAT)?) {
        Ok(text) => Ok(Some((text, path))),
        Err(_not_utf_8) => Err(EngineError::malformed(
            WHAT,
            "it is not text in UTF-8",
            &path,
        )),
    }
}
