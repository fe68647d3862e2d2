//! Runs `quartet replay` with several runs, and checks what it prints and writes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn quartet(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quartet"));
    command.args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Writes a run with this seed.
fn write_run(path: &Path, seed: &str) {
    let path = path.to_str().unwrap();
    let written = quartet(&[
        "generate",
        "--prompt",
        "Once upon a time",
        "--max-tokens",
        "8",
        "--seed",
        seed,
        "--pane",
        "temp 1",
        "--json",
        path,
    ]);
    assert!(written.status.success(), "{written:?}");
}

#[test]
fn every_run_of_a_folder_is_a_line_and_a_file_that_is_none_is_not_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second, broken] =
        ["a.json", "b.json", "c.json"].map(|name| folder.path().join(name));
    write_run(&first, "1");
    write_run(&second, "2");
    fs::write(folder.path().join("notes.txt"), "no run").unwrap();
    let path = folder.path().to_str().unwrap();
    let same = quartet(&["replay", path]);
    assert_eq!(same.status.code(), Some(0), "{same:?}");
    let lines = stdout(&same);
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(
        lines[0].ends_with("a.json  8 tokens  identical"),
        "{lines:?}"
    );
    assert_eq!(lines[3], "2 of 2 runs are the same, token for token");

    fs::write(&broken, "{").unwrap();
    let out = tempfile::tempdir().unwrap();
    let [table, picture] = ["runs.csv", "runs.svg"].map(|name| out.path().join(name));
    let all = quartet(&[
        "replay",
        first.to_str().unwrap(),
        broken.to_str().unwrap(),
        second.to_str().unwrap(),
        "--json",
        "--csv",
        table.to_str().unwrap(),
        "--picture",
        picture.to_str().unwrap(),
    ]);
    // The worst one.
    assert_eq!(all.status.code(), Some(2), "{all:?}");
    let json: Value = serde_json::from_slice(&all.stdout).unwrap();
    let sum = "2 of 3 runs are the same, token for token; 1 can’t be replayed";
    assert_eq!(
        (&json["verdict"], &json["n_same"]),
        (&Value::from(sum), &Value::from(2))
    );
    let results: Vec<&Value> = (0..3).map(|run| &json["runs"][run]["result"]).collect();
    assert_eq!(results, ["identical", "not_replayed", "identical"]);
    assert!(
        json["runs"][1]["error"]
            .as_str()
            .unwrap()
            .contains("c.json")
    );
    let table = fs::read_to_string(table).unwrap();
    assert_eq!(table.lines().count(), 4);
    assert!(
        table.starts_with("file,result,exit_status,n_tokens"),
        "{table}"
    );
    let picture = fs::read_to_string(picture).unwrap();
    assert!(picture.contains("Replayed runs") && picture.contains("2 of 3 runs"));
}

#[test]
fn a_run_that_contradicts_itself_is_counted_apart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.json");
    write_run(&file, "3");
    // The seed is what the coins are checked against, so a text of another seed contradicts it.
    let run = fs::read_to_string(&file).unwrap();
    let changed = run.replacen("\"seed\":3", "\"seed\":4", 1);
    assert_ne!(run, changed);
    fs::write(folder.path().join("changed.json"), changed).unwrap();
    let replayed = quartet(&["replay", folder.path().to_str().unwrap()]);
    assert_eq!(replayed.status.code(), Some(3), "{replayed:?}");
    let printed = stdout(&replayed);
    assert!(
        printed.contains("changed.json  8 tokens  This file contradicts itself"),
        "{printed}"
    );
    assert!(printed.contains("1 of 2 runs is the same, token for token; 1 contradicts itself"));
}

#[test]
fn a_folder_without_runs_and_a_table_of_one_run_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let empty = quartet(&["replay", folder.path().to_str().unwrap()]);
    assert_eq!(empty.status.code(), Some(2));
    let file = folder.path().join("run.json");
    write_run(&file, "1");
    let one = quartet(&["replay", file.to_str().unwrap(), "--csv", "x.csv"]);
    assert_eq!(one.status.code(), Some(2));
}
