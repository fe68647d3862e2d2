//! Tests of scoring a text: the dialog, the request and the pane that shows it.

use super::{asked, ready, tokenized, write, written};
use crate::generation::testing::scored;
use crate::generation::{FinishReason, GenerationId};
use crate::state::{
    AppState, BranchTarget, Command, Effect, PaneStatus, ScoreCommand, ScoreReadiness,
    divergence_summary,
};
use crate::worker::{Event, PaneRequest, Progress, Request};

const TEXT: &str = "A hungry fox";

fn apply(state: &mut AppState, command: ScoreCommand) -> Vec<Effect> {
    state.apply(Command::Score(command))
}

/// Opens the dialog of a pane, types a text and lets the engine count its tokens.
fn typed(state: &mut AppState, place: usize, n_tokens: usize) {
    let pane = state.panes[place].id;
    apply(state, ScoreCommand::Open(pane));
    TEXT.clone_into(&mut state.dialogs.score.as_mut().unwrap().text);
    let effects = apply(state, ScoreCommand::Edited);
    let prompt = TEXT.into();
    assert_eq!(
        effects,
        [Effect::Send(Request::Tokenize {
            prompt,
            model: None
        })]
    );
    state.on_event(tokenized(TEXT, n_tokens));
}

fn readiness(state: &AppState) -> ScoreReadiness {
    state
        .dialogs
        .score
        .as_ref()
        .unwrap()
        .readiness(&state.panes, &state.models)
}

/// The request of a command, with how many tokens it asks for.
fn requested(effects: &[Effect]) -> (PaneRequest, Option<usize>) {
    let mut requests = effects.iter().filter_map(|effect| match effect {
        Effect::Send(Request::Score {
            text,
            n_first,
            panes,
            ..
        }) => {
            assert_eq!(text, TEXT);
            Some((panes[0].clone(), *n_first))
        }
        _ => None,
    });
    requests.next().unwrap()
}

/// Lets the engine score the text of a request.
fn finish(state: &mut AppState, id: GenerationId) {
    let text = scored(&[(" hungry", 0.02), (" fox", 0.3)], "top-k 3");
    state.on_event(Event::Progress(Progress::Started {
        ids: vec![id],
        prompt: text.prompt,
    }));
    for step in text.steps {
        let step = Box::new(step);
        state.on_event(Event::Progress(Progress::Stepped { id, step }));
    }
    let reason = FinishReason::Scored;
    state.on_event(Event::Progress(Progress::Finished { id, reason }));
}

#[test]
fn a_text_is_scored_in_a_new_pane_under_the_settings_of_its_neighbor() {
    let mut state = written();
    typed(&mut state, 2, 3);
    assert_eq!(readiness(&state), ScoreReadiness::Fits { n_tokens: 3 });
    let effects = apply(&mut state, ScoreCommand::Run);
    assert!(state.dialogs.score.is_none());
    assert_eq!(state.panes.len(), 5);
    let (request, n_first) = requested(&effects);
    assert_eq!(n_first, Some(3));
    assert_eq!(request.config.chain, state.panes[2].settings.chain);
    // The first token begins the text.
    assert_eq!(request.config.limits.max_new_tokens, 2);
    finish(&mut state, request.id);
    assert!(state.panes[4].generation().unwrap().is_scored());
    let words = divergence_summary(&state).long;
    assert!(words.starts_with("E is a given text: "), "{words}");
}

#[test]
fn a_text_that_is_too_long_is_cut_at_the_context() {
    let mut state = ready();
    typed(&mut state, 0, 600);
    let too_long = ScoreReadiness::TooLong {
        n_tokens: 600,
        n_max: 512,
    };
    assert_eq!(readiness(&state), too_long);
    let (request, n_first) = requested(&apply(&mut state, ScoreCommand::Run));
    assert_eq!(n_first, Some(512));
    assert_eq!(request.config.limits.max_new_tokens, 511);
}

