//! Tests of the Lab page: fits.

use crate::analysis::sweep::Parameter;
use crate::decoding::{FilterKind, TokenId};
use crate::generation::{
    FitPlace, FitPlan, FitText, FitTokens, FitUpdate, GenerationId, Likelihood, PromptText,
};
use crate::lab::fit::state::{fit_blocking_reason, suggest_fit_text};
use crate::lab::fit::{FitCommand, FitInput};
use crate::lab::kept::{are_the_same, refuses, reopened, run_again};
use crate::lab::{AxisForm, LabCommand, LabTab};
use crate::state::tests::{Event, Request, planned, ready, report, update_job, written};
use crate::state::{AppState, Command, Effect, Page, PaneStatus, RunRequest, RunStatus};
use crate::worker::JobUpdate;

fn run(state: &mut AppState, command: LabCommand) -> Vec<Effect> {
    state.apply(Command::Lab(command))
}

fn requested(effects: &[Effect]) -> (GenerationId, FitPlan) {
    let [effect] = effects else {
        panic!("{effects:?}");
    };
    planned(effect).unwrap()
}

/// A state that fits the text of its last pane over five temperatures.
fn running() -> (AppState, GenerationId, FitPlan) {
    let mut state = written();
    suggest_fit_text(&mut state);
    let form = &mut state.lab.fit.form;
    form.rows = AxisForm::new(Parameter::Filter(FilterKind::Temperature, 0), 5);
    form.columns = None;
    let (id, plan) = requested(&run(&mut state, LabCommand::Run(LabTab::Fit)));
    (state, id, plan)
}

/// Answers a batch; the hotter, the likelier.
fn answer(state: &mut AppState, id: GenerationId, plan: &FitPlan) -> Vec<Effect> {
    let texts = vec![FitTokens {
        tokens: (0..4).map(TokenId).collect(),
        n_prompt: 1,
        n_left_out: 0,
    }];
    let heat = Parameter::Filter(FilterKind::Temperature, 0);
    let found = plan.chains.iter().enumerate().map(|(index, chain)| {
        let heat = heat.get(chain).unwrap_or(1.0);
        let place = FitPlace { text: 0, step: 2 };
        let is_cold = heat < 0.5;
        let likelihood = Likelihood {
            ln_prob: if is_cold {
                f64::NEG_INFINITY
            } else {
                heat - 9.0
            },
            ruled_out: is_cold.then_some(place),
        };
        (index, likelihood)
    });
    let found = found.collect();
    for update in [
        FitUpdate::Started { texts },
        FitUpdate::Reading {
            n_read: 2,
            n_tokens: 4,
        },
        FitUpdate::Computed { found },
    ] {
        assert_eq!(report(state, id, update), []);
    }
    update_job(state, id, JobUpdate::Finished)
}

/// Answers all batches of a fit. Returns the effects of its end.
fn answer_all(state: &mut AppState, id: GenerationId, plan: &FitPlan) -> Vec<Effect> {
    let mut effects = answer(state, id, plan);
    while state.lab.is_running(LabTab::Fit) {
        let (_, plan) = requested(&effects);
        effects = answer(state, id, &plan);
    }
    effects
}

/// A fit that is complete, in which low temperatures can't generate the text.
fn complete() -> AppState {
    let (mut state, id, plan) = running();
    let effects = answer_all(&mut state, id, &plan);
    let keeps = |effect: &Effect| matches!(effect, Effect::Runs(RunRequest::KeepResult { .. }));
    assert!(
        effects.iter().all(keeps) && effects.len() == 1,
        "{effects:?}"
    );
    state
}

#[test]
fn a_fit_is_kept_and_shown_again_with_what_is_impossible() {
    let state = complete();
    let other = reopened(&state, LabTab::Fit);
    let (before, after) = (&state.lab.fit, &other.lab.fit);
    let (before, after) = (before.run.as_ref().unwrap(), after.run.as_ref().unwrap());
    assert_eq!(after.fit, before.fit);
    assert_eq!(after.reading, before.reading);
    assert_eq!(after.summary(), before.summary());
    refuses(&state, LabTab::Fit, |json| {
        json["fit"]["cells"].as_array_mut().unwrap().pop();
    });
    refuses(&state, LabTab::Fit, |json| {
        json["fit"]["points"][0]["values"] = serde_json::json!([]);
    });
}

