//! Tests of lists in which some panes use their own model, or none uses the main one.

use std::sync::Arc;

use super::served::{model_of_opened, served};
use super::{DONE, END, MARS, VENUS, answer, run, table, with_tasks};
use crate::decoding::TokenId;
use crate::generation::testing::generation;
use crate::generation::{
    ChatSupport, FinishReason, GenerationId, ModelInfo, PaneModel, Piece, SweepText, Vocabulary,
};
use crate::lab::kept::reopened;
use crate::lab::prompts::state::blocking_reason;
use crate::lab::prompts::{PromptsCommand, TaskNews, TaskUpdate, TaskView, TasksPlan, TasksRecord};
use crate::lab::{LabCommand, LabTab};
use crate::state::tests::{Event, Request, pane_model_loaded, report, update_job};
use crate::state::{AppState, Command, Effect, ModelStatus, PaneModelCommand, RunStatus};
use crate::worker::{JobUpdate, ModelSource, PaneModelUpdate, ServerRequest};

/// The token of the other model for "Mars", which the main one calls "Venus".
const OTHER_MARS: u32 = VENUS;

fn other() -> ModelSource {
    ModelSource::Path("other.gguf".into())
}

/// Makes these panes use the other model, to which this happens.
fn use_other(state: &mut AppState, places: &[usize], update: PaneModelUpdate) {
    for place in places {
        let choose = PaneModelCommand::Choose(state.panes[*place].id, Some(other().into()));
        state.apply(Command::PaneModel(choose));
    }
    state.apply(Command::PaneModel(PaneModelCommand::Load(other())));
    let source = other();
    state.on_event(Event::PaneModel { source, update });
}

fn loaded() -> PaneModelUpdate {
    let pieces = ["Venus", "Mars"].map(Piece::text).into_iter();
    let pieces = pieces.chain([Piece::special("</s>")]);
    let info = ModelInfo {
        name: "Other".to_owned(),
        sha256: "other".to_owned(),
        ..(*generation(&[]).model).clone()
    };
    let vocabulary = Arc::new(Vocabulary::new(pieces.collect()));
    pane_model_loaded(info, vocabulary, ChatSupport::ready())
}

fn failed() -> PaneModelUpdate {
    PaneModelUpdate::Failed {
        error: "The file ends early".to_owned(),
    }
}

/// The plans that models were asked for, with their jobs.
type Jobs = Vec<(Option<ModelSource>, GenerationId, TasksPlan)>;

fn jobs(effects: &[Effect]) -> Jobs {
    let jobs = effects.iter().filter_map(|effect| match effect {
        Effect::Send(Request::RunJob {
            id, plan, model, ..
        }) => Some((model.clone(), *id, plan.get::<TasksPlan>()?.clone())),
        _ => None,
    });
    jobs.collect()
}

fn start(state: &mut AppState) -> Jobs {
    jobs(&run(state, LabCommand::Run(LabTab::Prompts)))
}

/// Delivers all answers of the other model to the last pane: "Mars", twice.
fn deliver_other(state: &mut AppState, id: GenerationId) {
    for task in 0..2 {
        let texts = (0..2).map(|seed| SweepText {
            prompt: 0,
            cell: 3,
            seed,
            tokens: [OTHER_MARS, END].map(TokenId).to_vec(),
            measures: Vec::new(),
            finish: FinishReason::EndOfText,
            grammar_complete: None,
        });
        for news in [TaskNews::Answered(texts.collect()), DONE] {
            let part = 1;
            report(state, id, TaskUpdate { task, part, news });
        }
    }
    update_job(state, id, JobUpdate::Finished);
}

/// Delivers all answers of the main model to these panes, all of them right.
fn deliver_main(state: &mut AppState, id: GenerationId, panes: usize) {
    for task in 0..2 {
        for pane in 0..panes {
            answer(state, id, (task, pane), (0, [MARS, VENUS][task]));
            if pane > 0 {
                answer(state, id, (task, pane), (1, [MARS, VENUS][task]));
            }
        }
        super::deliver(state, id, task, DONE);
    }
    update_job(state, id, JobUpdate::Finished);
}

/// A complete list whose last pane was answered by the other model.
pub(in crate::lab::prompts) fn answered() -> AppState {
    let mut state = with_tasks();
    use_other(&mut state, &[3], loaded());
    let jobs = start(&mut state);
    deliver_main(&mut state, jobs[0].1, 3);
    deliver_other(&mut state, jobs[1].1);
    state
}

