//! Lesson files with mistakes: each error reports the line and the reason.

use super::{Lesson, MAX_LESSON_BYTES, Question};

const WHOLE: &str = include_str!("../../../assets/lessons/temperature.toml");

/// A small lesson, line by line.
const SMALL: &str = r#"format = 1
id = "small"
title = "A small lesson"
summary = "Nothing much"
minutes = 3
ending = "That is all."
[setup]
prompt = "A fox"
panes = ["temp 1", "temp 0.5"]
tokens = 4
[[step]]
see = "It has {B.token.1.final}."
why = "At 0.5, it is sharper."
[step.predict]
ask = "How likely is it at 0.5?"
probability = { label = "fox", answer = "B.token.1.final" }
[step.do]
text = "Generate."
ring = "generate"
check = ["B.finished", "B.tokens <= 4"]
solve = ["generate"]
"#;

#[test]
fn a_lesson_is_read() {
    let lesson = Lesson::from_toml(SMALL).unwrap();
    assert_eq!((lesson.id.as_str(), lesson.setup.seed), ("small", 42));
    let [step] = lesson.steps.as_slice() else {
        panic!("{:?}", lesson.steps);
    };
    assert!(matches!(step.question, Question::Probability { .. }));
    assert_eq!(step.check.len(), 2);
}

#[test]
fn a_mistake_in_a_file_is_reported_with_its_line() {
    for (from, to, line, message) in [
        ("format = 1", "format = 2", 1, "format 2 is unknown"),
        (
            "format = 1",
            "format = \"1\"",
            1,
            "the text \"1\" instead of a whole number",
        ),
        ("id = \"small\"", "id = \"Small one\"", 2, "lower-case"),
        ("title = \"A small lesson\"", "title = \"\"", 3, "empty"),
        ("minutes = 3", "minutes = 0", 5, "1 to 60 minutes"),
        (
            "minutes = 3",
            "minutes = 3\nhours = 1",
            6,
            "‘hours’ is unknown; known are format, id, title",
        ),
        ("minutes = 3", "minutes = ", 5, ""),
        ("\"temp 0.5\"]", "\"warm 0.5\"]", 9, "warm"),
        ("[\"temp 1\", \"temp 0.5\"]", "[]", 9, "1 to 8 panes"),
        ("tokens = 4", "tokens = 0", 10, "at least 1"),
        (
            "{B.token.1.final}.",
            "{B.token.1.odds}.",
            12,
            "\"B.token.1.odds\"",
        ),
        ("{B.token.1.final}.", "12 %.", 12, "12 is neither"),
        ("At 0.5,", "At 0.25,", 13, "0.25 is neither"),
        (
            "answer = \"B.token.1.final\"",
            "answer = \"final\"",
            16,
            "\"final\"",
        ),
        (
            "ring = \"generate\"",
            "ring = \"settings C\"",
            19,
            "no pane C",
        ),
        ("\"B.finished\"", "\"B.done\"", 20, "\"B.done\""),
        (
            "[\"B.finished\", \"B.tokens <= 4\"]",
            "[]",
            20,
            "at least one condition",
        ),
        ("[\"generate\"]", "[\"dance\"]", 21, "\"dance\""),
        ("[\"generate\"]", "[]", 21, "at least one act"),
    ] {
        assert!(SMALL.contains(from), "{from}");
        let problem = Lesson::from_toml(&SMALL.replacen(from, to, 1)).unwrap_err();
        assert_eq!(problem.line, line, "{to}: {problem}");
        assert!(problem.message.contains(message), "{to}: {problem}");
    }
}

#[test]
fn a_missing_part_is_reported() {
    for (part, message) in [
        ("title = \"A small lesson\"\n", "‘title’ is missing"),
        ("tokens = 4\n", "‘tokens’ is missing"),
        ("ask = \"How likely is it at 0.5?\"\n", "‘ask’ is missing"),
        ("solve = [\"generate\"]\n", "‘solve’ is missing"),
        (
            "probability = { label = \"fox\", answer = \"B.token.1.final\" }\n",
            "a prediction has",
        ),
    ] {
        let problem = Lesson::from_toml(&SMALL.replacen(part, "", 1)).unwrap_err();
        assert!(problem.message.contains(message), "{part}: {problem}");
    }
    assert!(Lesson::from_toml("").is_err());
    assert!(Lesson::from_toml("\u{0}\u{1}").is_err());
}

