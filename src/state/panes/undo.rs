//! The way back and forth through the panes' settings.

use std::collections::VecDeque;

use crate::state::settings::MAX_PANES;
use crate::state::words::change::{Change, Snapshot};
use crate::state::{Pane, PaneId};

/// How many steps one can go back.
const MOST_STEPS: usize = 100;

/// Every change of the panes' settings, whoever made it: it is told what they are, and finds out by
/// itself whether that is new.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) struct Undo {
    present: Snapshot,
    /// The steps behind, the oldest first, each with what was there before it.
    back: VecDeque<UndoStep>,
    /// The steps ahead, the next one last, each with what was there after it.
    forth: Vec<UndoStep>,
    /// Whether the last step still grows while the same value is dragged or typed.
    growing: bool,
    /// The panes that were taken away last, so that their texts come back with them.
    shelf: VecDeque<Pane>,
}

#[derive(Debug, Clone, PartialEq)]
struct UndoStep {
    change: Change,
    snapshot: Snapshot,
}

impl Undo {
    /// Nothing was changed yet.
    pub(in crate::state) const fn new(present: Snapshot) -> Self {
        Self {
            present,
            back: VecDeque::new(),
            forth: Vec::new(),
            growing: false,
            shelf: VecDeque::new(),
        }
    }

    /// Takes in how the panes are set now.
    pub(in crate::state) fn observe(&mut self, now: Snapshot) {
        let Some(change) = Change::between(&self.present, &now) else {
            return;
        };
        self.forth.clear();
        let before = std::mem::replace(&mut self.present, now);
        match self.back.back() {
            Some(last) if self.growing && change.continues(&last.change) => {
                if last.snapshot == self.present {
                    self.back.pop_back();
                    // Dragged on from there, it must not run into the step before.
                    self.growing = false;
                    return;
                }
            }
            _ => self.back.push_back(UndoStep {
                change,
                snapshot: before,
            }),
        }
        if self.back.len() > MOST_STEPS {
            self.back.pop_front();
        }
        self.growing = true;
    }

    /// What comes next is a step of its own.
    pub(in crate::state) const fn settle(&mut self) {
        self.growing = false;
    }

    /// One step back: how the panes were set before it.
    pub(in crate::state) fn go_back(&mut self) -> Option<Snapshot> {
        let UndoStep { change, snapshot } = self.back.pop_back()?;
        let after = std::mem::replace(&mut self.present, snapshot.clone());
        self.forth.push(UndoStep {
            change,
            snapshot: after,
        });
        self.settle();
        Some(snapshot)
    }

    /// One step forth again: how the panes were set after it.
    pub(in crate::state) fn go_forth(&mut self) -> Option<Snapshot> {
        let UndoStep { change, snapshot } = self.forth.pop()?;
        let before = std::mem::replace(&mut self.present, snapshot.clone());
        self.back.push_back(UndoStep {
            change,
            snapshot: before,
        });
        self.settle();
        Some(snapshot)
    }

    /// What a step back would undo.
    pub(in crate::state) fn words_back(&self) -> Option<&str> {
        self.back.back().map(|step| step.change.words.as_str())
    }

    /// What a step forth would do again.
    pub(in crate::state) fn words_forth(&self) -> Option<&str> {
        self.forth.last().map(|step| step.change.words.as_str())
    }

    /// Keeps a pane that was taken away; only the last ones are kept.
    pub(in crate::state) fn shelve(&mut self, pane: Pane) {
        self.shelf.push_back(pane);
        if self.shelf.len() > MAX_PANES {
            self.shelf.pop_front();
        }
    }

    /// Gives back a pane that was taken away, if it was kept.
    pub(in crate::state) fn unshelve(&mut self, id: PaneId) -> Option<Pane> {
        let place = self.shelf.iter().position(|pane| pane.id == id)?;
        self.shelf.remove(place)
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_STEPS, Undo};
    use crate::decoding::filters::{Temperature, TopP};
    use crate::decoding::{ChainConfig, Filter};
    use crate::generation::PaneSettings;
    use crate::state::PaneId;
    use crate::state::words::change::Snapshot;

    fn set_to(temperature: f32, p: f32) -> Snapshot {
        let chain = ChainConfig::sampled([
            Filter::Temperature(Temperature { temperature }),
            Filter::TopP(TopP { p }),
        ]);
        Snapshot {
            seed: 42,
            panes: vec![(PaneId(1), PaneSettings::from(chain))],
        }
    }

    #[test]
    fn each_change_is_undone_and_done_again() {
        let [a, b, c] = [set_to(0.7, 0.9), set_to(1.0, 0.9), set_to(1.0, 0.5)];
        let mut undo = Undo::new(a.clone());
        assert_eq!((undo.go_back(), undo.words_back()), (None, None));
        undo.observe(b.clone());
        undo.observe(c.clone());
        assert_eq!(undo.words_back(), Some("top-p of A"));
        assert_eq!(undo.go_back(), Some(b.clone()));
        assert_eq!(undo.words_back(), Some("temperature of A"));
        assert_eq!(undo.words_forth(), Some("top-p of A"));
        assert_eq!(undo.go_back(), Some(a));
        assert_eq!(undo.go_back(), None);
        assert_eq!(undo.go_forth(), Some(b));
        assert_eq!(undo.go_forth(), Some(c));
        assert_eq!(undo.go_forth(), None);
    }

    #[test]
    fn a_drag_is_one_step_and_the_next_drag_another() {
        let mut undo = Undo::new(set_to(0.7, 0.9));
        for p in [0.8, 0.7, 0.6] {
            undo.observe(set_to(0.7, p));
        }
        undo.settle();
        for p in [0.5, 0.4] {
            undo.observe(set_to(0.7, p));
        }
        assert_eq!(undo.go_back(), Some(set_to(0.7, 0.6)));
        assert_eq!(undo.go_back(), Some(set_to(0.7, 0.9)));
        assert_eq!(undo.go_back(), None);
    }

    #[test]
    fn a_drag_back_to_where_it_began_is_no_step() {
        let mut undo = Undo::new(set_to(0.7, 0.9));
        for p in [0.8, 0.9] {
            undo.observe(set_to(0.7, p));
        }
        assert_eq!(undo.go_back(), None);
    }

    #[test]
    fn a_drag_through_where_it_began_is_still_a_step_of_its_own() {
        let mut undo = Undo::new(set_to(0.7, 0.9));
        undo.observe(set_to(1.0, 0.9));
        undo.settle();
        for temperature in [1.2, 1.0, 1.3] {
            undo.observe(set_to(temperature, 0.9));
        }
        assert_eq!(undo.go_back(), Some(set_to(1.0, 0.9)));
        assert_eq!(undo.go_back(), Some(set_to(0.7, 0.9)));
        assert_eq!(undo.go_back(), None);
    }

    #[test]
    fn what_was_undone_is_lost_once_something_else_is_changed() {
        let mut undo = Undo::new(set_to(0.7, 0.9));
        undo.observe(set_to(0.7, 0.5));
        undo.go_back();
        undo.observe(set_to(1.0, 0.9));
        assert_eq!(undo.go_forth(), None);
        assert_eq!(undo.go_back(), Some(set_to(0.7, 0.9)));
    }

    #[test]
    fn only_so_many_steps_are_kept() {
        let mut undo = Undo::new(set_to(0.0, 0.9));
        for n in 1..=2 * MOST_STEPS {
            undo.observe(set_to(n as f32, 0.9));
            undo.settle();
        }
        let n_back = std::iter::from_fn(|| undo.go_back()).count();
        assert_eq!(n_back, MOST_STEPS);
    }
}
