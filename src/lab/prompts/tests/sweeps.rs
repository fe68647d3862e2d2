//! Tests of sweeps over the tasks: drawn answers at each value, and maps.

use super::{MARS, VENUS, answer, deliver, deliver_exact, start, with_tasks};
use crate::analysis::sweep::Parameter;
use crate::decoding::FilterKind;
use crate::lab::kept::reopened;
use crate::lab::prompts::plan::TaskNews;
use crate::lab::prompts::state::blocking_reason;
use crate::lab::prompts::{PromptsCommand, SweepRun, TaskView, task_seed};
use crate::lab::{AxisForm, LabCommand, LabTab};
use crate::state::AppState;
use crate::state::tests::{JobUpdate, update_job};

/// Delivers what was drawn in all cells: the first of two answers is right, and so is the second in the
/// first cell.
pub(in crate::lab::prompts) fn swept() -> AppState {
    let mut state = with_tasks();
    state.lab.prompts.view = TaskView::AnySetting;
    let form = &mut state.lab.prompts.form;
    form.draws_values = true;
    form.axis.n_steps = 3;
    let (id, plan) = start(&mut state);
    assert_eq!((plan.drawn.len(), plan.n_answers), (7, 2));
    assert_eq!(plan.drawn, plan.exact);
    for task in 0..2 {
        let [right, wrong] = [[MARS, VENUS], [VENUS, MARS]][task];
        for settings in 0..7 {
            answer(&mut state, id, (task, settings), (0, right));
            if settings > 0 {
                let word = if settings == 4 { right } else { wrong };
                answer(&mut state, id, (task, settings), (1, word));
            }
        }
        let timed = TaskNews::Timed {
            settings: (0..7).collect(),
            secs_per_token: 1.0 / 26.0,
        };
        deliver(&mut state, id, task, timed);
        deliver(&mut state, id, task, TaskNews::Done { secs: 1.5 });
    }
    update_job(&mut state, id, JobUpdate::Finished);
    state
}

/// A state with a complete map of three temperatures and two top-p.
pub(in crate::lab::prompts) fn mapped() -> AppState {
    let mut state = with_tasks();
    state.lab.prompts.view = TaskView::AnySetting;
    let form = &mut state.lab.prompts.form;
    form.axis.n_steps = 3;
    let top_p = Parameter::Filter(FilterKind::TopP, 0);
    form.columns = Some(AxisForm::new(top_p, 2));
    let (id, plan) = start(&mut state);
    assert_eq!((plan.drawn.len(), plan.exact.len()), (0, 10));
    for task in 0..2 {
        deliver_exact(&mut state, id, task, plan.exact.len());
    }
    update_job(&mut state, id, JobUpdate::Finished);
    state
}

pub(in crate::lab::prompts) fn sweep(state: &AppState) -> &SweepRun {
    state.lab.prompts.runs.sweep.as_ref().unwrap()
}

#[test]
fn answers_are_drawn_at_every_value_with_the_same_coins() {
    let state = swept();
    let run = sweep(&state);
    assert!(run.is_drawn());
    let drawn: Vec<_> = run.reading.drawn_cells().collect();
    assert_eq!(drawn.len(), 3);
    let shares = drawn.iter().map(|drawn| drawn.share.unwrap().share);
    assert_eq!(shares.collect::<Vec<_>>(), [1.0, 0.5, 0.5]);
    let different = drawn
        .iter()
        .map(|drawn| drawn.overview.n_different.unwrap());
    assert_eq!(different.collect::<Vec<_>>(), [1.0, 2.0, 2.0]);
    // Each task has 13 answers of two tokens, which took a second together.
    let secs = drawn[0].overview.secs.unwrap();
    assert!((secs - 1.0 / 13.0).abs() < 1e-12, "{secs}");
    let seeds = (4..7).map(|settings| run.results.answers(1, settings)[0].seed);
    assert!(
        seeds
            .into_iter()
            .all(|seed| seed == task_seed(state.seed, 1))
    );
    assert_eq!(
        run.reading.variety(&run.sweep).unwrap(),
        "Different answers to a task: 1.0 at 0.1, 2.0 at 1.6. Tokens of an answer: 2.0 and 2.0."
    );
    let verdict = &run.reading.verdict.as_ref().unwrap().sentence;
    assert!(verdict.contains("0.1"), "{verdict}");
    assert_eq!(run.reading.points, [], "nothing was computed exactly");

    let mut other = reopened(&state, LabTab::Prompts);
    let after = sweep(&other);
    assert_eq!(after.reading, run.reading);
    let command = PromptsCommand::Open {
        view: TaskView::AnySetting,
        task: 0,
        pane: 5,
        answer: 1,
    };
    let seed = after.results.answers(0, 5)[1].seed;
    super::run(&mut other, LabCommand::Prompts(command));
    let pane = other.panes.last().unwrap();
    assert_eq!(pane.settings.seed, Some(seed));
    let temperature = Parameter::Filter(FilterKind::Temperature, 0);
    let value = temperature.get(&pane.settings.chain).unwrap();
    assert!((value - 0.85).abs() < 1e-6, "{value}");
}

#[test]
fn two_numbers_make_a_map() {
    let mut state = mapped();
    let run = sweep(&state);
    assert_eq!(run.reading.shares.len(), 6);
    let verdict = run.reading.verdict.as_ref().unwrap();
    assert!(
        verdict
            .sentence
            .starts_with("On these 2 prompts T 0.1 · top-p 0.5 is best, with 78 %"),
        "{verdict:?}"
    );
    assert!(verdict.limits.as_ref().unwrap().contains("exact"));
    let (facts, _) = state.lab.result(LabTab::Prompts).unwrap();
    assert_eq!(facts.words, "2 tasks over Temperature and Top-p");
    assert_eq!(
        sweep(&reopened(&state, LabTab::Prompts)).reading,
        run.reading
    );
    // The hottest row is at the top.
    let run = state.lab.prompts.runs.sweep.as_mut().unwrap();
    assert_eq!(run.shown_settings(), 4, "the best cell");
    run.move_selection(-1, 1);
    assert_eq!(run.selected_cell, Some(3));
    run.move_selection(9, -9);
    assert_eq!(run.selected_cell, Some(0));
}

#[test]
fn what_cannot_be_varied_is_refused_in_a_sentence() {
    let mut state = mapped();
    let form = &mut state.lab.prompts.form;
    form.columns = Some(form.axis.clone());
    let refusal = blocking_reason(&state).unwrap();
    assert!(refusal.contains("both are Temperature"), "{refusal}");
    let form = &mut state.lab.prompts.form;
    form.axis.n_steps = 64;
    form.columns = Some(AxisForm::new(Parameter::Filter(FilterKind::TopP, 0), 17));
    let refusal = blocking_reason(&state).unwrap();
    assert!(refusal.contains("these are 1,088"), "{refusal}");
}
