//! Tests of the Lab page: lists of tasks and their answers.

mod again;
pub(super) mod forks;
mod long_lists;
pub(super) mod own_models;
pub(super) mod served;
pub(super) mod sweeps;

use std::sync::Arc;

use super::figures::statistics::PromptShare;
use super::picture::tasks_drawing;
use super::plan::{ExactFound, ExactShare, ReadPrompt, Spelling, TaskNews, TaskUpdate};
use super::state::blocking_reason;
use super::{
    PromptsCommand, StopAt, SweepRun, TaskSource, TaskView, TasksPlan, TasksRecord, TasksRun,
    task_seed,
};
use crate::decoding::TokenId;
use crate::generation::{FinishReason, GenerationId, Piece, SweepText, Vocabulary};
use crate::lab::kept::{refuses, reopened};
use crate::lab::{LabCommand, LabTab};
use crate::state::tests::{Event, JobUpdate, Request, planned, ready, report, update_job};
use crate::state::{AppState, Command, Effect, ModelStatus, Page, PathPurpose, RunStatus};
use crate::ui::pictures::Look;

/// The tokens of the answers in these tests.
pub(super) const MARS: u32 = 0;
pub(super) const VENUS: u32 = 1;
const END: u32 = 2;

const TASKS: &str = "question,answer\nWhich planet is red?,Mars\nWhich planet is bright?,Venus\n";

pub(super) fn run(state: &mut AppState, command: LabCommand) -> Vec<Effect> {
    state.apply(Command::Lab(command))
}

/// A state with two tasks in a table, each of which expects one word.
pub(super) fn with_tasks() -> AppState {
    let mut state = ready();
    let ModelStatus::Ready(model) = &mut state.models.main else {
        panic!("no model is ready");
    };
    let pieces = ["Mars", "Venus"].map(Piece::text).into_iter();
    let pieces = pieces.chain([Piece::special("</s>")]);
    model.vocabulary = Arc::new(Vocabulary::new(pieces.collect()));
    let form = &mut state.lab.prompts.form;
    TASKS.clone_into(&mut form.typed);
    "Q: {question}\nA: ".clone_into(&mut form.template);
    form.checks = vec!["equals: {answer}".to_owned()];
    form.n_answers = 2;
    form.stop = StopAt::LineBreak;
    form.prepare();
    state
}

/// Runs the tasks. Returns the only request.
pub(super) fn start(state: &mut AppState) -> (GenerationId, TasksPlan) {
    let effects = run(state, LabCommand::Run(LabTab::Prompts));
    let [effect] = &effects[..] else {
        panic!("{effects:?}");
    };
    planned::<TasksPlan>(effect).unwrap()
}

pub(super) fn deliver(state: &mut AppState, id: GenerationId, task: usize, news: TaskNews) {
    report(
        state,
        id,
        TaskUpdate {
            task,
            part: 0,
            news,
        },
    );
}

/// Delivers one answer of a pane: a word and the end of the text.
pub(super) fn answer(
    state: &mut AppState,
    id: GenerationId,
    (task, cell): (usize, usize),
    (seed, word): (usize, u32),
) {
    let text = SweepText {
        prompt: 0,
        cell,
        seed,
        tokens: [word, END].map(TokenId).to_vec(),
        measures: Vec::new(),
        finish: FinishReason::EndOfText,
        grammar_complete: None,
    };
    deliver(state, id, task, TaskNews::Answered(vec![text]));
}

/// The end of a task that took a second.
pub(super) const DONE: TaskNews = TaskNews::Done { secs: 1.0 };

/// Delivers all answers: the first pane is right, and the others are right every other time.
pub(super) fn answer_all(state: &mut AppState, id: GenerationId) {
    for task in 0..2 {
        let right = [MARS, VENUS][task];
        let wrong = [VENUS, MARS][task];
        answer(state, id, (task, 0), (0, right));
        for pane in 1..4 {
            answer(state, id, (task, pane), (0, right));
            answer(state, id, (task, pane), (1, wrong));
        }
        deliver(state, id, task, DONE);
    }
}

