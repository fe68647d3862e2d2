//! Runs that are replayed with another model than the one that wrote them, or with a file of the model
//! that a server has.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use quartet::engine::{Compute, open_embedded};
use serde_json::{Value, json};

use crate::llama_stand_in;

const PROMPT: [&str; 4] = ["--prompt", "Once upon a time", "--max-tokens", "12"];

fn quartet(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quartet"));
    command.args(arguments).output().unwrap()
}

/// The file of the built-in model.
fn model() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.join("assets/model/quartet-stories-q8_0.gguf")
}

/// Replays a run and returns its verdict. Checks that the program exits with the status it names.
fn replay(arguments: &[&str]) -> Value {
    let output = quartet(&[&["replay", "--json"], arguments].concat());
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let status = said["exit_status"].as_i64().unwrap();
    assert_eq!(output.status.code(), Some(status as i32), "{said}");
    said
}

#[test]
fn another_model_repeats_a_run_only_if_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.quartet.json");
    let file = path.to_str().unwrap();
    let panes = ["--pane", "greedy", "--pane", "temp 0.8, seed 5"];
    let output = quartet(&[&["generate", "--json", file], &panes[..], &PROMPT].concat());
    assert!(output.status.success(), "{output:?}");
    // The weights of the last tensors, a little changed.
    let mut weights = std::fs::read(model()).unwrap();
    let n_bytes = weights.len();
    for byte in weights[n_bytes - n_bytes / 8..].iter_mut().step_by(97) {
        *byte ^= 1;
    }
    let other = folder.path().join("other.gguf");
    std::fs::write(&other, weights).unwrap();
    let other = other.to_str().unwrap();

    let refused = replay(&[file, "--model", other]);
    assert_eq!(refused["exit_status"], 1, "{refused}");
    let sentence = refused["verdict"].as_str().unwrap();
    assert!(
        sentence.starts_with("Not the model of this file. "),
        "{sentence}"
    );

    let asked = replay(&[file, "--model", other, "--other-model"]);
    let sentence = asked["verdict"].as_str().unwrap();
    assert!(
        sentence.starts_with("With another model, as asked. "),
        "{sentence}"
    );
    // Other weights rule nothing out: the file does not contradict itself.
    assert_eq!(asked["contradiction"], Value::Null);
    let same = json!({ "model": false, "second_model": null, "tokenizer": true, "template": true });
    assert_eq!(asked["same"], same);
    for pane in asked["panes"].as_array().unwrap() {
        assert_eq!(
            (&pane["words"], &pane["computed_alike"]),
            (&"equal".into(), &false.into())
        );
        assert_eq!(
            (&pane["identical"], &pane["n_whole_rows"]),
            (&false.into(), &0.into())
        );
        assert!(pane["largest_difference"].as_f64().unwrap() > 0.0, "{pane}");
    }
    let mut panes = asked["panes"].as_array().unwrap().iter();
    let same_tokens = panes.all(|pane| pane["same_tokens"] == true);
    assert_eq!(asked["exit_status"], i32::from(!same_tokens), "{asked}");
}

#[test]
fn a_run_over_a_server_is_compared_with_a_file_of_its_model_as_log_probabilities() {
    let keep_going = &mut |_| ControlFlow::Continue(());
    let served = open_embedded(&Compute::on_cpu(), keep_going);
    let address = llama_stand_in::serve(served.unwrap().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.quartet.json");
    let file = path.to_str().unwrap();
    let panes = ["--pane", "greedy", "--pane", "temp 0.7, top-p 0.9, seed 7"];
    let generate = ["generate", "--server", &address, "--json", file];
    let output = quartet(&[&generate[..], &panes, &PROMPT].concat());
    assert!(output.status.success(), "{output:?}");

    let without = replay(&[file]);
    assert_eq!(without["exit_status"], 2);
    let error = without["error"].as_str().unwrap();
    assert!(error.contains("was generated on a server"), "{error}");

    let model = model();
    let model = model.to_str().unwrap();
    let said = replay(&[file, "--model", model]);
    assert_eq!(
        (&said["exit_status"], &said["n_chosen"]),
        (&0.into(), &24.into()),
        "{said}"
    );
    let sentence = said["verdict"].as_str().unwrap();
    let start = "Same tokens. Largest difference of a log-probability ";
    assert!(sentence.starts_with(start), "{sentence}");
    let unknown =
        json!({ "model": null, "second_model": null, "tokenizer": null, "template": null });
    assert_eq!(said["same"], unknown, "a server names no file");
    for pane in said["panes"].as_array().unwrap() {
        assert_eq!(
            (&pane["difference_of"], &pane["words"]),
            (&"log-probability".into(), &"equal".into())
        );
        // Logits would be further apart than their log-probabilities.
        assert!(
            pane["largest_difference"].as_f64().unwrap() < 1e-3,
            "{pane}"
        );
        assert_eq!(pane["n_whole_rows"], 0, "a server reports no whole row");
    }

    // Tokens that the server's own sampler chose are given.
    let own = ["--server-sampler", "--pane", "greedy"];
    let output = quartet(&[&generate[..], &own, &PROMPT].concat());
    assert!(output.status.success(), "{output:?}");
    let said = replay(&[file, "--model", model]);
    assert_eq!(
        (&said["exit_status"], &said["n_chosen"]),
        (&0.into(), &0.into()),
        "{said}"
    );
    assert_eq!(
        said["n_given"],
        json!({ "by_hand": 0, "scored": 0, "by_server": 12 })
    );
}
