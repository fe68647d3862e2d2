//! Tests of the Two models tab in a window.

use egui::{Key, Modifiers, vec2};
use egui_kittest::kittest::Queryable as _;

use crate::decoding::{Against, ChainConfig, Guidance};
use crate::generation::{GenerationId, ModelInfo};
use crate::lab::kept::{are_the_same, refuses, reopened, run_again};
use crate::lab::models::figures::testing::compared;
use crate::lab::models::state::models_blocking_reason;
use crate::lab::models::{
    ComparedToken, ComparisonPlan, ComparisonText, ComparisonUpdate, ModelsForm,
};
use crate::lab::{LabCommand, LabTab};
use crate::state::tests::{JobUpdate, OtherWay, Request, ready, report, update_job};
use crate::state::{AppState, Command, Effect, Page, RunCommand};
use crate::ui::testing::{Window, key, press, window_of};

/// A state on the Two models tab, set to compare the loaded model with itself in f32 on a typed
/// text.
fn ready_to_compare() -> AppState {
    let mut state = ready();
    state.apply(Command::Run(RunCommand::ShowPage(Page::Lab)));
    state.lab.tab = LabTab::Models;
    let form = &mut state.lab.models.form;
    (form.way, form.is_typed) = (OtherWay::F32, true);
    "The fox ran.".clone_into(&mut form.typed);
    state
}

fn comparing() -> (AppState, GenerationId) {
    let mut state = ready_to_compare();
    let effects = state.apply(Command::Lab(LabCommand::Run(LabTab::Models)));
    let [
        Effect::Send(Request::RunJob {
            id, plan, other, ..
        }),
    ] = &effects[..]
    else {
        panic!("{effects:?}");
    };
    let plan = plan.get::<ComparisonPlan>().unwrap();
    assert_eq!(plan.text, ComparisonText::Typed("The fox ran.".to_owned()));
    assert_eq!(plan.settings.len(), state.panes.len());
    assert_eq!(other.as_ref().unwrap().way, OtherWay::F32);
    (state, *id)
}

/// A state that has compared three tokens.
fn done(end: JobUpdate) -> AppState {
    let (mut state, id) = comparing();
    compare(&mut state, id, end);
    state
}

/// Compares three tokens. Returns the effects of the end.
fn compare(state: &mut AppState, id: GenerationId, end: JobUpdate) -> Vec<Effect> {
    let all = compared();
    let [a, b] = all.predicted.clone();
    let pairs = a.into_iter().zip(b).zip(all.gaps.clone());
    let both = pairs.map(|((a, b), gap)| ComparedToken::Both {
        predicted: Box::new([a, b]),
        gap,
    });
    let started = ComparisonUpdate::Started {
        facts: all.facts,
        model: all.models[1].clone(),
    };
    report(state, id, started);
    report(state, id, ComparisonUpdate::Read(both.collect()));
    update_job(state, id, end)
}

fn window(state: AppState) -> Window {
    let mut window = window_of(vec2(1280.0, 800.0), state);
    window.run_steps(3);
    window
}

fn is_shown(window: &Window, words: &str) -> bool {
    window.query_all_by_label_contains(words).count() > 0
}

#[test]
fn the_shortcut_compares_and_escape_cancels_the_load() {
    let mut window = window(ready_to_compare());
    assert!(is_shown(&window, "Both models will read the same text"));
    key(&mut window, Modifiers::COMMAND, Key::Enter);
    assert!(window.state().lab.is_running(LabTab::Models));
    assert!(is_shown(&window, "Loading the other model, 0 %"));
    key(&mut window, Modifiers::NONE, Key::Escape);
    let run = window.state().lab.models.run.as_ref().unwrap();
    assert!(run.status.is_running(), "until the engine has stopped");
    let (mut state, id) = comparing();
    assert_eq!(
        state.apply(Command::Lab(LabCommand::Stop(LabTab::Models))),
        [Effect::Send(Request::StopJob(id))]
    );
    update_job(&mut state, id, JobUpdate::Stopped);
    assert!(!state.lab.is_running(LabTab::Models));
}

