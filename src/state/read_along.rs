//! Reading along: a pane follows the text of another pane, token for token, and its own model shows
//! what it would have written at every step.

use std::sync::Arc;

use super::branches::{ContinueRequest, Extension};
use super::{AppState, Command, Effect, Page, Pane, PaneId, PaneStatus};
use crate::decoding::ChainConfig;
use crate::generation::formatting::pane_letter;
use crate::generation::{FinishReason, Generation, GenerationId, Lineage, TextModels};

/// A reading that ended before it began, which is not requested again.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) struct RefusedReading {
    /// The text that was to be read.
    text: GenerationId,
    /// The settings of the pane that was to read it.
    chain: ChainConfig,
    /// Whether the user stopped it, so that it is requested while the other text is being generated.
    is_stopped: bool,
}

impl AppState {
    /// Lets a pane read along with another pane, or go back to writing its own texts.
    pub(super) fn read_along(&mut self, id: PaneId, with: Option<PaneId>) -> Vec<Effect> {
        let is_possible = with.is_none_or(|with| self.read_along_reason(id, with).is_none());
        let mut effects = self.stop(id);
        if let Some(pane) = self.panes.iter_mut().find(|pane| pane.id == id)
            && is_possible
        {
            pane.refused_reading = None;
            let has_read = std::mem::replace(&mut pane.reads, with).is_some() && with.is_none();
            self.page = Page::Write;
            if has_read {
                self.set_reading_aside(id);
            }
        }
        effects.extend(self.follow_readers());
        effects
    }

    /// Empties a pane for its own texts. What it has read can be shown again.
    fn set_reading_aside(&mut self, id: PaneId) {
        let pane = self.panes.iter_mut().find(|pane| pane.id == id);
        let status = pane.map(|pane| std::mem::replace(&mut pane.status, PaneStatus::Ready));
        if let Some(read) = status.and_then(PaneStatus::into_generation) {
            self.keep_text(id, read);
        }
    }

    /// Returns why a pane can't read along with another pane, or `None` if it can.
    pub fn read_along_reason(&self, id: PaneId, with: PaneId) -> Option<String> {
        let (reader, leader) = (self.pane(id)?, self.pane(with)?);
        if id == with {
            return Some("A pane can’t read along with itself".to_owned());
        }
        if leader.reads.is_some() {
            return Some("That pane already reads along with another pane".to_owned());
        }
        if self.panes.iter().any(|pane| pane.reads == Some(id)) {
            return Some("Another pane reads along with this one".to_owned());
        }
        let (Some(own), Some(other)) = (self.model_of(reader), self.model_of(leader)) else {
            return Some("Both models must be loaded".to_owned());
        };
        (own.vocabulary != other.vocabulary)
            .then(|| "Both models must have the same vocabulary".to_owned())
    }

    /// Returns whether there is a pane with which this one can read along.
    pub fn can_read_along(&self, id: PaneId) -> bool {
        let mut others = self.panes.iter();
        others.any(|other| self.read_along_reason(id, other.id).is_none())
    }

    /// Returns the commands that let a pane read along with each possible pane, with their names
    /// and whether each is in effect.
    pub fn read_along_rows(&self, id: PaneId) -> Vec<(String, bool, Command)> {
        let Some(pane) = self.pane(id) else {
            return Vec::new();
        };
        let others = self.panes.iter().enumerate();
        let possible = others.filter(|(_, other)| self.read_along_reason(id, other.id).is_none());
        let rows = possible.map(|(place, other)| {
            let is_chosen = pane.reads == Some(other.id);
            let name = format!("Read along with {}", pane_letter(place));
            let with = (!is_chosen).then_some(other.id);
            (name, is_chosen, Command::ReadAlong(id, with))
        });
        rows.collect()
    }

    /// Says which pane a pane reads along with: "Reads B".
    pub fn reads_words(&self, pane: &Pane) -> Option<String> {
        let place = self.place_of(pane.reads?)?;
        Some(format!("Reads {}", pane_letter(place)))
    }

    /// Says which pane reads which, if any pane has started.
    pub(super) fn reading_words(&self) -> Option<String> {
        let panes = self.panes.iter().enumerate();
        let mut readings = panes.filter_map(|(place, pane)| {
            let read = self.place_of(pane.reads?)?;
            let has_read = pane.generation().is_some_and(Generation::is_scored);
            has_read.then(|| format!("{} reads {}", pane_letter(place), pane_letter(read)))
        });
        let first = readings.next()?;
        let all = readings.fold(first, |all, reading| format!("{all}, {reading}"));
        Some(format!(
            "{all}: tint and plots show what its own model and settings make of each token"
        ))
    }

