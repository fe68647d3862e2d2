//! Tests of futures: what is requested, and how events are applied.

use super::{planned, ready, report, tokenized, update_job, written};
use crate::decoding::TokenId;
use crate::generation::{DrawnFutures, FinishReason, Future, FuturesPlan};
use crate::state::{
    AppState, BranchesView, Command, DockTab, Effect, FuturesCommand, Pin, RunStatus,
};
use crate::worker::{Event, GenerationId, JobUpdate, Request};

fn apply(state: &mut AppState, command: FuturesCommand) -> Vec<Request> {
    let effects = state.apply(Command::Futures(command));
    let requests = effects.into_iter().map(|effect| match effect {
        Effect::Send(request) => request,
        other => panic!("{other:?}"),
    });
    requests.collect()
}

fn plans(requests: &[Request]) -> Vec<(GenerationId, FuturesPlan)> {
    let effects = requests.iter().cloned().map(Effect::Send);
    effects.filter_map(|effect| planned(&effect)).collect()
}

/// A state with four texts, whose last pane's second token is pinned.
fn pinned() -> AppState {
    let mut state = written();
    let pane = state.panes[3].id;
    state.apply(Command::Pin(Pin { pane, step: 1 }));
    state
}

fn future(index: usize, tokens: &[u32]) -> Future {
    Future {
        index,
        tokens: tokens.iter().copied().map(TokenId).collect(),
        finish: FinishReason::MaxTokens,
        grammar_complete: None,
    }
}

#[test]
fn futures_follow_the_pinned_token_under_the_settings_of_its_pane() {
    let mut state = pinned();
    state.panes[3].settings.seed = Some(5);
    let requests = apply(&mut state, FuturesCommand::Draw);
    let (_, plan) = plans(&requests).remove(0);
    let text = state.panes[3].generation().unwrap();
    assert_eq!((plan.n_prompt, plan.text.len()), (3, 5));
    assert_eq!(plan.text[3..], [text.steps[0].token, text.steps[1].token]);
    assert_eq!(plan.config, state.config_of(&state.panes[3]));
    assert_eq!((plan.n_futures, plan.n_tokens), (64, 24));
    assert_eq!([0, 1, 63].map(|index| plan.seed_of(index)), [5, 6, 68]);
    assert_eq!(state.view.dock_tab, DockTab::Branches);
    assert_eq!(state.view.branches, BranchesView::Futures);
    assert!(state.futures.is_drawing());
}

#[test]
fn without_a_pin_they_follow_the_prompt_once_it_is_read() {
    let mut state = ready();
    assert_eq!(
        state.futures_blocking_reason().as_deref(),
        Some("The prompt is being read")
    );
    assert_eq!(apply(&mut state, FuturesCommand::Draw), []);
    state.on_event(tokenized(state.prompt.to_text(), 4));
    let requests = apply(&mut state, FuturesCommand::Draw);
    let (_, plan) = plans(&requests).remove(0);
    assert_eq!((plan.n_prompt, plan.text.len()), (4, 4));
    assert_eq!(plan.config, state.config_of(&state.panes[3]));
}

#[test]
fn figures_grow_with_each_batch_and_a_stop_keeps_them() {
    let mut state = pinned();
    let requests = apply(&mut state, FuturesCommand::Draw);
    let (id, _) = plans(&requests).remove(0);
    apply(&mut state, FuturesCommand::AddWord(" house ".to_owned()));
    let own = state.panes[3].generation().unwrap().steps[2].token.0;
    let batches = [
        vec![future(0, &[own, 6]), future(1, &[4, 6])],
        vec![future(2, &[4, 6])],
    ];
    for batch in batches {
        report(&mut state, id, DrawnFutures(batch));
    }
    let run = &state.futures.runs()[0];
    assert_eq!((run.futures().len(), run.n_distinct), (3, 2));
    assert_eq!(run.tree.len(), 2);
    assert!(!run.tree[0].is_own && run.tree[1].is_own);
    let share = run.words[0].share.clone().unwrap();
    assert_eq!(
        (run.words[0].word.as_str(), share.n_with, share.n),
        ("house", 2, 3)
    );

    let stop = apply(&mut state, FuturesCommand::Stop);
    assert_eq!(stop, [Request::StopJob(id)]);
    update_job(&mut state, id, JobUpdate::Stopped);
    assert_eq!(state.futures.runs()[0].status, RunStatus::Stopped);
    assert_eq!(state.futures.runs()[0].futures().len(), 3);
    assert!(!state.futures.is_drawing());

    // New futures replace them, and late events of the old ones are ignored.
    apply(&mut state, FuturesCommand::Draw);
    report(&mut state, id, DrawnFutures(vec![future(3, &[4])]));
    assert!(state.futures.runs()[0].futures().is_empty());
}

#[test]
fn two_panes_draw_from_the_same_text_under_different_settings() {
    let mut state = pinned();
    apply(&mut state, FuturesCommand::Draw);
    let beside = state.panes[1].id;
    let requests = apply(&mut state, FuturesCommand::ShowBeside(Some(beside)));
    assert!(matches!(requests[0], Request::StopJob(_)));
    let plans = plans(&requests);
    let [(_, first), (_, other)] = plans.as_slice() else {
        panic!("{requests:?}");
    };
    assert_eq!(first.text, other.text);
    assert_eq!(other.config, state.config_of(&state.panes[1]));
    let panes: Vec<_> = state.futures.runs().iter().map(|run| run.pane).collect();
    assert_eq!(panes, [state.panes[3].id, beside]);
    state.apply(Command::Remove(beside));
    assert!(state.futures_beside().is_none());
}

#[test]
fn an_invalid_pattern_says_why_and_words_can_be_removed() {
    let mut state = pinned();
    apply(&mut state, FuturesCommand::Draw);
    apply(&mut state, FuturesCommand::AddWord("/(/".to_owned()));
    apply(&mut state, FuturesCommand::AddWord(" ".to_owned()));
    let words = &state.futures.runs()[0].words;
    assert_eq!(words.len(), 1);
    assert_eq!(
        words[0].share,
        Err("invalid pattern: unclosed group".to_owned())
    );
    apply(&mut state, FuturesCommand::RemoveWord("/(/".to_owned()));
    assert!(state.futures.runs()[0].words.is_empty());
}

#[test]
fn a_dead_engine_ends_them() {
    let mut state = pinned();
    apply(&mut state, FuturesCommand::Draw);
    let message = "boom".to_owned();
    state.on_event(Event::Panicked { message });
    assert!(!state.futures.is_drawing());
    assert!(matches!(
        state.futures.runs()[0].status,
        RunStatus::Failed { .. }
    ));
    assert!(state.futures_blocking_reason().is_some());
}
