//! A thought that a budget cuts off: what is forced, what it cost, and that the run repeats.

use std::process::{Command, Output};

use quartet::decoding::Filter;
use quartet::export::json;
use quartet::generation::Generation;

fn quartet(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_quartet"))
        .args(arguments)
        .output()
        .unwrap()
}

/// Generates texts whose prompt opens a thought, and saves them.
fn generate(file: &str, panes: &[&str]) -> Output {
    let mut arguments = vec!["generate", "--json", file, "--max-tokens", "24"];
    arguments.extend(["--prompt", "Once upon a time"]);
    for pane in panes {
        arguments.extend(["--pane", pane]);
    }
    quartet(&arguments)
}

fn texts(file: &str) -> Vec<Generation> {
    let written = std::fs::read(file).unwrap();
    json::parse(&written).unwrap()
}

fn said(output: &Output) -> String {
    let said = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8(said).unwrap()
}

#[test]
fn a_thought_is_cut_off_and_the_run_repeats() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.quartet.json");
    let file = path.to_str().unwrap();
    let tags = r#"open " upon" close " The end." message "\nTime is up.""#;
    let panes = [
        format!("think 5 {tags}, temp 0.8, top-p 0.9"),
        format!("temp 0.8, top-p 0.9, think 5 {tags}"),
        format!("think 5 {tags}, greedy"),
        format!("think 1000000 {tags}, temp 0.8, top-p 0.9"),
    ];
    let panes: Vec<&str> = panes.iter().map(String::as_str).collect();
    let output = generate(file, &panes);
    assert!(output.status.success(), "{}", said(&output));

    let texts = texts(file);
    for text in &texts[..3] {
        let Filter::ThinkingBudget(budget) = text
            .config
            .chain
            .stages
            .iter()
            .map(|stage| stage.filter.clone())
            .find(|filter| matches!(filter, Filter::ThinkingBudget(_)))
            .unwrap()
        else {
            unreachable!()
        };
        let (prompt, tag) = (&text.prompt.tokens, budget.opening.tokens());
        let start = prompt.windows(tag.len()).position(|part| part == tag);
        let n_in_prompt = prompt.len() - start.unwrap() - tag.len();
        let forced = [budget.message.tokens(), budget.closing.tokens()].concat();
        assert!(forced.len() >= 2, "{budget:?}");
        let steps: Vec<_> = text.steps.iter().collect();
        let first = 5 - n_in_prompt;
        for (step, token) in steps[first..].iter().zip(&forced) {
            assert_eq!(step.token, *token);
            let trace = &step.trace;
            assert!((trace.draw.prob - 1.0).abs() < 1e-12);
            assert!(trace.raw_prob > 0.0 && trace.raw_prob < 1.0);
            assert_eq!(trace.draw.n_kept, 1);
        }
        let visible = text.text();
        assert!(visible.contains("\nTime is up. The end."), "{visible:?}");
    }
    let free = &texts[3];
    assert!(!free.text().contains("Time is up"), "{}", free.text());

    let output = quartet(&["replay", file, "--threads", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let said = said(&output);
    assert!(
        said.starts_with("Same tokens, bit-identical numbers."),
        "{said}"
    );
}

#[test]
fn a_model_without_tags_refuses_a_budget_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.quartet.json");
    let output = generate(path.to_str().unwrap(), &["think 5, temp 0.8"]);
    assert!(!output.status.success());
    let said = said(&output);
    assert!(said.contains("no known tags around a thought"), "{said}");
}
