//! Questions that are answered with more than one choice, and those that come back.

use super::lessons::{PIECES, begin, phase, send, write_all};
use super::{asked, planned, ready, report, tokenized, update_job, write};
use crate::lab::cache::testing;
use crate::lab::cache::{CachePlan, CacheUpdate};
use crate::lab::{LabCommand, LabTab};
use crate::lessons::{Curve, Lesson, Question};
use crate::state::{
    Answer, AppState, Command, DockTab, Effect, LessonCommand, LessonPhase, Pin, Tint,
};
use crate::worker::JobUpdate;

pub(crate) const KINDS: &str = include_str!("kinds.toml");

/// Opens the lesson, up to its first question.
pub(crate) fn begin_kinds(state: &mut AppState) {
    let source = Ok(KINDS.to_owned());
    send(
        state,
        LessonCommand::Opened("kinds.toml".to_owned(), source),
    );
    let prompt = state.prompt.text.clone();
    state.on_event(tokenized(prompt, 2));
    assert_eq!(phase(state), Some(LessonPhase::Predict));
}

/// Lets the panes write texts of 3, 2 and 4 tokens.
fn write_three(state: &mut AppState, effects: &[Effect]) {
    for (id, n_tokens) in asked(effects).into_iter().zip([3, 2, 4]) {
        write(state, id, &PIECES[..n_tokens]);
    }
}

/// Answers a request to measure the KV cache with round numbers.
pub(crate) fn measure(state: &mut AppState, effects: &[Effect]) {
    for (id, _) in effects.iter().filter_map(planned::<CachePlan>) {
        let started = [CacheUpdate::Started(testing::facts())];
        let samples = testing::samples().into_iter().map(CacheUpdate::Measured);
        let updates = started.into_iter().chain(samples);
        for update in updates {
            report(state, id, update);
        }
        update_job(state, id, JobUpdate::Finished);
    }
}

/// Makes the best prediction of the step and does its task.
pub(crate) fn answer_well(state: &mut AppState) {
    let run = state.lessons.run_mut().unwrap();
    match run.step().unwrap().question {
        Question::Order { .. } => run.guess.order = vec![1, 0, 2],
        Question::Match { .. } => run.guess.matched = vec![Some(2), Some(0), Some(1)],
        Question::Mark { .. } => run.guess.mark = Some(3),
        _ => run.guess.option = Some(0),
    }
    send(state, LessonCommand::Next);
    assert_eq!(phase(state), Some(LessonPhase::Do));
    let effects = send(state, LessonCommand::ShowMe);
    write_three(state, &effects);
    assert_eq!(phase(state), Some(LessonPhase::See));
}

/// Goes on to the next question, and measures what it asks for.
pub(crate) fn next_question(state: &mut AppState) {
    send(state, LessonCommand::Next);
    let effects = send(state, LessonCommand::Next);
    measure(state, &effects);
}

#[test]
fn an_order_a_match_and_a_mark_are_predicted_and_scored() {
    let mut state = ready();
    begin_kinds(&mut state);
    let answers = [
        Answer::Order {
            order: vec![1, 0, 2],
            values: ["3", "2", "4"].map(str::to_owned).to_vec(),
        },
        Answer::Match(vec![2, 0, 1]),
        Answer::Mark(3),
        Answer::Choice(0),
    ];
    for answer in answers {
        send(&mut state, LessonCommand::Next);
        assert_eq!(
            phase(&state),
            Some(LessonPhase::Predict),
            "no prediction was made"
        );
        answer_well(&mut state);
        let run = state.lessons.run().unwrap();
        assert_eq!(run.texts().answer.as_ref(), Some(&answer));
        let score = run.scores().pop().unwrap();
        assert!(!score.is_missed(), "{answer:?}: {score:?}");
        next_question(&mut state);
    }
    assert_eq!(phase(&state), Some(LessonPhase::Ending));
}

