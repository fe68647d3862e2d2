//! Format 2: stores settings, pieces and filters once, and no number that follows from others.
//!
//! `assets/schema/run-file-2.json` describes it field by field. The main ideas:
//!
//! - `vocabulary` has the piece of every token id in the file; everything else refers to ids.
//! - Each pane lists its `filters` once; a step's stages refer to them by position.
//! - `head`, a step's most likely tokens, has their ids and logits. Their probabilities follow from
//!   the logits: exp(logit − first logit − `ln_mass`).
//! - `survivors`, the tokens after the chain, omits whatever equals the head.
//! - `grammars` lists the grammars of a pane's steps in the same way.
//! - A pane has a `letter` if the file's panes are not A, B, C and so on.
//! - A stage without `probs` produced the probabilities with which the token was drawn.
//! - `turns` has the answers before those of the panes and branches in their conversations, each
//!   once. A text `follows` one of them. Then texts of one model share the vocabulary even if their
//!   prompts differ.
//! - `branches`, the texts that no pane showed, omit the steps that an earlier text contains.
//! - `text`, `metrics` and the settings' `summary` follow from the rest. They are for readers of
//!   the file and are ignored when it is opened.
//!
//! Unknown fields are rejected by name, so that nothing is lost when a file is opened and saved
//! again.

mod beams;
mod detail;
mod grammar;
mod known;
mod lineage;
mod mixture;
mod pane;
mod ranking;
mod shares;
mod step;
mod texts;
mod turns;
mod vocabulary;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::known::Known;
use self::lineage::BranchEntry;
use self::pane::{Pane, Prompt};
use self::texts::Texts;
use self::turns::{TurnEntry, Turns};
use self::vocabulary::{Entry, vocabulary_of};
use super::{
    Branch, FORMAT_VERSION, Form, N_LETTERS, Panes, ParseError, RunFile, RunHeader, unless_in_order,
};
use crate::generation::formatting::place_of_letter;
use crate::generation::{GenerationId, ModelInfo};
use crate::interop::api::RecordedRequest;

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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<RecordedRequest>,
    model: Option<Known<ModelInfo>>,
    prompt: Option<Prompt>,
    vocabulary: Vec<Entry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    turns: Vec<TurnEntry>,
    panes: Vec<Pane>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    branches: Vec<BranchEntry>,
}

/// Builds the content of a file.
pub(super) fn content(
    header: &RunHeader,
    panes: Panes<'_>,
    branches: &[Branch],
    form: Form,
) -> impl Serialize + use<> {
    let texts = Texts::of(panes, branches, form);
    let first = texts.first;
    let version = first.map(|first| first.model.provenance.version.clone());
    File {
        format_version: FORMAT_VERSION,
        quartet: version.unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned()),
        title: header.title.clone(),
        finished_at: header.finished_at,
        request: header.request.clone(),
        model: first.map(|first| Known((*first.model).clone())),
        prompt: first.map(|first| Prompt::of(&first.prompt, &first.vocabulary)),
        vocabulary: texts.vocabulary(),
        turns: texts.turns(),
        panes: texts.panes(),
        branches: texts.branches(branches),
    }
}

/// Reads a file of format 2.
pub(super) fn read(bytes: &[u8]) -> Result<RunFile, ParseError> {
    let file: File = serde_json::from_slice(bytes)?;
    let model = Arc::new(file.model.map(|model| model.0).unwrap_or_default());
    let vocabulary = Arc::new(vocabulary_of(file.vocabulary)?);
    let prompt = file.prompt.unwrap_or_default();
    let places = places_of(&file.panes)?;
    let into = |pane: Pane| pane.into_generation(&model, &vocabulary, &prompt);
    let mut turns = Turns::default();
    for entry in file.turns {
        turns.push(entry, into)?;
    }
    let panes = file.panes.into_iter().map(|pane| turns.read(pane, into));
    let mut panes = panes.collect::<Result<Vec<_>, _>>()?;
    for (place, text) in panes.iter_mut().enumerate() {
        if text.lineage.id == GenerationId::default() {
            // Without branches, texts are numbered in the order of their panes.
            text.lineage.id = GenerationId(place as u64 + 1);
        }
    }
    let mut branches = Vec::new();
    for entry in file.branches {
        let read = |pane| turns.read(pane, into);
        let branch = entry.into_branch(&turns, &panes, &branches, read)?;
        branches.push(branch);
    }
    turns.check_order(
        panes
            .iter()
            .chain(branches.iter().map(|branch| &branch.text)),
    )?;
    Ok(RunFile {
        header: RunHeader {
            title: file.title,
            finished_at: file.finished_at,
            request: file.request,
        },
        panes,
        places,
        branches,
        contradiction: None,
    })
}

/// Returns the places of the panes: those of their letters, or else their order.
fn places_of(panes: &[Pane]) -> Result<Vec<usize>, ParseError> {
    let places = panes
        .iter()
        .enumerate()
        .map(|(index, pane)| match pane.letter() {
            Some(letter) => place_of_letter(letter, N_LETTERS),
            None => Some(index),
        });
    let places: Vec<usize> = places
        .collect::<Option<_>>()
        .ok_or_else(|| ParseError::damaged("a pane has no letter from A to ZZ"))?;
    if places.is_sorted_by(|before, after| before < after) {
        Ok(unless_in_order(places))
    } else {
        Err(ParseError::damaged(
            "the letters of its panes are not in order",
        ))
    }
}