#[test]
fn a_kept_fit_runs_again_with_everything_that_made_it() {
    let (_, _, plan) = running();
    let state = complete();
    let (mut other, effects) = run_again(&state, LabTab::Fit);
    let (id, again) = requested(&effects);
    assert_eq!(again, plan);
    let effects = answer_all(&mut other, id, &again);
    are_the_same(&state, &other, LabTab::Fit, &effects);
    refuses(&state, LabTab::Fit, |json| {
        json["texts"] = serde_json::json!([]);
    });
    refuses(&state, LabTab::Fit, |json| {
        json["texts"][0]["Recorded"]["n_prompt"] = 99.into();
    });
    refuses(&state, LabTab::Fit, |json| {
        json["fit"]["setup"]["columns"] = json["fit"]["setup"]["rows"].clone();
    });
}

#[test]
fn a_fit_reads_the_tokens_of_a_pane_and_narrows_its_results_down() {
    let (mut state, id, plan) = running();
    assert!(state.lab.is_running(LabTab::Fit));
    assert!(
        run(&mut state, LabCommand::Run(LabTab::Fit)).is_empty(),
        "one at a time"
    );
    let text = state.panes[3].generation().unwrap();
    let written: Vec<TokenId> = text.steps.iter().map(|step| step.token).collect();
    let [
        FitText::Recorded {
            tokens, n_prompt, ..
        },
    ] = &plan.texts[..]
    else {
        panic!("{plan:?}");
    };
    assert_eq!(*n_prompt, text.prompt.tokens.len());
    assert!(tokens.ends_with(&written));
    assert_eq!(
        plan.chains.len(),
        6,
        "the pane’s own settings and five others"
    );
    assert_eq!(plan.chains[0], state.panes[3].settings.chain);

    let other = GenerationId(id.0 + 1);
    assert!(
        answer(&mut state, other, &plan).is_empty(),
        "of another fit"
    );
    let mut effects = answer(&mut state, id, &plan);
    let mut n_rounds = 0;
    while state.lab.is_running(LabTab::Fit) {
        let (same, plan) = requested(&effects);
        assert_eq!(same, id);
        effects = answer(&mut state, id, &plan);
        n_rounds += 1;
    }
    assert!(n_rounds > 1, "the limit is narrowed down");
    let fit = state.lab.fit.run.clone().unwrap();
    assert_eq!(fit.status, RunStatus::Complete);
    assert_eq!(fit.summary(), "3 tokens, read once");
    assert_eq!(fit.reading.best.as_ref().unwrap().values, [1.6]);
    assert_eq!(fit.shown_cell(), Some(4));
    let [(row, limit)] = &fit.reading.limits[..] else {
        panic!("{:?}", fit.reading);
    };
    assert!(row.is_empty());
    assert!(
        limit.starts_with("Temperature below 0.5 can’t generate"),
        "{limit}"
    );
    assert!(
        fit.cell_sentence(0).contains("can’t generate"),
        "{}",
        fit.cell_sentence(0)
    );

    let effects = run(&mut state, LabCommand::Fit(FitCommand::Open { cell: None }));
    assert_eq!(crate::state::tests::asked(&effects).len(), 1);
    assert_eq!((state.page, state.panes.len()), (Page::Write, 5));
    let heat = Parameter::Filter(FilterKind::Temperature, 0);
    assert_eq!(
        heat.get(&state.panes[4].settings.chain),
        Some(f64::from(1.6_f32))
    );
}

