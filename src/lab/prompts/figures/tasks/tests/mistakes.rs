//! Tests of mistakes in files, templates and checks, each with its place.

use super::super::{N_MAX_BYTES, N_MAX_TASKS, TaskFile};
use super::read;

fn mistake(name: &str, text: &str) -> String {
    let error = TaskFile::read(name, text).expect_err(text);
    error.to_string()
}

/// Checks the messages about several texts of one format.
fn check_mistakes(name: &str, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let found = mistake(name, text);
        assert!(found.starts_with(expected), "{text}\n{found}\n{expected}");
    }
}

#[test]
fn a_mistake_in_csv_has_a_line_and_a_column() {
    check_mistakes(
        "a.csv",
        &[
            ("", "the file has no tasks"),
            ("\u{feff}", "the file has no tasks"),
            ("prompt,expected\n", "the file has no tasks"),
            (
                "prompt,a, a\nx,y,z\n",
                "Line 1, column 10: the column ‘a’ occurs twice",
            ),
            (
                "prompt,expected\na,b\n\nå,b,c\n",
                "Line 4, column 1: the record has 3 fields, but the first line has 2; put texts",
            ),
            (
                "prompt,expected\r\na\r\n",
                "Line 2, column 1: the record has 1 field, but",
            ),
            (
                "prompt,expected\nå,\"b\nc",
                "Line 2, column 3: the closing quotation mark is missing",
            ),
            (
                "prompt,expected\n\"a\nå\" b,c\n",
                "Line 3, column 3: a separator or the end of the line",
            ),
            (
                "prompt,expected\nå,regex: (\n",
                "Line 2, column 10: the pattern is invalid: unclosed group",
            ),
            (
                "prompt,expected\r\n\"a\r\nb\",\"regex: \"\"å\"\" (\"\r\n",
                "Line 3, column 18: the pattern is invalid: unclosed group",
            ),
            (
                "prompt,expected\na,\"regex:\n (b\"\n",
                "Line 3, column 2: the pattern is invalid: unclosed group",
            ),
            (
                "a,__expected2\nx, contains: \n",
                "Line 2, column 13: ‘contains’ lacks a value",
            ),
            (
                "prompt,expected\na,number: x\n",
                "Line 2, column 11: ‘x’ is no number",
            ),
        ],
    );
    let many: Vec<String> = (0..1001).map(|index| format!("c{index}")).collect();
    let found = mistake("a.csv", &many.join(","));
    assert!(
        found.ends_with(": a file has at most 1000 columns"),
        "{found}"
    );
}

#[test]
fn a_mistake_in_json_has_a_line_and_a_column() {
    check_mistakes(
        "a.jsonl",
        &[
            ("\n\n", "the file has no tasks"),
            (
                "{\"prompt\": \"a\"}\n\n{\"å\": a}\n",
                "Line 3, column 7: this isn’t JSON: a value is missing",
            ),
            (
                "{\"prompt\": \"a\"\n",
                "Line 1, column 15: this isn’t JSON: it ends within an object",
            ),
            (
                "{\"prompt\": \"a\"} x\n",
                "Line 1, column 17: this isn’t JSON: something follows the end",
            ),
            (
                "{\"prompt\": \"a\"}\n  3\n",
                "Line 2, column 3: each task must be a JSON object",
            ),
        ],
    );
}

#[test]
fn a_mistake_in_a_prompt_has_a_line_and_a_column() {
    check_mistakes(
        "a.jsonl",
        &[
            (
                "{\"a\": 1, \"prompt\": 3}",
                "Line 1, column 20: ‘prompt’ must be a text",
            ),
            (
                "{\"prompt\": \"a\", \"system\": []}",
                "Line 1, column 27: ‘system’ must be a text",
            ),
            (
                "{\"prompt\": \"a\", \"messages\": []}",
                "Line 1, column 29: a task has ‘prompt’ or ‘messages’, not both",
            ),
            (
                "{\"messages\": []}",
                "Line 1, column 14: ‘messages’ must be a list of messages",
            ),
            (
                "{\"messages\": \"a\"}",
                "Line 1, column 14: ‘messages’ must be a list of messages",
            ),
            (
                "{\"messages\": [{\"role\": \"user\", \"content\": \"å\"}, {\"role\": \"function\", \"content\": \"\"}]}",
                "Line 1, column 58: ‘function’ is no role; write ‘system’, ‘user’, ‘assistant’ or ‘tool’",
            ),
            (
                "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}], \"tools\": \"b\"}",
                "Line 1, column 59: ‘tools’ must be a list of tools",
            ),
            (
                "{\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"text\"}]}]}",
                "Line 1, column 43: ‘content’ must be a text",
            ),
            (
                "{\"messages\": [{\"content\": \"a\"}]}",
                "Line 1, column 15: ‘role’ must be a text",
            ),
            (
                "{\"messages\": [{\"role\": \"system\", \"content\": \"a\"}], \"system\": \"b\"}",
                "Line 1, column 62: a task has ‘system’ or ‘a system message’, not both",
            ),
            (
                "{\"input\": [\"a\"], \"ideal\": \"b\"}",
                "Line 1, column 12: ‘role’ must be a text",
            ),
        ],
    );
}

