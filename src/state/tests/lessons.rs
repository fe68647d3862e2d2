//! A lesson from its start to its end, and everything that could go wrong with one.

use super::{asked, ready, tokenized, write, written};
use crate::lessons::{Act, Lesson};
use crate::state::{
    Action, AppState, BranchCommand, Command, Effect, LessonCommand, LessonPhase, LessonRun, Page,
    PathPurpose, RunCommand, Settings,
};
use crate::worker::ModelSource;

pub(super) const PIECES: [(&str, f64); 4] =
    [(" lived", 0.6), (" in", 0.9), (" a", 0.8), (" house", 0.4)];

pub(super) fn send(state: &mut AppState, command: LessonCommand) -> Vec<Effect> {
    state.apply(Command::Lesson(command))
}

pub(super) fn phase(state: &AppState) -> Option<LessonPhase> {
    state.lessons.run().map(LessonRun::phase)
}

/// Lets all waiting panes generate the same text.
pub(crate) fn write_all(state: &mut AppState, effects: &[Effect]) {
    for id in asked(effects) {
        write(state, id, &PIECES);
    }
}

/// The index of the lesson about temperature, which asks for a probability.
pub(crate) fn temperature(state: &AppState) -> usize {
    let mut lessons = state.lessons.list.iter();
    lessons
        .position(|lesson| lesson.id == "temperature")
        .unwrap()
}

/// Starts the lesson about temperature, up to its first question.
pub(crate) fn begin(state: &mut AppState) {
    let index = temperature(state);
    send(state, LessonCommand::Start(index));
    assert_eq!(phase(state), Some(LessonPhase::Preparing));
    let prompt = state.prompt.text.clone();
    let effects = state.on_event(tokenized(prompt, 11));
    write_all(state, &effects);
    assert_eq!(phase(state), Some(LessonPhase::Predict));
}

/// Starts the lesson about the loop, up to its first question, which has options.
pub(crate) fn begin_loop(state: &mut AppState) {
    let mut lessons = state.lessons.list.iter();
    let index = lessons.position(|lesson| lesson.id == "loop").unwrap();
    send(state, LessonCommand::Start(index));
    let prompt = state.prompt.text.clone();
    state.on_event(tokenized(prompt, 11));
    assert_eq!(phase(state), Some(LessonPhase::Predict));
}

#[test]
fn a_step_is_predict_do_see_why() {
    let mut state = ready();
    begin(&mut state);
    assert!(state.lessons.hides_evidence());
    send(&mut state, LessonCommand::Next);
    assert_eq!(phase(&state), Some(LessonPhase::Predict), "no prediction");
    state.lessons.run_mut().unwrap().guess.say(0.65);
    send(&mut state, LessonCommand::Next);
    assert_eq!(phase(&state), Some(LessonPhase::Do));
    let effects = send(&mut state, LessonCommand::ShowMe);
    assert_eq!(
        phase(&state),
        Some(LessonPhase::Do),
        "while texts are written"
    );
    write_all(&mut state, &effects);
    assert_eq!(phase(&state), Some(LessonPhase::See));
    let verdict = state.lessons.run().unwrap().texts().verdict.clone();
    assert!(verdict.starts_with("You said 65 %; it is "), "{verdict}");
    // What was seen stays, whatever happens next.
    let effects = state.apply(Command::GenerateAll);
    write_all(&mut state, &effects);
    assert_eq!(state.lessons.run().unwrap().texts().verdict, verdict);
    send(&mut state, LessonCommand::Next);
    assert_eq!(phase(&state), Some(LessonPhase::Why));
    send(&mut state, LessonCommand::Back);
    assert_eq!(phase(&state), Some(LessonPhase::See));
}

#[test]
fn any_way_of_doing_the_task_counts() {
    let mut state = ready();
    begin(&mut state);
    // Settings may be changed before the prediction, too.
    state.panes[1].settings = "temp 0.5".parse().unwrap();
    state.lessons.run_mut().unwrap().guess.say(0.5);
    send(&mut state, LessonCommand::Next);
    let effects = state.apply(Command::GenerateAll);
    write_all(&mut state, &effects);
    assert_eq!(phase(&state), Some(LessonPhase::See));
}

#[test]
fn a_question_locks_what_would_answer_it() {
    let mut state = ready();
    begin(&mut state);
    let reason = state.blocking_reason();
    assert_eq!(reason.as_deref(), Some("Make your guess first"));
    assert!(!state.can_keep_running());
    for command in [
        Command::GenerateAll,
        Command::Generate(state.panes[1].id),
        Command::Branch(BranchCommand::Step),
        Command::Branch(BranchCommand::KeepRunning),
    ] {
        assert_eq!(asked(&state.apply(command)), []);
    }
    state.lessons.run_mut().unwrap().guess.say(0.5);
    send(&mut state, LessonCommand::Next);
    assert_eq!(state.blocking_reason(), None);
}

#[test]
fn leaving_brings_everything_back() {
    let mut state = written();
    state.view.dock_tab = crate::state::DockTab::Branches;
    let before = state.clone();
    begin(&mut state);
    assert_eq!(state.panes.len(), 2);
    assert!(!state.apply(Command::Undo).iter().any(|_| true));
    send(&mut state, LessonCommand::Leave);
    assert_eq!(phase(&state), None);
    assert_eq!(state.panes, before.panes);
    assert_eq!(
        (&state.prompt.text, state.view),
        (&before.prompt.text, before.view)
    );
    assert_eq!((state.seed, &state.limits), (before.seed, &before.limits));
    assert_eq!(state.pin, before.pin);
}

