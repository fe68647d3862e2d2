//! Compares beam search with that of transformers, token by token. `make_beams.py` generated the
//! expected texts.

use std::collections::BTreeMap;
use std::time::Instant;

use quartet::decoding::filters::{NoRepeatNgram, Window};
use quartet::decoding::selector::{BeamSearch, Fate};
use quartet::decoding::{ChainConfig, Filter, Selector, TokenId};
use quartet::engine::{Progress, Prompt, Session};
use quartet::generation::{
    BeamPass, Beams, EndOfText, FinishReason, GenerationConfig, GenerationId, Limits, Step,
};
use serde_json::Value;

use crate::fixture::{Fixture, Form};

const ID: GenerationId = GenerationId(7);

fn tokens(list: &Value) -> Vec<TokenId> {
    let ids = list.as_array().unwrap().iter();
    ids.map(|id| TokenId(id.as_u64().unwrap() as u32)).collect()
}

fn search(case: &Value) -> BeamSearch {
    BeamSearch {
        width: case["num_beams"].as_u64().unwrap() as u32,
        length_penalty: case["length_penalty"].as_f64().unwrap() as f32,
        early_stopping: match &case["early_stopping"] {
            Value::Bool(early) => u32::from(*early),
            _ => 2,
        },
    }
}

fn config(case: &Value) -> GenerationConfig {
    let n = case["no_repeat_ngram"].as_u64().unwrap() as u32;
    let window = Window::ALL;
    let blocking = Filter::NoRepeatNgram(NoRepeatNgram { n, window });
    GenerationConfig {
        chain: ChainConfig {
            selector: Selector::BeamSearch(search(case)),
            ..ChainConfig::sampled([blocking])
        },
        seed: 0,
        limits: Limits {
            max_new_tokens: case["max_new_tokens"].as_u64().unwrap() as usize,
            stop_strings: Vec::new(),
            end_of_text: EndOfText::Stops,
        },
    }
}

/// What a session reports for a case.
struct Outcome {
    steps: Vec<Step>,
    passes: Vec<BeamPass>,
    finish: FinishReason,
}

fn run(session: &mut Session, case: &Value) -> Outcome {
    let prompt = Prompt {
        text: String::new(),
        chat: None,
        tokens: tokens(&case["prompt"]),
    };
    session.generate(prompt, [(ID, config(case))], Instant::now());
    let (mut steps, mut passes, mut finish) = (Vec::new(), Vec::new(), None);
    while session.is_busy() {
        let mut progress = Vec::new();
        session.advance(&mut progress);
        for progress in progress {
            match progress {
                Progress::Stepped { step, .. } => steps.push(*step),
                Progress::Compared { pass, .. } => passes.push(pass),
                Progress::Finished { reason, .. } => finish = Some(reason),
                _ => {}
            }
        }
    }
    let finish = finish.unwrap();
    Outcome {
        steps,
        passes,
        finish,
    }
}

/// Returns a session with the model and the end tokens of a case.
fn session(case: &Value) -> Session {
    let fixture = Fixture::open(case["fixture"].as_str().unwrap(), Form::Newer);
    let mut model = fixture.model.into_inner();
    model.end_tokens = tokens(&case["end_tokens"]);
    Session::new(model)
}

#[test]
fn texts_and_scores_match_transformers() {
    let file: Value = serde_json::from_slice(include_bytes!("beams.json")).unwrap();
    let cases = file["cases"].as_array().unwrap();
    let mut finishes: BTreeMap<String, usize> = BTreeMap::new();
    for case in cases {
        let outcome = run(&mut session(case), case);
        let written: Vec<TokenId> = outcome.steps.iter().map(|step| step.token).collect();
        assert_eq!(written, tokens(&case["tokens"]), "{case}");
        let log_prob: f64 = outcome.steps.iter().map(|s| s.trace.draw.prob.ln()).sum();
        let score = search(case).score(log_prob, written.len());
        let expected = case["score"].as_f64().unwrap();
        let error = (score - expected).abs() / expected.abs().max(1.0);
        assert!(error < 1e-4, "{score}, not {expected}: {case}");
        *finishes.entry(format!("{:?}", outcome.finish)).or_default() += 1;
    }
    assert_eq!(cases.len(), 144);
    assert!(
        finishes.len() == 2 && finishes.values().all(|n| *n > 20),
        "{finishes:?}"
    );
}