#[test]
fn the_arrow_keys_follow_the_picture() {
    let (mut state, id, plan) = running();
    answer(&mut state, id, &plan);
    let run = state.lab.fit.run.as_mut().unwrap();
    run.selected = Some(2);
    run.move_selection(0, 1);
    assert_eq!(run.selected, Some(3), "a curve runs from left to right");
    run.move_selection(1, 0);
    assert_eq!(run.selected, Some(3));
    let mut state = written();
    suggest_fit_text(&mut state);
    requested(&state.apply(Command::Lab(LabCommand::Run(LabTab::Fit))));
    let fit = state.lab.fit.run.as_mut().unwrap();
    fit.selected = Some(0);
    // The lowest temperature is at the bottom.
    fit.move_selection(-1, 1);
    assert_eq!(fit.selected, Some(52));
}

#[test]
fn a_stop_keeps_what_is_known_and_a_lost_engine_ends_the_fit() {
    let (mut state, id, plan) = running();
    let found = vec![(
        1,
        Likelihood {
            ln_prob: -4.0,
            ruled_out: None,
        },
    )];
    report(&mut state, id, FitUpdate::Computed { found });
    assert_eq!(plan.chains.len(), 6);
    let effects = run(&mut state, LabCommand::Stop(LabTab::Fit));
    assert_eq!(effects, [Effect::Send(Request::StopJob(id))]);
    update_job(&mut state, id, JobUpdate::Stopped);
    let fit = state.lab.fit.run.as_ref().unwrap();
    assert_eq!(fit.summary(), "Stopped after 1 of 5 settings");
    assert!(run(&mut state, LabCommand::Stop(LabTab::Fit)).is_empty());

    let (mut state, ..) = running();
    state.on_event(Event::Panicked {
        message: "lost".to_owned(),
    });
    let fit = state.lab.fit.run.as_ref().unwrap();
    assert!(
        matches!(&fit.status, RunStatus::Failed { .. }),
        "{:?}",
        fit.status
    );
}

#[test]
fn pasted_texts_stand_alone_or_continue_the_prompt() {
    let mut state = ready();
    suggest_fit_text(&mut state);
    assert_eq!(fit_blocking_reason(&state).unwrap(), "Choose a text first");
    let pasted = |text: &str, continues_prompt| FitInput::Pasted {
        text: text.to_owned(),
        continues_prompt,
    };
    let form = &mut state.lab.fit.form;
    form.is_chosen = true;
    form.inputs = vec![pasted("", false)];
    assert_eq!(fit_blocking_reason(&state).unwrap(), "Paste a text first");
    "Once".clone_into(&mut state.prompt.text);
    state.lab.fit.form.inputs = vec![pasted("A fox.", false), pasted(" a fox.", true)];
    let (_, plan) = requested(&run(&mut state, LabCommand::Run(LabTab::Fit)));
    let typed = |prompt, text: &str| FitText::Typed {
        prompt,
        text: text.to_owned(),
    };
    let expected = [
        typed(None, "A fox."),
        typed(Some(PromptText::raw("Once")), " a fox."),
    ];
    assert_eq!(plan.texts, expected);
}

#[test]
fn what_cannot_be_fitted_says_why() {
    let mut state = written();
    suggest_fit_text(&mut state);
    assert_eq!(state.lab.fit.form.inputs.len(), 1);
    assert_eq!(fit_blocking_reason(&state), None);
    state.lab.fit.form.columns.as_mut().unwrap().to = 1.5;
    let reason = fit_blocking_reason(&state).unwrap();
    assert_eq!(reason, "Top-p must be between 0 and 1");
    state.lab.fit.form.columns = None;
    state.panes[3].settings.chain.selector = crate::decoding::Selector::SPECS[4].usual;
    let reason = fit_blocking_reason(&state).unwrap();
    assert!(reason.contains("adapts"), "{reason}");
    assert!(run(&mut state, LabCommand::Run(LabTab::Fit)).is_empty());
    state.panes[3].status = PaneStatus::Ready;
    state.lab.fit.form.is_chosen = true;
    assert_eq!(
        fit_blocking_reason(&state).unwrap(),
        "A pane has no text to fit"
    );
}
