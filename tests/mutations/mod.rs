//! The mutation test: every field of a run file is changed, one at a time, and each change must be
//! refused when the file is read, or reported as a contradiction, or as a difference from the model,
//! or be on the list of what verification does not cover.

mod author;
mod changes;
mod kinds;
mod uncovered;

use std::collections::BTreeMap;

use quartet::analysis::contradictions::Contradiction;
use quartet::analysis::replay::{Fact, Models, TextReplay, facts};
use quartet::export::json::{self, Form, RunFile};
use quartet::generation::{FinishReason, Generation, PromptRecord, PromptText, Vocabulary};
use serde_json::Value;

use crate::mutations::author::Author;
use crate::mutations::changes::{Change, changes};
use crate::mutations::kinds::{Kind, kinds};
use crate::mutations::uncovered::UNCOVERED;

fn contradictions(bytes: &[u8], run: &RunFile) -> Vec<Contradiction> {
    json::contradictions_of(bytes, run)
}

/// How a change was noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Noticed {
    Refused,
    Contradiction,
    Replay,
    Nowhere,
}

fn notice(change: &Change, kind: &mut Kind) -> Noticed {
    let bytes = serde_json::to_vec(&change.document).unwrap();
    let Ok(run) = json::read(&bytes) else {
        return Noticed::Refused;
    };
    if !contradictions(&bytes, &run).is_empty() {
        return Noticed::Contradiction;
    }
    let branches = run.branches.iter().map(|branch| &branch.text);
    let mut texts = run.panes.iter().chain(branches);
    if texts.any(|text| differs(text, &mut kind.authors)) {
        return Noticed::Replay;
    }
    Noticed::Nowhere
}

/// Whether a text differs from what its model writes again, or is not by the model that it names.
fn differs(then: &Generation, authors: &mut [Author]) -> bool {
    let by_name = |author: &&mut Author| author.session.model().info.sha256 == then.model.sha256;
    let Some(author) = authors.iter_mut().find(by_name) else {
        return true;
    };
    let model = author.session.model();
    let second = model.second().map(|second| &*second.info);
    let now_second = then.second_model.as_ref().and(second);
    let models = |model, second| Models { model, second };
    let other_facts = facts(
        models(&then.model, then.second_model.as_deref()),
        models(&model.info, now_second),
    );
    let unknown = Vocabulary::default();
    let other_words = then.vocabulary.iter().any(|(token, piece)| {
        *piece != model.vocabulary.piece(token) && *piece != unknown.piece(token)
    });
    let other_prompt = !says(author, &then.prompt);
    let now = author.replay(then);
    let replay = TextReplay::of(then, &now);
    let other_end = ends_by_settings(then) && now.finish != then.finish;
    other_facts.iter().any(Fact::differs)
        || other_prompt
        || other_words
        || other_end
        || now.beams != then.beams
        || !replay.is_identical
        || replay.has_other_passes
        || replay.first_difference.is_some()
}

/// Whether the settings ended a text, and nobody else.
fn ends_by_settings(text: &Generation) -> bool {
    use FinishReason::{ContextFull, EndOfText, MaxTokens, StopString};
    matches!(
        text.finish,
        Some(EndOfText | StopString { .. } | MaxTokens | ContextFull)
    )
}

/// Whether a model's tokenizer and chat template make the recorded prompt of its text.
fn says(author: &Author, prompt: &PromptRecord) -> bool {
    let pieces = prompt
        .tokens
        .iter()
        .map(|token| author.session.model().vocabulary.piece(*token));
    if !pieces.eq(prompt.pieces.iter().cloned()) {
        return false;
    }
    let shown = author
        .session
        .model()
        .vocabulary
        .visible_text(&prompt.tokens);
    let Some(chat) = &prompt.chat else {
        let read = author.session.prompt(prompt.text.as_str());
        return shown == prompt.text || read.is_ok_and(|read| read.tokens == prompt.tokens);
    };
    let message = PromptText::chat_with(prompt.text.as_str(), chat.system.clone());
    let read = author.session.prompt(message);
    read.is_ok_and(|read| read.tokens == prompt.tokens && read.chat.as_ref() == Some(chat))
}

#[test]
fn no_change_of_a_run_file_goes_unnoticed() {
    let mut unnoticed: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut counts: BTreeMap<(String, Noticed), usize> = BTreeMap::new();
    for mut kind in kinds() {
        let bytes = json::write_run(&kind.run, Form::default());
        let run = json::read(&bytes).unwrap();
        let found = contradictions(&bytes, &run);
        assert!(found.is_empty(), "{}: {found:#?}", kind.name);
        let texts = run
            .panes
            .iter()
            .chain(run.branches.iter().map(|branch| &branch.text));
        for text in texts {
            assert!(
                !differs(text, &mut kind.authors),
                "{}: {}",
                kind.name,
                text.name
            );
        }
        let steps = run.panes.iter().flat_map(|text| &text.steps);
        let mut hashes = steps.map(|step| step.logits_hash);
        assert!(
            hashes.all(|hash| hash.is_some()),
            "{}: every row has a hash",
            kind.name
        );
        let document: Value = serde_json::from_slice(&bytes).unwrap();
        for change in changes(&document) {
            if change.document == document {
                continue;
            }
            let noticed = notice(&change, &mut kind);
            *counts.entry((kind.name.to_owned(), noticed)).or_default() += 1;
            if noticed == Noticed::Nowhere {
                let what = format!("{}: {}", kind.name, change.what);
                let field = change.field.replace("branches.text.", "panes.");
                unnoticed.entry(field).or_default().push(what);
            }
        }
    }
    for ((kind, noticed), n) in &counts {
        println!("{kind}: {n} {noticed:?}");
    }
    let is_listed = |field: &str| UNCOVERED.iter().any(|(listed, _)| *listed == field);
    let surprising: Vec<_> = unnoticed
        .iter()
        .filter(|(field, _)| !is_listed(field))
        .collect();
    assert!(surprising.is_empty(), "{surprising:#?}");
    let needless: Vec<_> = UNCOVERED
        .iter()
        .filter(|(field, _)| !unnoticed.contains_key(*field))
        .collect();
    assert!(needless.is_empty(), "these are noticed: {needless:?}");
}
