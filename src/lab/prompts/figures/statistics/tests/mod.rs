//! Proofs of the statistics: against scipy, against all cases, and by simulation.

mod paired;
mod sentences;
mod shares;
mod votes;

use super::PromptShare;
use crate::decoding::SplitMix64;

fn drawn(n_right: usize, n_answers: usize) -> PromptShare {
    PromptShare::Sampled { n_right, n_answers }
}

/// Returns a uniform number from 0 to 1.
fn uniform(random: &mut SplitMix64) -> f64 {
    random.below(1_000_000) as f64 / 1e6
}

/// What `tests/statistics/judged.py` found with scipy and the formula of a paper.
fn reference(group: &str) -> Vec<serde_json::Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/statistics/judged.json");
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let cases = json[group].as_array().unwrap().clone();
    assert!(cases.len() >= 50);
    cases
}

fn count(value: &serde_json::Value) -> usize {
    value.as_u64().unwrap() as usize
}

fn near(found: f64, expected: f64, what: &impl std::fmt::Debug) {
    assert!(
        (found - expected).abs() < 1e-9,
        "{what:?}: {found}, not {expected}"
    );
}
