//! Compares the probability of exactly a right answer with the sum that transformers' own
//! probabilities give. `make_exact_answers.py` generated the expected shares.

use std::sync::Arc;

use quartet::engine::{JobUpdate, LoadedModel, Session};
use quartet::generation::{
    EndOfText, GenerationId, Limits, PaneSettings, Piece, PromptText, Vocabulary,
};
use quartet::kernels::InputBits;
use quartet::lab::prompts::{ExactFound, TaskNews, TaskText, TaskUpdate, TasksPlan};
use serde_json::Value;

use crate::architectures::fixture::{Fixture, Form};
use crate::architectures::guidance::tokens;

/// How far a share may be from the expected one, as a part of it. Summation order moves a logit by up
/// to 1e-5 here. With all others moving the other way, a token at T 0.4 is then likelier by
/// 2 · 1e-5 / 0.4, and a text of six tokens by 6 times that: 3e-4.
const TOLERANCE: f64 = 3e-4;

/// What an exact share may leave out.
const LEFT_OUT: f64 = 1e-6;

fn cases() -> Value {
    serde_json::from_slice(include_bytes!("exact_answers.json")).unwrap()
}

fn strings(list: &Value) -> Vec<String> {
    let strings = list.as_array().unwrap().iter();
    strings
        .map(|text| text.as_str().unwrap().to_owned())
        .collect()
}

/// The pieces of a vocabulary, in which a character stands for a byte. Tokens 1 and 2 are special.
fn vocabulary(pieces: &Value) -> Vocabulary {
    let pieces = strings(pieces).into_iter().enumerate();
    let pieces = pieces.map(|(index, piece)| match index {
        1 | 2 => Piece::special(&piece),
        _ => Piece::text(piece.chars().map(|c| c as u8).collect::<Vec<u8>>()),
    });
    Vocabulary::new(pieces.collect())
}

fn model(case: &Value, vocabularies: &Value) -> LoadedModel {
    let name = case["fixture"].as_str().unwrap();
    let fixture = Fixture::open_with(name, Form::Newer, InputBits::TwentyFour);
    let mut model = fixture.model.into_inner();
    model.end_tokens = tokens(&case["end_tokens"]);
    let own = vocabulary(&vocabularies[case["vocabulary"].as_str().unwrap()]);
    if case["vocabulary"] == "words" {
        assert_eq!(*model.vocabulary, own);
    }
    model.vocabulary = Arc::new(own);
    model
}

fn plan(case: &Value) -> TasksPlan {
    let settings: PaneSettings = case["pane"].as_str().unwrap().parse().unwrap();
    let ignores_end_tokens = case["ignores_end_tokens"] == true;
    TasksPlan {
        tasks: vec![TaskText {
            prompt: PromptText::raw(case["prompt"].as_str().unwrap()),
            right: strings(&case["right"]),
        }]
        .into(),
        drawn: Vec::new(),
        elsewhere: Vec::new(),
        part: 0,
        n_answers: 0,
        exact: vec![settings.chain],
        seed: 0,
        limits: Limits {
            max_new_tokens: case["max_new_tokens"].as_u64().unwrap() as usize,
            stop_strings: strings(&case["stops"]),
            end_of_text: if ignores_end_tokens {
                EndOfText::Ignored
            } else {
                EndOfText::Stops
            },
        },
    }
}

fn run(session: &mut Session, plan: &TasksPlan) -> ExactFound {
    session.run_job(GenerationId(1), plan, None).unwrap();
    let mut found = None;
    while session.has_jobs() {
        match session.advance_job() {
            Some((_, JobUpdate::Reported(report))) => {
                let update: TaskUpdate = report.take().unwrap();
                if let TaskNews::Exact(exact) = update.news {
                    found = Some(exact);
                }
            }
            Some((_, JobUpdate::Failed { error })) => panic!("{error}"),
            Some(_) | None => {}
        }
    }
    found.unwrap()
}

/// Returns how far the share of a case is from the expected one, as a part of it, or what is wrong.
fn deviation(case: &Value, vocabularies: &Value) -> Result<f64, String> {
    let mut session = Session::new(model(case, vocabularies));
    let found = run(&mut session, &plan(case));
    let share = found.shares[0].ok_or_else(|| format!("{:?}", found.refusal))?;
    let expected = case["share"].as_f64().unwrap();
    let error = (share.at_least - expected).abs();
    if !share.is_exact() || error > LEFT_OUT + TOLERANCE * expected {
        return Err(format!("{share:?}, not {expected}: {case}"));
    }
    Ok((error - LEFT_OUT).max(0.0) / expected.max(f64::MIN_POSITIVE))
}

#[test]
fn exact_answers_are_as_likely_as_in_transformers() {
    let file = cases();
    let cases = file["cases"].as_array().unwrap();
    let mut largest = 0.0_f64;
    let mut faults = Vec::new();
    for case in cases {
        match deviation(case, &file["vocabularies"]) {
            Ok(deviation) => largest = largest.max(deviation),
            Err(fault) => faults.push(fault),
        }
    }
    assert!(faults.is_empty(), "{largest:.1e}, and {faults:#?}");
    println!("largest deviation beyond {LEFT_OUT}: {largest:.1e}");
}

#[test]
fn the_cases_say_something() {
    let file = cases();
    let cases = file["cases"].as_array().unwrap();
    let count = |holds: &dyn Fn(&Value) -> bool| cases.iter().filter(|case| holds(case)).count();
    let share = |case: &Value| case["share"].as_f64().unwrap();
    assert!(cases.len() >= 40);
    assert!(count(&|case| (0.01..0.9).contains(&share(case))) >= 30);
    assert!(count(&|case| case["n_sequences"].as_u64().unwrap() > 2) >= 20);
    assert!(count(&|case| case["stops"].as_array().unwrap().is_empty()) >= 4);
    assert!(count(&|case| case["ignores_end_tokens"] == true) >= 4);
    let extends = |case: &Value| {
        let right = strings(&case["right"]);
        let is_begun = |text: &String| {
            let mut others = right
                .iter()
                .filter(|other| *other != text && !other.is_empty());
            others.any(|other| text.starts_with(other.as_str()))
        };
        right.iter().any(is_begun)
    };
    assert!(count(&extends) >= 10);
}