#[test]
fn an_incomplete_answer_does_not_count() {
    let mut state = ready();
    begin_kinds(&mut state);
    state.lessons.run_mut().unwrap().guess.order = vec![1, 0];
    send(&mut state, LessonCommand::Next);
    assert_eq!(phase(&state), Some(LessonPhase::Predict));
    answer_well(&mut state);
    next_question(&mut state);
    let run = state.lessons.run_mut().unwrap();
    for option in [0, 1, 0] {
        run.guess.match_option(option, 3);
    }
    assert_eq!(
        run.guess.matched,
        [None, Some(1), Some(0)],
        "an option moves"
    );
    send(&mut state, LessonCommand::Next);
    assert_eq!(phase(&state), Some(LessonPhase::Predict));
}

#[test]
fn a_wrong_order_says_how_many_pairs_are_right() {
    let mut state = ready();
    begin_kinds(&mut state);
    state.lessons.run_mut().unwrap().guess.order = vec![0, 1, 2];
    send(&mut state, LessonCommand::Next);
    let effects = send(&mut state, LessonCommand::ShowMe);
    write_three(&mut state, &effects);
    let run = state.lessons.run().unwrap();
    let verdict = &run.texts().verdict;
    assert!(
        verdict.starts_with("2 of 3 pairs are in the right order"),
        "{verdict}"
    );
}

#[test]
fn a_click_on_a_token_marks_it_and_the_scale_goes_beyond_the_text() {
    let mut state = ready();
    begin_kinds(&mut state);
    for _ in 0..2 {
        answer_well(&mut state);
        next_question(&mut state);
    }
    let mark = |state: &AppState| state.lessons.run().unwrap().guess.mark;
    assert_eq!((mark(&state), state.pin), (None, None));
    let [pane, other] = [0, 1].map(|place: usize| state.panes[place].id);
    state.apply(Command::Pin(Pin {
        pane: other,
        step: 0,
    }));
    assert_eq!(mark(&state), None, "it is a token of another pane");
    state.apply(Command::Pin(Pin { pane, step: 1 }));
    assert_eq!(mark(&state), Some(2));
    send(&mut state, LessonCommand::Mark(3));
    assert_eq!(state.pin, Some(Pin { pane, step: 2 }));
    send(&mut state, LessonCommand::Mark(20));
    assert_eq!(
        (mark(&state), state.pin),
        (Some(8), None),
        "it is not written yet"
    );
}

#[test]
fn a_setting_that_is_edited_in_place_is_noticed() {
    let mut state = ready();
    begin_kinds(&mut state);
    answer_well(&mut state);
    next_question(&mut state);
    state.lessons.run_mut().unwrap().guess.matched = vec![Some(0), Some(1), Some(2)];
    send(&mut state, LessonCommand::Next);
    assert!(!state.lesson_is_done());
    state.view.tint = Tint::Rank;
    assert!(state.lesson_is_done());
    send(&mut state, LessonCommand::Look);
    assert_eq!(phase(&state), Some(LessonPhase::See));
}

#[test]
fn a_measurement_of_the_lab_comes_back_after_the_lesson() {
    let mut state = ready();
    state.prompt.text = "Once".to_owned();
    state.apply(Command::PromptEdited);
    let effects = state.apply(Command::Lab(LabCommand::Run(LabTab::Cache)));
    measure(&mut state, &effects);
    let before = (state.lab.cache.run.clone(), state.lab.cache.n_tokens);
    assert!(before.0.is_some());
    let saved = state.settings().lab;
    begin_kinds(&mut state);
    for _ in 0..3 {
        answer_well(&mut state);
        next_question(&mut state);
    }
    assert_eq!(phase(&state), Some(LessonPhase::Predict));
    let curves = &state.lessons.run().unwrap().step().unwrap().curves;
    assert_eq!(*curves, [Curve::WithoutCache, Curve::WithCache]);
    assert_ne!(state.lab.cache.run, before.0);
    assert_eq!(
        state.settings().lab,
        saved,
        "what is saved is not the lesson's"
    );
    send(&mut state, LessonCommand::Leave);
    assert_eq!(
        (state.lab.cache.run.clone(), state.lab.cache.n_tokens),
        before
    );
}

#[test]
fn a_measurement_that_is_running_stops_for_a_lesson() {
    let mut state = ready();
    state.prompt.text = "Once".to_owned();
    state.apply(Command::PromptEdited);
    state.apply(Command::Lab(LabCommand::Run(LabTab::Cache)));
    assert!(state.lab.is_running(LabTab::Cache));
    begin_kinds(&mut state);
    assert!(!state.lesson_waits());
    send(&mut state, LessonCommand::Leave);
    assert!(
        !state.lab.is_running(LabTab::Cache),
        "it does not wait forever"
    );
}