#[test]
fn the_recorded_beams_lead_to_the_text() {
    let file: Value = serde_json::from_slice(include_bytes!("beams.json")).unwrap();
    for case in file["cases"].as_array().unwrap().iter().step_by(7) {
        let outcome = run(&mut session(case), case);
        let written: Vec<TokenId> = outcome.steps.iter().map(|step| step.token).collect();
        let beams = Beams {
            n_before: 0,
            passes: outcome.passes,
        };
        let path = beams.path_of(&written);
        assert_eq!(path.len(), written.len(), "{case}");
        let nodes: Vec<_> = path.iter().map(|at| beams.node(*at).unwrap()).collect();
        assert_eq!(nodes.last().unwrap().fate, Fate::Ended, "{case}");
        let mut total = 0.0;
        for (node, step) in nodes.iter().zip(&outcome.steps) {
            total += step.trace.draw.prob.ln();
            assert!((node.log_prob - total).abs() < 1e-9, "{case}");
            assert!(step.trace.draw.is_by_beams());
        }
        for pass in &beams.passes {
            assert!(pass.running().count() <= search(case).n_beams(), "{case}");
            let totals = pass.nodes.iter().map(|node| node.log_prob);
            assert!(totals.rev().is_sorted(), "{case}");
        }
    }
}

#[test]
fn a_search_beside_other_panes_writes_the_same_text_as_alone() {
    let file: Value = serde_json::from_slice(include_bytes!("beams.json")).unwrap();
    let case = &file["cases"][20];
    let alone = run(&mut session(case), case);
    let mut session = session(case);
    let prompt = Prompt {
        text: String::new(),
        chat: None,
        tokens: tokens(&case["prompt"]),
    };
    let sampled = GenerationConfig {
        chain: ChainConfig::sampled([]),
        ..config(case)
    };
    let panes = [1, 2].map(|id| (GenerationId(id), sampled.clone()));
    session.generate(prompt, panes, Instant::now());
    session.advance(&mut Vec::new());
    let together = run(&mut session, case);
    let of_case = |outcome: &Outcome| -> Vec<(TokenId, f64)> {
        let drawn = outcome.steps.iter().map(|step| &step.trace.draw);
        let beams = drawn.filter(|draw| draw.is_by_beams());
        beams.map(|draw| (draw.token, draw.prob)).collect()
    };
    assert_eq!(of_case(&together), of_case(&alone));
    assert_eq!(of_case(&alone).len(), alone.steps.len());
}

#[test]
fn a_stopped_search_keeps_its_best_text() {
    let file: Value = serde_json::from_slice(include_bytes!("beams.json")).unwrap();
    let case = &file["cases"][20];
    let mut session = session(case);
    let prompt = Prompt {
        text: String::new(),
        chat: None,
        tokens: tokens(&case["prompt"]),
    };
    session.generate(prompt, [(ID, config(case))], Instant::now());
    let mut progress = Vec::new();
    let n_passes = 6;
    while progress
        .iter()
        .filter(|p| matches!(p, Progress::Compared { .. }))
        .count()
        < n_passes
    {
        session.advance(&mut progress);
    }
    assert!(session.stop(ID, &mut progress));
    let steps = progress.iter();
    let n_steps = steps.filter(|p| matches!(p, Progress::Stepped { .. }));
    assert_eq!(n_steps.count(), n_passes);
    assert!(!session.is_busy());
}