#[test]
fn nothing_is_scored_until_the_text_is_counted() {
    let mut state = ready();
    let pane = state.panes[0].id;
    apply(&mut state, ScoreCommand::Open(pane));
    assert_eq!(readiness(&state), ScoreReadiness::Empty);
    state.dialogs.score.as_mut().unwrap().text = TEXT.to_owned();
    assert_eq!(readiness(&state), ScoreReadiness::Counting);
    assert_eq!(apply(&mut state, ScoreCommand::Run), []);
    // The count of an older text is ignored.
    state.on_event(tokenized("A hungry", 2));
    assert_eq!(readiness(&state), ScoreReadiness::Counting);
    state.on_event(tokenized(TEXT, 1));
    assert!(matches!(readiness(&state), ScoreReadiness::Impossible(_)));
    apply(&mut state, ScoreCommand::Close);
    assert!(state.dialogs.score.is_none());
}

#[test]
fn a_run_of_all_panes_keeps_the_scored_text_and_so_does_stepping_back() {
    let mut state = written();
    typed(&mut state, 0, 3);
    state.dialogs.score.as_mut().unwrap().target = BranchTarget::InPlace;
    let (request, _) = requested(&apply(&mut state, ScoreCommand::Run));
    finish(&mut state, request.id);
    assert_eq!(state.panes.len(), 4);
    let ids = asked(&state.apply(Command::GenerateAll));
    assert_eq!(ids.len(), 3);
    assert!(matches!(state.panes[0].status, PaneStatus::Finished(_)));
    for id in ids {
        write(&mut state, id, &[(" a", 0.5)]);
    }
    state.apply(Command::Branch(crate::state::BranchCommand::StepBack));
    assert_eq!(state.panes[0].generation().unwrap().steps.len(), 2);
    // The pane itself can still write again.
    let pane = state.panes[0].id;
    assert_eq!(asked(&state.apply(Command::Generate(pane))).len(), 1);
}

#[test]
fn a_text_scored_in_step_mode_is_complete() {
    let mut state = ready();
    state.apply(Command::SetPace(crate::state::Pace::Step));
    let step = crate::state::BranchCommand::Step;
    for id in asked(&state.apply(Command::Branch(step))) {
        write(&mut state, id, &[(" a", 0.5), (" fox", 0.5)]);
    }
    assert!(state.upcoming(0).is_some());
    typed(&mut state, 0, 3);
    state.dialogs.score.as_mut().unwrap().target = BranchTarget::InPlace;
    let (request, _) = requested(&apply(&mut state, ScoreCommand::Run));
    finish(&mut state, request.id);
    let text = state.panes[0].generation().unwrap();
    assert_eq!(text.finish, Some(FinishReason::Scored));
}

#[test]
fn other_settings_say_which_tokens_they_would_cut() {
    let mut state = written();
    typed(&mut state, 2, 3);
    let (request, _) = requested(&apply(&mut state, ScoreCommand::Run));
    finish(&mut state, request.id);
    state.panes[4].settings.chain = crate::decoding::ChainConfig::greedy();
    assert!(state.review(|| true));
    let words = state.panes[4].what_ifs().unwrap().words().unwrap();
    assert!(words.count.ends_with(" of 2 cut"), "{}", words.count);
    assert!(words.explanation.contains("could not have written"));
}

#[test]
fn scoring_again_shows_the_text_in_its_own_pane() {
    let mut state = written();
    typed(&mut state, 2, 3);
    let (request, _) = requested(&apply(&mut state, ScoreCommand::Run));
    finish(&mut state, request.id);
    let pane = state.panes[4].id;
    apply(&mut state, ScoreCommand::Open(pane));
    let dialog = state.dialogs.score.as_ref().unwrap();
    assert_eq!(dialog.target, BranchTarget::InPlace);
    assert!(dialog.text.ends_with(" hungry fox"), "{}", dialog.text);
}

#[test]
fn a_human_text_fills_the_dialog_and_its_tokens_are_counted() {
    let mut state = written();
    let pane = state.panes[0].id;
    apply(&mut state, ScoreCommand::Open(pane));
    let effects = apply(&mut state, ScoreCommand::HumanText);
    let prompt = state.dialogs.score.as_ref().unwrap().text.clone();
    assert!(prompt.starts_with("And after all the weather was ideal."));
    assert_eq!(
        effects,
        [Effect::Send(Request::Tokenize {
            prompt: prompt.into(),
            model: None,
        })]
    );
}
