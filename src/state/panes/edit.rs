//! Changes to the panes' settings, and new panes.

use super::all::Panes;
use super::pane::{Pane, PaneId};
use super::solo::Solo;
use crate::decoding::ChainConfig;
use crate::generation::formatting::pane_letter;
use crate::generation::{Generation, PaneSettings};
use crate::interop::presets;
use crate::state::settings::MAX_PANES;
use crate::state::words::change::{PaneSnapshot, Snapshot};

impl Panes {
    /// Returns the current settings of all panes.
    pub(in crate::state) fn snapshot(&self, seed: u64) -> Snapshot {
        let panes = self.iter();
        Snapshot {
            seed,
            panes: panes.map(PaneSnapshot::of).collect(),
        }
    }

    /// Returns whether there is room for another pane.
    pub fn has_room(&self) -> bool {
        self.len() < MAX_PANES
    }

    /// Returns whether a run of all panes leaves this pane alone, because it reads along with
    /// another pane or shows a given text. If all panes show given texts, none is left alone.
    pub(in crate::state) fn keeps_given_text(&self, pane: &Pane) -> bool {
        if pane.reads.is_some() {
            return true;
        }
        let is_given = |pane: &Pane| pane.latest().is_some_and(Generation::is_scored);
        is_given(pane) && !self.iter().all(is_given)
    }

    pub(in crate::state) fn set_chain(&mut self, id: PaneId, chain: ChainConfig) {
        if let Some(pane) = self.pane_mut(id) {
            pane.settings.set_chain(chain);
        }
    }

    pub(in crate::state) fn solo(&mut self, id: PaneId, index: usize) {
        if let Some(pane) = self.pane_mut(id) {
            let mut chain = pane.settings.chain.clone();
            Solo::toggle(&mut pane.solo, index, &mut chain);
            pane.settings.set_chain(chain);
        }
    }

    pub(in crate::state) fn set_seed(&mut self, id: PaneId, seed: Option<u64>) {
        if let Some(pane) = self.pane_mut(id) {
            pane.settings.seed = seed;
        }
    }

    /// Resets a pane to the default settings for its place. It keeps its model.
    pub(in crate::state) fn reset_settings(&mut self, id: PaneId) {
        let Some(place) = self.place_of(id) else {
            return;
        };
        let settings = PaneSettings::classics().into_iter().cycle().nth(place);
        if let (Some(pane), Some(settings)) = (self.get_mut(place), settings) {
            let model = pane.settings.model.take();
            pane.settings = PaneSettings { model, ..settings };
        }
    }

    /// Returns the settings of the first built-in preset that no pane uses.
    pub(in crate::state) fn unused_preset(&self) -> PaneSettings {
        let is_used = |chain: &ChainConfig| self.iter().any(|pane| pane.settings.chain == *chain);
        let presets = presets::built_in().into_iter();
        let mut presets = presets.flat_map(|group| group.presets);
        let preset = presets.find(|preset| !is_used(&preset.chain));
        PaneSettings::from(preset.map_or_else(ChainConfig::greedy, |preset| preset.chain))
    }

    /// Returns the letter of the next new pane.
    pub fn next_letter(&self) -> String {
        pane_letter(self.free_place())
    }

    /// Adds an empty pane with a pane's settings.
    pub(in crate::state) fn duplicate(&mut self, id: PaneId, new_id: PaneId) {
        if let Some(settings) = self.pane(id).map(|pane| pane.settings.clone()) {
            self.push(Pane::new(new_id, settings));
        }
    }
}
