//! The undo history of the panes' settings, and of the texts that took the place of others.

use std::collections::VecDeque;

use crate::generation::GenerationId;
use crate::state::settings::MAX_PANES;
use crate::state::words::change::{Change, Snapshot};
use crate::state::{Pane, PaneId};

/// The maximum number of undo steps.
const MAX_STEPS: usize = 100;

/// The undo history of the settings, and of texts that took the place of others. It observes snapshots of the
/// settings and detects changes itself, so it does not matter who made them.
#[derive(Debug, Clone, PartialEq)]
pub struct Undo {
    /// The settings as last observed.
    present: Snapshot,
    /// The steps to undo, oldest first, each with the snapshot before it.
    past: VecDeque<UndoStep>,
    /// The steps to redo, next one last, each with the snapshot after it.
    future: Vec<UndoStep>,
    /// Whether the last undo step is still open: further edits of the same value extend it.
    step_open: bool,
    /// The texts that panes have just changed to. The next observation makes them an undo step.
    swaps: Vec<TextSwap>,
    /// The panes removed last, oldest first, so that undo restores their texts too.
    removed_panes: VecDeque<Pane>,
}

#[derive(Debug, Clone, PartialEq)]
struct UndoStep {
    change: Change,
    snapshot: Snapshot,
    /// The texts that replaced others in their panes.
    swaps: Vec<TextSwap>,
}

/// A text that took the place of another one, which is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::state) struct TextSwap {
    pub pane: PaneId,
    /// `None` if the pane was empty.
    pub before: Option<GenerationId>,
    /// `None` if the pane is empty now.
    pub after: Option<GenerationId>,
}

impl Undo {
    /// Starts an empty history.
    pub(in crate::state) const fn new(present: Snapshot) -> Self {
        Self {
            present,
            past: VecDeque::new(),
            future: Vec::new(),
            step_open: false,
            swaps: Vec::new(),
            removed_panes: VecDeque::new(),
        }
    }

    /// Records the current settings. If they changed, this adds an undo step, or extends the last
    /// one if the same value is still being edited.
    pub(in crate::state) fn observe(&mut self, now: Snapshot) {
        let swaps = std::mem::take(&mut self.swaps);
        let change = match swaps.as_slice() {
            [] => Change::between(&self.present, &now),
            [swap] => Some(Change::of_text(swap.pane, &now)),
            [..] => Some(Change::of_texts()),
        };
        let Some(change) = change else {
            return;
        };
        self.future.clear();
        let before = std::mem::replace(&mut self.present, now);
        match self.past.back() {
            Some(last) if self.step_open && change.continues(&last.change) => {
                if last.snapshot == self.present {
                    self.past.pop_back();
                    // The value is back where the drag started. If the drag continues, it must not
                    // merge into the previous step.
                    self.step_open = false;
                    return;
                }
            }
            _ => self.past.push_back(UndoStep {
                change,
                snapshot: before,
                swaps,
            }),
        }
        if self.past.len() > MAX_STEPS {
            self.past.pop_front();
        }
        self.step_open = true;
    }

    /// Notes that texts take the place of others: one undo step, with the changes of the settings that
    /// the next observation finds.
    pub(in crate::state) fn note_swaps(&mut self, swaps: Vec<TextSwap>) {
        self.swaps = swaps;
    }

    /// Returns the texts that undo would replace again.
    pub(in crate::state) fn swaps_to_undo(&self) -> Vec<TextSwap> {
        let last = self.past.back();
        last.map(|step| step.swaps.clone()).unwrap_or_default()
    }

    /// Returns the texts that redo would replace again.
    pub(in crate::state) fn swaps_to_redo(&self) -> Vec<TextSwap> {
        let next = self.future.last();
        next.map(|step| step.swaps.clone()).unwrap_or_default()
    }

    /// Closes the last undo step: the next change starts a new one.
    pub(in crate::state) const fn end_step(&mut self) {
        self.step_open = false;
    }

    /// Undoes the last step and returns the snapshot before it.
    pub(in crate::state) fn step_back(&mut self) -> Option<Snapshot> {
        let UndoStep {
            change,
            snapshot,
            swaps,
        } = self.past.pop_back()?;
        let after = std::mem::replace(&mut self.present, snapshot.clone());
        self.future.push(UndoStep {
            change,
            snapshot: after,
            swaps,
        });
        self.end_step();
        Some(snapshot)
    }

    /// Redoes the next step and returns the snapshot after it.
    pub(in crate::state) fn step_forward(&mut self) -> Option<Snapshot> {
        let UndoStep {
            change,
            snapshot,
            swaps,
        } = self.future.pop()?;
        let before = std::mem::replace(&mut self.present, snapshot.clone());
        self.past.push_back(UndoStep {
            change,
            snapshot: before,
            swaps,
        });
        self.end_step();
        Some(snapshot)
    }

