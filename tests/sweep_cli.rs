//! Runs `quartet sweep`, and checks what it prints and writes.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

const SMALL: [&str; 10] = [
    "--vary",
    "temp 0.5 1.2",
    "--vary",
    "top-p 0.7..1/2",
    "--seeds",
    "2",
    "--tokens",
    "5",
    "--pane",
    "min-p 0.05, seed 7",
];

fn quartet(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quartet"));
    command.arg("sweep").args(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_sweep_is_printed_and_exported_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sweep");
    let words = ["--word", "fox", "--export", path.to_str().unwrap()];
    let prompt = ["--prompt", "Once upon a time there was a fox"];
    let output = quartet(&[&SMALL[..], &words, &prompt].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let printed = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(
        printed.starts_with("Surprise, bits per token\n\n  temp \\ top-p"),
        "{printed}"
    );
    assert!(
        stderr(&output).contains("4 cells, 8 texts"),
        "{}",
        stderr(&output)
    );
    for name in [
        "surprise",
        "distinct-2",
        "similarity",
        "word",
        "quality-and-diversity",
    ] {
        let svg = fs::read_to_string(path.join(format!("{name}.svg"))).unwrap();
        assert!(svg.contains("varied from min-p 0.05"), "{name}");
        assert!(
            fs::read(path.join(format!("{name}.png")))
                .unwrap()
                .starts_with(b"\x89PNG")
        );
    }
    let json: Value = serde_json::from_slice(&fs::read(path.join("sweep.json")).unwrap()).unwrap();
    assert_eq!(json["complete"], true);
    assert_eq!(json["first_seed"], 7, "the seed of --pane");
    let settings = json["cells"][3]["settings"].as_str().unwrap();
    assert_eq!(settings, "T 1.2, top-p 1, min-p 0.05");
    let cells = fs::read_to_string(path.join("cells.csv")).unwrap();
    assert_eq!(cells.lines().count(), 5);
    let texts = fs::read_to_string(path.join("texts.csv")).unwrap();
    assert_eq!(texts.lines().count(), 9);

    // The settings and the seed of a cell reproduce its text.
    let text = &json["cells"][3]["texts"][1];
    let pane = format!("{settings}, seed {}", text["seed"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_quartet"));
    let again = [
        "generate",
        "--max-tokens",
        "5",
        "--json",
        "-",
        "--pane",
        &pane,
    ];
    let output = command.args(again).args(prompt).output().unwrap();
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    let steps = run["panes"][0]["steps"].as_array().unwrap();
    let tokens: Vec<&Value> = steps.iter().map(|step| &step["token"]).collect();
    assert_eq!(
        tokens,
        text["tokens"]
            .as_array()
            .unwrap()
            .iter()
            .collect::<Vec<_>>()
    );
}

#[test]
fn one_number_and_a_list_of_prompts_produce_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let prompts = folder.path().join("prompts.txt");
    fs::write(&prompts, "The fox\n\nThe wolf\n").unwrap();
    let output = quartet(&[
        "--prompts",
        prompts.to_str().unwrap(),
        "--vary",
        "top-k 1 5",
        "--seeds",
        "1",
        "--tokens",
        "3",
        "--csv",
        "-",
        "--keep",
        "figures",
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    let table = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows.len(), 3, "{table}");
    assert!(rows[1].starts_with("1,top-k 1,2,"), "two prompts: {table}");
}

#[test]
fn a_sweep_that_cannot_run_says_why() {
    let prompt = ["--prompt", "The fox"];
    for (arguments, code, words) in [
        (
            &["--vary", "top-p 0.5..2/4"][..],
            2,
            "Top-p must be between 0 and 1",
        ),
        (
            &["--vary", "temp 1", "--vary", "temp 2"],
            2,
            "both are Temperature",
        ),
        (
            &["--vary", "temp 1", "--seeds", "0"],
            2,
            "it must be a whole number from 1 to 1,000,000",
        ),
        (
            &["--vary", "temp 0..1/11", "--seeds", "100000"],
            2,
            "at most 1,000,000 texts, but this one has 1,100,000",
        ),
        (&["--vary", "temp 1", "--word", "/(/"], 2, "invalid pattern"),
        (
            &["--vary", "temp 1", "--json", "-", "--csv", "-"],
            2,
            "can’t both write to standard output",
        ),
        (
            &["--vary", "temp 1", "--prompts", "/no such file"],
            1,
            "could not read the prompts",
        ),
    ] {
        let output = quartet(&[arguments, &prompt].concat());
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    let output = quartet(&["--vary", "temp 1"]);
    assert!(stderr(&output).contains("--prompt"), "a prompt is required");
}
