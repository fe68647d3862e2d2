//! Tests of panes that read along with another pane.

use super::{asked, ready, text, write, written};
use crate::generation::testing::generation;
use crate::generation::{FinishReason, Generation};
use crate::state::{AppState, BranchCommand, Command, Effect};
use crate::worker::{Event, GenerationId, PaneRequest, Progress, Request};

fn read_along(state: &mut AppState, place: usize, with: Option<usize>) -> Vec<Effect> {
    let id = state.panes[place].id;
    let with = with.map(|with| state.panes[with].id);
    state.apply(Command::ReadAlong(id, with))
}

/// Returns the requests that read.
fn readings(effects: &[Effect]) -> Vec<PaneRequest> {
    let panes = effects.iter().flat_map(|effect| match effect {
        Effect::Send(Request::Continue { panes, .. }) => panes.clone(),
        _ => Vec::new(),
    });
    panes.filter(|pane| pane.continuation.reads).collect()
}

fn begin(state: &mut AppState, id: GenerationId, text: &Generation) {
    state.on_event(Event::Progress(Progress::Started {
        ids: vec![id],
        prompt: std::sync::Arc::clone(&text.prompt),
    }));
}

/// Delivers one step. If `is_read`, its token is marked as given.
fn step(
    state: &mut AppState,
    id: GenerationId,
    text: &Generation,
    at: usize,
    is_read: bool,
) -> Vec<Effect> {
    let mut step = text.steps[at].clone();
    if is_read {
        let trace = std::sync::Arc::make_mut(&mut step.trace);
        trace.draw.picked = crate::decoding::Picked::Given;
    }
    let step = Box::new(step);
    state.on_event(Event::Progress(Progress::Stepped { id, step }))
}

fn end(state: &mut AppState, id: GenerationId, reason: FinishReason) -> Vec<Effect> {
    state.on_event(Event::Progress(Progress::Finished { id, reason }))
}

#[test]
fn a_pane_reads_another_text_while_it_is_being_written() {
    let mut state = ready();
    assert_eq!(read_along(&mut state, 1, Some(0)), []);
    let ids = asked(&state.apply(Command::GenerateAll));
    assert_eq!(ids.len(), 3, "the second pane writes nothing itself");
    let story = generation(&[(" in", 0.6), (" a", 0.9), (" house", 0.4)]);
    begin(&mut state, ids[0], &story);
    let effects = step(&mut state, ids[0], &story, 0, false);
    let [reading] = &*readings(&effects) else {
        panic!("{effects:?}");
    };
    assert_eq!(reading.continuation.by_hand, [story.steps[0].token]);
    assert_eq!(reading.continuation.pause_after, Some(1));

    // Two more arrive meanwhile, and are read at once.
    let reader = reading.id;
    begin(&mut state, reader, &story);
    assert_eq!(readings(&step(&mut state, ids[0], &story, 1, false)), []);
    step(&mut state, ids[0], &story, 2, false);
    step(&mut state, reader, &story, 0, true);
    let effects = end(&mut state, reader, FinishReason::Paused);
    let [reading] = &*readings(&effects) else {
        panic!("{effects:?}");
    };
    assert_eq!(reading.continuation.kept.len(), 1);
    assert_eq!(reading.continuation.by_hand.len(), 2);
    let reader = reading.id;
    begin(&mut state, reader, &story);
    step(&mut state, reader, &story, 1, true);
    step(&mut state, reader, &story, 2, true);
    assert_eq!(readings(&end(&mut state, reader, FinishReason::Paused)), []);
    assert_eq!(text(&state, 1), " in a house");
    let panes = &state.panes;
    assert!(panes[1].generation().is_some_and(Generation::is_scored));
    assert_eq!(state.panes.reads_words(&panes[1]).unwrap(), "Reads A");
    let words = crate::state::divergence_summary(&state).long;
    assert!(words.starts_with("B reads A: "), "{words}");
    assert!(!state.can_continue(&panes[1]), "it only reads");
}

#[test]
fn a_finished_text_is_read_at_once_and_what_the_user_stops_stays_stopped() {
    let mut state = ready();
    let ids = asked(&state.apply(Command::GenerateAll));
    for id in &ids[..2] {
        write(&mut state, *id, &[(" in", 0.6), (" a", 0.9)]);
    }
    for id in &ids[2..] {
        end(&mut state, *id, FinishReason::Cancelled);
    }
    let effects = read_along(&mut state, 1, Some(0));
    let [reading] = &*readings(&effects) else {
        panic!("{effects:?}");
    };
    assert_eq!(reading.continuation.by_hand.len(), 2);
    let id = state.panes[1].id;
    assert!(
        state.branches.n_earlier(id) > 0,
        "its own text can be shown again"
    );
    let story = state.panes[0].generation().unwrap().clone();
    let reader = reading.id;
    begin(&mut state, reader, &story);
    step(&mut state, reader, &story, 0, true);
    assert_eq!(
        readings(&end(&mut state, reader, FinishReason::Cancelled)),
        []
    );

    // It writes again once it no longer reads along.
    read_along(&mut state, 1, None);
    assert_eq!(asked(&state.apply(Command::GenerateAll)).len(), 4);
}

#[test]
fn a_reading_that_is_refused_is_not_requested_again() {
    let failed = || FinishReason::Failed {
        error: "it has no second model".to_owned(),
    };
    for reason in [failed(), FinishReason::Cancelled] {
        let mut state = written();
        let effects = read_along(&mut state, 1, Some(0));
        let reader = readings(&effects)[0].id;
        let effects = end(&mut state, reader, reason);
        assert_eq!(readings(&effects), []);
        assert_eq!(readings(&state.apply(Command::Unpin)), []);
        // Other settings may be accepted, and so may choosing it once more.
        let pane = state.panes[1].id;
        let chain = crate::decoding::ChainConfig::greedy();
        let effects = state.apply(Command::SetChain(pane, chain));
        let reader = readings(&effects)[0].id;
        assert_eq!(readings(&end(&mut state, reader, failed())), []);
        assert_eq!(readings(&read_along(&mut state, 1, Some(0))).len(), 1);
    }
}

#[test]
fn only_a_pane_that_writes_can_be_read() {
    let mut state = ready();
    read_along(&mut state, 1, Some(0));
    let [a, b, c] = [0, 1, 2].map(|place| state.panes[place].id);
    assert!(state.panes.read_along_reason(b, b, &state.models).is_some());
    assert!(
        state.panes.read_along_reason(c, b, &state.models).is_some(),
        "B reads along"
    );
    assert!(
        state.panes.read_along_reason(a, c, &state.models).is_some(),
        "A is read by B"
    );
    assert_eq!(state.panes.read_along_reason(c, a, &state.models), None);
    let rows = state.panes.read_along_rows(b, &state.models);
    assert_eq!(rows[0].0, "Read along with A");
    assert!(rows[0].1);
    // Once the pane that it reads is removed, it writes again.
    state.apply(Command::Remove(a));
    assert_eq!(state.panes[1].reads, None);
    state.apply(Command::Branch(BranchCommand::StepOnly(None)));
}
