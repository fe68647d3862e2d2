//! Tests of long lists, and of the order of their rows.

use super::{DONE, MARS, VENUS, answer, deliver, judged, run, start, table, with_tasks};
use crate::lab::prompts::figures::TaskOrder;
use crate::lab::{LabCommand, LabTab};
use crate::state::Effect;
use crate::state::tests::{JobUpdate, Request, update_job};

#[test]
fn rows_are_sorted_by_any_column() {
    let mut state = judged();
    let run = state.lab.prompts.runs.table.as_mut().unwrap();
    let mut order = |by: TaskOrder| {
        run.reading.sort_by(by, &run.results);
        run.reading.order.clone()
    };
    assert_eq!(order(TaskOrder::List), [0, 1]);
    assert_eq!(order(TaskOrder::List), [1, 0], "again reverses");
    assert_eq!(order(TaskOrder::Length), [0, 1]);
    assert_eq!(order(TaskOrder::Share(1)), [0, 1]);
    assert_eq!(order(TaskOrder::Disagreement), [0, 1]);
}

#[test]
fn a_long_list_is_prepared_some_tasks_at_a_time() {
    let mut state = with_tasks();
    let form = &mut state.lab.prompts.form;
    let rows: Vec<String> = (0..5000).map(|index| format!("Q{index},Mars")).collect();
    form.typed = format!("question,answer\n{}\n", rows.join("\n"));
    form.prepare();
    assert!(form.is_preparing() && form.tasks().is_err());
    form.prepare();
    form.template.push('!');
    form.prepare();
    form.prepare();
    assert!(form.is_preparing(), "a key in the template begins again");
    form.prepare();
    assert!(!form.is_preparing());
    let tasks = form.tasks().unwrap().clone();
    assert_eq!(tasks.tasks.len(), 5000);
    assert!(tasks.is_judged && tasks.is_exact);
    form.reload();
    form.prepare_all();
    assert_eq!(*form.tasks().unwrap(), tasks);
    form.typed.push_str("only a question\n");
    form.prepare_all();
    let error = form.tasks().unwrap_err();
    assert!(error.contains("5002"), "{error}");
}

#[test]
fn a_thousand_prompts_under_four_settings_can_be_stopped_at_any_time() {
    let mut state = with_tasks();
    let form = &mut state.lab.prompts.form;
    let rows: Vec<String> = (0..1000).map(|index| format!("Q{index},Mars")).collect();
    form.typed = format!("question,answer\n{}\n", rows.join("\n"));
    form.n_answers = 5;
    let (id, plan) = start(&mut state);
    assert_eq!((plan.tasks.len(), plan.drawn.len()), (1000, 4));
    for task in 0..500 {
        for (pane, n) in [1, 5, 5, 5].into_iter().enumerate() {
            for seed in 0..n {
                let word = if (task + seed) % 3 == 0 { VENUS } else { MARS };
                answer(&mut state, id, (task, pane), (seed, word));
            }
        }
        deliver(&mut state, id, task, DONE);
    }
    assert_eq!(
        table(&state).summary(),
        "8,000 of 16,000 answers, about 500 s left"
    );
    let effects = run(&mut state, LabCommand::Stop(LabTab::Prompts));
    assert_eq!(effects, [Effect::Send(Request::StopJob(id))]);
    update_job(&mut state, id, JobUpdate::Stopped);
    let run = table(&state);
    assert_eq!(run.summary(), "Stopped after 8,000 of 16,000 answers");
    assert_eq!(run.reading.shares[1].unwrap().n_prompts, 500);
    assert!(run.reading.verdict.is_some());
}