/// A state in which all answers have arrived.
pub(super) fn judged() -> AppState {
    let mut state = with_tasks();
    let (id, _) = start(&mut state);
    answer_all(&mut state, id);
    update_job(&mut state, id, JobUpdate::Finished);
    state
}

/// Delivers the probabilities of a task, which fall with each value of the axis.
pub(super) fn deliver_exact(state: &mut AppState, id: GenerationId, task: usize, n: usize) {
    let tokens = vec![TokenId(MARS)];
    let rendered = "Q".to_owned();
    deliver(
        state,
        id,
        task,
        TaskNews::Read(ReadPrompt { tokens, rendered }),
    );
    let share = |index: usize| {
        let share = 0.9 - 0.02 * index as f64 * (task + 1) as f64;
        let (at_least, at_most) = (share, share);
        Some(ExactShare { at_least, at_most })
    };
    let shares: Vec<Option<ExactShare>> = (0..n).map(share).collect();
    let probs = shares
        .iter()
        .flatten()
        .map(|share| share.middle())
        .collect();
    let tokens = vec![TokenId(MARS)];
    let exact = ExactFound {
        spellings: vec![Spelling {
            tokens,
            prefix_probs: vec![vec![0.95; n]],
            probs,
        }],
        shares,
        refusal: None,
    };
    deliver(state, id, task, TaskNews::Exact(exact));
    deliver(state, id, task, DONE);
}

/// A state with a complete curve.
pub(super) fn computed() -> AppState {
    let mut state = with_tasks();
    state.lab.prompts.view = TaskView::AnySetting;
    let (id, plan) = start(&mut state);
    assert!(plan.drawn.is_empty(), "nothing is drawn");
    for task in 0..2 {
        deliver_exact(&mut state, id, task, plan.exact.len());
    }
    update_job(&mut state, id, JobUpdate::Finished);
    state
}

pub(super) fn table(state: &AppState) -> &TasksRun {
    state.lab.prompts.runs.table.as_ref().unwrap()
}

#[test]
fn tasks_are_answered_under_all_settings_and_judged() {
    let mut state = with_tasks();
    let (id, plan) = start(&mut state);
    assert_eq!((plan.drawn.len(), plan.exact.len()), (4, 4));
    let right: Vec<_> = plan.tasks.iter().map(|task| task.right.clone()).collect();
    assert_eq!(right, [["Mars"], ["Venus"]]);
    assert_eq!(plan.tasks[0].prompt.text, "Q: Which planet is red?\nA: ");
    assert_eq!(plan.limits.stop_strings, ["\n"]);
    let again = run(&mut state, LabCommand::Run(LabTab::Prompts));
    assert!(again.is_empty(), "one at a time");
    answer(&mut state, id, (0, 1), (0, MARS));
    assert_eq!(table(&state).summary(), "1 of 14 answers");
    answer_all(&mut state, id);
    update_job(&mut state, id, JobUpdate::Finished);
    let run = table(&state);
    assert_eq!(run.status, RunStatus::Complete);
    assert_eq!(run.results.n_right(0, 0), Some((1, 1)));
    assert_eq!(run.results.n_right(1, 2), Some((1, 2)));
    let shares = run.reading.shares.iter().flatten();
    let shares: Vec<f64> = shares.map(|share| share.share).collect();
    assert_eq!(shares.len(), 4);
    assert!(shares[0] > 0.99 && shares[2] < 0.51, "{shares:?}");
    let half = PromptShare::Sampled {
        n_right: 1,
        n_answers: 2,
    };
    assert_eq!(run.results.prompt_share(0, 3), Some(half));
    assert_eq!(run.results.prompt_words(0), "Which planet is red?");
}

#[test]
fn an_answer_opens_with_its_prompt_its_settings_and_its_seed() {
    let mut state = judged();
    let seed = table(&state).results.answers(1, 3)[1].seed;
    let command = PromptsCommand::Open {
        view: TaskView::Table,
        task: 1,
        pane: 3,
        answer: 1,
    };
    let effects = run(&mut state, LabCommand::Prompts(command));
    assert_eq!(crate::state::tests::asked(&effects).len(), 1);
    assert_eq!(state.page, Page::Write);
    assert_eq!(state.prompt.text, "Q: Which planet is bright?\nA: ");
    assert_eq!(state.limits, table(&state).limits);
    assert!(state.notices[0].title.contains("of the list"));
    assert_eq!(state.panes[4].settings.seed, Some(seed));
    assert_eq!(state.panes[4].settings.chain, state.panes[3].settings.chain);
}

