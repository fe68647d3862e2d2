//! Maps in the history.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::figures::{IntervalSearch, KeptMap, MappedText, StabilityMap, StableInterval};
use super::state::{StabilityAxes, StabilityRun};
use crate::generation::formatting::counted;
use crate::lab::ResultFacts;
use crate::lab::kept_pieces::KeptPieces;
use crate::state::MAX_PANES;

/// A map with its intervals as the history keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptStability {
    text: MappedText,
    axes: StabilityAxes,
    map: KeptMap,
    intervals: Vec<StableInterval>,
    /// The tokens that other settings choose.
    pieces: KeptPieces,
}

impl StabilityRun {
    /// Returns what the history keeps, and what it says about it, once everything is known.
    pub(super) fn kept(&self) -> Option<(ResultFacts, KeptStability)> {
        let map = self.map.kept().filter(|_| self.is_complete())?;
        let text = &self.text;
        let of_what = match self.held_step() {
            Some(step) => format!("token {}, {}", step + 1, text.token_words(step)),
            None => counted(text.steps.len(), "token"),
        };
        let facts = ResultFacts {
            words: format!("{} of {}, {of_what}", self.axes.name(), text.pane_words()),
            model: text.model.name.clone(),
            prompt: text.prompt().text,
        };
        let tokens = self.intervals.tokens().chain(self.map.tokens());
        let pieces = KeptPieces::of(&text.vocabulary, tokens);
        let mut kept_text = text.clone();
        // The history keeps only the pieces that the map names.
        kept_text.vocabulary = Arc::default();
        let kept = KeptStability {
            text: kept_text,
            axes: self.axes,
            map,
            intervals: self.intervals.intervals().to_vec(),
            pieces,
        };
        Some((facts, kept))
    }

    /// Returns a map that the history has kept. Fails, with the reason, if it contradicts itself.
    pub(super) fn of_kept(kept: KeptStability) -> Result<Self, String> {
        let n_tokens = kept.text.steps.len();
        let is_inside =
            |interval: &StableInterval| interval.flips().all(|flip| flip.step < n_tokens);
        if !kept.intervals.iter().all(is_inside) {
            return Err("its intervals do not fit its text".to_owned());
        }
        if kept.text.place >= MAX_PANES {
            return Err("its pane has no letter".to_owned());
        }
        let map = StabilityMap::of_kept(kept.map, n_tokens)?;
        let mut text = kept.text;
        text.vocabulary = Arc::new(kept.pieces.vocabulary()?);
        let intervals = IntervalSearch::complete(kept.intervals);
        Ok(Self::ended(text, kept.axes, map, intervals))
    }
}

/// The maps of this window that are in the history: the key of each, and the time that names its
/// file, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct KeptMaps(Vec<(u64, u64)>);

impl KeptMaps {
    /// Notes a map. Returns the time that names its file: the same as before if it replaces a map, or
    /// else one that no other map has.
    pub(super) fn note(&mut self, key: u64, now: u64) -> u64 {
        let known = self.0.iter().find(|(other, _)| *other == key);
        if let Some((_, named_at)) = known {
            return *named_at;
        }
        let last = self.0.last();
        let named_at = last.map_or(now, |(_, last)| now.max(last + 1));
        self.0.push((key, named_at));
        named_at
    }
}