#[test]
fn each_model_answers_its_own_panes_in_its_own_words() {
    let mut state = with_tasks();
    use_other(&mut state, &[3], loaded());
    let [main, own] = <[_; 2]>::try_from(start(&mut state)).unwrap();
    assert_eq!((main.0, own.0), (None, Some(other())));
    assert_eq!((&main.2.elsewhere[..], main.2.part), (&[3][..], 0));
    assert_eq!((&own.2.elsewhere[..], own.2.part), (&[0, 1, 2][..], 1));
    assert!(
        Arc::ptr_eq(&main.2.tasks, &own.2.tasks),
        "one list in memory"
    );

    deliver_main(&mut state, main.1, 3);
    assert!(state.lab.is_running(LabTab::Prompts));
    deliver_other(&mut state, own.1);
    let run = table(&state);
    assert_eq!(run.status, RunStatus::Complete);
    let results = &run.results;
    assert_eq!(results.answers(0, 3)[0].answer.text, "Mars");
    assert_eq!(results.n_right(0, 3), Some((2, 2)));
    assert_eq!(results.n_right(1, 3), Some((0, 2)));
    let words = results.panes[3].host_words().unwrap();
    assert_eq!(words, "Answered by Other");
    assert_eq!(results.panes[0].host_words(), None);
}

#[test]
fn a_model_stays_loaded_until_the_list_ends() {
    let mut state = with_tasks();
    use_other(&mut state, &[3], loaded());
    let jobs = start(&mut state);
    let pane = state.panes.iter_mut().last().unwrap();
    pane.settings.model = None;
    let unload = Effect::Send(Request::UnloadPaneModel(other()));
    let effects = state.apply(Command::Lab(LabCommand::Prompts(PromptsCommand::UseTyped)));
    assert!(!effects.contains(&unload), "{effects:?}");
    let update = JobUpdate::Finished;
    let id = jobs[1].1;
    let effects = state.on_event(Event::Job { id, update });
    assert!(effects.contains(&unload), "{effects:?}");
}

#[test]
fn a_model_that_could_not_be_loaded_is_named_in_its_pane_while_the_others_go_on() {
    let mut state = with_tasks();
    use_other(&mut state, &[3], failed());
    assert_eq!(blocking_reason(&state), None);
    let [main] = <[_; 1]>::try_from(start(&mut state)).unwrap();
    assert!(state.lab.is_running(LabTab::Prompts));
    deliver_main(&mut state, main.1, 3);
    let run = table(&state);
    assert!(matches!(run.status, RunStatus::Failed { .. }));
    for task in 0..2 {
        assert_eq!(run.results.error_of(task, 3), Some("The file ends early"));
        assert!(run.results.n_right(task, 0).is_some());
    }
    assert_eq!(run.results.n_comparable(), 2);
}

#[test]
fn a_prompt_that_one_model_cannot_read_is_missing_in_its_panes_only() {
    let mut state = with_tasks();
    use_other(&mut state, &[3], loaded());
    let jobs = start(&mut state);
    let error = "the prompt is too long".to_owned();
    let news = TaskNews::Refused { error };
    let (task, part) = (0, 1);
    report(&mut state, jobs[1].1, TaskUpdate { task, part, news });
    deliver_main(&mut state, jobs[0].1, 3);
    let results = &table(&state).results;
    assert_eq!(results.error_of(0, 3), Some("the prompt is too long"));
    assert_eq!(
        (results.error_of(0, 2), results.error_of(1, 3)),
        (None, None)
    );
    assert!(results.is_done(0) && !results.is_done(1));
}

#[test]
fn a_list_waits_for_models_that_are_loading() {
    let mut state = with_tasks();
    use_other(&mut state, &[1], PaneModelUpdate::Loading { fraction: 0.5 });
    let reason = blocking_reason(&state).unwrap();
    assert_eq!(reason, "B: its model is still loading");
    for pane in [0, 2, 3].map(|place: usize| state.panes[place].id) {
        let choose = PaneModelCommand::Choose(pane, Some(other().into()));
        state.apply(Command::PaneModel(choose));
    }
    let (source, update) = (other(), failed());
    state.on_event(Event::PaneModel { source, update });
    let reason = blocking_reason(&state).unwrap();
    assert_eq!(reason, "A: its model could not be loaded");
}

