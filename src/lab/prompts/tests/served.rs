//! Tests of lists some of whose panes are answered by a server.

use std::sync::Arc;

use super::{DONE, MARS, VENUS, answer, deliver, run, table, with_tasks};
use crate::generation::{FinishReason, GenerationId, PaneModel, Piece, ServedModel, ServedText};
use crate::lab::kept::reopened;
use crate::lab::prompts::state::blocking_reason;
use crate::lab::prompts::{PromptsCommand, TaskView, TasksPlan};
use crate::lab::{LabCommand, LabTab};
use crate::state::tests::{planned, update_job};
use crate::state::{AppState, Effect, RunStatus};
use crate::worker::{JobUpdate, ListPlan, ListReport, Request, ServerEvent, ServerRequest};

pub(super) fn served() -> ServedModel {
    ServedModel {
        address: "http://127.0.0.1:8080".to_owned(),
        model: None,
        own_sampler: true,
    }
}

/// A state with two tasks, whose last pane is answered by a server.
fn with_served() -> AppState {
    let mut state = with_tasks();
    let last = state.panes.iter_mut().last().unwrap();
    last.settings.model = Some(PaneModel::Server(served()));
    state
}

/// What was requested for a list.
struct Asked {
    engine: (GenerationId, TasksPlan),
    server: (GenerationId, Arc<ListPlan>),
}

fn start(state: &mut AppState) -> Asked {
    let effects = run(state, LabCommand::Run(LabTab::Prompts));
    let mut engine = effects.iter().filter_map(planned::<TasksPlan>);
    let mut server = effects.iter().filter_map(|effect| match effect {
        Effect::Server(to, ServerRequest::AnswerList { id, plan }) => {
            assert_eq!(*to, served());
            Some((*id, Arc::clone(plan)))
        }
        _ => None,
    });
    Asked {
        engine: engine.next().unwrap(),
        server: server.next().unwrap(),
    }
}

fn update(state: &mut AppState, id: GenerationId, update: JobUpdate) -> Vec<Effect> {
    state.on_server_event(&served(), ServerEvent::Job { id, update })
}

fn report(state: &mut AppState, id: GenerationId, report: ListReport) {
    update(state, id, JobUpdate::reported(report));
}

/// Delivers an answer of the server: a word and the end of the text, or why it failed.
fn deliver_text(
    state: &mut AppState,
    id: GenerationId,
    (prompt, seed): (usize, usize),
    word: Result<&str, &str>,
) {
    let (pieces, finish) = match word {
        Ok(word) => (vec![Piece::text(word)], FinishReason::EndOfText),
        Err(error) => (Vec::new(), FinishReason::failed(error)),
    };
    let text = ServedText {
        settings: 0,
        seed,
        rendered: Arc::from("Q"),
        pieces,
        measures: Vec::new(),
        finish,
        secs: 1.0,
    };
    report(state, id, ListReport::Written { prompt, text });
}

/// Delivers all answers of the engine: the first pane is right, the others every other time.
fn deliver_engine(state: &mut AppState, id: GenerationId) {
    for task in 0..2 {
        let [right, wrong] = [[MARS, VENUS], [VENUS, MARS]][task];
        answer(state, id, (task, 0), (0, right));
        for pane in 1..3 {
            answer(state, id, (task, pane), (0, right));
            answer(state, id, (task, pane), (1, wrong));
        }
        deliver(state, id, task, DONE);
    }
    update_job(state, id, JobUpdate::Finished);
}

/// A complete list: the server was right at the first task and failed at the second.
pub(in crate::lab::prompts) fn served_list() -> AppState {
    let mut state = with_served();
    let Asked { engine, server } = start(&mut state);
    deliver_engine(&mut state, engine.0);
    for seed in 0..2 {
        deliver_text(&mut state, server.0, (0, seed), Ok("Mars"));
        let error = Err("127.0.0.1:8080 returned a server error (500)");
        deliver_text(&mut state, server.0, (1, seed), error);
    }
    for prompt in 0..2 {
        report(&mut state, server.0, ListReport::Done { prompt, secs: 1.0 });
    }
    update(&mut state, server.0, JobUpdate::Finished);
    state
}

#[test]
fn the_engine_and_the_server_answer_their_own_panes() {
    let mut state = with_served();
    let Asked { engine, server } = start(&mut state);
    assert_eq!(engine.1.drawn.len(), 4);
    assert_eq!(engine.1.elsewhere, [3]);
    let local: Vec<usize> = engine.1.drawn_here().map(|(index, _)| index).collect();
    assert_eq!(local, [0, 1, 2]);
    let list = &server.1;
    assert_eq!((list.prompts.len(), list.settings.len()), (2, 1));
    assert_eq!(list.settings[0].n_texts, 2);
    assert_eq!(list.settings[0].chain, engine.1.drawn[3]);
    assert_eq!(list.limits, engine.1.limits);

    deliver_engine(&mut state, engine.0);
    assert!(state.lab.is_running(LabTab::Prompts), "the server goes on");
    assert_eq!(table(&state).results.n_tasks_done(), 0);
}