#[test]
fn the_selection_stays_within_the_table() {
    let mut state = judged();
    let run = state.lab.prompts.runs.table.as_mut().unwrap();
    run.move_selection(1, 0);
    assert_eq!(run.selected, Some((0, 0)), "the first arrow selects");
    run.move_selection(5, 2);
    assert_eq!(run.selected, Some((1, 2)));
    assert_eq!(run.shown_answer(), 1, "the wrong answer is read first");
    run.selected_answer = Some(0);
    assert_eq!(run.shown_answer(), 0);
    run.move_selection(-5, -5);
    assert_eq!(run.selected, Some((0, 0)));
}

#[test]
fn a_curve_is_computed_at_every_value() {
    let state = computed();
    let run = state.lab.prompts.runs.sweep.as_ref().unwrap();
    assert_eq!(run.reading.points.len(), 16);
    assert_eq!(run.reading.n_tasks, 2);
    assert_eq!(run.reading.deciding.len(), 2);
    assert!(run.reading.verdict.is_some());
    assert_eq!(run.base, 3, "the last pane that samples");
    assert_eq!(run.summary(), "2 tasks");
}

#[test]
fn a_stop_keeps_the_answers() {
    let mut state = with_tasks();
    let (id, _) = start(&mut state);
    answer(&mut state, id, (0, 0), (0, MARS));
    let effects = run(&mut state, LabCommand::Stop(LabTab::Prompts));
    assert_eq!(effects, [Effect::Send(Request::StopJob(id))]);
    update_job(&mut state, id, JobUpdate::Stopped);
    assert_eq!(table(&state).summary(), "Stopped after 1 of 14 answers");
}

#[test]
fn a_lost_engine_ends_the_list_and_an_empty_list_does_not_run() {
    let mut state = with_tasks();
    start(&mut state);
    state.on_event(Event::Panicked {
        message: "lost".to_owned(),
    });
    assert!(matches!(table(&state).status, RunStatus::Failed { .. }));
    let mut state = ready();
    state.lab.prompts.form.prepare();
    assert!(blocking_reason(&state).is_some());
    assert!(run(&mut state, LabCommand::Run(LabTab::Prompts)).is_empty());
}

#[test]
fn answers_and_curves_are_kept_and_shown_again_as_they_were() {
    let state = judged();
    let (facts, _) = state.lab.result(LabTab::Prompts).unwrap();
    assert_eq!(facts.words, "14 answers to 2 tasks");
    let (before, other) = (table(&state), reopened(&state, LabTab::Prompts));
    let after = table(&other);
    assert_eq!(after.summary(), before.summary());
    assert_eq!(after.reading, before.reading);
    assert_eq!(after.results.tasks(), before.results.tasks());
    for (task, pane) in [(0, 0), (1, 3)] {
        let answers = before.results.answers(task, pane);
        assert_eq!(after.results.answers(task, pane), answers);
    }
    let piece = |run: &TasksRun| run.results.vocabulary_of(0).piece(TokenId(VENUS));
    assert_eq!(piece(after), piece(before));

    let state = computed();
    let (facts, _) = state.lab.result(LabTab::Prompts).unwrap();
    assert!(facts.words.starts_with("2 tasks over "), "{}", facts.words);
    let curve = |state: &AppState| state.lab.prompts.runs.sweep.clone().unwrap();
    let (before, other) = (curve(&state), reopened(&state, LabTab::Prompts));
    let after = curve(&other);
    assert_eq!((after.reading, after.base), (before.reading, before.base));
    assert_eq!(other.lab.prompts.view, TaskView::AnySetting);
}