#[test]
fn a_file_that_is_too_long_is_rejected_at_once() {
    let long = format!("{WHOLE}\n# {}", "x".repeat(10_000_000));
    let problem = Lesson::from_toml(&long).unwrap_err();
    assert!(problem.message.contains("at most 256 KiB"), "{problem}");
    assert!(WHOLE.len() < MAX_LESSON_BYTES / 8);
}

#[test]
fn a_truncated_file_never_panics() {
    for end in (0..WHOLE.len()).step_by(7) {
        if let Some(part) = WHOLE.get(..end) {
            Lesson::from_toml(part).ok();
        }
    }
}

/// The lesson with every kind of question that has more than one choice.
const KINDS: &str = include_str!("../../state/tests/kinds.toml");

fn line_of(source: &str, words: &str) -> usize {
    source
        .lines()
        .position(|line| line.contains(words))
        .unwrap()
        + 1
}

#[test]
fn a_mistake_in_a_question_is_reported_with_its_line() {
    Lesson::from_toml(KINDS).unwrap();
    for (from, to, message) in [
        (
            "first = \"lowest\"",
            "first = \"least\"",
            "use lowest or highest",
        ),
        (
            "value = \"A.tokens\"",
            "value = \"any.tokens\"",
            "which pane",
        ),
        ("value = \"A.tokens\"", "value = \"A.size\"", "\"A.size\""),
        ("label = \"One\"", "label = \"12 tokens\"", "12 is neither"),
        (
            "[\"A\", \"B\", \"C\"]",
            "[\"A\", \"B\", \"D\"]",
            "no pane D",
        ),
        ("[\"A\", \"B\", \"C\"]", "[\"A\"]", "2 to 8"),
        (
            "pane = \"A\", tokens = 8",
            "pane = \"E\", tokens = 8",
            "no pane E",
        ),
        (
            "pane = \"A\", tokens = 8",
            "pane = \"A\", tokens = 1",
            "2 to 1000",
        ),
        (
            "answer = \"A.tokens\"",
            "answer = \"A.last.one\"",
            "\"A.last.one\"",
        ),
        (
            "[\"without the cache\", ",
            "[\"no cache\", ",
            "use with the cache, without the cache",
        ),
        (
            "\"with the cache\"]",
            "\"with the cache\", \"with the cache\"]",
            "two curves",
        ),
        ("measure cache 100", "measure cache 5000", "8 to 400"),
        (
            "ring = \"tint\"",
            "ring = \"colors\"",
            "use generate, prompt, tokens",
        ),
        ("cache.same", "cache.equal", "\"cache.equal\""),
    ] {
        assert!(KINDS.contains(from), "{from}");
        let source = KINDS.replacen(from, to, 1);
        let problem = Lesson::from_toml(&source).unwrap_err();
        assert!(problem.message.contains(message), "{to}: {problem}");
        assert_eq!(problem.line, line_of(&source, to), "{to}: {problem}");
    }
}

#[test]
fn a_match_has_as_many_options_as_panes() {
    let option = "    { text = \"the long one\", when = [\"any.tokens == 4\"] },\n";
    let source = KINDS.replacen(option, "", 1);
    let problem = Lesson::from_toml(&source).unwrap_err();
    assert!(
        problem.message.contains("as many options as panes"),
        "{problem}"
    );
    assert_eq!(problem.line, line_of(&source, "options = ["));
    let both = KINDS.replacen(
        "mark = {",
        "token = { at = \"A.token.1\", words = [] }\nmark = {",
        1,
    );
    let problem = Lesson::from_toml(&both).unwrap_err();
    assert!(problem.message.contains("has one of these"), "{problem}");
}
