//! What `tokenizer_config.json` and `chat_template.jinja` add to a tokenizer: how a text begins and
//! ends, and how a chat is written.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::chat_template::{Named, standard};
use super::{ChatError, ChatTemplate, EngineError, Tokenizer};

const WHAT: &str = "The tokenizer's configuration";

/// The files beside a `tokenizer.json`, as far as they are there.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct TokenizerConfig {
    add_bos_token: Option<bool>,
    add_eos_token: Option<bool>,
    chat_template: Option<Templates>,
    bos_token: Option<Sign>,
    cls_token: Option<Sign>,
    eos_token: Option<Sign>,
    mask_token: Option<Sign>,
    pad_token: Option<Sign>,
    sep_token: Option<Sign>,
    unk_token: Option<Sign>,
}

/// One template, or several by name.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Templates {
    One(String),
    Several(Vec<Named>),
}

/// A token by its text, or with all that is known of it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Sign {
    Text(String),
    Token { content: String },
}

impl TokenizerConfig {
    /// Reads what lies in a folder.
    pub fn of_folder(folder: &Path) -> Result<Self, EngineError> {
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

    /// Lets texts begin and end as the configuration says; where it is silent, the tokenizer knows.
    pub fn apply(&self, tokenizer: &mut Tokenizer) {
        let token = |sign: &Option<Sign>| tokenizer.token(sign.as_ref()?.text());
        let (begin, end) = (token(&self.bos_token), token(&self.eos_token));
        match (self.add_bos_token, begin) {
            (Some(true), Some(begin)) => tokenizer.set_prefix(vec![begin]),
            (Some(false), _) => tokenizer.set_prefix(Vec::new()),
            _ => {}
        }
        match (self.add_eos_token, end) {
            (Some(true), Some(end)) => tokenizer.set_suffix(vec![end]),
            (Some(false), _) => tokenizer.set_suffix(Vec::new()),
            _ => {}
        }
    }

    /// The chat template, of models that have one.
    pub fn chat_template(&self) -> Option<Result<ChatTemplate, ChatError>> {
        let template = match self.chat_template.as_ref()? {
            Templates::One(template) => Ok(template.as_str()),
            Templates::Several(templates) if templates.is_empty() => return None,
            Templates::Several(templates) => standard(templates),
        };
        Some(template.and_then(|template| ChatTemplate::parse(template, self.special_tokens())))
    }

    fn special_tokens(&self) -> BTreeMap<String, String> {
        let signs = [
            ("bos_token", &self.bos_token),
            ("cls_token", &self.cls_token),
            ("eos_token", &self.eos_token),
            ("mask_token", &self.mask_token),
            ("pad_token", &self.pad_token),
            ("sep_token", &self.sep_token),
            ("unk_token", &self.unk_token),
        ];
        signs
            .into_iter()
            .filter_map(|(name, sign)| {
                let text = sign.as_ref()?.text().to_owned();
                Some((name.to_owned(), text))
            })
            .collect()
    }
}

impl Sign {
    fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Token { content: text } => text,
        }
    }
}

/// A file's text and its path, where it is there.
fn read(path: &Path) -> Result<Option<(String, String)>, EngineError> {
    let name = path.display().to_string();
    if !path.is_file() {
        return Ok(None);
    }
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some((text, name))),
        Err(source) => Err(EngineError::FileUnreadable {
            what: WHAT,
            source,
            path: name,
        }),
    }
}
