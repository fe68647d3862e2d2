//! The run file: everything that was recorded, as JSON that people can read and programs keep.
//!
//! Fields may be added within a version; readers pass over what they do not know. A change that an
//! older reader would misread takes the next number, and this module goes on reading the old one.
//! Format 1:
//!
//! | field | meaning |
//! | --- | --- |
//! | `format_version` | 1 |
//! | `quartet` | the version of the program that wrote the file |
//! | `model` | name, architecture, `n_params`, quantization, device, `n_threads` where that is the processor, `n_vocab`, `n_context`, file, `sha256`; `implementation` where it is not our own decoder |
//! | `prompt` | `text`, and `tokens`, each with `id` and piece; of a chat also `chat` |
//! | `panes` | one entry for each generation |
//!
//! `chat` is there where the text is a message that the model answers: `rendered` is what its chat
//! template made of it, which is what was read, and `system` how the model was to behave.
//!
//! A pane:
//!
//! | field | meaning |
//! | --- | --- |
//! | `name` | as the pane was called |
//! | `model`, `prompt` | only where they differ from those of the file |
//! | `settings` | `summary`, `stages`, `selector`, `seed`, `max_new_tokens`, `stop_strings`, `end_of_text`, and the selector's numbers; `rules` where small print differs from ours, `dialect` where a chain follows another engine |
//! | `finish_reason` | `end_of_text`, `stop_string`, `max_tokens`, `context_full`, `cancelled`, `error`; null while writing |
//! | `finish_detail` | the stop string that was met, or the error's sentence |
//! | `text` | what was written, without special tokens and without the stop string |
//! | `metrics` | figures computed from the rest: counts, seconds, tokens a second |
//! | `timings` | `n_prefilled` prompt tokens were read for it, in `prefill_secs`; the others were in the cache |
//! | `steps` | one entry for each token |
//!
//! A step:
//!
//! | field | meaning |
//! | --- | --- |
//! | `token` | its id |
//! | `piece` | its characters; U+FFFD for bytes that are none, and then `bytes` holds them all |
//! | `special` | true for a sign such as `</s>`; left out otherwise |
//! | `raw_prob`, `rank` | its probability and place before the chain |
//! | `final_prob` | the probability with which it was picked: that after the chain, 1 where the most likely is always taken |
//! | `coin`, `coin_below` | the coin in [0, 1), null where none is tossed; the probability of all before the token on the bar that the coin fell on |
//! | `n_kept` | how many tokens the draw could have fallen on: 1 where the most likely is always taken |
//! | `entropy_nats`, `log_sum_exp`, `n_candidates` | of the whole distribution before the chain |
//! | `candidates` | the most likely before the chain: `token`, piece, `logit`, `raw_prob`, `final_prob` (null where cut) |
//! | `stages` | what each stage did: `filter` and its values, `n_kept`, `mass_removed`, `entropy_nats`, and `probs`, those of `candidates` after it |
//! | `survivors` | the most likely after the chain: `token`, piece, `logit`, `prob` |
//! | `time` | `at_secs` since the request, `forward_secs`, `n_batch` sequences in that forward pass |
//!
//! Probabilities lie between 0 and 1, entropies are in nats, ranks count from 1. A logit of −∞ is null.

mod layout;
mod pane;
mod step;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::layout::Layout;
use self::pane::{Pane, Prompt};
use super::runs::same_run;
use crate::generation::{Generation, ModelInfo};

/// The newest format; the one that is written.
pub const FORMAT_VERSION: u32 = 1;

/// Why a file is no run that can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Not JSON, or JSON with a field missing or of another kind.
    #[error("this is not a run of Quartet: {message}")]
    Unreadable {
        /// What stands where something else was expected, with line and column.
        message: String,
    },

    /// A later version of the program wrote it.
    #[error(
        "a newer Quartet wrote this file, in format {version}; this one reads up to {FORMAT_VERSION}"
    )]
    TooNew {
        /// The file's format.
        version: u32,
    },

    /// A token's number is larger than any vocabulary.
    #[error("token {id} is in no vocabulary")]
    TokenUnknown {
        /// The number.
        id: u32,
    },
}

#[derive(Serialize, Deserialize)]
struct RunFile {
    format_version: u32,
    quartet: String,
    model: Option<ModelInfo>,
    prompt: Option<Prompt>,
    panes: Vec<Pane>,
}

/// The generations as a run file.
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
    // Writing plain data with string keys into memory has no way to fail.
    file.serialize(&mut serializer).ok();
    bytes.push(b'\n');
    bytes
}

/// The generations of a run file, in any format so far.
///
/// The vocabulary of each knows only the tokens that the file names.
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
    reason = "the form that map_err asks for"
)]
fn unreadable(error: serde_json::Error) -> ParseError {
    ParseError::Unreadable {
        message: error.to_string(),
    }
}
