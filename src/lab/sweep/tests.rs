//! Tests of sweeps: commands and events in, state and effects out.

use crate::analysis::sweep::testing::text;
use crate::analysis::sweep::{Keep, Metric, Parameter};
use crate::decoding::FilterKind;
use crate::generation::{SweepPlan, SweepUpdate};
use crate::lab::kept::{are_the_same, refuses, reopened, run_again};
use crate::lab::sweep::state::sweep_cost;
use crate::lab::sweep::state::{sweep_blocking_reason, sweep_prompts};
use crate::lab::sweep::{SweepCommand, SweepForm};
use crate::lab::{AxisForm, LabCommand, LabResult, LabTab, ResultFacts};
use crate::state::tests::{asked, planned, ready, report, tokenized, update_job};
use crate::state::{AppState, Command, Effect, Page, PaneStatus, RunRequest, RunStatus};
use crate::worker::{Event, GenerationId, JobUpdate, Request};

fn run(state: &mut AppState, command: LabCommand) -> Vec<Effect> {
    state.apply(Command::Lab(command))
}

/// Sets up a sweep of 2 × 2 cells and 2 seeds, and runs it.
fn running() -> (AppState, GenerationId) {
    let mut state = ready();
    state.on_event(tokenized(state.prompt.to_text(), 4));
    let axis = |kind, n_steps| AxisForm::new(Parameter::Filter(kind, 0), n_steps);
    let form = &mut state.lab.sweep.form;
    form.rows = axis(FilterKind::Temperature, 2);
    form.columns = Some(axis(FilterKind::TopP, 2));
    form.n_seeds = 2;
    form.n_tokens = 5;
    let effects = run(&mut state, LabCommand::Run(LabTab::Sweep));
    let [effect] = &effects[..] else {
        panic!("{effects:?}");
    };
    let (id, plan) = planned::<SweepPlan>(effect).unwrap();
    assert_eq!(plan.prompts[..], [state.prompt.to_text()]);
    assert_eq!((plan.cells.len(), plan.n_seeds), (4, 2));
    assert_eq!(plan.limits.max_new_tokens, 5);
    (state, id)
}

fn deliver(state: &mut AppState, id: GenerationId, cell: usize, seed: usize) {
    let update = SweepUpdate::Advanced {
        n_tokens: 4,
        secs: 1.5,
        complete: vec![text(cell, seed, &[1, 5, 2, 3])],
    };
    report(state, id, update);
}

#[test]
fn a_sweep_fills_cell_by_cell_and_ends() {
    let (mut state, id) = running();
    assert!(state.lab.is_running(LabTab::Sweep));
    assert!(
        run(&mut state, LabCommand::Run(LabTab::Sweep)).is_empty(),
        "one at a time"
    );
    deliver(&mut state, id, 1, 0);
    deliver(&mut state, id, 1, 1);
    deliver(&mut state, GenerationId(id.0 + 1), 0, 0);
    let sweep = state.lab.sweep.run.as_ref().unwrap();
    assert_eq!(sweep.done_words(), "1 of 4 cells");
    assert_eq!(
        state.lab.sweep.shown_cell(),
        Some(1),
        "the first with texts"
    );
    update_job(&mut state, id, JobUpdate::Finished);
    let sweep = state.lab.sweep.run.as_ref().unwrap();
    assert_eq!(sweep.status, RunStatus::Complete);
    assert_eq!(sweep.summary(), "1 of 4 cells in 1.5 s");
}

#[test]
fn stopping_keeps_the_results() {
    let (mut state, id) = running();
    deliver(&mut state, id, 0, 0);
    let effects = run(&mut state, LabCommand::Stop(LabTab::Sweep));
    assert_eq!(effects, [Effect::Send(Request::StopJob(id))]);
    update_job(&mut state, id, JobUpdate::Stopped);
    assert!(!state.lab.is_running(LabTab::Sweep));
    let sweep = state.lab.sweep.run.as_ref().unwrap();
    assert_eq!(sweep.summary(), "Stopped after 0 of 4 cells");
    assert_eq!(sweep.results.n_texts(), 1);
    assert!(run(&mut state, LabCommand::Stop(LabTab::Sweep)).is_empty());
}

#[test]
fn a_dead_engine_fails_the_sweep_and_keeps_its_results() {
    let (mut state, id) = running();
    deliver(&mut state, id, 0, 0);
    state.on_event(Event::Panicked {
        message: "oh".to_owned(),
    });
    let sweep = state.lab.sweep.run.as_ref().unwrap();
    assert!(matches!(sweep.status, RunStatus::Failed { .. }));
    assert_eq!(sweep.results.n_texts(), 1);
}

