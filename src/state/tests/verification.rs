//! Tests of verifying opened runs, in their own number formats and in others.

use std::sync::Arc;

use super::ready;
use super::runs::{open, run};
use crate::analysis::contradictions::{Contradiction, ContradictionKind, RunPlace};
use crate::analysis::replay::Comparison;
use crate::decoding::{Against, Guidance};
use crate::export::json::RunFile;
use crate::generation::testing::generation;
use crate::generation::{BeamPass, FinishReason, Generation, ModelInfo, PromptCheck};
use crate::state::{
    AppState, Command, Effect, ModelsCommand, PathPurpose, RecentModel, RunCommand,
};
use crate::worker::{ComputeChoice, Event, ModelSource, Progress, Request};

/// Sends the progress of texts that are generated again, token by token. Returns the effects of the
/// last event.
fn repeat(state: &mut AppState, effects: &[Effect], texts: &[Generation]) -> Vec<Effect> {
    let ids = effects.iter().flat_map(|effect| match effect {
        Effect::Send(Request::Continue { panes, .. }) => panes.clone(),
        _ => Vec::new(),
    });
    let mut last = Vec::new();
    for (pane, text) in ids.zip(texts) {
        let id = pane.id;
        for step in &text.steps {
            let step = Box::new(step.clone());
            state.on_event(Event::Progress(Progress::Stepped { id, step }));
        }
        let reason = text.finish.clone().unwrap();
        last = state.on_event(Event::Progress(Progress::Finished { id, reason }));
    }
    last
}

/// Loads the model in other formats. Returns the effects of its arrival.
fn load_in(state: &mut AppState, formats: ComputeChoice) -> Vec<Effect> {
    let model = state.models.main.in_use().unwrap().clone();
    let mut info = (*model.info).clone();
    info.provenance.cache = formats.cache.name().to_owned();
    state.on_event(Event::ModelLoaded {
        info: Arc::new(info),
        vocabulary: model.vocabulary,
        chat: model.chat,
        recommended_sampling: None,
        load_warning: None,
        second: None,
    })
}

/// Returns the formats and the loads that effects request.
fn loads(effects: &[Effect]) -> Vec<Option<ComputeChoice>> {
    let requests = effects.iter().filter_map(|effect| match effect {
        Effect::Send(Request::SetCompute(choice)) => Some(Some(*choice)),
        Effect::Send(Request::LoadModel(_)) => Some(None),
        _ => None,
    });
    requests.collect()
}

/// Returns how the opened run compares with its rerun.
fn comparison(state: &AppState) -> Comparison {
    let verdict = state.runs.verification.as_ref().unwrap().verdict().unwrap();
    verdict.comparison.clone().unwrap()
}

#[test]
fn verifying_repeats_every_turn_and_names_it() {
    let first = generation(&[(" the", 0.5), (" fox", 0.25)]);
    let last = generation(&[(" a", 0.5)]).following(Some(Arc::new(first.clone())));
    let other = generation(&[(" a", 0.5), (" fox", 0.25)]);
    let mut state = ready();
    open(&mut state, vec![last.clone(), other.clone()]);
    let effects = run(&mut state, RunCommand::Verify);
    let words = state.runs.verifying_words(&state.panes).unwrap();
    assert_eq!(words, "Verifying, 0 of 5 tokens");
    repeat(&mut state, &effects, &[last, other.clone(), other]);
    let places = vec![RunPlace::Turn { pane: 0, turn: 0 }];
    assert_eq!(
        comparison(&state),
        Comparison::Different { places, step: 0 }
    );
    let verdict = state.runs.verification.as_ref().unwrap().verdict().unwrap();
    let words = verdict.to_string();
    assert!(words.contains("turn 1 of A diverges first"), "{words}");
}

