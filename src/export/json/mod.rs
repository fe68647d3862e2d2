//! The run file: the complete record as readable JSON.
//!
//! Fields may be added within a format version; readers ignore unknown fields. A change that an
//! older reader would misinterpret increments the version, and this module keeps reading older
//! versions. Format 1:
//!
//! | field | meaning |
//! | --- | --- |
//! | `format_version` | 1 |
//! | `quartet` | the version of the program that wrote the file |
//! | `model` | name, architecture, `n_params`, quantization, device, `n_threads` if that is the CPU, `n_vocab`, `n_context`, file, `sha256`; `implementation` if it is not our own decoder |
//! | `prompt` | `text`, and `tokens`, each with `id` and piece; for a chat message also `chat` |
//! | `panes` | one entry per generation |
//!
//! `chat` is present if the text is a message that the model answers: `rendered` is the chat
//! template's output, which the model read, and `system` is the system prompt.
//!
//! A pane:
//!
//! | field | meaning |
//! | --- | --- |
//! | `name` | the pane's name |
//! | `model`, `prompt` | only if they differ from those of the file |
//! | `settings` | `summary`, `stages`, `selector`, `seed`, `max_new_tokens`, `stop_strings`, `end_of_text`, and the selector's parameters; `rules` if edge cases differ from ours, `dialect` if the chain follows another engine |
//! | `finish_reason` | `end_of_text`, `stop_string`, `max_tokens`, `context_full`, `cancelled`, `error`; null while running |
//! | `finish_detail` | the stop sequence that was reached, or the error message |
//! | `text` | the generated text, without special tokens and without the stop sequence |
//! | `metrics` | computed from the rest: token counts, seconds, tokens per second |
//! | `timings` | `n_prefilled` prompt tokens were prefilled in `prefill_secs`; the others were in the KV cache |
//! | `steps` | one entry per token |
//!
//! A step:
//!
//! | field | meaning |
//! | --- | --- |
//! | `token` | the token id |
//! | `piece` | its text; invalid UTF-8 becomes U+FFFD, and then `bytes` contains all bytes |
//! | `special` | true for a special token such as `</s>`; omitted otherwise |
//! | `raw_prob`, `rank` | its probability and rank before the chain |
//! | `final_prob` | the probability with which it was picked: the one after the chain, or 1 if the most likely token is always taken |
//! | `coin`, `coin_below` | the coin in [0, 1), or null if none is tossed; the total probability of the tokens before it on the coin bar |
//! | `n_kept` | how many tokens the draw could have picked: 1 if the most likely token is always taken |
//! | `entropy_nats`, `log_sum_exp`, `n_candidates` | of the distribution before the chain |
//! | `candidates` | the most likely tokens before the chain: `token`, piece, `logit`, `raw_prob`, `final_prob` (null if cut) |
//! | `stages` | the effect of each stage: `filter` and its parameters, `n_kept`, `mass_removed`, `entropy_nats`, and `probs`, the probabilities of `candidates` after it |
//! | `survivors` | the most likely tokens after the chain: `token`, piece, `logit`, `prob` |
//! | `time` | `at_secs` since the request, `forward_secs`, `n_batch` sequences in that forward pass |
//!
//! Probabilities are between 0 and 1, entropies are in nats, ranks count from 1. A logit of −∞ is
//! null.

mod layout;
mod pane;
mod step;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::layout::Layout;
use self::pane::{Pane, Prompt};
use super::runs::same_run;
use crate::generation::{Generation, ModelInfo};

/// The current format version, which is the one that is written.
pub const FORMAT_VERSION: u32 = 1;

/// Why a run file can't be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Not JSON, or a field is missing or has the wrong type.
    #[error("this is not a Quartet run file: {message}")]
    Unreadable {
        /// The JSON error, with line and column.
        message: String,
    },

    /// A newer version of the program wrote the file.
    #[error(
        "this file has format {version}, but this version of Quartet only reads up to format \
         {FORMAT_VERSION}; update Quartet to open it"
    )]
    TooNew { version: u32 },

    /// A token id is larger than any vocabulary.
    #[error("this file is damaged: token id {id} is out of range")]
    UnknownToken { id: u32 },
}

#[derive(Serialize, Deserialize)]
struct RunFile {
    format_version: u32,
    quartet: String,
    model: Option<ModelInfo>,
    prompt: Option<Prompt>,
    panes: Vec<Pane>,
}

/// Renders the generations as a run file.
pub(super) fn render(generations: &[&Generation]) -> Vec<u8> {
    let first = generations.first();
    let panes = generations
        .iter()
        .map(|generation| {
            let shared = first.is_some_and(|first| same_run(first, generation));
            Pane::of(generation, shared)
        })
        .collect();
    let file = RunFile {
        format_version: FORMAT_VERSION,
        quartet: env!("CARGO_PKG_VERSION").to_owned(),
        model: first.map(|first| (*first.model).clone()),
        prompt: first.map(|first| Prompt::of(&first.prompt)),
        panes,
    };
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Layout::default());
    // Serializing plain data with string keys to memory can't fail.
    file.serialize(&mut serializer).ok();
    bytes.push(b'\n');
    bytes
}

/// Loads the generations of a run file, in any format version up to the current one.
///
/// Their vocabularies contain only the tokens that occur in the file.
pub fn parse(bytes: &[u8]) -> Result<Vec<Generation>, ParseError> {
    #[derive(Deserialize)]
    struct Head {
        format_version: u32,
    }

    let Head { format_version } = serde_json::from_slice(bytes).map_err(unreadable)?;
    if format_version > FORMAT_VERSION {
        return Err(ParseError::TooNew {
            version: format_version,
        });
    }
    let file: RunFile = serde_json::from_slice(bytes).map_err(unreadable)?;
    let model = Arc::new(file.model.unwrap_or_default());
    let prompt = file.prompt.unwrap_or_default();
    file.panes
        .into_iter()
        .map(|pane| pane.into_generation(&model, &prompt))
        .collect()
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the signature that map_err requires"
)]
fn unreadable(error: serde_json::Error) -> ParseError {
    ParseError::Unreadable {
        message: error.to_string(),
    }
}
