//! Which turns of a conversation the plots show: the chosen one, or all as one text.

use std::sync::Arc;

use egui::Context;

use super::figures::joined_turns;
use crate::analysis::JoinedTurns;
use crate::generation::Generation;
use crate::plots::StepAt;
use crate::state::{AppState, Pane, TurnsPlotted};

/// The texts that plots show.
#[derive(Default)]
pub(super) struct PlottedTurns {
    /// All turns of the pane at each place. Empty if the plots show one turn.
    joined: Vec<Option<Arc<JoinedTurns>>>,
}

/// A step of a turn.
#[derive(Clone, Copy)]
pub(super) struct TurnStep<'a> {
    pub text: &'a Generation,
    pub turn: usize,
    /// The pane's place, and the index in the turn.
    pub at: StepAt,
}

impl TurnStep<'_> {
    /// Returns whether the pane shows its turn.
    pub(super) fn is_of_shown_turn(&self, state: &AppState) -> bool {
        let pane = state.panes.get(self.at.pane);
        let shown = pane.and_then(|pane| state.turn_of(pane));
        shown.is_none_or(|shown| shown.turn == self.turn)
    }
}

impl PlottedTurns {
    /// Returns what the user chose: the shown turn, or all of them.
    pub(super) fn chosen(ctx: &Context, state: &AppState) -> Self {
        if state.view.turns_plotted == TurnsPlotted::Shown || state.panes.n_turns() < 2 {
            return Self::default();
        }
        let joined = state.panes.by_place(Pane::latest).into_iter();
        let joined = joined.map(|last| Some(joined_turns(ctx, last?)));
        Self {
            joined: joined.collect(),
        }
    }

    /// Returns the text of the pane at each place.
    pub(super) fn texts<'a>(&'a self, state: &'a AppState) -> Vec<Option<&'a Generation>> {
        if self.joined.is_empty() {
            return state.generations();
        }
        let joined = self.joined.iter().map(Option::as_deref);
        joined.map(|turns| Some(&turns?.text)).collect()
    }

    /// Returns the indices of the steps at which the turns after the first begin.
    pub(super) fn later_starts(&self, place: usize) -> Vec<usize> {
        let joined = self.joined_at(place);
        let starts = joined.and_then(|joined| joined.starts.get(1..));
        starts.map(<[usize]>::to_vec).unwrap_or_default()
    }

    /// Returns where the plots show a step of the shown turn.
    pub(super) fn in_plot(&self, state: &AppState, at: StepAt) -> Option<StepAt> {
        let Some(joined) = self.joined_at(at.pane) else {
            return Some(at);
        };
        let turn = state.turn_of(state.panes.get(at.pane)?)?.turn;
        let step = joined.index_of(turn, at.step)?;
        Some(StepAt { step, ..at })
    }

    /// Returns the step that the plots show there.
    pub(super) fn in_turn<'a>(&self, state: &'a AppState, at: StepAt) -> Option<TurnStep<'a>> {
        let pane = state.panes.get(at.pane)?;
        let Some(joined) = self.joined_at(at.pane) else {
            return Some(TurnStep {
                text: pane.generation()?,
                turn: state.turn_of(pane).map_or(0, |shown| shown.turn),
                at,
            });
        };
        let (turn, step) = joined.turn_at(at.step)?;
        Some(TurnStep {
            text: pane.latest()?.turn(turn)?,
            turn,
            at: StepAt { step, ..at },
        })
    }

    fn joined_at(&self, place: usize) -> Option<&JoinedTurns> {
        self.joined.get(place)?.as_deref()
    }
}