#[test]
fn verifying_compares_an_opened_run_with_its_rerun() {
    let texts = [
        generation(&[(" the", 0.5), (" fox", 0.25)]),
        generation(&[(" a", 0.5), (" fox", 0.25)]),
    ];
    let mut state = ready();
    open(&mut state, texts.to_vec());
    let effects = run(&mut state, RunCommand::Verify);
    let words = state.runs.verifying_words(&state.panes).unwrap();
    assert_eq!(words, "Verifying, 0 of 4 tokens");
    repeat(&mut state, &effects, &texts);
    assert_eq!(comparison(&state), Comparison::Identical);
    assert_eq!(state.runs.verification.as_ref().unwrap().cause(), None);
    // The panes show the recorded texts.
    let mut shown = state.panes[0].generation().unwrap().clone();
    shown.lineage = texts[0].lineage;
    assert_eq!(shown, texts[0], "only its place in the tree is new");

    let effects = run(&mut state, RunCommand::Verify);
    let other = generation(&[(" a", 0.5), (" house", 0.25)]);
    repeat(&mut state, &effects, &[texts[0].clone(), other]);
    let places = vec![RunPlace::Pane(1)];
    assert_eq!(
        comparison(&state),
        Comparison::Different { places, step: 1 }
    );
    assert!(state.runs.verification.as_ref().unwrap().cause().is_some());
    run(&mut state, RunCommand::Close);
    assert_eq!(state.runs.verification, None);
}

#[test]
fn a_prompt_that_is_not_what_its_tokens_say_is_shown_as_a_contradiction() {
    let text = generation(&[(" the", 0.5), (" fox", 0.25)]);
    let mut state = ready();
    open(&mut state, vec![text.clone()]);
    assert_eq!(state.runs.contradiction(), None);
    let effects = run(&mut state, RunCommand::Verify);
    let Effect::Send(Request::CheckPrompt { prompt, model }) = &effects[0] else {
        panic!("the prompt is checked first");
    };
    state.on_event(Event::PromptChecked {
        prompt: Arc::clone(prompt),
        model: model.clone(),
        check: PromptCheck::OtherTokens,
    });
    repeat(&mut state, &effects, &[text]);
    let verdict = state.runs.verification.as_ref().unwrap().verdict().unwrap();
    let words = "This file contradicts itself, first in A: its prompt is not what its tokens say.";
    assert_eq!(
        (verdict.to_string().as_str(), verdict.exit_status()),
        (words, 3)
    );
    // No token of that text is judged.
    assert_eq!(state.runs.contradiction_in(0).unwrap().step, None);
    assert_eq!(state.runs.unjudged_from(0), Some(0));
    run(&mut state, RunCommand::Close);
    assert_eq!(state.runs.contradiction(), None);
}

#[test]
fn a_file_that_contradicts_itself_is_not_run() {
    let found = Contradiction {
        place: RunPlace::Pane(0),
        step: Some(1),
        kind: ContradictionKind::Choice,
        words: "its settings choose ‘nest’; it says ‘hole’".to_owned(),
    };
    let mut state = ready();
    let file = RunFile {
        panes: vec![generation(&[(" the", 0.5), (" fox", 0.25)])],
        contradiction: Some(found.clone()),
        ..RunFile::default()
    };
    let read = RunCommand::Read {
        name: "run".to_owned(),
        run: Ok(Box::new(file)),
    };
    run(&mut state, read);
    assert_eq!(
        state.runs.contradiction(),
        Some(&found),
        "it is known at once"
    );
    assert_eq!(state.runs.unjudged_from(0), Some(2));
    assert_eq!(run(&mut state, RunCommand::Verify), []);
    let verdict = state.runs.verification.as_ref().unwrap().verdict().unwrap();
    assert_eq!(verdict.exit_status(), 3);
}

#[test]
fn a_verified_beam_search_keeps_its_passes() {
    let text = generation(&[(" the", 0.5)]);
    let mut state = ready();
    open(&mut state, vec![text.clone()]);
    let effects = run(&mut state, RunCommand::Verify);
    let pass = BeamPass { nodes: Vec::new() };
    let id = effects.iter().find_map(|effect| match effect {
        Effect::Send(Request::Continue { panes, .. }) => Some(panes[0].id),
        _ => None,
    });
    let compared = Progress::Compared {
        id: id.unwrap(),
        pass: pass.clone(),
    };
    state.on_event(Event::Progress(compared));
    repeat(&mut state, &effects, &[text]);
    let now = state
        .runs
        .verification
        .as_ref()
        .unwrap()
        .texts()
        .next()
        .unwrap();
    assert_eq!(now.beams.passes, [pass]);
}

