//! All panes, from left to right.

use std::sync::Arc;

use super::pane::{Pane, PaneId};
use crate::decoding::{Filter, Stage};
use crate::generation::formatting::pane_letter;
use crate::generation::{Generation, PaneModel, spell_thoughts, unspell_thoughts};
use crate::state::{Effect, Models};
use crate::worker::{GenerationId, Request, ServerRequest};

/// The panes by their places, from left to right; never empty, at most
/// [`MAX_PANES`](crate::state::MAX_PANES).
///
/// The place of a pane is its letter and its color, counted from A. It stays the same when other
/// panes are removed, and a new pane takes the first one that is free: places can have gaps.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Panes(Vec<Pane>);

impl Panes {
    /// Returns the number of panes.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the panes from left to right.
    pub fn iter(&self) -> std::slice::Iter<'_, Pane> {
        self.0.iter()
    }

    /// Returns the panes from left to right, to change them.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Pane> {
        self.0.iter_mut()
    }

    /// Returns the pane on the left.
    pub fn first(&self) -> Option<&Pane> {
        self.0.first()
    }

    /// Returns the pane on the right.
    pub fn last(&self) -> Option<&Pane> {
        self.0.last()
    }

    /// Returns the pane at a place.
    pub fn get(&self, place: usize) -> Option<&Pane> {
        self.iter().find(|pane| pane.place == place)
    }

    /// Returns the pane at a place, to change it.
    pub fn get_mut(&mut self, place: usize) -> Option<&mut Pane> {
        self.iter_mut().find(|pane| pane.place == place)
    }

    /// Returns the panes with their places, from left to right.
    pub fn placed(&self) -> impl DoubleEndedIterator<Item = (usize, &Pane)> + Clone {
        self.iter().map(|pane| (pane.place, pane))
    }

    /// Returns the places of the panes, from left to right.
    pub fn places(&self) -> impl DoubleEndedIterator<Item = usize> + Clone {
        self.iter().map(|pane| pane.place)
    }

    /// Returns the place of the next new pane.
    pub fn free_place(&self) -> usize {
        let taken: Vec<usize> = self.places().collect();
        let mut free = (0..=taken.len()).filter(|place| !taken.contains(place));
        free.next().unwrap_or(taken.len())
    }

    /// Adds a pane at the first free place.
    pub fn push(&mut self, pane: Pane) {
        let place = self.free_place();
        self.insert(Pane { place, ..pane });
    }

    /// Adds a pane at its own place, or at the first free one if that is taken.
    pub fn insert(&mut self, mut pane: Pane) {
        if self.get(pane.place).is_some() {
            pane.place = self.free_place();
        }
        pane.shown_turn = self.shown_turn();
        let index = self.0.partition_point(|other| other.place < pane.place);
        self.0.insert(index, pane);
    }

    /// Removes a pane, and returns it. The others keep their places.
    pub fn remove(&mut self, id: PaneId) -> Option<Pane> {
        let index = self.iter().position(|pane| pane.id == id)?;
        Some(self.0.remove(index))
    }

    /// Removes all panes.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
impl std::ops::Index<usize> for Panes {
    type Output = Pane;

    fn index(&self, place: usize) -> &Pane {
        self.get(place).expect("no pane is at this place")
    }
}

#[cfg(test)]
impl std::ops::IndexMut<usize> for Panes {
    fn index_mut(&mut self, place: usize) -> &mut Pane {
        self.get_mut(place).expect("no pane is at this place")
    }
}

impl<'a> IntoIterator for &'a Panes {
    type Item = &'a Pane;
    type IntoIter = std::slice::Iter<'a, Pane>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a mut Panes {
    type Item = &'a mut Pane;
    type IntoIter = std::slice::IterMut<'a, Pane>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

impl Panes {
    /// Returns the pane with this id, or `None` if it was removed.
    pub fn pane(&self, id: PaneId) -> Option<&Pane> {
        self.iter().find(|pane| pane.id == id)
    }

    /// Returns the pane with this id, to change it.
    pub(in crate::state) fn pane_mut(&mut self, id: PaneId) -> Option<&mut Pane> {
        self.iter_mut().find(|pane| pane.id == id)
    }

