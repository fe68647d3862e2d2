//! Tests of the memory limit of the record.

use super::{asked, ready, write};
use crate::state::{AppState, Command, Effect, PaneId};
use crate::worker::Request;

/// The memory per step that these effects ask for.
fn bytes_per_step(effects: &[Effect]) -> usize {
    let [Effect::Send(Request::Generate { n_detail_bytes, .. })] = effects else {
        panic!("{effects:?}");
    };
    *n_detail_bytes
}

/// A state with four panes of up to 100 tokens and 40 MB for their record.
fn with_40_megabytes() -> AppState {
    let mut state = ready();
    state.memory.record_megabytes = 40;
    state.limits.max_new_tokens = 100;
    state
}

#[test]
fn all_panes_share_the_memory_for_the_record() {
    let mut state = with_40_megabytes();
    assert_eq!(bytes_per_step(&state.apply(Command::GenerateAll)), 100_000);
}

#[test]
fn a_pane_that_runs_alone_leaves_the_others_their_share() {
    let mut state = with_40_megabytes();
    let pane = state.panes[1].id;
    let effects = state.apply(Command::Generate(pane));
    assert_eq!(bytes_per_step(&effects), 100_000);
    write(&mut state, asked(&effects)[0], &[(" in", 0.6)]);
    let others: Vec<PaneId> = state.panes.iter().map(|pane| pane.id).collect();
    for id in others.into_iter().filter(|id| *id != pane) {
        state.apply(Command::Remove(id));
    }
    assert_eq!(bytes_per_step(&state.apply(Command::GenerateAll)), 400_000);
}

#[test]
fn a_text_has_no_more_steps_than_the_context_holds() {
    let mut state = with_40_megabytes();
    state.limits.max_new_tokens = 1_000_000;
    let n_context = state.models.main.ready().unwrap().info.n_context;
    let expected = 40_000_000 / 4 / n_context;
    assert_eq!(bytes_per_step(&state.apply(Command::GenerateAll)), expected);
}

#[test]
fn the_limit_says_whether_what_if_will_be_exact() {
    let mut state = with_40_megabytes();
    let exact = "All probabilities of every step take 1 MB: what-if is exact";
    assert_eq!(state.recording_words(), exact);
    state.memory.record_megabytes = 0;
    assert!(state.recording_words().contains("shows only bounds"));
}
