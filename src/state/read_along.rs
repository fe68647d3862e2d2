//! Reading along: a pane follows the text of another pane, token for token, and its own model shows
//! what it would have written at every step.

use std::sync::Arc;

use super::branches::Extension;
use super::{Command, Models, Pane, PaneId, PaneStatus, Panes, ReadyModel};
use crate::decoding::ChainConfig;
use crate::generation::formatting::pane_letter;
use crate::generation::{
    FinishReason, Generation, GenerationConfig, GenerationId, Lineage, TextModels,
};

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

impl Panes {
    /// Returns why a pane can't read along with another pane, or `None` if it can.
    pub fn read_along_reason(&self, id: PaneId, with: PaneId, models: &Models) -> Option<String> {
        let (reader, leader) = (self.pane(id)?, self.pane(with)?);
        if id == with {
            return Some("A pane can’t read along with itself".to_owned());
        }
        if leader.reads.is_some() {
            return Some("That pane already reads along with another pane".to_owned());
        }
        if self.iter().any(|pane| pane.reads == Some(id)) {
            return Some("Another pane reads along with this one".to_owned());
        }
        let (Some(own), Some(other)) = (models.of(reader), models.of(leader)) else {
            return Some("Both models must be loaded".to_owned());
        };
        (own.vocabulary != other.vocabulary)
            .then(|| "Both models must have the same vocabulary".to_owned())
    }

    /// Returns whether there is a pane with which this one can read along.
    pub fn can_read_along(&self, id: PaneId, models: &Models) -> bool {
        let mut others = self.iter();
        others.any(|other| self.read_along_reason(id, other.id, models).is_none())
    }

    /// Returns the commands that let a pane read along with each possible pane, with their names
    /// and whether each is in effect.
    pub fn read_along_rows(&self, id: PaneId, models: &Models) -> Vec<(String, bool, Command)> {
        let Some(pane) = self.pane(id) else {
            return Vec::new();
        };
        let is_possible = |other: &Pane| self.read_along_reason(id, other.id, models).is_none();
        let possible = self.placed().filter(|(_, other)| is_possible(other));
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
        let mut readings = self.placed().filter_map(|(place, pane)| {
            let read = self.place_of(pane.reads?)?;
            let has_read = pane.latest().is_some_and(Generation::is_scored);
            has_read.then(|| format!("{} reads {}", pane_letter(place), pane_letter(read)))
        });
        let first = readings.next()?;
        let all = readings.fold(first, |all, reading| format!("{all}, {reading}"));
        Some(format!(
            "{all}: tint and plots show what its own model and settings make of each token"
        ))
    }

    /// Notes that a generation is about to end for this reason, if it is a reading that has not begun.
    pub(super) fn note_refused_reading(&mut self, id: GenerationId, reason: &FinishReason) {
        let pane = self.running(id);
        let Some((id, with)) = pane.and_then(|pane| Some((pane.id, pane.reads?))) else {
            return;
        };
        let text = self.pane(with).and_then(Pane::latest);
        let text = text.map(|text| text.lineage.id);
        if let Some(pane) = self.pane_mut(id)
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

    /// Returns how far a pane has read the text of the other pane, if it can read on now.
    pub(super) fn more_to_read<'a>(
        &'a self,
        id: PaneId,
        models: &'a Models,
    ) -> Option<Reading<'a>> {
        let pane = self
            .pane(id)
            .filter(|pane| pane.status.running().is_none())?;
        let leader = self.pane(pane.reads?)?;
        let text = leader.latest().filter(|text| !text.steps.is_empty())?;
        let is_refused = pane.refused_reading.as_ref().is_some_and(|refused| {
            let is_same = refused.text == text.lineage.id && refused.chain == pane.settings.chain;
            is_same && !(refused.is_stopped && leader.status.running().is_some())
        });
        if is_refused {
            return None;
        }
        let model = models.of(pane)?;
        let read = pane.latest().filter(|read| {
            read.is_scored()
                && read.prompt.tokens == text.prompt.tokens
                && read.model.is_equivalent_to(&model.info)
                && read.config.chain == pane.settings.chain
                && begins_with(text, read)
        });
        let can_read = match read.map(|read| (read.steps.len(), read.finish.as_ref())) {
            Some((n_read, _)) if n_read == text.steps.len() => false,
            Some((_, Some(FinishReason::Paused))) => true,
            // A reading that the user stopped resumes while the other text is being generated.
            Some((_, Some(FinishReason::Cancelled))) => leader.status.running().is_some(),
            Some(_) => false,
            None => self.read_along_reason(id, leader.id, models).is_none(),
        };
        can_read.then_some(Reading {
            pane,
            text,
            read,
            model,
        })
    }
}

/// A pane that reads the text of another pane.
pub(super) struct Reading<'a> {
    pane: &'a Pane,
    text: &'a Generation,
    /// What it has read so far.
    pub read: Option<&'a Generation>,
    model: &'a ReadyModel,
}

impl Reading<'_> {
    /// Returns the extension that reads the rest of the text.
    pub(super) fn extension(&self) -> Extension {
        let n_read = self.read.map_or(0, |read| read.steps.len());
        let more = self.text.steps.iter().skip(n_read);
        Extension {
            n_kept: n_read,
            by_hand: more.map(|step| step.token).collect(),
            reads: true,
            pause_after: Some(self.text.steps.len() - n_read),
            ..Extension::default()
        }
    }

    /// Creates the empty text to read into.
    pub(super) fn begin(&self, id: GenerationId, config: GenerationConfig) -> Generation {
        let models = TextModels {
            model: Arc::clone(&self.model.info),
            second_model: None,
            vocabulary: Arc::clone(&self.model.vocabulary),
        };
        let name = self.pane.settings.name.clone();
        Generation {
            lineage: Lineage { id, origin: None },
            ..Generation::begin(name, config, Arc::clone(&self.text.prompt), models)
        }
    }
}

/// Returns whether a text begins with the tokens that were read from it.
fn begins_with(text: &Generation, read: &Generation) -> bool {
    let mut steps = text.steps.iter().map(|step| step.token);
    let mut read = read.steps.iter().map(|step| step.token);
    read.all(|token| steps.next() == Some(token))
}
