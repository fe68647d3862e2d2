//! The texts of a file to write, and what they share.

use std::collections::HashMap;
use std::sync::Arc;

use super::lineage::{BranchEntry, LineageEntry, lineages};
use super::pane::{Own, Pane, PaneText};
use super::turns::TurnEntry;
use super::vocabulary::{Entry, entries_of, has_pieces_of};
use crate::export::json::{Branch, Form, Panes};
use crate::export::runs::same_run;
use crate::generation::formatting::pane_letter;
use crate::generation::{Generation, turns_before};

/// The texts of a file to write.
pub(super) struct Texts<'a> {
    /// Turns, then panes, then branches.
    all: Vec<&'a Generation>,
    /// The index of each turn.
    turns: HashMap<*const Generation, usize>,
    n_panes: usize,
    lineages: Vec<Option<LineageEntry>>,
    /// The letters of the panes, unless they follow from their order.
    letters: Vec<String>,
    /// The text whose model and prompt are the file's.
    pub first: Option<&'a Generation>,
    form: Form,
}

impl<'a> Texts<'a> {
    pub(super) fn of(panes: Panes<'a>, branches: &'a [Branch], form: Form) -> Self {
        let kept = branches.iter().map(|branch| &branch.text);
        let last = panes.texts.iter().copied().chain(kept);
        let turns: Vec<&Arc<Generation>> = turns_before(last.clone())
            .into_iter()
            .map(|turn| turn.answer)
            .collect();
        let all: Vec<&Generation> = turns.iter().map(|turn| &***turn).chain(last).collect();
        let only_panes = turns.is_empty() && branches.is_empty();
        Self {
            n_panes: panes.texts.len(),
            lineages: lineages(&all, only_panes),
            letters: panes
                .places
                .iter()
                .map(|place| pane_letter(*place))
                .collect(),
            first: all.get(turns.len()).copied(),
            turns: turns.into_iter().map(Arc::as_ptr).zip(0..).collect(),
            all,
            form,
        }
    }

    /// Returns the pieces of the texts that share the file's vocabulary.
    pub(super) fn vocabulary(&self) -> Vec<Entry> {
        let all = self.all.iter().copied();
        let same: Vec<&Generation> = all.filter(|text| self.shares_model(text)).collect();
        self.first.map_or_else(Vec::new, |first| {
            entries_of(&first.vocabulary, &same, self.form)
        })
    }

    pub(super) fn turns(&self) -> Vec<TurnEntry> {
        let turns = self.all.iter().enumerate().take(self.turns.len());
        let entry = |(index, turn): (usize, &&Generation)| {
            TurnEntry::of(turn, self.before(index), |n_shared| {
                self.entry(index, turn, n_shared)
            })
        };
        turns.map(entry).collect()
    }

    pub(super) fn panes(&self) -> Vec<Pane> {
        let texts = self.all.iter().enumerate();
        let panes = texts.skip(self.turns.len()).take(self.n_panes);
        panes
            .map(|(index, text)| self.entry(index, text, 0))
            .collect()
    }

    /// Returns the entries of the branches of the file.
    pub(super) fn branches(&self, branches: &[Branch]) -> Vec<BranchEntry> {
        let indices = self.turns.len() + self.n_panes..;
        let entry = |(index, branch): (usize, &Branch)| {
            let of = |n_shared| self.entry(index, &branch.text, n_shared);
            BranchEntry::of(branch, self.before(index), of)
        };
        indices.zip(branches).map(entry).collect()
    }

    fn before(&self, index: usize) -> &[&'a Generation] {
        self.all.get(..index).unwrap_or_default()
    }

    /// Returns whether a text has the file's model and prompt.
    fn shares_all(&self, text: &Generation) -> bool {
        self.first.is_some_and(|first| same_run(first, text))
    }

    /// Returns whether a text has the file's model and vocabulary. Only conversations need it: each turn
    /// has another prompt, and would otherwise repeat the vocabulary.
    fn shares_model(&self, text: &Generation) -> bool {
        let has_model =
            |first: &Generation| first.model == text.model && has_pieces_of(text, first);
        self.shares_all(text) || (!self.turns.is_empty() && self.first.is_some_and(has_model))
    }

    /// Returns the entry of the text at this index, without this many first steps.
    fn entry(&self, index: usize, generation: &Generation, n_shared: usize) -> Pane {
        let own = if self.shares_all(generation) {
            Own::Nothing
        } else if self.shares_model(generation) {
            Own::Prompt
        } else {
            Own::ModelAndPrompt(entries_of(&generation.vocabulary, &[generation], self.form))
        };
        let previous = generation.previous_turn.as_ref().map(Arc::as_ptr);
        let place = index.checked_sub(self.turns.len());
        let text = PaneText {
            generation,
            letter: place.and_then(|place| self.letters.get(place).cloned()),
            follows: previous.and_then(|turn| self.turns.get(&turn).copied()),
            own,
            lineage: self.lineages.get(index).copied().flatten(),
            n_shared,
        };
        Pane::of(text, self.form)
    }
}
