//! Each starter prompt shows what its label says, with the built-in model and the panes of a new
//! window. The bounds allow for the rounding of other instruction sets, which changes texts;
//! the model card lists the figures.
use std::collections::HashSet;
use std::process::Command;

use quartet::analysis::TextMetrics;
use quartet::export::json;
use quartet::generation::Generation;
use quartet::state::{PromptMode, Starter};

/// The panes of a new window, in order.
const GREEDY: usize = 0;
const PURE_SAMPLING: usize = 1;

/// Generates a starter's text in each pane of a new window.
fn texts(starter: &str, n_tokens: usize) -> Vec<Generation> {
    let starters = Starter::all(PromptMode::Raw).iter();
    let prompt = starters.filter(|candidate| candidate.name == starter);
    let prompt = prompt.map(|starter| starter.prompt).next().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_quartet"))
        .args(["generate", "--json", "-", "--seed", "42"])
        .args(["--prompt", prompt, "--max-tokens", &n_tokens.to_string()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let texts = json::parse(&output.stdout).unwrap();
    assert_eq!(texts.len(), 4);
    texts
}

/// Returns the share of four-word groups that had already occurred in the same text.
fn repeats(text: &Generation) -> f64 {
    let text = text.text();
    let words: Vec<&str> = text.split_whitespace().collect();
    let groups: HashSet<&[&str]> = words.windows(4).collect();
    1.0 - groups.len() as f64 / words.windows(4).len().max(1) as f64
}

/// Returns the mean surprise, in bits per token.
fn surprise(text: &Generation) -> f64 {
    TextMetrics::of(text).perplexity.unwrap().log2()
}

/// Returns the probabilities of the first token, largest first, and the entropy in bits.
fn first_step(starter: &str) -> (Vec<f64>, f64) {
    let texts = texts(starter, 1);
    let raw = &texts[0].steps[0].trace.raw;
    let probs = raw.head.iter().map(|candidate| candidate.prob).collect();
    (probs, raw.entropy_nats / std::f64::consts::LN_2)
}

#[test]
fn greedy_loops_while_the_sampled_texts_do_not_repeat_themselves() {
    let texts = texts("Greedy loops", 200);
    assert!(repeats(&texts[GREEDY]) > 0.5, "{}", texts[GREEDY].text());
    assert!(TextMetrics::of(&texts[GREEDY]).repetition.is_some());
    for text in &texts[GREEDY + 1..] {
        assert!(repeats(text) < 0.1, "{}", text.text());
    }
}

#[test]
fn pure_sampling_drifts_while_the_greedy_text_keeps_its_thread() {
    let texts = texts("Sampling drifts", 200);
    let [greedy, sampled] = [GREEDY, PURE_SAMPLING].map(|pane| surprise(&texts[pane]));
    assert!(greedy < 1.0 && sampled > 3.0, "{greedy} and {sampled} bits");
    assert!(repeats(&texts[GREEDY]) < 0.1, "{}", texts[GREEDY].text());
}

#[test]
fn the_first_step_is_sure_or_torn_or_open_as_the_label_says() {
    let (sure, _) = first_step("A sure thing");
    assert!(sure[0] > 0.99, "{sure:?}");
    let (torn, _) = first_step("A toss-up");
    assert!(torn[1] > 0.35 && torn[2] < 0.05, "{torn:?}");
    let (open, bits) = first_step("A list");
    assert!(open[0] < 0.4 && bits > 4.0, "{open:?}: {bits} bits");
}