/// Misses the first question of the lesson about temperature, and leaves it.
pub(crate) fn miss_temperature(state: &mut AppState) {
    begin(state);
    state.lessons.run_mut().unwrap().guess.say(0.01);
    send(state, LessonCommand::Next);
    let effects = send(state, LessonCommand::ShowMe);
    write_all(state, &effects);
    assert_eq!(phase(state), Some(LessonPhase::See));
    assert!(
        state.lessons.missed().is_empty(),
        "it belongs to the same lesson"
    );
    send(state, LessonCommand::Leave);
    assert_eq!(state.lessons.missed().len(), 1);
}

/// Takes the lesson with every kind of question to the end of its own steps.
pub(crate) fn take_kinds(state: &mut AppState) -> Vec<Effect> {
    begin_kinds(state);
    for _ in 0..3 {
        answer_well(state);
        next_question(state);
    }
    answer_well(state);
    send(state, LessonCommand::Next);
    send(state, LessonCommand::Next)
}

/// Lets the lesson prepare the window for the question that comes back.
pub(crate) fn prepare_again(state: &mut AppState) {
    assert_eq!(phase(state), Some(LessonPhase::Preparing));
    let prompt = state.prompt.text.clone();
    let effects = state.on_event(tokenized(prompt, 11));
    write_all(state, &effects);
    assert_eq!(phase(state), Some(LessonPhase::Predict));
}

#[test]
fn what_was_missed_comes_back_and_counts() {
    let mut state = ready();
    miss_temperature(&mut state);
    take_kinds(&mut state);
    let temperature = Lesson::from_toml(include_str!("../../../assets/lessons/temperature.toml"));
    assert_eq!(state.prompt.text, temperature.unwrap().setup.prompt);
    prepare_again(&mut state);
    let run = state.lessons.run_mut().unwrap();
    assert_eq!(run.again().unwrap().lesson.id, "temperature");
    let n_before = run.scores().len();
    send(&mut state, LessonCommand::Next);
    assert_eq!(
        phase(&state),
        Some(LessonPhase::Predict),
        "no prediction was made"
    );
    // The fake text has the same probability before and after.
    let truth = state.lessons.run().unwrap().texts().before[0].unwrap();
    state.lessons.run_mut().unwrap().guess.say(truth);
    send(&mut state, LessonCommand::Next);
    let effects = send(&mut state, LessonCommand::ShowMe);
    write_all(&mut state, &effects);
    assert_eq!(phase(&state), Some(LessonPhase::See));
    assert_eq!(state.lessons.run().unwrap().scores().len(), n_before + 1);
    send(&mut state, LessonCommand::Next);
    send(&mut state, LessonCommand::Next);
    assert_eq!(phase(&state), Some(LessonPhase::Ending));
    send(&mut state, LessonCommand::Next);
    assert_eq!(phase(&state), None);
    let made = &state.lessons.predictions()["kinds"];
    let from = made.last().unwrap().from.as_ref().unwrap();
    assert_eq!(
        (made.len(), &*from.lesson, from.step),
        (5, "temperature", 0)
    );
    assert!(state.lessons.missed().is_empty(), "it was answered well");
}

#[test]
fn a_question_that_comes_back_can_be_put_off() {
    let mut state = ready();
    miss_temperature(&mut state);
    take_kinds(&mut state);
    prepare_again(&mut state);
    send(&mut state, LessonCommand::SkipAgain);
    assert_eq!(phase(&state), Some(LessonPhase::Ending));
    send(&mut state, LessonCommand::Next);
    assert!(state.lessons.progress.score_of("kinds").is_some());
    assert_eq!(state.lessons.missed().len(), 1, "it comes back later");
    // Leaving instead of answering ends the lesson, too.
    take_kinds(&mut state);
    prepare_again(&mut state);
    send(&mut state, LessonCommand::Leave);
    assert!(state.lessons.progress.score_of("kinds").is_some());
    assert_eq!(state.view.dock_tab, DockTab::default());
}