#[test]
fn without_a_main_model_panes_with_others_answer() {
    let mut state = with_tasks();
    use_other(&mut state, &[0, 1, 2, 3], loaded());
    state.models.main = ModelStatus::Absent;
    assert_eq!(blocking_reason(&state), None);
    let [own] = <[_; 1]>::try_from(start(&mut state)).unwrap();
    assert_eq!(own.0, Some(other()));
    assert_eq!((own.2.elsewhere.len(), own.2.part), (0, 0));
    let run = table(&state);
    let first = run.results.first_model(None).map(|model| &*model.name);
    assert_eq!((run.model.is_none(), first), (true, Some("Other")));

    for pane in &mut state.panes {
        pane.settings.model = Some(PaneModel::Server(served()));
    }
    state.lab.prompts.runs = super::super::TaskRuns::default();
    assert_eq!(blocking_reason(&state), None);
    let effects = super::run(&mut state, LabCommand::Run(LabTab::Prompts));
    let is_list =
        |effect: &Effect| matches!(effect, Effect::Server(_, ServerRequest::AnswerList { .. }));
    assert!(effects.iter().any(is_list), "{effects:?}");
    assert!(jobs(&effects).is_empty());
    let first = state.panes.iter_mut().next().unwrap();
    first.settings.model = None;
    assert!(blocking_reason(&state).is_some(), "A needs the main model");
}

#[test]
fn a_list_is_kept_with_the_words_of_every_model() {
    let state = answered();
    let again = reopened(&state, LabTab::Prompts);
    let [before, after] = [&state, &again].map(|state| &table(state).results);
    for (task, pane) in [(0, 0), (1, 2), (0, 3), (1, 3)] {
        assert_eq!(before.answers(task, pane), after.answers(task, pane));
    }
    let mars = |pane: usize, token: u32| after.vocabulary_of(pane).piece(TokenId(token));
    assert_eq!(mars(0, MARS), Piece::text("Mars"));
    assert_eq!(mars(3, OTHER_MARS), Piece::text("Mars"));
    assert_eq!(before.panes, after.panes);
}

#[test]
fn a_list_runs_again_only_with_the_models_that_answered() {
    let mut again = reopened(&answered(), LabTab::Prompts);
    let refusal = again.again_refusal(LabTab::Prompts).unwrap().words;
    assert_eq!(refusal, "Needs other in a pane");
    use_other(&mut again, &[1], loaded());
    assert_eq!(again.again_refusal(LabTab::Prompts), None);
    let jobs = jobs(&run(&mut again, LabCommand::RunAgain(LabTab::Prompts)));
    let models: Vec<_> = jobs.into_iter().map(|(model, ..)| model).collect();
    assert_eq!(models, [None, Some(other())]);
}

#[test]
fn the_files_name_every_model() {
    let state = answered();
    let run = table(&state);
    let record = TasksRecord {
        results: &run.results,
        reading: &run.reading,
        model: run.model.as_deref(),
        limits: &run.limits,
        sweep: None,
    };
    let json: serde_json::Value = serde_json::from_slice(&record.json()).unwrap();
    assert_eq!(json["settings"][3]["model"]["name"], "Other");
    assert!(json["settings"][0]["model"].is_null());
    let names = record.models();
    assert_eq!(names.len(), 2);
    let picture = super::tasks_drawing(&record, super::Look::default());
    assert!(picture.contains("Other"));
}

#[test]
fn an_answer_opens_in_a_pane_with_its_model() {
    assert_eq!(model_of_opened(answered()), Some(other().into()));
}

#[test]
fn a_number_is_varied_with_the_model_of_its_pane() {
    let mut state = with_tasks();
    use_other(&mut state, &[3], loaded());
    state.lab.prompts.view = TaskView::AnySetting;
    assert_eq!(blocking_reason(&state), None);
    let [main, own] = <[_; 2]>::try_from(start(&mut state)).unwrap();
    let n_settings = own.2.exact.len();
    assert_eq!(own.2.elsewhere, [0, 1, 2], "the values and the last pane");
    let values: Vec<usize> = (3..n_settings).collect();
    assert_eq!(main.2.elsewhere, values);
    let sweep = state.lab.prompts.runs.sweep.as_ref().unwrap();
    assert_eq!(sweep.base, 3);
    let mut cells = sweep.results.cells.iter();
    assert!(cells.all(|cell| cell.host == Some(other().into())));
    update_job(&mut state, main.1, JobUpdate::Finished);
    assert!(state.lab.is_running(LabTab::Prompts));
    update_job(&mut state, own.1, JobUpdate::Finished);
    assert!(!state.lab.is_running(LabTab::Prompts));
}
