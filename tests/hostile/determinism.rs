//! The same prompt, settings and seed produce bit-identical numbers, whatever else is in the batch.

use std::process::Command;

use serde_json::Value;

const PROMPT: &str = "Once upon a time there was a little fox who";

/// Eight panes, so that every row of a batch is tested.
const PANES: [&str; 8] = [
    "greedy",
    "seed 7",
    "temp 0.7, top-p 0.9, seed 7",
    "top-k 40, repeat 1.3",
    "min-p 0.05, temp 1.5, seed 3",
    "typical-p 0.9, seed 1",
    "dry 0.8, xtc 0.5 threshold 0.1, seed 2",
    "mirostat 5, seed 4",
];

/// Generates in these panes and returns their steps without times.
fn run(panes: &[&str], arguments: &[&str]) -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_quartet"))
        .args(["generate", "--json", "-", "--prompt", PROMPT])
        .args(["--max-tokens", "24"])
        .args(arguments)
        .args(panes.iter().flat_map(|pane| ["--pane", pane]))
        .output()
        .unwrap();
    assert!(output.status.success());
    let mut run: Value = serde_json::from_slice(&output.stdout).unwrap();
    let panes = run["panes"].as_array_mut().unwrap();
    for pane in panes.iter_mut() {
        for step in pane["steps"].as_array_mut().unwrap() {
            step.as_object_mut().unwrap().remove("time").unwrap();
        }
    }
    panes.iter().map(|pane| pane["steps"].clone()).collect()
}

#[test]
fn a_pane_has_the_same_numbers_alone_and_in_a_batch_of_eight() {
    let together = run(&PANES, &[]);
    for (pane, steps) in PANES.iter().zip(&together) {
        assert_eq!(&run(&[pane], &[])[0], steps, "{pane}");
    }
}

#[test]
fn the_number_of_threads_does_not_change_the_numbers() {
    let one = run(&PANES[..3], &["--threads", "1"]);
    assert_eq!(run(&PANES[..3], &["--threads", "2"]), one);
    assert_eq!(run(&PANES[..3], &[]), one);
}
