//! Jobs of models of panes: they take turns, and end with their model.

use std::path::PathBuf;

use quartet::decoding::{Against, ChainConfig, Guidance};
use quartet::generation::{Limits, PromptText};
use quartet::lab::prompts::{TaskNews, TaskText, TaskUpdate, TasksPlan};
use quartet::worker::{Event, GenerationId, JobUpdate, ModelSource, Request};

use super::pane_models::with_both;
use super::{Harness, greedy};

const MAIN: GenerationId = GenerationId(7);
const OTHER: GenerationId = GenerationId(8);

fn other() -> ModelSource {
    ModelSource::Path(PathBuf::from("other.gguf"))
}

fn plan(n_tasks: usize, part: usize) -> TasksPlan {
    let task = |_| TaskText {
        prompt: PromptText::raw("Once"),
        right: Vec::new(),
    };
    TasksPlan {
        tasks: (0..n_tasks).map(task).collect(),
        drawn: vec![ChainConfig::greedy()],
        n_answers: 1,
        exact: Vec::new(),
        elsewhere: Vec::new(),
        part,
        seed: 1,
        limits: Limits {
            max_new_tokens: 8,
            ..Limits::default()
        },
    }
}

/// Requests a list from both models.
fn ask_both(harness: &mut Harness, n_tasks: usize) {
    let (main, own) = (plan(n_tasks, 0), plan(n_tasks, 1));
    harness.worker.send(Request::run_job(MAIN, main));
    let request = Request::run_job_on(Some(other()), OTHER, own);
    harness.worker.send(request);
}

/// Receives events up to the end of this many jobs. Returns their updates.
fn ends(harness: &mut Harness, n: usize) -> Vec<(GenerationId, JobUpdate)> {
    let mut updates = Vec::new();
    let mut n_ended = 0;
    while n_ended < n {
        if let Event::Job { id, update } = harness.next() {
            n_ended += usize::from(update.is_end());
            updates.push((id, update));
        }
    }
    updates
}

fn end_of(updates: &[(GenerationId, JobUpdate)], id: GenerationId) -> &JobUpdate {
    let mut updates = updates.iter().rev();
    &updates.find(|(other, _)| *other == id).unwrap().1
}

#[test]
fn lists_of_two_models_take_turns() {
    let mut harness = with_both();
    ask_both(&mut harness, 3);
    let updates = ends(&mut harness, 2);
    let mut tokens = Vec::new();
    let mut done = Vec::new();
    for (id, update) in &updates {
        let Some(TaskUpdate { part, news, .. }) = update.report() else {
            continue;
        };
        assert_eq!(*part, usize::from(*id == OTHER));
        match news {
            TaskNews::Answered(texts) => tokens.push((*id, texts[0].tokens.clone())),
            TaskNews::Done { .. } => done.push(*id),
            _ => {}
        }
    }
    assert_eq!(done, [MAIN, OTHER].repeat(3), "neither waits for the other");
    let of = |id: GenerationId| tokens.iter().filter(move |(other, _)| *other == id);
    assert_eq!((of(MAIN).count(), of(OTHER).count()), (3, 3));
    let [main, own] = [MAIN, OTHER].map(|id| &of(id).next().unwrap().1);
    assert_ne!(main, own, "each model writes its own tale");
    assert_eq!(end_of(&updates, OTHER), &JobUpdate::Finished);
}

#[test]
fn a_job_of_another_model_waits_for_panes_and_needs_no_main_model() {
    let mut harness = with_both();
    harness.worker.send(Request::UnloadModel);
    harness.until(|event| matches!(event, Event::ModelUnloaded));
    let request = Request::run_job_on(Some(other()), OTHER, plan(1, 0));
    harness.generate("Once", [super::pane_models::with_other(greedy(1, 3))]);
    harness.worker.send(request);
    harness.until_finished(1);
    let updates = ends(&mut harness, 1);
    assert!(updates.len() > 1, "it began after the pane had ended");
    assert_eq!(end_of(&updates, OTHER), &JobUpdate::Finished);
}

#[test]
fn stopping_or_unloading_ends_the_jobs_of_one_model() {
    for unloads in [false, true] {
        let mut harness = with_both();
        ask_both(&mut harness, 200);
        let has_begun = |event: &Event| matches!(event, Event::Job { id, .. } if *id == OTHER);
        harness.until(has_begun);
        harness.worker.send(if unloads {
            Request::UnloadPaneModel(other())
        } else {
            Request::StopJob(OTHER)
        });
        let updates = ends(&mut harness, 1);
        assert_eq!(end_of(&updates, OTHER), &JobUpdate::Stopped);
        harness.worker.send(Request::StopJob(MAIN));
        let updates = ends(&mut harness, 1);
        assert!(updates.iter().all(|(id, _)| *id == MAIN), "it went on");
    }
}

#[test]
fn a_job_that_a_model_cannot_do_fails_in_a_sentence() {
    let mut harness = with_both();
    let missing = ModelSource::Path(PathBuf::from("missing.gguf"));
    let request = Request::run_job_on(Some(missing), OTHER, plan(1, 1));
    harness.worker.send(request);
    let updates = ends(&mut harness, 1);
    let JobUpdate::Failed { error } = end_of(&updates, OTHER) else {
        panic!("{updates:?}");
    };
    assert_eq!(error, "the model is not loaded; a pane must use it");

    let guided = TasksPlan {
        drawn: vec![ChainConfig {
            guidance: Some(Guidance::usual(Against::Model)),
            ..ChainConfig::greedy()
        }],
        ..plan(1, 1)
    };
    let request = Request::run_job_on(Some(other()), OTHER, guided);
    harness.worker.send(request);
    let updates = ends(&mut harness, 1);
    let JobUpdate::Failed { error } = end_of(&updates, OTHER) else {
        panic!("{updates:?}");
    };
    assert!(error.contains("works with the main model only"), "{error}");
}
