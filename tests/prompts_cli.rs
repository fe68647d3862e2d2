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

/// The columns `start` and `right` of a list are the prompt and the right answer.
const EQUALS: [&str; 4] = ["--template", "{start}", "--check", "equals: \"{right}\""];

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
        "--stop",
        " ",
        "--tokens",
        "4",
        "--vary",
        "temp 0.5 1 1.5",
    ];
    let words = [&words[..], &EQUALS[..], &TWO_PANES[..]].concat();
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

/// The built-in model as a file, for one pane.
fn pane_model(pane: &str) -> String {
    let manifest = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let model = manifest.join("assets/model/quartet-stories-q8_0.gguf");
    format!("{pane}={}", model.display())
}

#[test]
fn a_pane_answers_with_its_own_model() {
    let (_folder, path) = list(
        "tasks.csv",
        "start,right\nOnce upon a time there,\" was\"\nOnce upon a time,\" there\"\n",
    );
    let model = pane_model("B");
    let words = [
        path.to_str().unwrap(),
        "--stop",
        " a",
        "--tokens",
        "4",
        "--seeds",
        "2",
        "--pane",
        "temp 1",
        "--pane",
        "temp 1",
        "--pane-model",
        &model,
        "--vary",
        "temp 0.5 1",
    ];
    let found = json(&[&words[..], &EQUALS].concat());
    assert_eq!(found["model"]["file"], "embedded");
    assert!(found["settings"][0]["model"].is_null());
    let own = &found["settings"][1]["model"];
    assert_eq!(own["file"], "quartet-stories-q8_0.gguf");
    let likely = found["tasks"][0]["exact"][1]["at_least"].as_f64().unwrap();
    assert!(likely > 0.5, "{likely}");
    for task in found["tasks"].as_array().unwrap() {
        // Both models have the same weights, so each computes what the other does.
        for what in ["answers", "exact"] {
            let [main, own, low, same] =
                <[_; 4]>::try_from(task[what].as_array().unwrap().clone()).unwrap();
            assert_eq!(main, own, "{what} of {task}");
            assert_eq!(own, same, "the values have the last pane's model");
            assert_ne!(low, Value::Null);
        }
        assert_eq!(task["answers"][1].as_array().unwrap().len(), 2);
        assert_eq!(task["error"], Value::Null);
        assert_eq!(task["unanswered"], Value::Array(Vec::new()));
    }
}

#[test]
fn a_model_that_cannot_be_opened_leaves_the_other_panes_alone() {
    let (folder, path) = list("tasks.txt", "The fox\nThe wolf\n");
    let broken = folder.path().join("broken.gguf");
    fs::write(&broken, "GGUF, but no more than that").unwrap();
    let json = folder.path().join("out.json");
    let model = format!("B={}", broken.display());
    let words = [
        &[path.to_str().unwrap(), "--tokens", "4", "--seeds", "1"],
        &TWO_PANES[..],
        &["--pane-model", &model, "--json", json.to_str().unwrap()],
    ];
    let output = quartet("prompts", &words.concat());
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("broken.gguf"), "{said}");
    let found: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    for task in found["tasks"].as_array().unwrap() {
        assert_eq!(task["answers"][0].as_array().unwrap().len(), 1);
        assert_eq!(task["unanswered"][0]["pane"], "B");
        let error = task["unanswered"][0]["error"].as_str().unwrap();
        assert!(error.contains("broken.gguf"), "{error}");
    }
}

#[test]
fn wrong_models_of_panes_are_named_before_anything_is_loaded() {
    let (_folder, path) = list("tasks.txt", "The fox\n");
    let list = path.to_str().unwrap();
    for (words, expected) in [
        (
            &["--pane", "greedy", "--pane-model", "B=built-in"][..],
            "--pane-model names pane B, but this run has only pane A",
        ),
        (
            &["--pane-model", "A=x.gguf", "--pane-model", "A=y.gguf"],
            "--pane-model names pane A twice",
        ),
        (
            &["--pane-model", "B=x.gguf", "--pane-server", "B=http://a"],
            "pane B has a model and a server",
        ),
        (
            &["--pane-model", "B=x.gguf", "--server", "http://a"],
            "cannot be used with",
        ),
    ] {
        let output = quartet("prompts", &[&[list], words].concat());
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let said = stderr(&output);
        assert!(said.contains(expected), "{said}");
    }
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
