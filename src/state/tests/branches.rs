//! Tests of continuing, stepping and branching.

use std::sync::Arc;

use super::{asked, ready, text, write, written};
use crate::decoding::TokenId;
use crate::generation::testing::generation;
use crate::generation::{Continuation, FinishReason};
use crate::state::{
    AppState, BranchChange, BranchCommand, BranchTarget, Command, Effect, Pace, PaneStatus, Pin,
    RunRequest,
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
fn continue_keeps_the_text_and_extends_it() {
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
    assert!(after.steps.range(..3).eq(&before.steps));
    assert!(Arc::ptr_eq(&after.steps[0].trace, &before.steps[0].trace));
    assert!(Arc::ptr_eq(&after.prompt, &before.prompt));
    assert!(state.pinned().is_some(), "the pinned token is still there");
}

#[test]
fn a_text_at_its_token_limit_may_grow_by_as_many_tokens_again() {
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
    assert_eq!(state.branches.n_earlier(id), 1);

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
    assert_eq!(text(&state, 4), " in a fox");
    assert_eq!(state.panes[0].generation(), Some(&before));
    assert_eq!(state.pin.map(|pin| pin.pane), Some(state.panes[4].id));
    while state.panes.len() < 8 {
        let id = state.panes[0].id;
        state.apply(Command::Duplicate(id));
    }
    assert!(!state.panes.has_room());
    assert_eq!(
        apply(&mut state, branch(from, 5, BranchTarget::NewPane)),
        []
    );
}

#[test]
fn another_seed_continues_from_the_same_tokens() {
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

/// Lets a pane generate these tokens and pause.
fn pause_after(state: &mut AppState, id: GenerationId, pieces: &[&str]) {
    let pieces: Vec<(&str, f64)> = pieces.iter().map(|piece| (*piece, 0.5)).collect();
    let generation = generation(&pieces);
    state.on_event(Event::Progress(Progress::Started {
        ids: vec![id],
        prompt: Arc::clone(&generation.prompt),
    }));
    for step in generation.steps {
        let step = Box::new(step);
        state.on_event(Event::Progress(Progress::Stepped { id, step }));
    }
    let reason = FinishReason::Paused;
    state.on_event(Event::Progress(Progress::Finished { id, reason }));
}

/// A state in step mode whose four texts show one token and preview a second.
fn stepped() -> AppState {
    let mut state = ready();
    state.prompt.text = "Once there was".to_owned();
    state.apply(Command::SetPace(Pace::Step));
    let first = apply(&mut state, BranchCommand::Step);
    let preview = Continuation {
        pause_after: Some(2),
        ..Continuation::default()
    };
    assert!(first.iter().all(|request| request.continuation == preview));
    assert_eq!(first.len(), 4);
    for request in first {
        pause_after(&mut state, request.id, &[" in", " a"]);
    }
    state
}

#[test]
fn each_step_reveals_the_previewed_token_and_can_be_undone() {
    let mut state = stepped();
    assert_eq!(text(&state, 3), " in");
    assert_eq!(state.upcoming(3).unwrap().piece.as_str(), Some(" a"));
    assert_eq!(state.pin, None, "a step pins nothing");

    let second = apply(&mut state, BranchCommand::Step);
    assert_eq!(text(&state, 3), " in a", "it takes no time");
    assert!(second.iter().all(|request| kept(request) == 2));
    assert!(
        second
            .iter()
            .all(|request| request.continuation.pause_after == Some(1))
    );
    assert_eq!(apply(&mut state, BranchCommand::Step), [], "one at a time");
    for request in second {
        pause_after(&mut state, request.id, &[" house"]);
    }
    assert_eq!(text(&state, 3), " in a");
    assert_eq!(state.upcoming(3).unwrap().piece.as_str(), Some(" house"));

    apply(&mut state, BranchCommand::StepBack);
    assert_eq!(text(&state, 3), " in");
    assert_eq!(state.upcoming(3).unwrap().piece.as_str(), Some(" a"));
    let again = apply(&mut state, BranchCommand::Step);
    assert_eq!(text(&state, 3), " in a");
    assert!(again.iter().all(|request| kept(request) == 2));
}

#[test]
fn a_token_picked_by_hand_replaces_the_previewed_one() {
    let mut state = stepped();
    let id = state.panes[1].id;
    let request = apply(&mut state, BranchCommand::Pick(id, vec![TokenId(5)])).remove(0);
    assert_eq!(kept(&request), 1);
    assert_eq!(request.continuation.by_hand, [TokenId(5)]);
    assert_eq!(request.continuation.pause_after, Some(2));
    pause_after(&mut state, request.id, &[" fox", " ran"]);
    assert_eq!(text(&state, 1), " in fox");
    assert_eq!(state.upcoming(1).unwrap().piece.as_str(), Some(" ran"));
    assert_eq!(text(&state, 0), " in", "the other panes wait");
    let origin = state.panes[1].generation().unwrap().lineage.origin;
    assert_eq!(origin, None, "the text only grew");
}

#[test]
fn one_pane_can_step_alone_and_all_can_keep_running() {
    let mut state = stepped();
    let id = state.panes[2].id;
    apply(&mut state, BranchCommand::StepOnly(Some(id)));
    assert_eq!(state.sampler_place(), Some(2));
    let requests = apply(&mut state, BranchCommand::Step);
    assert_eq!(requests.len(), 1);
    assert_eq!(
        (text(&state, 2), text(&state, 0)),
        (" in a".into(), " in".into())
    );
    pause_after(&mut state, requests[0].id, &[" house"]);
    apply(&mut state, BranchCommand::StepOnly(None));
    let requests = apply(&mut state, BranchCommand::KeepRunning);
    assert_eq!(requests.len(), 4);
    let unpaused = |request: &PaneRequest| request.continuation.pause_after.is_none();
    assert!(requests.iter().all(unpaused));
}

#[test]
fn the_previewed_token_is_drawn_again_when_the_settings_change() {
    let mut state = stepped();
    state.panes[3].settings.seed = Some(7);
    assert_eq!(state.upcoming(3), None);
    let requests = apply(&mut state, BranchCommand::Step);
    let pauses: Vec<Option<usize>> = requests
        .iter()
        .map(|request| request.continuation.pause_after)
        .collect();
    assert_eq!(pauses, [Some(1), Some(1), Some(1), Some(2)]);
    assert_eq!(text(&state, 3), " in");
}

#[test]
fn a_text_ends_only_when_its_last_token_is_revealed() {
    let mut state = ready();
    state.prompt.text = "Once there was".to_owned();
    state.apply(Command::SetPace(Pace::Step));
    let id = apply(&mut state, BranchCommand::Step)[0].id;
    let text = generation(&[(" in", 0.5), ("</s>", 0.5)]);
    let prompt = Arc::clone(&text.prompt);
    let ids = vec![id];
    state.on_event(Event::Progress(Progress::Started { ids, prompt }));
    for step in text.steps {
        let step = Box::new(step);
        state.on_event(Event::Progress(Progress::Stepped { id, step }));
    }
    let reason = FinishReason::EndOfText;
    state.on_event(Event::Progress(Progress::Finished { id, reason }));
    let finish = |state: &AppState| state.panes[0].generation().unwrap().finish.clone();
    assert_eq!(finish(&state), Some(FinishReason::Paused));
    for place in 1..4 {
        state.panes[place].status.finish(FinishReason::Cancelled);
    }
    let alone = state.panes[0].id;
    apply(&mut state, BranchCommand::StepOnly(Some(alone)));
    let effects = state.apply(Command::Branch(BranchCommand::Step));
    let keeps = |effect: &Effect| matches!(effect, Effect::Runs(RunRequest::Keep { .. }));
    assert!(
        effects.len() == 1 && effects.iter().all(keeps),
        "{effects:?}"
    );
    assert_eq!(finish(&state), Some(FinishReason::EndOfText));
}

#[test]
fn the_popup_says_what_the_cache_holds() {
    let mut state = written();
    let from = Pin {
        pane: state.panes[0].id,
        step: 2,
    };
    let effects = state.apply(Command::Branch(BranchCommand::Open(Some(from))));
    let [
        Effect::Send(Request::CountCached {
            tokens,
            model: None,
        }),
    ] = effects.as_slice()
    else {
        panic!("{effects:?}");
    };
    let n_tokens = tokens.len();
    assert_eq!(n_tokens, 5, "the prompt and two tokens");
    let words = |state: &mut AppState, n_cached| {
        state.on_event(Event::CachedCounted { n_tokens, n_cached });
        let dialog = state.branches.dialog.as_ref().unwrap();
        dialog.cache_words(state.memory.cache_megabytes)
    };
    assert_eq!(words(&mut state, 5), "5 tokens cached");
    assert_eq!(words(&mut state, 4), "4 tokens cached");
    assert_eq!(
        words(&mut state, 1),
        "Must prefill 3 tokens again: the 64 MB cache no longer holds them"
    );
    state.memory.cache_megabytes = 8;
    let effects = state.apply(Command::Branch(BranchCommand::LimitCache));
    let n_max_bytes = 8_000_000;
    let limit = Request::LimitPrefixCache { n_max_bytes };
    assert_eq!(effects, [Effect::Send(limit)]);
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