#[test]
fn a_comparison_is_kept_and_shown_again_as_it_was() {
    let state = done(JobUpdate::Finished);
    let other = reopened(&state, LabTab::Models);
    let run = |state: &AppState| state.lab.models.run.clone().unwrap();
    let (before, after) = (run(&state), run(&other));
    assert_eq!(after.compared, before.compared);
    assert_eq!(
        (after.summary(), after.text),
        (before.summary(), before.text)
    );
    refuses(&state, LabTab::Models, |json| {
        json["predicted"][0].as_array_mut().unwrap().pop();
    });
    let mut window = window(other);
    assert!(is_shown(
        &window,
        "KL divergence 0.15 nats per token on average"
    ));
    key(&mut window, Modifiers::NONE, Key::ArrowRight);
    assert!(is_shown(&window, "Token 2 ‘fox’"));
}

#[test]
fn a_kept_comparison_runs_again_with_everything_that_made_it() {
    let state = done(JobUpdate::Finished);
    let (mut other, effects) = run_again(&state, LabTab::Models);
    let [
        Effect::Send(Request::RunJob {
            id, plan, other: b, ..
        }),
    ] = &effects[..]
    else {
        panic!("{effects:?}");
    };
    let plan = plan.get::<ComparisonPlan>().unwrap();
    assert_eq!(plan.text, ComparisonText::Typed("The fox ran.".to_owned()));
    assert_eq!(plan.settings[3], state.config_of(&state.panes[3]));
    assert_eq!(b.as_ref().unwrap().way, OtherWay::F32);
    let effects = compare(&mut other, *id, JobUpdate::Finished);
    are_the_same(&state, &other, LabTab::Models, &effects);
    refuses(&state, LabTab::Models, |json| {
        json["way"] = "by magic".into();
    });
    refuses(&state, LabTab::Models, |json| {
        let guided = ChainConfig {
            guidance: Some(Guidance::usual(Against::Model)),
            ..ChainConfig::sampled([])
        };
        json["settings"][0]["chain"] = serde_json::to_value(guided).unwrap();
    });
}

#[test]
fn a_comparison_needs_its_other_model_to_run_again() {
    let mut other = reopened(&done(JobUpdate::Finished), LabTab::Models);
    let compared = other.lab.models.run.as_mut().unwrap().compared.as_mut();
    let model = &mut compared.unwrap().models[1];
    *model = ModelInfo {
        name: "Small".to_owned(),
        sha256: "1".to_owned(),
        ..ModelInfo::clone(model)
    }
    .into();
    let refusal = other.again_refusal(LabTab::Models).unwrap();
    assert_eq!(
        refusal.words,
        "Needs Small; open it once, so that it is found"
    );
}

#[test]
fn a_comparison_is_drawn_and_each_token_is_described() {
    let mut window = window(done(JobUpdate::Finished));
    window.get_by_label("3 tokens");
    for words in [
        "KL divergence 0.15 nats per token on average",
        "Under greedy, 1 of 3 choices differs",
        "KL divergence of B from A",
        "Margin between A’s first two tokens",
        "Text with divergences:  the fox ran",
        "Perplexity: 2.520 for A, 4.000 for B",
    ] {
        assert!(is_shown(&window, words), "{words}");
    }
    key(&mut window, Modifiers::NONE, Key::ArrowRight);
    assert!(is_shown(&window, "Token 2 ‘fox’"));
    let run = window.state().lab.models.run.as_ref().unwrap();
    assert_eq!(run.selected, Some(1));
    key(&mut window, Modifiers::NONE, Key::ArrowRight);
    assert!(is_shown(&window, "A ranks it first, at 50 %."));
    assert!(is_shown(&window, "B ranks it 3rd, at 25 %, behind"));
    assert!(is_shown(&window, "below the noise of 0.50"));
}

#[test]
fn the_model_and_how_it_computes_are_chosen_from_menus() {
    let mut window = window(ready_to_compare());
    press(&mut window, "Computed in f32");
    press(&mut window, "with 8-bit inputs");
    let form = &window.state().lab.models.form;
    assert_eq!(form.way, ModelsForm::default().way);
    press(&mut window, "Computed with 8-bit inputs");
    press(&mut window, "as the loaded model");
    let reason = models_blocking_reason(window.state()).unwrap();
    assert_eq!(reason, "Choose another model, or another way to compute");
    press(&mut window, "Other model: The loaded model");
    assert!(is_shown(&window, "Open a model file…"));
}

#[test]
fn a_failure_says_why_and_keeps_what_was_read() {
    let error = "the context is full".to_owned();
    let window = window(done(JobUpdate::Failed { error }));
    assert!(is_shown(&window, "The context is full"));
    assert!(is_shown(&window, "KL divergence 0.15 nats"));
}