#[test]
fn a_mistake_in_an_expectation_has_a_line_and_a_column() {
    check_mistakes(
        "a.jsonl",
        &[
            (
                "{\"input\": \"a\", \"ideal\": 3}",
                "Line 1, column 25: ‘ideal’ must be a text or a list of texts",
            ),
            (
                "{\"input\": \"a\", \"ideal\": []}",
                "Line 1, column 25: ‘starts-with’ lacks a value",
            ),
            (
                "{\"prompt\": \"a\", \"expect\": 3}",
                "Line 1, column 27: ‘expect’ must be a text",
            ),
            (
                "{\"prompt\": \"a\", \"expect\": [\"b\", {}]}",
                "Line 1, column 33: ‘expect’ must be a text",
            ),
            (
                r#"{"expect": "x", "expect": ["b", "regex: \"å\u00e5\ud83d\ude00\" ("]}"#,
                "Line 1, column 65: the pattern is invalid: unclosed group",
            ),
        ],
    );
}

#[test]
fn a_mistake_in_an_array_has_a_line_and_a_column() {
    check_mistakes(
        "a.json",
        &[
            ("[]", "the file has no tasks"),
            (
                "[\n{\"prompt\": \"a\"},\n  {\"å\" 3}]",
                "Line 3, column 8: this isn’t JSON: a colon is missing",
            ),
            (
                "[{\"prompt\": \"a\"}\n {}]",
                "Line 2, column 2: this isn’t JSON: a comma or ] is missing",
            ),
            (
                "[{\"prompt\": \"a\"}, ]",
                "Line 1, column 19: this isn’t JSON: ",
            ),
            (
                "[{\"prompt\": \"a\"}]\n]",
                "Line 2, column 1: this isn’t JSON: something follows the end",
            ),
            (
                "[{\"prompt\": \"a\"},\n 3]",
                "Line 2, column 2: each task must be a JSON object",
            ),
            (
                "[\n{\"prompt\": \"a\",\n \"expect\":\n \"number: x\"}]",
                "Line 4, column 11: ‘x’ is no number",
            ),
        ],
    );
    let deep = format!("{{\"prompt\": {}", "[".repeat(1000));
    let found = mistake("a.jsonl", &deep);
    assert!(
        found.ends_with("this isn’t JSON: it is nested too deeply"),
        "{found}"
    );
}

#[test]
fn files_have_limits() {
    let many = "a\n".repeat(N_MAX_TASKS);
    assert_eq!(read("a.txt", &many).n_tasks(), N_MAX_TASKS);
    let expected = "Line 100001: a file has at most 100000 tasks";
    assert_eq!(mistake("a.txt", &format!("{many}b")), expected);
    let csv = format!("prompt\n{many}b");
    assert_eq!(
        mistake("a.csv", &csv),
        "Line 100002: a file has at most 100000 tasks"
    );
    let large = "a".repeat(N_MAX_BYTES + 1);
    assert_eq!(
        mistake("a.txt", &large),
        "a file of tasks has at most 64 MB"
    );
}

#[test]
fn a_mistake_in_a_template_or_check_has_a_place() {
    let file = read("a.csv", "city,answer\nOslo,Norway\nRome,\n");
    let mistake = |template: Option<&str>, checks: &[&str]| {
        let checks: Vec<String> = checks.iter().map(|check| (*check).to_owned()).collect();
        let error = file.tasks(template, &checks).unwrap_err();
        error.to_string()
    };
    assert_eq!(
        mistake(None, &[]),
        "the file has no prompts; write a template with its columns: {city}, {answer}"
    );
    assert_eq!(
        mistake(Some("å {town}"), &[]),
        "Template, column 3: there is no column ‘town’: {city}, {answer}"
    );
    let template = Some("{city}");
    assert_eq!(
        mistake(template, &["equals: a", "equals: {town}"]),
        "Check 2, column 9: there is no column ‘town’: {city}, {answer}"
    );
    assert_eq!(
        mistake(template, &["regex: a("]),
        "Check 1, column 9: the pattern is invalid: unclosed group"
    );
    assert_eq!(
        mistake(template, &["llm-rubric: a"]),
        "Check 1: ‘llm-rubric’ can’t be judged here"
    );
    assert_eq!(
        mistake(template, &["equals: {answer}"]),
        "Line 3: ‘equals’ lacks a value"
    );

    let file = read("a.jsonl", "{\"prompt\": \"a\", \"x\": 1}\n{\"y\": 2}\n");
    let error = file.tasks(None, &[]).unwrap_err();
    assert_eq!(error.to_string(), "Line 2: the task has no prompt");
    let error = file.tasks(Some("{x}"), &[]).unwrap_err();
    assert_eq!(error.to_string(), "Line 2: ‘x’ is missing here");

    let file = read("a.csv", "question,x\na,b\n ,c\n");
    let error = file.tasks(None, &[]).unwrap_err();
    assert_eq!(error.to_string(), "Line 3: the task has no prompt");

    let file = read("a.csv", "question,__expected\na,b\n");
    let error = file.tasks(None, &[]).unwrap_err();
    let expected = "the file has no prompts; write a template with its columns: {question}";
    assert_eq!(error.to_string(), expected);

    let lines = read("a.txt", "a\n");
    let error = lines.tasks(Some("{x}"), &[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Template, column 1: there is no column ‘x’; the file has no columns"
    );
}
