//! Undo and redo of the whole window: what was observed is put back into the panes.

use crate::generation::FinishReason;
use crate::state::words::change::Snapshot;
use crate::state::{AppState, Effect, Pane, PaneId};

impl AppState {
    /// What a step back would undo: "top-p of D".
    pub fn undo_words(&self) -> Option<&str> {
        self.undo.words_back()
    }

    /// What a step forth would do again.
    pub fn redo_words(&self) -> Option<&str> {
        self.undo.words_forth()
    }

    /// How the panes are set now.
    pub(in crate::state) fn snapshot(&self) -> Snapshot {
        let panes = self.panes.iter();
        Snapshot {
            seed: self.seed,
            panes: panes.map(|pane| (pane.id, pane.settings.clone())).collect(),
        }
    }

    /// Takes in what was changed since it was asked last, in place or by a command.
    pub(in crate::state) fn observe_settings(&mut self) {
        self.undo.observe(self.snapshot());
    }

    /// One step back.
    pub(in crate::state) fn go_back(&mut self) -> Vec<Effect> {
        let snapshot = self.undo.go_back();
        snapshot.map_or_else(Vec::new, |snapshot| self.restore(snapshot))
    }

    /// One step forth again.
    pub(in crate::state) fn go_forth(&mut self) -> Vec<Effect> {
        let snapshot = self.undo.go_forth();
        snapshot.map_or_else(Vec::new, |snapshot| self.restore(snapshot))
    }

    fn restore(&mut self, snapshot: Snapshot) -> Vec<Effect> {
        let stays = |id: PaneId| snapshot.panes.iter().any(|(other, _)| *other == id);
        let ids: Vec<PaneId> = self.panes.iter().map(|pane| pane.id).collect();
        let mut effects = Vec::new();
        for id in ids.into_iter().filter(|id| !stays(*id)) {
            effects.extend(self.take_away(id));
        }
        for (id, settings) in snapshot.panes {
            let there = self.place_of(id).map(|place| self.panes.remove(place));
            let pane = there
                .or_else(|| self.undo.unshelve(id))
                .unwrap_or_else(|| Pane::new(id, settings.clone()));
            self.panes.push(Pane { settings, ..pane });
        }
        self.seed = snapshot.seed;
        effects
    }

    /// Takes a pane away, with its text, from where undo can bring both back.
    pub(in crate::state) fn take_away(&mut self, id: PaneId) -> Vec<Effect> {
        let effects = self.stop(id);
        if let Some(place) = self.place_of(id) {
            let mut pane = self.panes.remove(place);
            // Its last events find nobody, so it ends here.
            pane.status.finish(FinishReason::Cancelled);
            self.undo.shelve(pane);
        }
        self.pin = self.pin.filter(|pin| pin.pane != id);
        effects
    }
}
