//! Format 1, which versions before 0.2 wrote: every token id with its piece, every number spelled
//! out. It is only read.
//!
//! | field | meaning |
//! | --- | --- |
//! | `quartet` | the version of the program that wrote the file |
//! | `model` | name, architecture, `n_params`, quantization, device, `n_threads` if that is the CPU, `n_vocab`, `n_context`, file, `sha256`; `implementation` if it is not our own decoder |
//! | `prompt` | `text`, and `tokens`, each with `id` and piece; for a chat message also `chat` |
//! | `panes` | one entry per generation |
//!
//! A step lists its `candidates` and `survivors` with `token`, piece, `logit` and probability, and
//! each stage with its filter's parameters. Unknown fields are ignored.

mod pane;
mod step;

use std::sync::Arc;

use serde::Deserialize;

use self::pane::{Pane, Prompt};
use super::{ParseError, RunFile, RunHeader};
use crate::generation::ModelInfo;

#[derive(Deserialize)]
struct File {
    quartet: String,
    model: Option<ModelInfo>,
    prompt: Option<Prompt>,
    panes: Vec<Pane>,
}

/// Reads a file of format 1.
pub(super) fn read(bytes: &[u8]) -> Result<RunFile, ParseError> {
    let file: File = serde_json::from_slice(bytes)?;
    let known = |mut model: ModelInfo| {
        if model.provenance.version.is_empty() {
            model.provenance.version.clone_from(&file.quartet);
        }
        Arc::new(model)
    };
    let model = known(file.model.unwrap_or_default());
    let prompt = file.prompt.unwrap_or_default();
    let panes = file.panes.into_iter();
    let panes = panes.map(|pane| pane.into_generation(&model, known, &prompt));
    Ok(RunFile {
        header: RunHeader::default(),
        panes: panes.collect::<Result<_, _>>()?,
        branches: Vec::new(),
        contradiction: None,
    })
}