#[test]
fn a_verification_that_is_cut_off_has_no_result() {
    let texts = [
        generation(&[(" the", 0.5), (" fox", 0.25)]),
        generation(&[(" a", 0.5), (" fox", 0.25)]),
    ];
    let cut_off = |change: &dyn Fn(&mut AppState, &[Effect])| {
        let mut state = ready();
        open(&mut state, texts.to_vec());
        let effects = run(&mut state, RunCommand::Verify);
        change(&mut state, &effects);
        assert_eq!(state.runs.verification, None);
        repeat(&mut state, &effects, &texts);
        assert_eq!(state.runs.verification, None);
        state
    };
    let ended = |reason: FinishReason| {
        let mut cut = texts.clone();
        cut[0].finish = Some(reason);
        cut
    };
    cut_off(&|state, _| {
        state.apply(Command::Remove(state.panes[0].id));
    });
    let state = cut_off(&|state, effects| {
        repeat(state, effects, &ended(FinishReason::Cancelled));
    });
    assert_eq!(*state.notices, []);
    let state = cut_off(&|state, effects| {
        let error = "memory is full".to_owned();
        repeat(state, effects, &ended(FinishReason::Failed { error }));
    });
    assert_eq!(notice_body(&state), "Memory is full");
}

#[test]
fn a_run_of_another_model_is_not_verified() {
    let mut state = ready();
    let mut text = generation(&[(" the", 0.5)]);
    let mut model = (*text.model).clone();
    model.sha256 = "2fb4".to_owned();
    text.model = Arc::new(model);
    open(&mut state, vec![text]);
    assert_eq!(run(&mut state, RunCommand::Verify), []);
    let notice = &state.notices[0];
    assert_eq!(notice.body, "It needs the model Test");
    assert_eq!(notice.actions[0].label, "Find the model");
}

#[test]
fn a_model_that_was_open_before_is_loaded_to_verify_its_run() {
    let mut state = ready();
    let mut text = generation(&[(" the", 0.5)]);
    let model = ModelInfo {
        sha256: "2fb4".to_owned(),
        file: "test.gguf".to_owned(),
        ..(*text.model).clone()
    };
    let path = std::path::PathBuf::from("/models/test.gguf");
    let recent = |name: &str, path: &std::path::Path| RecentModel {
        path: path.to_owned(),
        name: name.to_owned(),
        n_params: model.n_params,
        quantization: model.quantization.clone(),
        opened_at: 7,
    };
    let other = std::path::Path::new("/other/test.gguf");
    state.models.recent = vec![recent("Another", other), recent(&model.name, &path)];
    text.model = Arc::new(model);
    open(&mut state, vec![text]);
    run(&mut state, RunCommand::Verify);
    let action = &state.notices[0].actions[0];
    let open = Command::Models(ModelsCommand::Open(path));
    assert_eq!((action.label, &action.command), ("Load it", &open));
}

/// A text that a second model guided, and that model.
fn guided() -> (Generation, Arc<ModelInfo>) {
    let mut text = generation(&[(" the", 0.5)]);
    text.config.chain.guidance = Some(Guidance::usual(Against::Model));
    let second = Arc::new(ModelInfo {
        name: "Small".to_owned(),
        sha256: "2fb4".to_owned(),
        ..ModelInfo::default()
    });
    text.second_model = Some(Arc::clone(&second));
    (text, second)
}

/// The body of the newest notice.
fn notice_body(state: &AppState) -> &str {
    &state.notices[0].body
}

#[test]
fn a_run_with_a_second_model_is_verified_with_the_same_file() {
    let (text, second) = guided();
    let mut state = ready();
    open(&mut state, vec![text.clone()]);
    assert_eq!(run(&mut state, RunCommand::Verify), []);
    assert_eq!(notice_body(&state), "It needs the second model Small");
    let action = state.notices[0].actions[0].clone();
    assert_eq!(action.label, "Choose the second model…");
    let purpose = PathPurpose::SecondModelToVerify;
    assert_eq!(action.command, Command::AskPath(purpose.clone()));

    let choose = |state: &mut AppState, loaded: Result<Arc<ModelInfo>, String>| {
        state.apply(Command::PathGiven(purpose.clone(), "small.gguf".into()));
        state.on_event(Event::SecondModel(loaded.map(Some)))
    };
    choose(&mut state, Err("the file is damaged".to_owned()));
    assert_eq!(notice_body(&state), "The file is damaged");
    let mut other = (*second).clone();
    other.sha256 = "00c0".to_owned();
    assert_eq!(choose(&mut state, Ok(Arc::new(other))), []);
    assert!(notice_body(&state).contains("another file of the same name"));

    // The right file starts the verification.
    let effects = choose(&mut state, Ok(second));
    repeat(&mut state, &effects, &[text]);
    assert_eq!(comparison(&state), Comparison::Identical);
    let verification = state.runs.verification.as_ref().unwrap();
    let fact = verification
        .facts()
        .iter()
        .find(|fact| fact.name == "Second model");
    assert_eq!(fact.unwrap().now, "Small 2fb4");
}