#[test]
fn answers_that_do_not_fit_their_tasks_are_not_shown() {
    type Damage = fn(&mut serde_json::Value);
    let damages: [Damage; 4] = [
        |json| json["results"]["tasks"].as_array_mut().unwrap().clear(),
        |json| json["results"]["panes"].as_array_mut().unwrap().clear(),
        |json| json["results"]["pieces"][0][0][0] = 4_000_000_000_u32.into(),
        |json| json["curve"][0] = 99.into(),
    ];
    for damage in damages {
        refuses(&computed(), LabTab::Prompts, damage);
    }
}

#[test]
fn another_list_has_other_columns() {
    let mut state = with_tasks();
    let path = std::path::PathBuf::from("no such file.csv");
    state.lab.use_path(LabTab::Prompts, path.clone());
    let form = &state.lab.prompts.form;
    assert_eq!(form.source, TaskSource::File(path));
    assert!(form.template.is_empty() && form.checks.is_empty());
    assert!(form.tasks().unwrap_err().contains("can’t be read"));
}

#[test]
fn a_picture_shows_the_table_or_the_curve() {
    let drawing = |run: &TasksRun, curve: Option<&SweepRun>| {
        let record = TasksRecord {
            results: curve.map_or(&run.results, |curve| &curve.results),
            reading: &run.reading,
            model: run.model.as_deref(),
            limits: &run.limits,
            sweep: curve.map(|run| (&run.sweep, &run.reading)),
        };
        tasks_drawing(&record, Look::default())
    };
    let state = judged();
    let run = table(&state);
    let picture = drawing(run, None);
    for words in ["Right answers", "Which planet is red?", "50 %", "Better by"] {
        assert!(picture.contains(words), "{words}");
    }
    let computed = computed();
    let picture = drawing(run, computed.lab.prompts.runs.sweep.as_ref());
    for words in [
        "Right answers at any temperature",
        "The prompts that decide it",
        "Venus",
    ] {
        assert!(picture.contains(words), "{words}");
    }
}

#[test]
fn a_file_that_is_dropped_or_chosen_becomes_the_list() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capitals.csv");
    std::fs::write(&path, "prompt,expected\nCapital of Norway?,Oslo\n").unwrap();
    let mut state = ready();
    let purpose = PathPurpose::Lab(LabTab::Prompts);
    state.apply(Command::PathGiven(purpose.clone(), path.clone()));
    assert_eq!((state.page, state.lab.tab), (Page::Lab, LabTab::Prompts));
    let form = &state.lab.prompts.form;
    assert_eq!(form.source, TaskSource::File(path));
    assert_eq!(form.tasks().unwrap().tasks.len(), 1);

    let missing = folder.path().join("none.csv");
    state.apply(Command::PathGiven(purpose, missing));
    let error = state.lab.prompts.form.tasks().unwrap_err();
    assert!(error.starts_with("‘none.csv’ can’t be read: "), "{error}");
}

#[test]
fn an_answer_that_has_overtaken_others_opens_with_its_own_seed() {
    let mut state = with_tasks();
    let (id, _) = start(&mut state);
    answer(&mut state, id, (0, 3), (1, MARS));
    let seed = table(&state).results.answers(0, 3)[0].seed;
    let command = PromptsCommand::Open {
        view: TaskView::Table,
        task: 0,
        pane: 3,
        answer: 0,
    };
    run(&mut state, LabCommand::Prompts(command));
    assert_eq!(seed, task_seed(state.seed, 0) + 1);
    assert_eq!(state.panes[4].settings.seed, Some(seed));
}

#[test]
fn an_answer_to_messages_opens_with_its_system_message() {
    let mut state = ready();
    state.lab.prompts.form.typed = concat!(
        r#"{"messages": [{"role": "system", "content": "Be kind."}, "#,
        r#"{"role": "user", "content": "Hi"}]}"#
    )
    .to_owned();
    let (id, plan) = start(&mut state);
    let prompt = plan.tasks[0].prompt.clone();
    answer(&mut state, id, (0, 0), (0, MARS));
    let command = PromptsCommand::Open {
        view: TaskView::Table,
        task: 0,
        pane: 0,
        answer: 0,
    };
    run(&mut state, LabCommand::Prompts(command));
    assert_eq!(state.prompt.to_text(), prompt);
    assert_eq!(state.prompt.system, "Be kind.");
}
