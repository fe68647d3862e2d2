//! Format 2: settings, pieces and filters stored once, and no number that follows from others.
//!
//! `assets/schema/run-file-2.json` describes it field by field. The main ideas:
//!
//! - `vocabulary` has the piece of every token id in the file; all else refers to ids.
//! - Each pane lists its `filters` once; a step's stages refer to them by position.
//! - `head`, a step's most likely tokens, has their ids and logits. Their probabilities follow from
//!   the logits: exp(logit − first logit − `ln_mass`).
//! - `survivors`, the tokens after the chain, leaves out what equals the head.
//! - A stage without `probs` left the probabilities with which the token was drawn.
//! - `text`, `metrics` and the settings' `summary` follow from the rest. They are for readers of
//!   the file and are ignored when it is opened.
//!
//! Unknown fields are refused by name, so that nothing is lost when a file is opened and saved
//! again.

mod detail;
mod known;
mod pane;
mod ranking;
mod step;
mod vocabulary;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::known::Known;
use self::pane::{Pane, Prompt};
use self::vocabulary::{Entry, entries_of, vocabulary_of};
use super::{FORMAT_VERSION, Form, ParseError, RunFile, RunHeader};
use crate::export::runs::same_run;
use crate::generation::{Generation, ModelInfo};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format_version: u32,
    /// The version that generated the first text.
    quartet: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finished_at: Option<u64>,
    model: Option<Known<ModelInfo>>,
    prompt: Option<Prompt>,
    vocabulary: Vec<Entry>,
    panes: Vec<Pane>,
}

/// Lays out the content of a file.
pub(super) fn content(
    header: &RunHeader,
    generations: &[&Generation],
    form: Form,
) -> impl Serialize + use<> {
    let first = generations.first().copied();
    let shares = |generation: &Generation| first.is_some_and(|first| same_run(first, generation));
    let (same, _): (Vec<&Generation>, Vec<&Generation>) = generations
        .iter()
        .partition(|generation| shares(generation));
    let panes = generations.iter().map(|generation| {
        let own = (!shares(generation)).then(|| entries_of(&[generation], form));
        Pane::of(generation, own, form)
    });
    let version = first.map(|first| first.model.provenance.version.clone());
    File {
        format_version: FORMAT_VERSION,
        quartet: version.unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned()),
        title: header.title.clone(),
        finished_at: header.finished_at,
        model: first.map(|first| Known((*first.model).clone())),
        prompt: first.map(|first| Prompt::of(&first.prompt, &first.vocabulary)),
        vocabulary: entries_of(&same, form),
        panes: panes.collect(),
    }
}

/// Reads a file of format 2.
pub(super) fn read(bytes: &[u8]) -> Result<RunFile, ParseError> {
    let file: File = serde_json::from_slice(bytes)?;
    let model = Arc::new(file.model.map(|model| model.0).unwrap_or_default());
    let vocabulary = Arc::new(vocabulary_of(file.vocabulary)?);
    let prompt = file.prompt.unwrap_or_default();
    let panes = file.panes.into_iter();
    let panes = panes.map(|pane| pane.into_generation(&model, &vocabulary, &prompt));
    Ok(RunFile {
        header: RunHeader {
            title: file.title,
            finished_at: file.finished_at,
        },
        panes: panes.collect::<Result<_, _>>()?,
    })
}
