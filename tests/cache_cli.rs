//! Runs `quartet cache` and checks what it prints and writes.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

fn quartet(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quartet"));
    command.arg("cache").args(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_measurement_is_printed_and_exported_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let export = folder.path().join("cache");
    let output = quartet(&["--tokens", "48", "--export", export.to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    let printed = String::from_utf8(output.stdout.clone()).unwrap();
    for words in [
        "With the cache, a token takes ",
        "Without it, every token rereads the whole text: ",
        "Same tokens both ways at 24 lengths; largest logit difference ",
        "2 × layers × heads × size × bytes",
        "2 × 8 × 4 × 32 × 4 = 8,192",
        "Fitted lines",
        "4 panes, one prompt",
    ] {
        assert!(printed.contains(words), "{words}: {printed}");
    }
    let json = fs::read(export.join("cache.json")).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["cache"]["bytes_per_token"], 8192);
    assert_eq!(json["on"].as_array().unwrap().len(), 47);
    assert_eq!(json["off"].as_array().unwrap().len(), 24);
    assert!(json["first_different_token"].is_null());
    let table = fs::read_to_string(export.join("cache.csv")).unwrap();
    assert!(table.contains("token,cache_off,"), "{table}");
    assert!(table.lines().next().unwrap().ends_with(",finished_at"));
    let year = jiff::Timestamp::now().strftime("%Y-").to_string();
    let svg = fs::read_to_string(export.join("cache.svg")).unwrap();
    assert!(svg.contains(&year), "the caption has a date");
    assert!(json["finished_at"].as_u64().unwrap() > 1_700_000_000);
    for name in ["cache.pdf", "cache.svg", "cache.png"] {
        assert!(fs::metadata(export.join(name)).unwrap().len() > 1000);
    }
}

#[test]
fn the_format_of_the_cache_changes_its_size() {
    let output = quartet(&["--tokens", "8", "--cache", "f16", "--json", "-"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["cache"]["bytes_per_token"], 4096);
    assert_eq!(json["cache"]["format"], "f16");
}

#[test]
fn one_token_is_too_few_and_an_overlong_prompt_is_refused() {
    let output = quartet(&["--tokens", "1"]);
    assert_eq!(output.status.code(), Some(2));
    let long = "word ".repeat(2000);
    let output = quartet(&["--prompt", &long]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("tokens"), "{}", stderr(&output));
}
