//! Tests of continuing, stepping and branching.

use std::sync::Arc;

use super::{asked, ready, text, write, written};
use crate::decoding::TokenId;
use crate::generation::testing::generation;
use crate::generation::{Continuation, FinishReason};
use crate::state::{
    AppState, BranchChange, BranchCommand, BranchTarget, Command, Effect, PaneStatus, Pin,
};
use crate::worker::{Event, GenerationId, PaneRequest, Progress, Request};

fn apply(state: &mut AppState, command: BranchCommand) -> Vec<PaneRequest> {
    let effects = state.apply(Command::Branch(command));
    let requests = effects.into_iter().flat_map(|effect| match effect {
        Effect::Send(Request::Continue { panes, .. } | Request::Generate { panes, .. }) => panes,
        other => panic!("{other:?}"),
    });
    requests.collect()
}

fn branch(from: Pin, token: u32, target: BranchTarget) -> BranchCommand {
    BranchCommand::Branch {
        from,
        change: BranchChange::Tokens(vec![TokenId(token)]),
        target,
    }
}

fn kept(request: &PaneRequest) -> usize {
    request.continuation.kept.len()
}

#[test]
fn continue_keeps_the_text_and_goes_on_after_it() {
    let mut state = written();
    let before = state.panes[0].generation().unwrap().clone();
    let id = state.panes[0].id;
    state.apply(Command::Pin(Pin { pane: id, step: 1 }));
    let requests = apply(&mut state, BranchCommand::Continue(id));
    let [request] = requests.as_slice() else {
        panic!("{requests:?}");
    };
    assert_eq!(kept(request), 3);
    let at_secs = before.steps[2].time.at_secs;
    assert!((request.continuation.at_secs - at_secs).abs() < 1e-12);
    assert_eq!(request.config.limits.max_new_tokens, 200);
    write(&mut state, request.id, &[(".", 0.5)]);
    assert_eq!(text(&state, 0), " in a house.");
    let after = state.panes[0].generation().unwrap();
    assert_eq!(after.steps[..3], before.steps);
    assert!(Arc::ptr_eq(&after.steps[0].trace, &before.steps[0].trace));
    assert!(Arc::ptr_eq(&after.prompt, &before.prompt));
    assert!(state.pinned().is_some(), "the pinned token is still there");
}

#[test]
fn a_text_at_its_token_limit_gets_as_many_tokens_again() {
    let mut state = written();
    state.limits.max_new_tokens = 3;
    let id = state.panes[0].id;
    let request = apply(&mut state, BranchCommand::Continue(id)).remove(0);
    assert_eq!(request.config.limits.max_new_tokens, 6);
}

#[test]
fn a_complete_text_cannot_be_continued_but_it_can_be_branched() {
    let mut state = written();
    let id = state.panes[0].id;
    if let PaneStatus::Finished(generation) = &mut state.panes[0].status {
        generation.finish = Some(FinishReason::EndOfText);
    }
    assert!(!state.can_continue(&state.panes[0]));
    assert_eq!(apply(&mut state, BranchCommand::Continue(id)), []);
    assert!(state.can_branch(Pin { pane: id, step: 2 }));
    assert!(!state.can_branch(Pin { pane: id, step: 3 }));
}

#[test]
fn a_branch_in_place_can_be_left_for_the_earlier_text_and_back() {
    let mut state = written();
    let before = state.panes[0].generation().unwrap().clone();
    let id = state.panes[0].id;
    let from = Pin { pane: id, step: 1 };
    let request = apply(&mut state, branch(from, 5, BranchTarget::InPlace)).remove(0);
    assert_eq!(kept(&request), 1);
    assert_eq!(request.continuation.by_hand, [TokenId(5)]);
    write(&mut state, request.id, &[(" fox", 0.1), (".", 0.5)]);
    let branched = state.panes[0].generation().unwrap().clone();
    assert_eq!(text(&state, 0), " in fox.");
    assert_eq!(state.n_earlier(id), 1);

    apply(&mut state, BranchCommand::ShowEarlier(id));
    assert_eq!(state.panes[0].generation(), Some(&before));
    apply(&mut state, BranchCommand::ShowEarlier(id));
    assert_eq!(state.panes[0].generation(), Some(&branched));
}