    /// Returns what undo would revert: "top-p of D".
    pub fn undo_label(&self) -> Option<&str> {
        let step = self.past.back()?;
        Some(step.change.label.as_str())
    }

    /// Returns what redo would apply again.
    pub fn redo_label(&self) -> Option<&str> {
        let step = self.future.last()?;
        Some(step.change.label.as_str())
    }

    /// Keeps a removed pane, dropping the oldest one if there are too many.
    pub(in crate::state) fn keep_removed_pane(&mut self, pane: Pane) {
        self.removed_panes.push_back(pane);
        if self.removed_panes.len() > MAX_PANES {
            self.removed_panes.pop_front();
        }
    }

    /// Takes out a removed pane to restore it, if it was kept.
    pub(in crate::state) fn take_removed_pane(&mut self, id: PaneId) -> Option<Pane> {
        let index = self.removed_panes.iter().position(|pane| pane.id == id)?;
        self.removed_panes.remove(index)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_STEPS, Undo};
    use crate::decoding::filters::{Temperature, TopP};
    use crate::decoding::{ChainConfig, Filter};
    use crate::generation::PaneSettings;
    use crate::state::PaneId;
    use crate::state::words::change::{PaneSnapshot, Snapshot};

    fn snapshot(temperature: f32, p: f32) -> Snapshot {
        let chain = ChainConfig::sampled([
            Filter::Temperature(Temperature { temperature }),
            Filter::TopP(TopP { p }),
        ]);
        Snapshot {
            seed: 42,
            panes: vec![PaneSnapshot {
                id: PaneId(1),
                place: 0,
                settings: PaneSettings::from(chain),
            }],
        }
    }

    #[test]
    fn each_change_can_be_undone_and_redone() {
        let [a, b, c] = [snapshot(0.7, 0.9), snapshot(1.0, 0.9), snapshot(1.0, 0.5)];
        let mut undo = Undo::new(a.clone());
        assert_eq!((undo.step_back(), undo.undo_label()), (None, None));
        undo.observe(b.clone());
        undo.observe(c.clone());
        assert_eq!(undo.undo_label(), Some("top-p of A"));
        assert_eq!(undo.step_back(), Some(b.clone()));
        assert_eq!(undo.undo_label(), Some("temperature of A"));
        assert_eq!(undo.redo_label(), Some("top-p of A"));
        assert_eq!(undo.step_back(), Some(a));
        assert_eq!(undo.step_back(), None);
        assert_eq!(undo.step_forward(), Some(b));
        assert_eq!(undo.step_forward(), Some(c));
        assert_eq!(undo.step_forward(), None);
    }

    #[test]
    fn each_drag_is_one_step() {
        let mut undo = Undo::new(snapshot(0.7, 0.9));
        for p in [0.8, 0.7, 0.6] {
            undo.observe(snapshot(0.7, p));
        }
        undo.end_step();
        for p in [0.5, 0.4] {
            undo.observe(snapshot(0.7, p));
        }
        assert_eq!(undo.step_back(), Some(snapshot(0.7, 0.6)));
        assert_eq!(undo.step_back(), Some(snapshot(0.7, 0.9)));
        assert_eq!(undo.step_back(), None);
    }

    #[test]
    fn a_drag_that_returns_to_its_start_is_not_a_step() {
        let mut undo = Undo::new(snapshot(0.7, 0.9));
        for p in [0.8, 0.9] {
            undo.observe(snapshot(0.7, p));
        }
        assert_eq!(undo.step_back(), None);
    }

    #[test]
    fn a_drag_that_passes_through_its_start_is_a_separate_step() {
        let mut undo = Undo::new(snapshot(0.7, 0.9));
        undo.observe(snapshot(1.0, 0.9));
        undo.end_step();
        for temperature in [1.2, 1.0, 1.3] {
            undo.observe(snapshot(temperature, 0.9));
        }
        assert_eq!(undo.step_back(), Some(snapshot(1.0, 0.9)));
        assert_eq!(undo.step_back(), Some(snapshot(0.7, 0.9)));
        assert_eq!(undo.step_back(), None);
    }

    #[test]
    fn a_new_change_clears_the_redo_steps() {
        let mut undo = Undo::new(snapshot(0.7, 0.9));
        undo.observe(snapshot(0.7, 0.5));
        undo.step_back();
        undo.observe(snapshot(1.0, 0.9));
        assert_eq!(undo.step_forward(), None);
        assert_eq!(undo.step_back(), Some(snapshot(0.7, 0.9)));
    }

    #[test]
    fn the_number_of_steps_is_limited() {
        let mut undo = Undo::new(snapshot(0.0, 0.9));
        for n in 1..=2 * MAX_STEPS {
            undo.observe(snapshot(n as f32, 0.9));
            undo.end_step();
        }
        let n_back = std::iter::from_fn(|| undo.step_back()).count();
        assert_eq!(n_back, MAX_STEPS);
    }
}