    /// Spells the tags and messages of thinking budgets in the tokens of each pane's model, once it
    /// is known. Servers take them as texts.
    pub(in crate::state) fn spell_thoughts(&mut self, models: &Models) {
        for pane in self.iter_mut() {
            let stages = &pane.settings.chain.stages;
            let is_budget = |stage: &Stage| matches!(stage.filter, Filter::ThinkingBudget(_));
            if !stages.iter().any(is_budget) {
                pane.thoughts_in = None;
                continue;
            }
            let is_served = matches!(models.chosen(&pane.settings), Some(PaneModel::Server(_)));
            let Some(model) = models.of(pane).filter(|_| !is_served) else {
                continue;
            };
            let chain = &mut pane.settings.chain;
            if let Some(other) = &pane.thoughts_in
                && !Arc::ptr_eq(other, &model.vocabulary)
            {
                unspell_thoughts(chain, other);
            }
            // The engine refuses what it can't spell, with the reason.
            spell_thoughts(chain, &model.vocabulary).ok();
            pane.thoughts_in = Some(Arc::clone(&model.vocabulary));
        }
    }

    /// Returns the pane in which this generation is running.
    pub(in crate::state) fn running(&mut self, id: GenerationId) -> Option<&mut Pane> {
        self.iter_mut()
            .find(|pane| pane.status.running() == Some(id))
    }

    /// Returns the place of a pane, which determines its letter and color.
    pub fn place_of(&self, id: PaneId) -> Option<usize> {
        self.pane(id).map(|pane| pane.place)
    }

    /// Returns whether any pane is waiting for tokens or generating.
    pub fn is_running(&self) -> bool {
        self.iter().any(|pane| pane.status.running().is_some())
    }

    /// Returns the generation at each place: `None` if its pane shows none, or if there is no pane.
    pub fn generations(&self) -> Vec<Option<&Generation>> {
        self.by_place(Pane::generation)
    }

    /// Returns what `of` returns for the pane at each place, up to the last pane.
    pub fn by_place<'a, T>(&'a self, of: impl Fn(&'a Pane) -> Option<T>) -> Vec<Option<T>> {
        let n_places = self.last().map_or(0, |last| last.place + 1);
        let places = 0..n_places;
        places.map(|place| self.get(place).and_then(&of)).collect()
    }

    /// Returns the panes' texts: the last turn of each conversation.
    pub(in crate::state) fn texts(&self) -> impl Iterator<Item = &Generation> {
        self.iter().filter_map(Pane::latest)
    }

    /// Returns the index of the turn that the views show; `None` for the last one.
    pub fn shown_turn(&self) -> Option<usize> {
        self.first()?.shown_turn
    }

    /// Lets the views show this turn of every pane; `None` for the last one.
    pub(in crate::state) fn show_turn(&mut self, turn: Option<usize>) {
        for pane in self.iter_mut() {
            pane.shown_turn = turn;
        }
    }

    /// Returns how many turns the longest conversation has.
    pub fn n_turns(&self) -> usize {
        self.texts().map(Generation::n_turns).max().unwrap_or(0)
    }

    /// Returns the panes that show a text, with their letters and names: "A Greedy".
    pub fn with_text(&self) -> Vec<(PaneId, String)> {
        let panes = self.placed().filter(|(_, pane)| pane.has_text());
        panes
            .map(|(place, pane)| {
                let name = format!("{} {}", pane_letter(place), pane.settings.name);
                (pane.id, name)
            })
            .collect()
    }

    /// Returns how many tokens the text of the pane at this place has.
    pub(in crate::state) fn n_steps(&self, place: usize) -> usize {
        let generation = self.get(place).and_then(Pane::generation);
        generation.map_or(0, |generation| generation.steps.len())
    }

    /// Returns the effect that stops the text of a pane, if one is being written.
    pub(in crate::state) fn stop(&self, id: PaneId) -> Option<Effect> {
        let pane = self.pane(id)?;
        let running = pane.status.running()?;
        Some(match pane.server() {
            Some(served) => Effect::Server(served.clone(), ServerRequest::Stop(running)),
            None => Effect::Send(Request::Stop(running)),
        })
    }

    /// Returns the effects that stop all texts.
    pub(in crate::state) fn stop_all(&self) -> Vec<Effect> {
        let mut effects: Vec<Effect> = Vec::new();
        for pane in self.iter().filter(|pane| pane.status.running().is_some()) {
            let effect = match pane.server() {
                Some(served) => Effect::Server(served.clone(), ServerRequest::StopAll),
                None => Effect::Send(Request::StopAll),
            };
            if !effects.contains(&effect) {
                effects.push(effect);
            }
        }
        effects
    }
}
