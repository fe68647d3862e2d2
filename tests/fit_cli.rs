//! Runs `quartet fit` and checks what it prints and writes.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

fn quartet(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quartet"));
    command.arg("fit").args(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

const STORY: &str = "there was a little fox who lived in a wood. The fox was very happy.\n";

#[test]
fn a_fit_is_printed_and_exported_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("story.txt");
    fs::write(&file, STORY).unwrap();
    let export = folder.path().join("fit");
    let small = ["--vary", "temp 0.4..1.2/5", "--vary", "top-p 0.6..1/5"];
    let paths = [
        "--text",
        file.to_str().unwrap(),
        "--export",
        export.to_str().unwrap(),
    ];
    let prompt = ["--prompt", "Once upon a time "];
    let output = quartet(&[&small[..], &paths, &prompt].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let printed = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(
        printed.starts_with("This text is most likely under T "),
        "{printed}"
    );
    for words in [
        "explains it nearly as well",
        "best top-p",
        "a 95 % likelihood-ratio interval",
        "This holds only for this text and this model.",
        "can’t generate ‘",
    ] {
        assert!(printed.contains(words), "{words}: {printed}");
    }
    let json: Value = serde_json::from_slice(&fs::read(export.join("fit.json")).unwrap()).unwrap();
    let best = &json["best"];
    assert!(best["ln_prob"].as_f64().unwrap() < 0.0);
    let points = json["points"].as_array().unwrap();
    assert!(points.len() > 25, "points at and between the cells");
    let table = fs::read_to_string(export.join("fit.csv")).unwrap();
    assert_eq!(table.lines().count(), points.len() + 1);
    let svg = fs::read_to_string(export.join("fit.svg")).unwrap();
    assert!(svg.contains("likeliest: T"), "the best is labeled");
    assert!(
        fs::read(export.join("fit.png"))
            .unwrap()
            .starts_with(b"\x89PNG")
    );
}

#[test]
fn one_number_produces_a_table_and_json_goes_to_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("story.txt");
    fs::write(&file, STORY).unwrap();
    let words = ["--text", file.to_str().unwrap(), "--vary", "top-k 1 5 2000"];
    let output = quartet(&words);
    let printed = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(printed.contains("top-k  bits per token"), "{printed}");
    assert!(printed.contains("      1  can’t generate ‘"), "{printed}");
    let output = quartet(&[&words[..], &["--json", "-"]].concat());
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["format"], "quartet fit");
    assert_eq!(json["axes"][0]["setting"], "top-k");
}

#[test]
fn mistakes_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("story.txt");
    fs::write(&file, "").unwrap();
    let text = ["--text", file.to_str().unwrap()];
    for (arguments, words) in [
        (
            &["--vary", "temp 1", "--vary", "temp 2"][..],
            "two different numbers",
        ),
        (&["--vary", "tmp 1"], "did you mean"),
        (&["--pane", "mirostat 3"], "adapts to what it has picked"),
        (&["--json", "-", "--csv", "-"], "can’t both write"),
        (&[], "no token to score"),
    ] {
        let output = quartet(&[&text[..], arguments].concat());
        assert!(!output.status.success(), "{arguments:?}");
        assert!(
            stderr(&output).contains(words),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}
