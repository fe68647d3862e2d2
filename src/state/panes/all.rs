//! All panes, from left to right.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::pane::{Pane, PaneId};
use crate::decoding::{Filter, Stage};
use crate::generation::formatting::pane_letter;
use crate::generation::{Generation, PaneModel, spell_thoughts, unspell_thoughts};
use crate::state::{Effect, Models};
use crate::worker::{GenerationId, Request, ServerRequest};

/// The panes from left to right; never empty, at most [`MAX_PANES`](crate::state::MAX_PANES).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Panes(Vec<Pane>);

impl Deref for Panes {
    type Target = Vec<Pane>;

    fn deref(&self) -> &Vec<Pane> {
        &self.0
    }
}

impl DerefMut for Panes {
    fn deref_mut(&mut self) -> &mut Vec<Pane> {
        &mut self.0
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

    /// Returns a pane's position from the left, which determines its letter and color.
    pub fn place_of(&self, id: PaneId) -> Option<usize> {
        self.iter().position(|pane| pane.id == id)
    }

    /// Returns whether any pane is waiting for tokens or generating.
    pub fn is_running(&self) -> bool {
        self.iter().any(|pane| pane.status.running().is_some())
    }

    /// Returns the generation each pane shows, from left to right.
    pub fn generations(&self) -> Vec<Option<&Generation>> {
        self.iter().map(Pane::generation).collect()
    }

    /// Returns the texts on screen.
    pub(in crate::state) fn texts(&self) -> impl Iterator<Item = &Generation> {
        self.iter().filter_map(Pane::generation)
    }

    /// Returns the panes that show a text, with their letters and names: "A Greedy".
    pub fn with_text(&self) -> Vec<(PaneId, String)> {
        let panes = self.iter().enumerate();
        let panes = panes.filter(|(_, pane)| pane.has_text());
        panes
            .map(|(place, pane)| {
                let name = format!("{} {}", pane_letter(place), pane.settings.name);
                (pane.id, name)
            })
            .collect()
    }

    /// Returns how many tokens the text of the pane at this position has.
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
