//! Takes the lessons for chat models with models that answer well, badly or not at all.

use std::collections::BTreeMap;
use std::sync::Arc;

use self::scripted::{END, N_VOCAB, ScriptedLm};
use super::mistakes::Mistake;
use super::rehearsal::Rehearsal;
use crate::engine::{ChatTemplate, EngineError, LoadedModel};
use crate::lessons::{Lesson, built_in};
use crate::state::{LessonCommand, LessonProgress};
use crate::worker::Worker;

#[path = "../../../tests/scripted/mod.rs"]
mod scripted;

const N_CONTEXT: usize = 1024;

/// Puts signs around the message.
const WRAPPING: &str = "{% for message in messages %}<user>{{ message.content }}</user>{% endfor %}\
                        <answer>";

/// What the wrapping template ends with.
const BEGIN: &[u8] = b"<answer>";

/// Sends the message as it is.
const BARE: &str = "{% for message in messages %}{{ message.content }}{% endfor %}";

/// A model that gives this answer to any message, and then ends its turn.
fn answering(answer: &str) -> ScriptedLm {
    let answer = answer.as_bytes().to_vec();
    ScriptedLm::new(N_CONTEXT, move |tokens| {
        let bytes = tokens.iter().map(|token| u8::try_from(token.0));
        let text: Vec<u8> = bytes.map(Result::unwrap_or_default).collect();
        let begin = text.windows(BEGIN.len()).rposition(|part| part == BEGIN);
        let n_said = begin.map_or(0, |begin| text.len() - begin - BEGIN.len());
        let next = answer.get(n_said);
        let next = next.map_or(END.index(), |byte| usize::from(*byte));
        let mut logits = vec![0.0; N_VOCAB];
        logits[next] = 12.0;
        logits
    })
}

/// Loads a model with this template in place of the built-in one.
fn robot(template: &'static str, lm: impl Fn() -> ScriptedLm + Send + 'static) -> Rehearsal {
    let load = move || -> Result<LoadedModel, EngineError> {
        let mut model = lm().into_loaded()?;
        model.chat = Some(ChatTemplate::parse(template, BTreeMap::new()));
        Ok(model)
    };
    let worker = Worker::with_loader(move |_, _| load().map(Some), || {});
    Rehearsal::with(worker).unwrap()
}

fn chat_lessons() -> Vec<&'static Arc<Lesson>> {
    let lessons = built_in().iter();
    lessons.filter(|lesson| lesson.setup.chat).collect()
}

/// Takes all lessons for chat models, also with mistakes. Returns the right answers to the questions
/// of each, in the order of the list.
#[track_caller]
fn right_answers(mut robot: Rehearsal) -> Vec<Vec<String>> {
    let mut answers = Vec::new();
    let mut problems = Vec::new();
    for lesson in chat_lessons() {
        for mistake in [None].into_iter().chain(Mistake::ALL.map(Some)) {
            robot.state.lessons.progress = LessonProgress::default();
            if let Err(problem) = robot.take_with(lesson, mistake) {
                problems.push(format!("{}, {mistake:?}, {problem}", lesson.id));
                robot.lesson(LessonCommand::Leave);
            } else if mistake.is_none() {
                let made = robot.state.lessons.predictions();
                let made = made[&lesson.id].iter();
                answers.push(made.map(|made| made.answer.clone()).collect());
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    answers
}

#[test]
fn the_lessons_follow_a_model_that_answers() {
    let fox = r#"{"animal": "fox", "legs": 4}"#;
    let [instruct, fact, json] = &right_answers(robot(WRAPPING, move || answering(fox)))[..] else {
        panic!("there are three lessons");
    };
    assert_eq!(
        instruct[..],
        [
            "Yes: signs that say who speaks and whose turn it is",
            "The model, when it has answered"
        ]
    );
    assert_eq!(fact[1], "Yes, to the last token");
    assert_eq!(
        json[..],
        [
            "Yes: it does as it is told",
            "Yes: it can’t write anything else"
        ]
    );
}

#[test]
fn a_model_that_never_ends_and_one_that_says_nothing_can_be_taught_with() {
    let endless = right_answers(robot(WRAPPING, || answering(&"la ".repeat(100))));
    assert_eq!(endless[0][1], "The limit");
    assert_eq!(
        endless[2][0],
        "No: something else is in it, or it is cut off"
    );
    let silent = right_answers(robot(WRAPPING, || answering("")));
    assert_eq!(silent[0][1], "The model, when it has answered");
    assert_eq!(
        silent[2][0],
        "No: something else is in it, or it is cut off"
    );
}

#[test]
fn a_model_that_writes_nonsense_is_no_dead_end() {
    let nonsense = right_answers(robot(BARE, || ScriptedLm::babbling(N_CONTEXT)));
    assert_eq!(nonsense[0][0], "No: it reads the message");
    assert_eq!(nonsense[1][1], "Yes, to the last token");
    assert_eq!(nonsense[2][1], "Yes: it can’t write anything else");
}
