//! Tests of undo and redo, for changes made by commands and in place.

use super::{asked, ready, text, written};
use crate::decoding::ChainConfig;
use crate::generation::FinishReason;
use crate::state::{AppState, Command, Effect, PaneStatus, RunRequest};
use crate::worker::Request;

type Act<'a> = &'a dyn Fn(&mut AppState);

#[test]
fn every_change_to_the_panes_can_be_undone_and_redone() {
    let acts: [(Act<'_>, &str); 7] = [
        (
            &|state| {
                let id = state.panes[3].id;
                state.apply(Command::SetChain(id, ChainConfig::greedy()));
            },
            "settings of D",
        ),
        (
            &|state| {
                let id = state.panes[3].id;
                state.apply(Command::Solo(id, 1));
            },
            "temperature muted in D",
        ),
        (
            &|state| {
                let id = state.panes[0].id;
                state.apply(Command::SetSeed(id, Some(7)));
            },
            "seed of A",
        ),
        (
            &|state| {
                let id = state.panes[1].id;
                state.apply(Command::Duplicate(id));
            },
            "pane E added",
        ),
        (
            &|state| {
                let id = state.panes[2].id;
                state.apply(Command::Remove(id));
            },
            "pane C removed",
        ),
        (
            &|state| {
                state.panes[1].settings.name = "Mine".to_owned();
                state.apply(Command::EndUndoStep);
            },
            "name of B",
        ),
        (
            &|state| {
                state.seed = 9;
                state.apply(Command::EndUndoStep);
            },
            "the shared seed",
        ),
    ];
    for (act, words) in acts {
        let mut state = ready();
        let before = state.settings();
        act(&mut state);
        let after = state.settings();
        assert_ne!(before, after, "{words}");
        assert_eq!(state.undo.undo_label(), Some(words));
        state.apply(Command::Undo);
        assert_eq!(state.settings(), before, "{words}");
        assert_eq!(state.undo.undo_label(), None);
        assert_eq!(state.undo.redo_label(), Some(words));
        state.apply(Command::Redo);
        assert_eq!(state.settings(), after, "{words}");
        assert_eq!(state.undo.redo_label(), None);
    }
}

#[test]
fn only_changes_of_settings_are_undo_steps() {
    let mut state = written();
    state.apply(Command::StopAll);
    state.apply(Command::Unpin);
    state.apply(Command::CloseNotice(0));
    assert_eq!(state.undo.undo_label(), None);
    assert_eq!(state.apply(Command::Undo), []);
}

#[test]
fn undo_restores_a_removed_pane_with_its_text() {
    let mut state = written();
    let (id, before) = (state.panes[1].id, text(&state, 1));
    state.apply(Command::Remove(id));
    assert_eq!(state.place_of(id), None);
    state.apply(Command::Undo);
    assert_eq!(state.place_of(id), Some(1));
    assert_eq!(text(&state, 1), before);
}

#[test]
fn undoing_a_new_pane_stops_its_generation() {
    let mut state = written();
    state.apply(Command::Duplicate(state.panes[0].id));
    let new = state.panes[4].id;
    let generation = asked(&state.apply(Command::Generate(new)))[0];
    let effects = state.apply(Command::Undo);
    // The run ends with the texts that are left, and is kept.
    let [stop, Effect::Runs(RunRequest::Keep { .. })] = &*effects else {
        panic!("{effects:?}");
    };
    assert_eq!(*stop, Effect::Send(Request::Stop(generation)));
    assert_eq!(state.panes.len(), 4);
    state.apply(Command::Redo);
    let cancelled = FinishReason::Cancelled;
    assert!(
        matches!(&state.panes[4].status, PaneStatus::Refused { reason, .. } if *reason == cancelled)
    );
}
