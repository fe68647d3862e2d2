//! Tests of generating, stopping and failing.

use super::{asked, ready, text, tokenized, write, written};
use crate::decoding::filters::TopP;
use crate::decoding::{ChainConfig, Filter};
use crate::generation::FinishReason;
use crate::generation::testing::generation;
use crate::interop::tools::Tool;
use crate::state::{AppState, Command, Effect, PaneStatus};
use crate::worker::{Event, Progress, Request};

#[test]
fn generate_sends_one_request_for_all_panes() {
    let mut state = ready();
    state.panes[2].settings.seed = Some(7);
    let effects = state.apply(Command::GenerateAll);
    let [Effect::Send(Request::Generate { prompt, panes, .. })] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert_eq!(*prompt, state.prompt.text.as_str().into());
    let seeds: Vec<u64> = panes.iter().map(|pane| pane.config.seed).collect();
    assert_eq!(seeds, [42, 42, 7, 42]);
    assert!(state.is_running());
    assert_eq!(
        state.apply(Command::GenerateAll),
        [],
        "it is already running"
    );
}

#[test]
fn a_pane_goes_through_its_states() {
    let mut state = ready();
    let id = asked(&state.apply(Command::GenerateAll))[0];
    assert!(matches!(state.panes[0].status, PaneStatus::Waiting { .. }));
    state.on_event(Event::Progress(Progress::Prefilling {
        ids: vec![id],
        n_read: 2,
        n_tokens: 3,
    }));
    assert!(matches!(
        state.panes[0].status,
        PaneStatus::Reading { n_read: 2, .. }
    ));
    write(&mut state, id, &[(" in", 0.5)]);
    assert!(matches!(state.panes[0].status, PaneStatus::Finished(_)));
    assert_eq!(text(&state, 0), " in");
}

#[test]
fn late_events_of_an_abandoned_generation_are_ignored() {
    let mut state = written();
    let pane = state.panes[0].id;
    let old = asked(&state.apply(Command::Generate(pane)))[0];
    let new = asked(&state.apply(Command::Generate(pane)))[0];
    write(&mut state, old, &[(" late", 0.5)]);
    assert_eq!(
        text(&state, 0),
        " in a house",
        "the previous text stays until the new one starts"
    );
    write(&mut state, new, &[(" new", 0.5)]);
    assert_eq!(text(&state, 0), " new");
}

#[test]
fn generating_in_one_pane_stops_only_that_pane() {
    let mut state = ready();
    let ids = asked(&state.apply(Command::GenerateAll));
    let effects = state.apply(Command::Generate(state.panes[1].id));
    assert_eq!(effects[0], Effect::Send(Request::Stop(ids[1])));
    assert_eq!(asked(&effects).len(), 1);
    assert_eq!(state.panes[0].status.running(), Some(ids[0]));
    assert_ne!(state.panes[1].status.running(), Some(ids[1]));
}

#[test]
fn a_text_that_is_stopped_or_fails_is_kept() {
    let failed = FinishReason::Failed {
        error: "the model returned 3 logits that are NaN or +∞".to_owned(),
    };
    for reason in [FinishReason::Cancelled, failed] {
        let mut state = ready();
        let id = asked(&state.apply(Command::GenerateAll))[0];
        let half = generation(&[(" half", 0.5)]);
        state.on_event(Event::Progress(Progress::Started {
            ids: vec![id],
            prompt: half.prompt,
        }));
        state.on_event(Event::Progress(Progress::Stepped {
            id,
            step: Box::new(half.steps[0].clone()),
        }));
        state.on_event(Event::Progress(Progress::Finished {
            id,
            reason: reason.clone(),
        }));
        assert_eq!(text(&state, 0), " half");
        let finish = state.panes[0].generation().unwrap().finish.clone();
        assert_eq!(finish, Some(reason));
    }
}

#[test]
fn a_failure_before_the_first_token_keeps_the_previous_text() {
    let mut state = written();
    let ids = asked(&state.apply(Command::GenerateAll));
    state.on_event(Event::Progress(Progress::Finished {
        id: ids[0],
        reason: FinishReason::Failed {
            error: "the prompt is empty".to_owned(),
        },
    }));
    assert!(matches!(state.panes[0].status, PaneStatus::Refused { .. }));
    assert_eq!(text(&state, 0), " in a house");
}