    /// Lets the panes that read along catch up with the texts that they read.
    pub(super) fn follow_readers(&mut self) -> Vec<Effect> {
        let known: Vec<PaneId> = self.panes.iter().map(|pane| pane.id).collect();
        for pane in &mut self.panes {
            pane.reads.take_if(|with| !known.contains(with));
        }
        let readers = self.panes.iter().filter(|pane| pane.reads.is_some());
        let readers: Vec<PaneId> = readers.map(|pane| pane.id).collect();
        let requests: Vec<ContinueRequest> = readers
            .into_iter()
            .filter_map(|id| self.reading_request(id))
            .collect();
        if requests.is_empty() {
            return Vec::new();
        }
        self.send_continuations(requests)
    }

    /// Notes that a generation is about to end for this reason, if it is a reading that has not begun.
    pub(super) fn note_refused_reading(&mut self, id: GenerationId, reason: &FinishReason) {
        let pane = self.running_pane(id);
        let Some((id, with)) = pane.and_then(|pane| Some((pane.id, pane.reads?))) else {
            return;
        };
        let text = self.pane(with).and_then(Pane::generation);
        let text = text.map(|text| text.lineage.id);
        if let Some(pane) = self.panes.iter_mut().find(|pane| pane.id == id)
            && let PaneStatus::Waiting { pending } | PaneStatus::Reading { pending, .. } =
                &pane.status
        {
            let chain = &pending.config.chain;
            pane.refused_reading = text.map(|text| RefusedReading {
                text,
                chain: chain.clone(),
                is_stopped: *reason == FinishReason::Cancelled,
            });
        }
    }

    /// Returns the request to read what the other pane has written since.
    fn reading_request(&mut self, id: PaneId) -> Option<ContinueRequest> {
        let pane = self.pane(id)?;
        let leader = self.pane(pane.reads?)?;
        let text = leader.generation().filter(|text| !text.steps.is_empty())?;
        let is_settled = pane.status.running().is_none() && self.opened.is_none();
        if !is_settled || self.blocking_reason_of(pane).is_some() {
            return None;
        }
        let is_refused = pane.refused_reading.as_ref().is_some_and(|refused| {
            let is_same = refused.text == text.lineage.id && refused.chain == pane.settings.chain;
            is_same && !(refused.is_stopped && leader.status.running().is_some())
        });
        if is_refused {
            return None;
        }
        let model = self.model_of(pane)?;
        let read = pane.generation().filter(|read| {
            read.is_scored()
                && read.prompt.tokens == text.prompt.tokens
                && read.model.is_equivalent_to(&model.info)
                && read.config.chain == pane.settings.chain
                && begins_with(text, read)
        });
        if let Some(read) = read {
            let is_complete = read.steps.len() == text.steps.len();
            let can_resume = match &read.finish {
                Some(FinishReason::Paused) => true,
                // A reading that the user stopped resumes while the other text is being generated.
                Some(FinishReason::Cancelled) => leader.status.running().is_some(),
                _ => false,
            };
            if is_complete || !can_resume {
                return None;
            }
        } else if self.read_along_reason(id, leader.id).is_some() {
            return None;
        }
        let n_read = read.map_or(0, |read| read.steps.len());
        let more = text.steps.iter().skip(n_read);
        let extension = Extension {
            n_kept: n_read,
            by_hand: more.map(|step| step.token).collect(),
            reads: true,
            pause_after: Some(text.steps.len() - n_read),
            ..Extension::default()
        };
        let read = read.cloned().unwrap_or_else(|| {
            let models = TextModels {
                model: Arc::clone(&model.info),
                second_model: None,
                vocabulary: Arc::clone(&model.vocabulary),
            };
            let (name, config) = (pane.settings.name.clone(), self.config_of(pane));
            Generation {
                lineage: Lineage {
                    // Nothing else has this id.
                    id: GenerationId(self.last_id + 1),
                    origin: None,
                },
                ..Generation::begin(name, config, Arc::clone(&text.prompt), models)
            }
        });
        self.last_id += 1;
        let own = self.pane(id).and_then(Pane::generation);
        if let Some(own) = own.filter(|own| !own.is_scored()).cloned() {
            self.keep_text(id, own);
        }
        self.extension_request(id, read, extension)
    }
}

/// Returns whether a text begins with the tokens that were read from it.
fn begins_with(text: &Generation, read: &Generation) -> bool {
    let mut steps = text.steps.iter().map(|step| step.token);
    let mut read = read.steps.iter().map(|step| step.token);
    read.all(|token| steps.next() == Some(token))
}
