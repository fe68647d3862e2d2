//! Runs `quartet prompts`, and checks what it prints and writes.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

fn quartet(command: &str, arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_quartet"));
    program.arg(command).args(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A folder with a list of tasks.
fn list(name: &str, text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    (folder, path)
}

fn json(arguments: &[&str]) -> Value {
    let output = quartet("prompts", &[arguments, &["--json", "-"]].concat());
    serde_json::from_str(&stdout(&output)).unwrap()
}

const TWO_PANES: [&str; 4] = ["--pane", "greedy", "--pane", "T 0.8, top-p 0.9"];

#[test]
fn each_answer_is_the_text_that_generate_writes_with_its_seed() {
    let (_folder, path) = list("tasks.txt", "The fox\n\nThe wolf\n");
    let words = [
        &[path.to_str().unwrap(), "--tokens", "6", "--seeds", "2"],
        &TWO_PANES[..],
    ];
    let found = json(&words.concat());
    assert_eq!(found["format"], "quartet prompts");
    let tasks = found["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 2);
    assert_eq!(tasks[1]["line"], 3);
    assert_ne!(tasks[0]["seed"], tasks[1]["seed"]);
    for task in tasks {
        // Greedy decoding needs one answer.
        let n_answers = [0, 1].map(|pane| task["answers"][pane].as_array().unwrap().len());
        assert_eq!(n_answers, [1, 2]);
        assert_eq!(task["is_judged"], false);
        for (pane, settings) in [(0, "greedy"), (1, "T 0.8, top-p 0.9")] {
            for answer in task["answers"][pane].as_array().unwrap() {
                let seed = answer["seed"].to_string();
                let alone = [
                    "--prompt",
                    task["prompt"].as_str().unwrap(),
                    "--pane",
                    settings,
                    "--seed",
                    &seed,
                    "--max-tokens",
                    "6",
                    "--json",
                    "-",
                ];
                let run: Value =
                    serde_json::from_str(&stdout(&quartet("generate", &alone))).unwrap();
                assert_eq!(answer["text"], run["panes"][0]["text"], "{task}");
            }
        }
    }
}

#[test]
fn the_answers_are_judged_and_their_probability_is_exact() {
    let (_folder, path) = list(
        "tasks.csv",
        "start,right\nOnce upon,\" a\"\nOnce upon a,\" time\"\n",
    );
    let words = [
        path.to_str().unwrap(),
        "--template",
        "{start}",
        "--check",
        "equals: \"{right}\"",
        "--stop",
        " ",
        "--tokens",
        "4",
        "--vary",
        "temp 0.5 1 1.5",
    ];
    let words = [&words[..], &TWO_PANES[..]].concat();
    let output = quartet("prompts", &words);
    let report = stdout(&output);
    assert!(report.contains("A Greedy"), "{report}");
    let found = json(&words);
    for task in found["tasks"].as_array().unwrap() {
        for (pane, answers) in task["answers"].as_array().unwrap().iter().enumerate() {
            let exact = &task["exact"][pane];
            let [least, most] = ["at_least", "at_most"].map(|end| exact[end].as_f64().unwrap());
            assert!((0.0..=1.0).contains(&least) && least <= most && most <= 1.0);
            for answer in answers.as_array().unwrap() {
                let is_right = answer["is_right"].as_bool().unwrap();
                assert_eq!(is_right, answer["why_wrong"].is_null(), "{answer}");
                // Greedy decoding writes a right answer with a probability of 0 or 1.
                if pane == 0 {
                    let expected = f64::from(u8::from(is_right));
                    assert!((least - expected).abs() < 1e-12, "{task}");
                }
            }
        }
    }
    assert_eq!(found["curve"]["share_right"].as_array().unwrap().len(), 3);
}

#[test]
fn answers_are_drawn_over_one_or_two_numbers() {
    let (_folder, path) = list(
        "tasks.csv",
        "prompt,expected\nOnce,contains: a\nThe,equals: \" x\"\n",
    );
    let words = [
        path.to_str().unwrap(),
        "--tokens",
        "4",
        "--stop",
        " ",
        "--seeds",
        "3",
    ];
    let temperature = ["--vary", "temp 0.5 1"];
    let words = [&words[..], &TWO_PANES[..], &temperature[..]].concat();
    let found = json(&words);
    let sweep = &found["sweep"];
    assert_eq!(sweep["settings"], serde_json::json!(["temp"]));
    assert_eq!(
        (&sweep["n_exact_tasks"], &sweep["n_drawn_tasks"]),
        (&1.into(), &2.into())
    );
    let cells = sweep["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2);
    for (cell, value) in cells.iter().zip([0.5, 1.0]) {
        assert_eq!(cell["values"], serde_json::json!([value]));
        let drawn = &cell["drawn"];
        assert!(drawn["share_right"]["interval"].is_array());
        assert!(drawn["n_different"].as_f64().unwrap() >= 1.0, "{drawn}");
        assert!(drawn["n_tokens"].as_f64().unwrap() >= 1.0, "{drawn}");
        assert!(drawn["secs"].as_f64().unwrap() > 0.0, "{drawn}");
    }
    let report = stdout(&quartet("prompts", &words));
    assert!(
        report.contains("right, drawn  different answers  tokens  seconds"),
        "{report}"
    );
    let top_p = ["--vary", "top-p 0.8 0.9 1", "--seeds", "0"];
    let words: Vec<&str> = words
        .into_iter()
        .filter(|it| !["--seeds", "3"].contains(it))
        .collect();
    let words = [&words[..], &top_p[..]].concat();
    let found = json(&words);
    assert_eq!(found["sweep"]["cells"].as_array().unwrap().len(), 6);
    assert_eq!(found["curve"], Value::Null);
    let sentences = found["sentences"].to_string();
    assert!(sentences.contains("is best, with"), "{sentences}");
    let report = stdout(&quartet("prompts", &words));
    assert!(report.contains("Temperature ↓ Top-p →"), "{report}");

    let budget = [
        path.to_str().unwrap(),
        "--vary",
        "think 0 64",
        "--pane",
        "T 1",
    ];
    let output = quartet("prompts", &budget);
    assert!(!output.status.success());
    assert!(
        stderr(&output).contains("no known tags around a thought"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_check_is_tried_on_a_text() {
    let checks = ["--check", "equals: Oslo", "--check", "contains: os"];
    let right = quartet("prompts", &[&["--try", "Oslo"], &checks[..2]].concat());
    assert_eq!(stdout(&right), "equals: Oslo  right\n");
    let wrong = quartet("prompts", &[&["--try", "Oslo"], &checks[..]].concat());
    assert_eq!(wrong.status.code(), Some(1));
    let printed = String::from_utf8(wrong.stdout).unwrap();
    assert!(printed.contains("contains: os  wrong: "), "{printed}");
    let invalid = quartet("prompts", &["--try", "a", "--check", "regex: ("]);
    assert_eq!(invalid.status.code(), Some(2), "{}", stderr(&invalid));
}

#[test]
fn mistakes_are_named_where_they_are() {
    let (_folder, path) = list(
        "tasks.jsonl",
        "{\"prompt\": \"a\"}\n{\"prompt\": \"b\", \"expect\": \"regex: (\"}\n",
    );
    let output = quartet("prompts", &[path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("ine 2"), "{}", stderr(&output));
    let (_folder, path) = list("tasks.txt", "\n \n");
    let output = quartet("prompts", &[path.to_str().unwrap()]);
    assert!(stderr(&output).contains("no tasks"), "{}", stderr(&output));
    let output = quartet("prompts", &[]);
    assert_eq!(output.status.code(), Some(2));
    let output = quartet("prompts", &["/no such file"]);
    assert!(stderr(&output).contains("could not read the tasks"));
}