#[test]
fn a_branch_in_a_new_pane_leaves_the_text_alone() {
    let mut state = written();
    let before = state.panes[0].generation().unwrap().clone();
    let from = Pin {
        pane: state.panes[0].id,
        step: 2,
    };
    let request = apply(&mut state, branch(from, 5, BranchTarget::NewPane)).remove(0);
    write(&mut state, request.id, &[(" fox", 0.1)]);
    assert_eq!(state.panes.len(), 5);
    assert_eq!(text(&state, 1), " in a fox");
    assert_eq!(state.panes[0].generation(), Some(&before));
    assert_eq!(state.pin.map(|pin| pin.pane), Some(state.panes[1].id));
    while state.panes.len() < 8 {
        let id = state.panes[0].id;
        state.apply(Command::Duplicate(id));
    }
    assert!(!state.can_add_pane());
    assert_eq!(
        apply(&mut state, branch(from, 5, BranchTarget::NewPane)),
        []
    );
}

#[test]
fn another_seed_goes_on_from_the_same_tokens() {
    let mut state = written();
    let from = Pin {
        pane: state.panes[0].id,
        step: 2,
    };
    let command = BranchCommand::Branch {
        from,
        change: BranchChange::AnotherSeed,
        target: BranchTarget::InPlace,
    };
    let request = apply(&mut state, command).remove(0);
    assert_eq!(kept(&request), 2);
    assert_eq!(request.config.seed, 43);
    assert_eq!(request.continuation.by_hand, []);
    state.apply(Command::Undo);
    assert_eq!(state.panes[0].settings.seed, None);
}

/// Lets a pane generate one token and pause.
fn pause_after(state: &mut AppState, id: GenerationId, piece: &str) {
    let generation = generation(&[(piece, 0.5)]);
    let started = Progress::Started {
        ids: vec![id],
        prompt: Arc::clone(&generation.prompt),
    };
    let step = Box::new(generation.steps[0].clone());
    let reason = FinishReason::Paused;
    for progress in [
        started,
        Progress::Stepped { id, step },
        Progress::Finished { id, reason },
    ] {
        state.on_event(Event::Progress(progress));
    }
}

#[test]
fn each_step_adds_a_token_to_every_text_and_can_be_undone() {
    let mut state = ready();
    state.prompt = "Once there was".to_owned();
    apply(&mut state, BranchCommand::ToggleStepMode);
    let paused = Continuation {
        pause_after: Some(1),
        ..Continuation::default()
    };
    let first = apply(&mut state, BranchCommand::Step);
    assert!(first.iter().all(|request| request.continuation == paused));
    assert_eq!(first.len(), 4);
    for request in first {
        pause_after(&mut state, request.id, " in");
    }
    let second = apply(&mut state, BranchCommand::Step);
    assert!(second.iter().all(|request| kept(request) == 1));
    assert_eq!(apply(&mut state, BranchCommand::Step), [], "one at a time");
    for request in second {
        pause_after(&mut state, request.id, " a");
    }
    assert_eq!(text(&state, 3), " in a");
    apply(&mut state, BranchCommand::StepBack);
    assert_eq!(text(&state, 3), " in");
    let again = apply(&mut state, BranchCommand::Step);
    assert!(again.iter().all(|request| kept(request) == 1));
}

#[test]
fn a_text_that_is_replaced_while_it_waits_stays() {
    let mut state = written();
    let id = state.panes[0].id;
    let request = apply(&mut state, BranchCommand::Continue(id)).remove(0);
    let reason = FinishReason::Cancelled;
    state.on_event(Event::Progress(Progress::Finished {
        id: request.id,
        reason,
    }));
    assert_eq!(text(&state, 0), " in a house");
    let again = asked(&state.apply(Command::Generate(id)));
    assert_eq!(again.len(), 1);
}