#[test]
fn the_selection_moves_over_the_grid_and_stops_at_its_edges() {
    let (mut state, id) = running();
    deliver(&mut state, id, 0, 0);
    state.lab.sweep.move_selection(0, 1);
    assert_eq!(state.lab.sweep.selected, Some(1));
    state.lab.sweep.move_selection(1, 1);
    assert_eq!(state.lab.sweep.selected, Some(3));
    state.lab.sweep.move_selection(5, -1);
    assert_eq!(state.lab.sweep.selected, Some(2));
    state.lab.sweep.move_selection(-9, 0);
    assert_eq!(state.lab.sweep.selected, Some(0));
}

#[test]
fn a_text_opens_as_a_pane_that_regenerates_it() {
    let (mut state, id) = running();
    deliver(&mut state, id, 3, 1);
    let n_panes = state.panes.len();
    state.page = Page::Lab;
    let effects = run(
        &mut state,
        LabCommand::Sweep(SweepCommand::OpenAsPane { cell: 3, text: 0 }),
    );
    assert_eq!((state.page, state.panes.len()), (Page::Write, n_panes + 1));
    let pane = state.panes.last().unwrap();
    let chain = state
        .lab
        .sweep
        .run
        .as_ref()
        .unwrap()
        .results
        .setup
        .chain_of(3);
    assert_eq!(pane.settings.chain, chain);
    assert_eq!(pane.settings.seed, Some(state.seed + 1));
    assert_eq!(asked(&effects).len(), 1);
    assert!(matches!(pane.status, PaneStatus::Waiting { .. }));
    while state.panes.len() < crate::state::MAX_PANES {
        state.apply(Command::AddPane);
    }
    run(
        &mut state,
        LabCommand::Sweep(SweepCommand::OpenAsPane { cell: 3, text: 0 }),
    );
    assert_eq!(state.panes.len(), crate::state::MAX_PANES);
    assert_eq!(state.notices[0].title, "No pane was added");
}

#[test]
fn a_list_of_prompts_is_swept_line_by_line() {
    let mut state = ready();
    state.lab.sweep.form.own_prompts = true;
    state.lab.sweep.form.prompts = "One\n\n Two\n".to_owned();
    let texts: Vec<String> = sweep_prompts(&state).into_iter().map(|p| p.text).collect();
    assert_eq!(texts, ["One", " Two"]);
    let cost = sweep_cost(&state).unwrap();
    assert!(
        cost.starts_with("48 cells × 2 prompts × 8 seeds × 64 tokens = 49,152 tokens"),
        "{cost}"
    );
    state.lab.sweep.form.prompts.clear();
    let reason = sweep_blocking_reason(&state);
    assert_eq!(reason.as_deref(), Some("Type a prompt first"));
}

#[test]
fn a_form_that_cannot_run_says_why() {
    let mut state = ready();
    state.lab.sweep.form.rows.n_steps = 0;
    let reason = sweep_blocking_reason(&state);
    assert_eq!(
        reason.as_deref(),
        Some("Temperature needs at least one value")
    );
    assert!(run(&mut state, LabCommand::Run(LabTab::Sweep)).is_empty());
    state.lab.sweep.form.rows.n_steps = 2;
    state.lab.sweep.form.columns.as_mut().unwrap().to = 2.0;
    let error = sweep_cost(&state).unwrap_err();
    assert_eq!(error, "Top-p must be between 0 and 1");
}

#[test]
fn a_word_is_counted_in_the_sweep_on_screen() {
    let (mut state, id) = running();
    deliver(&mut state, id, 0, 0);
    state.lab.sweep.word = "fox".to_owned();
    run(&mut state, LabCommand::Sweep(SweepCommand::FindWord));
    let share = |state: &AppState| {
        let results = &state.lab.sweep.run.as_ref().unwrap().results;
        results.cells()[0].summary(Metric::Word).map(|s| s.mean)
    };
    assert_eq!(share(&state), Some(1.0));
    state.lab.sweep.word = "/(/".to_owned();
    run(&mut state, LabCommand::Sweep(SweepCommand::FindWord));
    assert_eq!(
        state.lab.sweep.word_error(),
        Some("invalid pattern: unclosed group")
    );
    state.lab.sweep.word = " ".to_owned();
    run(&mut state, LabCommand::Sweep(SweepCommand::FindWord));
    assert_eq!((share(&state), state.lab.sweep.word_error()), (None, None));
    assert_eq!(state.lab.sweep.form.keep, Keep::Texts);
}

#[test]
fn a_sweep_that_would_keep_too_much_says_so_beforehand() {
    let mut state = ready();
    state.on_event(tokenized(state.prompt.to_text(), 4));
    assert_eq!(sweep_blocking_reason(&state), None);
    let form = &mut state.lab.sweep.form;
    (form.n_seeds, form.n_tokens, form.megabytes) = (1000, 1000, 100);
    let reason = sweep_blocking_reason(&state).unwrap();
    assert!(reason.contains("more than the limit of 100 MB"), "{reason}");
    assert_eq!(sweep_cost(&state), Err(reason));
    assert!(run(&mut state, LabCommand::Run(LabTab::Sweep)).is_empty());
    state.lab.sweep.form.keep = Keep::Figures;
    assert_eq!(sweep_blocking_reason(&state), None);
}