#[test]
fn an_error_of_the_server_is_named_at_its_task_and_costs_nothing_else() {
    let state = served_list();
    let run = table(&state);
    assert_eq!(run.status, RunStatus::Complete);
    let results = &run.results;
    assert_eq!(results.n_right(0, 3), Some((2, 2)));
    assert_eq!(results.answers(0, 3)[0].answer.text, "Mars");
    assert!(results.answers(0, 3)[0].answer.is_complete);
    assert_eq!(results.n_right(1, 3), None);
    assert!(results.error_of(1, 3).unwrap().contains("server error"));
    assert_eq!((results.error(1), results.error_of(1, 0)), (None, None));
    assert_eq!(results.n_comparable(), 2);
    let n_tasks = run.reading.shares.iter().flatten();
    let n_tasks: Vec<usize> = n_tasks.map(|share| share.n_prompts).collect();
    assert_eq!(n_tasks, [2, 2, 2, 1]);
    assert_eq!(results.n_done(), (2 * 5 + 2, 2 * 5 + 2));
    assert_eq!(run.reading.overview[3].secs, Some(1.0));
}

#[test]
fn a_server_that_ends_the_list_leaves_the_answers_of_the_others() {
    let mut state = with_served();
    let Asked { engine, server } = start(&mut state);
    deliver_text(&mut state, server.0, (0, 0), Ok("Mars"));
    let error = "could not connect to 127.0.0.1:8080: is the server running?".to_owned();
    update(&mut state, server.0, JobUpdate::Failed { error });
    assert!(state.lab.is_running(LabTab::Prompts), "the engine goes on");
    deliver_engine(&mut state, engine.0);
    let run = table(&state);
    assert!(matches!(run.status, RunStatus::Failed { .. }));
    assert_eq!(run.results.n_comparable(), 2);
    assert_eq!(run.results.n_right(1, 1), Some((1, 2)));
    for task in 0..2 {
        let error = run.results.error_of(task, 3).unwrap();
        assert!(error.contains("is the server running?"), "{error}");
    }
}

#[test]
fn stop_reaches_the_engine_and_the_server() {
    let mut state = with_served();
    let Asked { engine, server } = start(&mut state);
    let effects = run(&mut state, LabCommand::Stop(LabTab::Prompts));
    let stops = [
        Effect::Send(Request::StopJob(engine.0)),
        Effect::Server(served(), ServerRequest::Stop(server.0)),
    ];
    assert_eq!(effects, stops);
    update_job(&mut state, engine.0, JobUpdate::Stopped);
    assert!(state.lab.is_running(LabTab::Prompts));
    update(&mut state, server.0, JobUpdate::Stopped);
    assert_eq!(table(&state).status, RunStatus::Stopped);
}

#[test]
fn a_list_is_kept_with_the_words_of_the_server() {
    let state = served_list();
    let again = reopened(&state, LabTab::Prompts);
    let [before, after] = [&state, &again].map(|state| &table(state).results);
    for task in 0..2 {
        assert_eq!(before.answers(task, 3), after.answers(task, 3));
        assert_eq!(before.error_of(task, 3), after.error_of(task, 3));
    }
    let token = after.answers(0, 3)[0].tokens[0];
    assert_eq!(after.vocabulary_of(3).piece(token), Piece::text("Mars"));
    assert_eq!(before.n_done(), after.n_done());
}

/// Opens an answer to the first task in the last pane. Returns the model of the pane that shows it.
pub(super) fn model_of_opened(mut state: AppState) -> Option<PaneModel> {
    let command = PromptsCommand::Open {
        view: TaskView::Table,
        task: 0,
        pane: 3,
        answer: 1,
    };
    run(&mut state, LabCommand::Prompts(command));
    state.panes.iter().last()?.settings.model.clone()
}

#[test]
fn an_answer_of_a_server_opens_in_a_pane_that_uses_it() {
    let model = model_of_opened(served_list());
    assert_eq!(model, Some(PaneModel::Server(served())));
}

#[test]
fn what_servers_cannot_compute_is_refused_in_a_sentence() {
    let mut state = with_served();
    assert_eq!(blocking_reason(&state), None);
    state.lab.prompts.view = TaskView::AnySetting;
    let reason = blocking_reason(&state).unwrap();
    assert_eq!(
        reason,
        "Any setting runs on this computer only, but D runs on a server"
    );
}
