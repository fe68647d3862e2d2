//! Compares beam search with that of transformers, token by token. `make_beams.py` generated the
//! expected texts.

use std::collections::BTreeMap;
use std::time::Instant;

use quartet::decoding::dialect::Dialect;
use quartet::decoding::filters::{
    LogitBias, NoRepeatNgram, RepetitionPenalty, Temperature, TokenBias, TopK, Window,
};
use quartet::decoding::rules::{BeamScores, Rules};
use quartet::decoding::selector::{BeamSearch, Fate};
use quartet::decoding::{ChainConfig, Filter, Selector, TokenId};
use quartet::engine::{Progress, Prompt, Session};
use quartet::generation::{
    BeamPass, Beams, EndOfText, FinishReason, GenerationConfig, GenerationId, Limits, Step,
};
use serde_json::Value;

use crate::architectures::fixture::{Fixture, Form};

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

/// The tokens that a case adds a number to, and those that it bans.
fn bias(case: &Value) -> LogitBias {
    let pairs = case["sequence_bias"].as_array();
    let biases = pairs.into_iter().flatten().map(|pair| TokenBias {
        token: TokenId(pair[0][0].as_u64().unwrap() as u32),
        bias: pair[1].as_f64().unwrap() as f32,
    });
    LogitBias {
        biases: biases.collect(),
        banned: case.get("suppress_tokens").map_or(Vec::new(), tokens),
    }
}

/// The chain of a case, in the order of `_get_logits_processor`.
fn chain(case: &Value) -> ChainConfig {
    let window = Window::ALL;
    let number = |name: &str, unset: f32| case[name].as_f64().map_or(unset, |n| n as f32);
    let count = |name: &str| case[name].as_u64().unwrap_or(0) as u32;
    let beam_scores = match case["renormalize"] {
        Value::Bool(true) => BeamScores::Renormalized,
        _ => BeamScores::LogProbs,
    };
    let filters = [
        Filter::LogitBias(bias(case)),
        Filter::RepetitionPenalty(RepetitionPenalty {
            penalty: number("repetition_penalty", 1.0),
            window,
        }),
        Filter::NoRepeatNgram(NoRepeatNgram {
            n: count("no_repeat_ngram_size"),
            window,
        }),
        Filter::Temperature(Temperature {
            temperature: number("temperature", 1.0),
        }),
        Filter::TopK(TopK { k: count("top_k") }),
    ];
    ChainConfig {
        selector: Selector::BeamSearch(search(case)),
        dialect: Some(Dialect::Transformers),
        rules: Rules {
            beam_scores,
            ..Dialect::Transformers.rules()
        },
        ..ChainConfig::sampled(filters)
    }
}

fn config(case: &Value) -> GenerationConfig {
    GenerationConfig {
        chain: chain(case),
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

/// The total of a text, as its last node reports it.
fn total_of(outcome: &Outcome, written: &[TokenId]) -> f64 {
    let beams = Beams {
        n_before: 0,
        passes: outcome.passes.clone(),
    };
    let path = beams.path_of(written);
    beams.node(*path.last().unwrap()).unwrap().log_prob
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
        let log_prob = total_of(&outcome, &written);
        let score = search(case).score(log_prob, written.len());
        let expected = case["score"].as_f64().unwrap();
        let error = (score - expected).abs() / expected.abs().max(1.0);
        assert!(error < 1e-4, "{score}, not {expected}: {case}");
        *finishes.entry(format!("{:?}", outcome.finish)).or_default() += 1;
    }
    assert_eq!(cases.len(), 240);
    assert!(
        finishes.len() == 2 && finishes.values().all(|n| *n > 20),
        "{finishes:?}"
    );
}

#[test]
fn the_recorded_beams_lead_to_the_text() {
    let file: Value = serde_json::from_slice(include_bytes!("beams.json")).unwrap();
    let mut n_normalized = 0;
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
        // Only normalized scores are those of the recorded draws.
        let is_normalized = case["renormalize"] == true;
        n_normalized += u32::from(is_normalized);
        let mut total = 0.0;
        for (node, step) in nodes.iter().zip(&outcome.steps) {
            total += step.trace.draw.prob.ln();
            assert!(
                !is_normalized || (node.log_prob - total).abs() < 1e-9,
                "{case}"
            );
            assert!(step.trace.draw.is_by_beams());
        }
        for pass in &beams.passes {
            assert!(pass.running().count() <= search(case).n_beams(), "{case}");
            let totals = pass.nodes.iter().map(|node| node.log_prob);
            assert!(totals.rev().is_sorted(), "{case}");
        }
    }
    assert!(n_normalized > 0);
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