#[test]
fn what_is_saved_during_a_lesson_is_what_it_hides() {
    let mut state = written();
    let before = state.settings();
    let session = state.session();
    begin(&mut state);
    let mut during = state.settings();
    assert_eq!(state.session().texts, session.texts);
    during.lessons = before.lessons.clone();
    assert_eq!(during, before);
    // A lesson's texts are not kept in the history.
    let effects = state.apply(Command::GenerateAll);
    for id in asked(&effects) {
        write(&mut state, id, &PIECES);
    }
    assert!(state.keep_run().is_none());
}

#[test]
fn a_lesson_needs_the_built_in_model() {
    let (mut state, _) = AppState::new(
        Settings::default(),
        ModelSource::Path("/models/other.gguf".into()),
    );
    state.on_event(super::loaded());
    let index = temperature(&state);
    let lesson = state.lessons.list[index].clone();
    let reason = state.lesson_blocked(&lesson);
    assert_eq!(
        reason.as_deref(),
        Some("This lesson needs the built-in model")
    );
    send(&mut state, LessonCommand::Start(index));
    assert_eq!(phase(&state), None);
    assert!(Action::TakeLesson(index).command(&state).is_err());
}

#[test]
fn a_broken_file_says_where_and_loses_nothing() {
    let mut state = written();
    let before = state.panes.clone();
    let good = include_str!("../../../assets/lessons/temperature.toml");
    for (source, message) in [
        (
            Ok(good.replace("minutes = ", "minutes = \"four\" # ")),
            "Line 5: ",
        ),
        (Ok(good.replace("B.finished", "B.happy")), "\"B.happy\""),
        (Ok("x".repeat(10_000_000)), "at most 256 KiB"),
        (Err("permission denied".to_owned()), "Permission denied"),
    ] {
        send(
            &mut state,
            LessonCommand::Opened("mine.toml".to_owned(), source),
        );
        let notice = &state.notices[0];
        assert_eq!(notice.title, "mine.toml can’t be opened");
        assert!(notice.body.contains(message), "{}", notice.body);
        assert_eq!((phase(&state), &state.panes), (None, &before));
    }
    let n_lessons = state.lessons.list.len();
    let mine = good.replace("id = \"temperature\"", "id = \"mine\"");
    for _ in 0..2 {
        let source = Ok(mine.clone());
        send(
            &mut state,
            LessonCommand::Opened("mine.toml".to_owned(), source),
        );
        assert_eq!(phase(&state), Some(LessonPhase::Preparing));
        assert_eq!(state.lessons.list.len(), n_lessons + 1, "opened once");
    }
}

#[test]
fn a_lesson_is_opened_by_its_path() {
    let mut state = ready();
    let path = std::path::PathBuf::from("/lessons/mine.toml");
    let opened = state.apply(Command::PathGiven(PathPurpose::Lesson, path.clone()));
    assert_eq!(opened, [Effect::ReadLesson(path)]);
    let ask = Action::OpenLesson.command(&state);
    assert_eq!(ask, Ok(Command::AskPath(PathPurpose::Lesson)));
}

#[test]
fn a_new_lesson_has_the_setup_of_the_window() {
    let mut state = ready();
    state.prompt.text = "A \"little\" fox".to_owned();
    state.seed = 5;
    state.view.dock_tab = crate::state::DockTab::Numbers;
    let lesson = Lesson::from_toml(&state.lesson_draft()).unwrap();
    assert_eq!((lesson.setup.seed, lesson.any_model), (5, false));
    assert_eq!(lesson.setup.prompt, state.prompt.text);
    assert_eq!(lesson.setup.acts, [Act::Tab("numbers")]);
    let panes = state.panes.iter().map(|pane| pane.settings.clone());
    assert_eq!(lesson.setup.panes, panes.collect::<Vec<_>>());
    state.prompt.text.clear();
    assert!(Action::SaveNewLesson.command(&state).is_err());
}

#[test]
fn predictions_can_be_saved_as_soon_as_there_are_some() {
    let mut state = ready();
    assert!(Action::SaveLessonAnswers.command(&state).is_err());
    begin(&mut state);
    state.lessons.run_mut().unwrap().guess.say(0.01);
    send(&mut state, LessonCommand::Next);
    let effects = send(&mut state, LessonCommand::ShowMe);
    write_all(&mut state, &effects);
    assert_eq!(state.lessons.predictions()["temperature"].len(), 1);
    assert!(Action::SaveLessonAnswers.command(&state).is_ok());
}

#[test]
fn a_run_that_is_opened_ends_the_lesson() {
    let mut state = ready();
    begin(&mut state);
    let run = crate::export::json::RunFile {
        header: state.run_header(),
        panes: vec![crate::generation::testing::generation(&PIECES)],
        ..crate::export::json::RunFile::default()
    };
    state.apply(Command::Run(RunCommand::Read {
        name: "run".to_owned(),
        run: Ok(Box::new(run)),
    }));
    assert_eq!(phase(&state), None);
    let index = temperature(&state);
    send(&mut state, LessonCommand::Start(index));
    assert_eq!(phase(&state), None, "an opened run is closed first");
    state.apply(Command::Run(RunCommand::Close));
    assert_eq!(state.panes.len(), 4);
    assert_eq!(state.page, Page::Write);
}
