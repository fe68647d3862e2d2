//! Undo and redo: observes the settings of all panes and restores them.

use crate::generation::FinishReason;
use crate::state::words::change::Snapshot;
use crate::state::{AppState, Effect, Pane, PaneId};

impl AppState {
    /// Returns what undo would revert: "top-p of D".
    pub fn undo_label(&self) -> Option<&str> {
        self.undo.undo_label()
    }

    /// Returns what redo would apply again.
    pub fn redo_label(&self) -> Option<&str> {
        self.undo.redo_label()
    }

    /// Returns the current settings of all panes.
    pub(in crate::state) fn snapshot(&self) -> Snapshot {
        let panes = self.panes.iter();
        Snapshot {
            seed: self.seed,
            panes: panes.map(|pane| (pane.id, pane.settings.clone())).collect(),
        }
    }

    /// Records any change to the settings since the last call, made in place or by a command.
    /// This is the only way that undo learns of a change.
    pub(in crate::state) fn observe_settings(&mut self) {
        self.undo.observe(self.snapshot());
    }

    /// Undoes the last change.
    pub(in crate::state) fn undo_change(&mut self) -> Vec<Effect> {
        let snapshot = self.undo.step_back();
        snapshot.map_or_else(Vec::new, |snapshot| self.restore(snapshot))
    }

    /// Redoes the last change that was undone.
    pub(in crate::state) fn redo_change(&mut self) -> Vec<Effect> {
        let snapshot = self.undo.step_forward();
        snapshot.map_or_else(Vec::new, |snapshot| self.restore(snapshot))
    }

    fn restore(&mut self, snapshot: Snapshot) -> Vec<Effect> {
        let stays = |id: PaneId| snapshot.panes.iter().any(|(other, _)| *other == id);
        let ids: Vec<PaneId> = self.panes.iter().map(|pane| pane.id).collect();
        let mut effects = Vec::new();
        for id in ids.into_iter().filter(|id| !stays(*id)) {
            effects.extend(self.remove_pane(id));
        }
        for (id, settings) in snapshot.panes {
            let existing = self.place_of(id).map(|place| self.panes.remove(place));
            let pane = existing
                .or_else(|| self.undo.take_removed_pane(id))
                .unwrap_or_else(|| Pane::new(id, settings.clone()));
            self.panes.push(Pane { settings, ..pane });
        }
        self.seed = snapshot.seed;
        effects
    }

    /// Removes a pane, and keeps it with its text for undo.
    pub(in crate::state) fn remove_pane(&mut self, id: PaneId) -> Vec<Effect> {
        let was_running = self.is_running();
        let mut effects = self.stop(id);
        effects.extend(self.end_verification());
        if let Some(place) = self.place_of(id) {
            let mut pane = self.panes.remove(place);
            // Its remaining events will be ignored, so the generation ends here.
            pane.status.finish(FinishReason::Cancelled);
            self.undo.keep_removed_pane(pane);
        }
        self.pin = self.pin.filter(|pin| pin.pane != id);
        if was_running {
            effects.extend(self.end_run());
        }
        effects
    }
}