#[test]
fn only_running_generations_are_stopped() {
    let mut state = ready();
    let pane = state.panes[0].id;
    assert_eq!(state.apply(Command::StopAll), []);
    assert_eq!(state.apply(Command::Stop(pane)), []);
    let ids = asked(&state.apply(Command::GenerateAll));
    assert_eq!(
        state.apply(Command::Stop(pane)),
        [Effect::Send(Request::Stop(ids[0]))]
    );
    assert_eq!(
        state.apply(Command::StopAll),
        [Effect::Send(Request::StopAll)]
    );
}

/// Changes the state so that nothing can be generated.
type Block<'a> = &'a dyn Fn(&mut AppState);

#[test]
fn a_blocked_generate_says_why() {
    let too_long = |state: &mut AppState| {
        state.on_event(tokenized(state.prompt.text.as_str(), 600));
    };
    let out_of_range = |state: &mut AppState| {
        let chain = ChainConfig::sampled([Filter::TopP(TopP { p: 1.5 })]);
        for pane in &mut state.panes {
            pane.settings.chain = chain.clone();
        }
    };
    let cases: [(&str, Block); 6] = [
        ("Type a prompt first", &|state| state.prompt.text.clear()),
        ("600 tokens, but the model reads at most 512", &too_long),
        ("A: Top-p must be between 0 and 1", &out_of_range),
        ("The token limit must be at least 1", &|state| {
            state.limits.max_new_tokens = 0;
        }),
        ("The model is still loading", &|state| {
            state.apply(Command::LoadEmbeddedModel);
        }),
        ("The engine has stopped; restart it first", &|state| {
            state.on_event(Event::Panicked {
                message: "out of range".to_owned(),
            });
        }),
    ];
    for (sentence, block) in cases {
        let mut state = ready();
        block(&mut state);
        assert_eq!(state.blocking_reason().as_deref(), Some(sentence));
        assert_eq!(state.apply(Command::GenerateAll), [], "{sentence}");
    }
}

#[test]
fn an_invalid_value_blocks_only_its_pane_and_is_not_copied() {
    let mut state = ready();
    assert_eq!(state.skipped_pane_words(), None);
    let pane = state.panes[2].id;
    let chain = ChainConfig::sampled([Filter::TopP(TopP { p: 1.7 })]);
    state.apply(Command::SetChain(pane, chain));
    assert_eq!(state.blocking_reason(), None);
    assert_eq!(
        state.skipped_pane_words().as_deref(),
        Some("C will not run: top-p must be between 0 and 1")
    );
    assert_eq!(state.apply(Command::CopySettings(pane, Tool::OpenAi)), []);
    assert_eq!(state.notices[0].title, "Nothing was copied");
    assert_eq!(state.notices[0].body, "Top-p must be between 0 and 1");
    assert_eq!(asked(&state.apply(Command::GenerateAll)).len(), 3);
    assert!(matches!(state.panes[2].status, PaneStatus::Ready));
}

#[test]
fn a_token_limit_beyond_the_context_is_known_at_once() {
    let mut state = ready();
    assert_eq!(
        state
            .prompt
            .context_limit(&state.models.main, state.limits.max_new_tokens),
        None,
        "the prompt's length is unknown"
    );
    state.on_event(tokenized(state.prompt.text.as_str(), 12));
    assert_eq!(
        state
            .prompt
            .context_limit(&state.models.main, state.limits.max_new_tokens),
        None,
        "200 tokens fit"
    );
    state.limits.max_new_tokens = 2000;
    assert_eq!(
        state
            .prompt
            .context_limit(&state.models.main, state.limits.max_new_tokens),
        Some(500)
    );
}

#[test]
fn the_output_is_stale_until_it_matches_the_settings() {
    let mut state = ready();
    assert!(state.output_is_stale());
    state.prompt.text = "Once there was".to_owned();
    let ids = asked(&state.apply(Command::GenerateAll));
    for id in ids {
        write(&mut state, id, &[(" a", 0.5)]);
    }
    assert!(!state.output_is_stale());
    state.seed = 43;
    assert!(state.output_is_stale());
    state.seed = 42;
    state.prompt.text.push('!');
    assert!(state.output_is_stale());
}