#[test]
fn a_trial_in_other_formats_loads_the_second_model_again() {
    let (text, second) = guided();
    let mut state = ready();
    let purpose = PathPurpose::SecondModel;
    state.apply(Command::PathGiven(purpose, "small.gguf".into()));
    state.on_event(Event::SecondModel(Ok(Some(Arc::clone(&second)))));
    open(&mut state, vec![text]);
    let other = state
        .runs
        .other_formats(&state.panes, &state.models)
        .remove(0);
    let choice = other.choice;
    run(&mut state, RunCommand::VerifyIn(other));
    let effects = load_in(&mut state, choice);
    let load = Request::LoadSecondModel(Some(ModelSource::Path("small.gguf".into())));
    assert!(effects.contains(&Effect::Send(load)), "{effects:?}");
    assert_eq!(
        state.runs.verification, None,
        "it waits for the second model"
    );
    let effects = state.on_event(Event::SecondModel(Ok(Some(second))));
    assert!(matches!(
        effects[..],
        [
            Effect::Send(Request::CheckPrompt { .. }),
            Effect::Send(Request::Continue { .. })
        ]
    ));
}

#[test]
fn a_run_is_verified_in_another_format_and_the_model_returns_to_its_own() {
    let mut text = generation(&[(" the", 0.5), (" fox", 0.25)]);
    Arc::make_mut(&mut text.model).provenance.cache = "f32".to_owned();
    let texts = [text];
    let mut state = ready();
    assert_eq!(state.runs.other_formats(&state.panes, &state.models), []);
    open(&mut state, texts.to_vec());
    let usual = state.models.compute;
    let mut others = state
        .runs
        .other_formats(&state.panes, &state.models)
        .into_iter();
    let other = others
        .find(|other| other.name == "KV cache in f16")
        .unwrap();
    let choice = other.choice;
    let effects = run(&mut state, RunCommand::VerifyIn(other.clone()));
    assert_eq!(loads(&effects), [Some(choice), None]);
    let words = state.runs.verifying_words(&state.panes).unwrap();
    assert_eq!(words, "Loading the model: KV cache in f16");
    let effects = load_in(&mut state, choice);
    assert_eq!(
        state.runs.verifying_words(&state.panes).unwrap(),
        "Verifying, 0 of 2 tokens"
    );
    let mut names = state
        .runs
        .other_formats(&state.panes, &state.models)
        .into_iter()
        .map(|other| other.name);
    assert!(!names.any(|name| name == "KV cache in f16"), "it is loaded");
    let mut other_text = texts[0].clone();
    let trace = Arc::make_mut(&mut other_text.steps[0].trace);
    trace.raw.head[0].logit += 0.5;
    let effects = repeat(&mut state, &effects, &[other_text]);
    assert_eq!(loads(&effects), [Some(usual), None], "the model returns");
    let verification = state.runs.verification.as_ref().unwrap();
    assert!(comparison(&state).has_same_tokens());
    let cause = verification.cause().unwrap();
    assert!(cause.contains("now it is f16"), "{cause}");
    load_in(&mut state, usual);
    assert!(
        state.runs.verification.is_some() && state.runs.verifying_words(&state.panes).is_none()
    );
}

#[test]
fn a_verification_in_another_format_can_be_cancelled_at_any_time() {
    for is_loaded in [false, true] {
        let mut state = ready();
        open(&mut state, vec![generation(&[(" the", 0.5)])]);
        let usual = state.models.compute;
        let other = state
            .runs
            .other_formats(&state.panes, &state.models)
            .remove(0);
        let choice = other.choice;
        run(&mut state, RunCommand::VerifyIn(other));
        if is_loaded {
            load_in(&mut state, choice);
        }
        let effects = run(&mut state, RunCommand::EndVerification);
        assert_eq!(loads(&effects), [Some(usual), None], "{is_loaded}");
        assert_eq!(state.runs.verifying_words(&state.panes), None);
        // A load that ends too late starts nothing.
        assert_eq!(loads(&load_in(&mut state, choice)), []);
        assert_eq!(state.runs.verification, None);
    }
}