#[test]
fn the_forms_are_saved_with_the_settings() {
    let mut state = ready();
    state.lab.sweep.form.n_seeds = 5;
    state.lab.sweep.form.prompts = "One\nTwo".to_owned();
    state.lab.fit.form.columns = None;
    let (restored, _) = AppState::new(state.settings(), crate::worker::ModelSource::Embedded);
    assert_eq!(restored.lab, state.lab);
}

/// The results of such a sweep.
pub(crate) fn finished_sweep() -> (ResultFacts, LabResult) {
    finished().lab.result(LabTab::Sweep).unwrap()
}

/// A sweep that has ended, with a complete cell and one that is not.
fn finished() -> AppState {
    let (mut state, id) = running();
    for (cell, seed) in [(0, 0), (0, 1), (1, 0)] {
        deliver(&mut state, id, cell, seed);
    }
    update_job(&mut state, id, JobUpdate::Finished);
    state
}

fn keeps_result(effects: &[Effect]) -> bool {
    let keeps = |effect: &Effect| matches!(effect, Effect::Runs(RunRequest::KeepResult { tab, .. }) if *tab == LabTab::Sweep);
    effects.iter().any(keeps)
}

#[test]
fn a_sweep_enters_the_history_when_it_ends_fails_or_the_window_closes() {
    for update in [JobUpdate::Finished, JobUpdate::Stopped] {
        let (mut state, id) = running();
        deliver(&mut state, id, 0, 0);
        let effects = state.on_event(Event::Job { id, update });
        assert!(keeps_result(&effects), "{effects:?}");
    }
    let (mut state, id) = running();
    deliver(&mut state, id, 0, 0);
    let message = "oh".to_owned();
    assert!(keeps_result(&state.on_event(Event::Panicked { message })));
    let (mut state, id) = running();
    assert_eq!(state.close(), [], "nothing was found yet");
    deliver(&mut state, id, 0, 0);
    assert!(keeps_result(&state.close()));
}

#[test]
fn a_finished_sweep_is_kept_and_shown_again_as_it_was() {
    let state = finished();
    let before = state.lab.sweep.run.as_ref().unwrap();
    let (facts, _) = state.lab.result(LabTab::Sweep).unwrap();
    assert_eq!(facts.words, before.done_words());
    let mut other = reopened(&state, LabTab::Sweep);
    let after = other.lab.sweep.run.as_ref().unwrap();
    assert_eq!(
        (&after.results, &after.model),
        (&before.results, &before.model)
    );
    assert_eq!(after.summary(), before.summary());
    assert_eq!(other.lab.kept.as_ref().unwrap().finished_at, 7);
    assert_eq!(other.close(), [], "it is in the history already");
}

#[test]
fn a_kept_sweep_runs_again_with_everything_that_made_it() {
    let state = finished();
    let (mut other, effects) = run_again(&state, LabTab::Sweep);
    let (id, plan) = planned::<SweepPlan>(&effects[0]).unwrap();
    assert_eq!(plan.prompts[..], [state.prompt.to_text()]);
    assert_eq!((plan.cells.len(), plan.n_seeds), (4, 2));
    assert_eq!((plan.seed, plan.limits.max_new_tokens), (state.seed, 5));
    for (cell, seed) in [(0, 0), (0, 1), (1, 0)] {
        deliver(&mut other, id, cell, seed);
    }
    let effects = update_job(&mut other, id, JobUpdate::Finished);
    are_the_same(&state, &other, LabTab::Sweep, &effects);
    assert_eq!(other.lab.sweep.form, SweepForm::default());
    run(&mut other, LabCommand::Close(LabTab::Sweep));
    assert_eq!((&other.lab.sweep.run, &other.lab.kept), (&None, &None));
}

#[test]
fn a_sweep_too_large_to_run_again_says_so() {
    let mut other = reopened(&finished(), LabTab::Sweep);
    other.lab.sweep.form.megabytes = 0;
    let refusal = other.again_refusal(LabTab::Sweep).unwrap().words;
    assert!(refusal.ends_with("raise the limit"), "{refusal}");
    let again = LabCommand::RunAgain(LabTab::Sweep);
    assert_eq!(run(&mut other, again), []);
}

#[test]
fn a_sweep_that_contradicts_itself_is_not_shown() {
    refuses(&finished(), LabTab::Sweep, |json| {
        json["setup"]["n_seeds"] = 0.into();
    });
    refuses(&finished(), LabTab::Sweep, |json| {
        json["cells"].as_array_mut().unwrap().pop();
    });
    refuses(&finished(), LabTab::Sweep, |json| {
        json["cells"][0]["texts"][0]["prompt"] = 9.into();
    });
    assert!(LabResult::parse("sweep", b"{}").is_err());
    assert!(LabResult::parse("later", b"{}").is_err());
}
