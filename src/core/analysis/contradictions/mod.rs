//! Where a run contradicts itself, found without its model.
//!
//! A run file says many things twice: a probability follows from the logits, a coin from the seed
//! and the position, a token from the settings, the coin and the distribution. Everything that
//! follows from something else is computed again with the code that recorded it, and compared. What
//! the record does not decide, such as a choice that depends on tokens below the head, is left to a
//! replay with the model.

mod beams;
mod drafts;
mod draw;
mod evidence;
mod found;
mod grammar;
mod guidance;
mod models;
mod place;
mod provenance;
mod stages;
mod text;
mod turns;

use std::fmt;

use self::found::{Found, StepAt};
pub use self::place::{RunPlace, turns_of_run};
pub use self::provenance::{WrittenBy, is_by_settings};
use crate::decoding::TokenId;
use crate::generation::{Generation, GenerationId};

/// A statement of a run that other statements of the same run rule out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    pub place: RunPlace,
    /// The index of the step, from 0, if it is about one.
    pub step: Option<usize>,
    pub kind: ContradictionKind,
    /// One sentence that names both statements, without a full stop.
    pub words: String,
}

/// What a contradiction is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContradictionKind {
    /// The text of the prompt, and its tokens.
    Prompt,
    /// Who chose a token, and how.
    Choice,
    /// The settings of the pane, and those that a step reports.
    Settings,
    /// What the file says about a model.
    Model,
    /// Figures that follow from others.
    Figures,
    /// Why the text ended.
    Ending,
    /// Where a branch comes from.
    Lineage,
    /// What the file repeats for its readers, such as the text of a pane.
    Repeated,
}

/// Returns where a run contradicts itself, the first place first, with panes numbered in their order.
/// `branches` are the texts that no pane showed.
pub fn contradictions<'a>(
    panes: impl IntoIterator<Item = &'a Generation>,
    branches: impl IntoIterator<Item = &'a Generation>,
) -> Vec<Contradiction> {
    let panes: Vec<&Generation> = panes.into_iter().collect();
    let branches: Vec<&Generation> = branches.into_iter().collect();
    let mut texts: Vec<(RunPlace, &Generation)> = turns_of_run(&panes, &branches)
        .into_iter()
        .map(|(place, turn)| (place, &**turn.answer))
        .collect();
    texts.extend((0..).map(RunPlace::Pane).zip(panes));
    texts.extend((0..).map(RunPlace::Branch).zip(branches));
    let with_id = |id: GenerationId| {
        let mut texts = texts.iter().map(|(_, text)| *text);
        texts.find(|text| text.lineage.id == id)
    };
    let all = texts.iter().flat_map(|(place, text)| {
        let parent = text.lineage.origin.map(|origin| origin.parent);
        in_text(*place, text, parent.and_then(with_id))
    });
    all.collect()
}

/// Returns where a text contradicts itself, or the text that it branched off.
fn in_text(place: RunPlace, text: &Generation, parent: Option<&Generation>) -> Vec<Contradiction> {
    let mut found = Found::new(place);
    text::check_prompt(text, &mut found);
    turns::check(text, &mut found);
    models::check(text, &mut found);
    let mut tokens: Vec<TokenId> = text.prompt.tokens.clone();
    for (index, step) in text.steps.iter().enumerate() {
        let at = StepAt {
            text,
            index,
            step,
            config: text.config_at(index),
            tokens: &tokens,
        };
        check_step(at, &mut found);
        tokens.push(step.token);
    }
    grammar::check_text(text, &mut found);
    grammar::check_completeness(text, &mut found);
    text::check_ending(text, &mut found);
    beams::check(text, &mut found);
    text::check_lineage(text, parent, &mut found);
    found.all
}

fn check_step(at: StepAt<'_>, found: &mut Found) {
    if at.step.token != at.step.trace.draw.token {
        let words = "its token is not the one that was drawn";
        found.step(at, ContradictionKind::Choice, words);
    }
    guidance::check(at, found);
    grammar::check(at, found);
    let knows_stages = stages::check(at, found);
    draw::check(at, knows_stages, found);
    evidence::check(at, found);
    drafts::check(at, found);
}

impl fmt::Display for Contradiction {
    /// "pane A, token 17: its settings and its coin draw ‘nest’, but it is ‘hole’".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.fmt(f)?;
        if let Some(step) = self.step {
            write!(f, ", token {}", step + 1)?;
        }
        write!(f, ": {}", self.words)
    }
}
