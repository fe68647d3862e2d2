//! Tests of undo and redo, for changes made by commands and in place.

use super::{asked, begin, continued, finish, ready, text, written};
use crate::decoding::ChainConfig;
use crate::generation::FinishReason;
use crate::state::{
    AppState, BranchChange, BranchCommand, BranchTarget, Command, Effect, PaneStatus, Pin,
    RunRequest,
};
use crate::worker::{GenerationId, Request};

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
    assert_eq!(state.undo.undo_label(), Some("pane B removed"));
    state.apply(Command::Undo);
    assert_eq!(state.place_of(id), Some(1));
    assert_eq!(text(&state, 1), before);
}

#[test]
fn undo_brings_a_pane_back_to_its_letter_although_it_was_given_away() {
    let mut state = written();
    let id = state.panes[1].id;
    state.apply(Command::Remove(id));
    state.apply(Command::AddPane);
    assert_eq!(state.undo.undo_label(), Some("pane B added"));
    for _ in 0..2 {
        state.apply(Command::Undo);
    }
    assert_eq!(state.place_of(id), Some(1));
    state.apply(Command::Redo);
    assert_eq!(state.panes.places().collect::<Vec<_>>(), [0, 2, 3]);
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

/// Continues A after its first token with another one.
fn branch_in_place(state: &mut AppState) -> GenerationId {
    let from = Pin {
        pane: state.panes[0].id,
        step: 1,
    };
    let token = state.panes[0].generation().unwrap().steps[0].token;
    let effects = state.apply(Command::Branch(BranchCommand::Branch {
        from,
        change: BranchChange::Tokens(vec![token]),
        target: BranchTarget::InPlace,
    }));
    continued(&effects)[0]
}

#[test]
fn undo_shows_the_text_that_a_branch_replaced_and_redo_the_branch() {
    let mut state = written();
    let before = text(&state, 0);
    let id = branch_in_place(&mut state);
    begin(&mut state, id, &[(" in", 0.5), (" in", 0.5)]);
    finish(&mut state, id);
    let branch = text(&state, 0);
    assert_ne!(branch, before);
    assert_eq!(state.undo.undo_label(), Some("text of A"));
    state.apply(Command::Undo);
    assert_eq!(text(&state, 0), before);
    assert_eq!(state.undo.redo_label(), Some("text of A"));
    state.apply(Command::Redo);
    assert_eq!(text(&state, 0), branch);
    state.apply(Command::Undo);
    assert_eq!(text(&state, 0), before);
}

#[test]
fn undo_stops_a_branch_and_leaves_later_settings_alone() {
    let mut state = written();
    let (pane, before) = (state.panes[0].id, text(&state, 0));
    let id = branch_in_place(&mut state);
    begin(&mut state, id, &[(" in", 0.5)]);
    state.apply(Command::SetSeed(pane, Some(7)));
    state.apply(Command::Undo);
    assert_eq!(state.panes[0].settings.seed, None);
    assert!(state.is_running(), "only the seed was undone");
    state.apply(Command::Undo);
    assert!(!state.is_running());
    assert_eq!(text(&state, 0), before);
}
