//! The tokens that end a text, as the configurations name them.

use serde::Deserialize;

use super::facts::{Facts, Key};
use crate::decoding::TokenId;
use crate::engine::EngineError;

/// One end token or several: both are written.
#[derive(Deserialize)]
#[serde(untagged)]
enum EndTokens {
    One(u32),
    Many(Vec<u32>),
}

/// The keys of a `generation_config.json` that matter here.
#[derive(Deserialize)]
struct GenerationConfig {
    eos_token_id: Option<EndTokens>,
}

/// The end tokens that a `generation_config.json` names.
pub fn end_tokens_of_generation_config(
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
            "The model's generation settings",
            error.to_string(),
            path,
        )),
    }
}

/// The end tokens that a `config.json` names. Those in GGUF metadata are the tokenizer's matter.
pub fn of_facts(facts: &Facts<'_>) -> Result<Vec<TokenId>, EngineError> {
    const END: Key = Key::config("eos_token_id");
    let ids = if facts.is_list(END) {
        facts.sizes(END)?.unwrap_or_default()
    } else {
        facts.size(END)?.into_iter().collect()
    };
    Ok(ids.into_iter().map(|id| TokenId(id as u32)).collect())
}
