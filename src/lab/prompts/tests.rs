//! Tests of the Lab page: lists of prompts.

use crate::analysis::sweep::testing::text;
use crate::export::{texts_csv, texts_jsonl};
use crate::generation::{GenerationId, SweepPlan, SweepText, SweepUpdate};
use crate::lab::prompts::PromptsCommand;
use crate::lab::prompts::state::batch_blocking_reason;
use crate::lab::{LabCommand, LabTab};
use crate::state::tests::{Event, Request, planned, ready, report, update_job};
use crate::state::{AppState, Command, Effect, Page, RunStatus};
use crate::worker::JobUpdate;

fn run(state: &mut AppState, command: LabCommand) -> Vec<Effect> {
    state.apply(Command::Lab(command))
}

/// A state that continues two prompts in four panes, of which the second has its own seed.
fn running() -> (AppState, Vec<(GenerationId, SweepPlan)>) {
    let mut state = ready();
    state.panes[1].settings.seed = Some(7);
    state.lab.prompts.typed = "The fox\n\n The owl\n".to_owned();
    let effects = run(&mut state, LabCommand::Run(LabTab::Prompts));
    let requests = effects.iter().map(|effect| {
        let (id, plan) = planned::<SweepPlan>(effect).unwrap();
        let prompts = plan.prompts.iter();
        let texts: Vec<&str> = prompts.map(|prompt| prompt.text.as_str()).collect();
        assert_eq!(texts, ["The fox", " The owl"]);
        (id, plan)
    });
    let requests = requests.collect();
    (state, requests)
}

fn deliver(state: &mut AppState, id: GenerationId, prompt: usize, cell: usize) {
    let complete = vec![SweepText {
        prompt,
        ..text(cell, 0, &[1, 5, 2])
    }];
    let update = SweepUpdate::Advanced {
        n_tokens: 3,
        secs: 1.0,
        complete,
    };
    report(state, id, update);
}

#[test]
fn panes_with_the_same_seed_run_together_and_every_text_gets_its_row() {
    let (mut state, requests) = running();
    let [(own, alone), (shared, together)] = &requests[..] else {
        panic!("{requests:?}");
    };
    assert_eq!((alone.seed, alone.cells.len()), (7, 1));
    assert_eq!((together.seed, together.cells.len()), (state.seed, 3));
    assert_eq!(alone.cells[0], state.panes[1].settings.chain);
    assert!(
        run(&mut state, LabCommand::Run(LabTab::Prompts)).is_empty(),
        "one at a time"
    );
    deliver(&mut state, *own, 1, 0);
    deliver(&mut state, *shared, 0, 2);
    let batch = state.lab.prompts.run.clone().unwrap();
    assert_eq!(batch.summary(), "2 of 8 texts");
    assert!(batch.text(1, 1).is_some() && batch.text(0, 3).is_some());
    update_job(&mut state, *own, JobUpdate::Finished);
    assert!(state.lab.prompts.run.as_ref().unwrap().is_running());
    update_job(&mut state, *shared, JobUpdate::Finished);
    let batch = state.lab.prompts.run.clone().unwrap();
    assert_eq!(batch.status, RunStatus::Complete);

    let rows = batch.rows();
    let places: Vec<(usize, &str, u64)> = rows
        .iter()
        .map(|row| (row.prompt_number, row.pane.as_str(), row.seed))
        .collect();
    assert_eq!(places, [(1, "D", state.seed), (2, "B", 7)]);
    let table = String::from_utf8(texts_csv(&rows)).unwrap();
    assert_eq!(table.trim_end().split("\r\n").count(), 3, "{table}");
    let lines = String::from_utf8(texts_jsonl(&rows)).unwrap();
    assert_eq!(lines.lines().count(), 2, "{lines}");

    // A text is regenerated with its prompt, its settings and its seed.
    let effects = run(
        &mut state,
        LabCommand::Prompts(PromptsCommand::Open { prompt: 1, pane: 1 }),
    );
    assert_eq!(crate::state::tests::asked(&effects).len(), 1);
    assert_eq!(
        (state.page, state.prompt.text.as_str()),
        (Page::Write, " The owl")
    );
    assert_eq!(state.panes[4].settings.seed, Some(7));
    assert_eq!(state.panes[4].settings.chain, state.panes[1].settings.chain);
}

#[test]
fn a_stop_reaches_every_group_and_keeps_the_texts() {
    let (mut state, requests) = running();
    let ids: Vec<GenerationId> = requests.iter().map(|(id, _)| *id).collect();
    deliver(&mut state, ids[0], 0, 0);
    update_job(&mut state, ids[0], JobUpdate::Finished);
    let effects = run(&mut state, LabCommand::Stop(LabTab::Prompts));
    assert_eq!(effects, [Effect::Send(Request::StopJob(ids[1]))]);
    update_job(&mut state, ids[1], JobUpdate::Stopped);
    let batch = state.lab.prompts.run.as_ref().unwrap();
    assert_eq!(batch.summary(), "Stopped after 1 of 8 texts");
    assert!(run(&mut state, LabCommand::Stop(LabTab::Prompts)).is_empty());
}

#[test]
fn a_lost_engine_ends_the_list_and_an_empty_list_does_not_run() {
    let (mut state, _) = running();
    state.on_event(Event::Panicked {
        message: "lost".to_owned(),
    });
    let batch = state.lab.prompts.run.as_ref().unwrap();
    assert!(matches!(batch.status, RunStatus::Failed { .. }));
    let mut state = ready();
    let reason = batch_blocking_reason(&state).unwrap();
    assert_eq!(reason, "Type or paste prompts, one per line");
    assert!(run(&mut state, LabCommand::Run(LabTab::Prompts)).is_empty());
}
