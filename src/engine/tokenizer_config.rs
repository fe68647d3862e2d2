//! What `tokenizer_config.json` and `chat_template.jinja` add to a tokenizer: the tokens that begin
//! and end a text, and the chat template.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::chat_template::{NamedTemplate, default_template};
use super::small_file::read_settings;
use super::{ChatError, ChatTemplate, EngineError, Tokenizer};

const WHAT: &str = "The tokenizer's configuration";

/// The optional files next to `tokenizer.json`. Every setting may be missing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TokenizerConfig {
    add_bos_token: Option<bool>,
    add_eos_token: Option<bool>,
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
    pub(super) fn of_folder(folder: &Path) -> Result<Self, EngineError> {
        let mut config = match read(&folder.join("tokenizer_config.json"))? {
            Some((json, path)) => serde_json::from_str(&json)
                .map_err(|error| EngineError::malformed(WHAT, error.to_string(), &path))?,
            None => Self::default(),
        };
        if let Some((template, _)) = read(&folder.join("chat_template.jinja"))? {
            config.chat_template = Some(Templates::One(template));
        }
        Ok(config)
    }

    /// Sets the tokens that begin and end a text. If the configuration does not mention them, those
    /// of the tokenizer stay.
    pub(super) fn apply(&self, tokenizer: &mut Tokenizer) {
        let id = |token: &Option<SpecialToken>| tokenizer.token(token.as_ref()?.text());
        let (bos, eos) = (id(&self.bos_token), id(&self.eos_token));
        match (self.add_bos_token, bos) {
            (Some(true), Some(bos)) => tokenizer.set_prefix(vec![bos]),
            (Some(false), _) => tokenizer.set_prefix(Vec::new()),
            _ => {}
        }
        match (self.add_eos_token, eos) {
            (Some(true), Some(eos)) => tokenizer.set_suffix(vec![eos]),
            (Some(false), _) => tokenizer.set_suffix(Vec::new()),
            _ => {}
        }
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
fn read(path: &Path) -> Result<Option<(String, String)>, EngineError> {
    let name = path.display().to_string();
    if !path.is_file() {
        return Ok(None);
    }
    match String::from_utf8(read_settings(path, WHAT)?) {
        Ok(text) => Ok(Some((text, name))),
        Err(error) => Err(EngineError::malformed(WHAT, error.to_string(), &name)),
    }
}
