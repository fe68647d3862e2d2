//! Reads the end-of-text tokens from the configuration files.

use serde::Deserialize;

use super::facts::{Facts, Key};
use crate::decoding::TokenId;
use crate::engine::EngineError;
use crate::json_words::json_words;

/// The file may list one token or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum EndTokens {
    One(u32),
    Many(Vec<u32>),
}

/// The relevant key of a `generation_config.json`.
#[derive(Deserialize)]
struct GenerationConfig {
    eos_token_id: Option<EndTokens>,
}

/// Returns the end-of-text tokens in a `generation_config.json`.
pub(crate) fn end_tokens_of_generation_config(
    json: &[u8],
    path: &str,
) -> Result<Vec<TokenId>, EngineError> {
    match serde_json::from_slice::<GenerationConfig>(json) {
        Ok(config) => Ok(match config.eos_token_id {
            None => Vec::new(),
            Some(EndTokens::One(id)) => vec![TokenId(id)],
            Some(EndTokens::Many(ids)) => ids.into_iter().map(TokenId).collect(),
        }),
        Err(error) => Err(EngineError::malformed(
            "The model’s generation settings",
            json_words(&error),
            path,
        )),
    }
}

/// Returns the end-of-text tokens in a `config.json`. In GGUF, they are part of the tokenizer's
/// metadata.
pub(crate) fn of_facts(facts: &Facts<'_>) -> Result<Vec<TokenId>, EngineError> {
    const END: Key = Key::config("eos_token_id");
    let ids = if facts.is_list(END) {
        facts.sizes(END)?.unwrap_or_default()
    } else {
        facts.size(END)?.into_iter().collect()
    };
    let token = |id| match u32::try_from(id) {
        Ok(id) => Ok(TokenId(id)),
        Err(_) => Err(facts.malformed(format!("{} contains {id}", facts.name(END)))),
    };
    ids.into_iter().map(token).collect()
}
