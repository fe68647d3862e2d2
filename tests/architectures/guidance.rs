//! Compares guidance by a second prompt with that of transformers, token by token and log-prob by
//! log-prob. `make_guidance.py` generated the expected texts.

use std::collections::BTreeMap;
use std::time::Instant;

use quartet::decoding::{Against, ChainConfig, Guidance, TokenId};
use quartet::engine::{JobUpdate, Progress, Prompt, Session};
use quartet::generation::{
    Continuation, FinishReason, GenerationConfig, GenerationId, Limits, PromptText, Step,
    SweepPlan, SweepText, SweepUpdate,
};
use serde_json::Value;

use crate::architectures::fixture::{Fixture, Form};

const ID: GenerationId = GenerationId(3);
const N_TOKENS: usize = 20;

fn cases() -> Value {
    serde_json::from_slice(include_bytes!("guidance.json")).unwrap()
}

pub(crate) fn tokens(list: &Value) -> Vec<TokenId> {
    let ids = list.as_array().unwrap().iter();
    ids.map(|id| TokenId(id.as_u64().unwrap() as u32)).collect()
}

fn prompt(case: &Value) -> Prompt {
    Prompt {
        text: String::new(),
        chat: None,
        tokens: tokens(&case["prompt"]),
    }
}

/// Returns the settings of a case. In the fixtures' vocabulary, each word is named after its id.
fn config(case: &Value) -> GenerationConfig {
    let second = tokens(&case["second"]);
    let words: Vec<String> = second.iter().map(|token| format!("w{}", token.0)).collect();
    GenerationConfig {
        chain: ChainConfig {
            guidance: Some(Guidance {
                scale: Some(case["scale"].as_f64().unwrap() as f32),
                cutoff: 0.0,
                against: Against::Prompt(words.join(" ")),
            }),
            ..ChainConfig::greedy()
        },
        seed: 0,
        limits: Limits {
            max_new_tokens: N_TOKENS,
            ..Limits::default()
        },
    }
}

/// Returns a session with a fixture's model, in which no token ends a text.
pub(crate) fn session(fixture: &str) -> Session {
    let mut model = Fixture::open(fixture, Form::Newer).model.into_inner();
    model.end_tokens = Vec::new();
    Session::new(model)
}

pub(crate) fn advance(session: &mut Session) -> Vec<(GenerationId, Step)> {
    let mut steps = Vec::new();
    while session.is_busy() {
        let mut progress = Vec::new();
        session.advance(&mut progress);
        for progress in progress {
            match progress {
                Progress::Stepped { id, step } => steps.push((id, *step)),
                Progress::Finished { reason, .. } => assert_eq!(reason, FinishReason::MaxTokens),
                _ => {}
            }
        }
    }
    steps
}

fn run(session: &mut Session, case: &Value, continuation: Continuation) -> Vec<Step> {
    let panes = [(ID, config(case), continuation)];
    session.generate_from(prompt(case), panes, Instant::now());
    advance(session).into_iter().map(|(_, step)| step).collect()
}

pub(crate) fn written(steps: &[Step]) -> Vec<TokenId> {
    steps.iter().map(|step| step.token).collect()
}

#[test]
fn tokens_and_log_probs_match_transformers() {
    let file = cases();
    let shown = tokens(&file["shown"]);
    let cases = file["cases"].as_array().unwrap();
    let mut n_compared = 0;
    for case in cases {
        let steps = run(
            &mut session(case["fixture"].as_str().unwrap()),
            case,
            Continuation::default(),
        );
        assert_eq!(written(&steps), tokens(&case["tokens"]), "{case}");
        for (step, expected) in steps.iter().zip(case["log_probs"].as_array().unwrap()) {
            let raw = &step.trace.raw;
            for (token, expected) in shown.iter().zip(expected.as_array().unwrap()) {
                let Some(ranked) = raw.head.iter().find(|ranked| ranked.token == *token) else {
                    continue;
                };
                let log_prob = f64::from(ranked.logit) - raw.log_sum_exp;
                let error = (log_prob - expected.as_f64().unwrap()).abs();
                assert!(error < 1e-4, "{log_prob}, not {expected}: {case}");
                n_compared += 1;
            }
        }
    }
    assert_eq!(cases.len(), 60);
    assert!(n_compared > 2000, "{n_compared}");
}

#[test]
fn the_recorded_rows_mix_to_the_logits_of_the_step() {
    let file = cases();
    for case in file["cases"].as_array().unwrap().iter().step_by(7) {
        let mut session = session(case["fixture"].as_str().unwrap());
        let scale = case["scale"].as_f64().unwrap();
        for step in run(&mut session, case, Continuation::default()) {
            let (raw, mixture) = (&step.trace.raw, step.trace.mixture.as_ref().unwrap());
            let (own, other) = (&mixture.own.head_probs, &mixture.other.head_probs);
            assert_eq!((own.len(), other.len()), (raw.head.len(), raw.head.len()));
            for (ranked, (own, other)) in raw.head.iter().zip(own.iter().zip(other)) {
                let [own, other] = [own, other].map(|prob| f64::from(*prob).ln());
                let expected = other + scale * (own - other);
                let logit = f64::from(ranked.logit);
                assert!(
                    (logit - expected).abs() < 1e-3,
                    "{logit}, not {expected}: {case}"
                );
            }
        }
    }
}

#[test]
fn guided_texts_are_the_same_beside_others_and_when_continued() {
    let file = cases();
    for case in file["cases"].as_array().unwrap().iter().step_by(8) {
        let expected = tokens(&case["tokens"]);
        let mut session = session(case["fixture"].as_str().unwrap());
        let kept = expected.iter().take(7).copied().collect();
        let continuation = Continuation {
            kept,
            ..Continuation::default()
        };
        let plain = GenerationConfig {
            chain: ChainConfig::greedy(),
            ..config(case)
        };
        let panes = [
            (GenerationId(1), plain, Continuation::default()),
            (GenerationId(2), config(case), Continuation::default()),
            (ID, config(case), continuation),
        ];
        session.generate_from(prompt(case), panes, Instant::now());
        let steps = advance(&mut session);
        let of = |wanted: GenerationId| {
            let own = steps.iter().filter(move |(id, _)| *id == wanted);
            own.map(|(_, step)| step.token).collect::<Vec<_>>()
        };
        assert_eq!(of(GenerationId(2)), expected, "{case}");
        assert_eq!(of(ID), expected[7..], "{case}");
    }
}

#[test]
fn a_text_ends_when_the_second_prompt_has_filled_its_context() {
    let file = cases();
    let mut session = session("llama");
    let n_context = session.model().lm.n_context();
    let n_second = n_context - 3;
    let mut case = file["cases"][0].clone();
    case["second"] = vec![9; n_second].into();
    session.generate(prompt(&case), [(ID, config(&case))], Instant::now());
    let mut progress = Vec::new();
    while session.is_busy() {
        session.advance(&mut progress);
    }
    let is_step = |progress: &&Progress| matches!(progress, Progress::Stepped { .. });
    assert_eq!(progress.iter().filter(is_step).count(), 4);
    assert!(matches!(
        progress.last(),
        Some(Progress::Finished {
            reason: FinishReason::ContextFull,
            ..
        })
    ));
}

/// Returns the probabilities of the likeliest tokens after a text, according to one model alone.
fn probs_after(session: &mut Session, text: &[TokenId]) -> BTreeMap<TokenId, f64> {
    let prompt = Prompt {
        text: String::new(),
        chat: None,
        tokens: text.to_vec(),
    };
    let config = GenerationConfig {
        chain: ChainConfig::greedy(),
        seed: 0,
        limits: Limits {
            max_new_tokens: 1,
            ..Limits::default()
        },
    };
    session.generate(prompt, [(ID, config)], Instant::now());
    let steps = advance(session);
    let raw = &steps[0].1.trace.raw;
    let prob = |logit: f32| (f64::from(logit) - raw.log_sum_exp).exp();
    let head = raw.head.iter();
    head.map(|ranked| (ranked.token, prob(ranked.logit)))
        .collect()
}

/// Contrastive decoding: each row matches its model alone, and the token is the likeliest in the
/// mixture among those that the first model finds likely enough.
#[test]
fn a_second_model_is_contrasted_with_the_first() {
    let file = cases();
    let (mut n_compared, mut n_best) = (0, 0);
    for (name, second) in [("llama", "gpt2"), ("gpt2", "qwen2")] {
        let (mut alone, mut other) = (session(name), session(second));
        for (case, cutoff) in [(0, 0.1), (1, 0.5), (2, 0.0)] {
            let case = &file["cases"][case];
            let mut both = session(name);
            let model = Fixture::open(second, Form::Newer).model.into_inner();
            both.set_second(Some(model)).unwrap();
            let mut config = config(case);
            config.chain.guidance = Some(Guidance {
                scale: Some(1.8),
                cutoff,
                against: Against::Model,
            });
            both.generate(prompt(case), [(ID, config)], Instant::now());
            let mut text = tokens(&case["prompt"]);
            for (_, step) in advance(&mut both) {
                let own = probs_after(&mut alone, &text);
                let contrast = probs_after(&mut other, &text);
                let mixture = step.trace.mixture.as_ref().unwrap();
                for (row, expected) in [(&mixture.own, &own), (&mixture.other, &contrast)] {
                    for (ranked, prob) in step.trace.raw.head.iter().zip(&row.head_probs) {
                        if let Some(expected) = expected.get(&ranked.token) {
                            assert!((f64::from(*prob) - expected).abs() < 1e-5);
                            n_compared += 1;
                        }
                    }
                }
                let largest = own.values().copied().fold(0.0, f64::max);
                let scores = own.iter().filter_map(|(token, own)| {
                    let other = contrast.get(token)?.ln();
                    let is_likely = *own >= f64::from(cutoff) * largest;
                    is_likely.then(|| (other + 1.8 * (own.ln() - other), *token))
                });
                let best = scores.max_by(|a, b| a.0.total_cmp(&b.0));
                // A record holds only the likeliest tokens of a row.
                if contrast.contains_key(&step.token) {
                    let best = best.map(|(_, token)| token);
                    assert_eq!(Some(step.token), best, "{name} against {second}");
                    n_best += 1;
                }
                text.push(step.token);
            }
            assert_eq!(text.len(), tokens(&case["prompt"]).len() + N_TOKENS);
        }
    }
    assert!(n_compared > 1000 && n_best > 20, "{n_compared} {n_best}");
}

/// Runs a sweep to the end and returns its texts.
pub(crate) fn swept(session: &mut Session, plan: &SweepPlan) -> Vec<SweepText> {
    session.run_job(ID, plan, None).unwrap();
    let mut texts = Vec::new();
    while session.has_jobs() {
        match session.advance_job() {
            Some((_, JobUpdate::Reported(report))) => {
                if let Some(SweepUpdate::Advanced { complete, .. }) = report.take() {
                    texts.extend(complete);
                }
            }
            Some((_, JobUpdate::Failed { error })) => panic!("{error}"),
            _ => {}
        }
    }
    texts
}

/// Cells with different scales share rows as long as their texts agree, alongside cells without
/// guidance.
#[test]
fn a_sweep_over_the_scale_writes_the_same_texts_as_guided_panes() {
    let guided = |scale: f32, against: &Against| ChainConfig {
        guidance: Some(Guidance {
            scale: Some(scale),
            cutoff: 0.05,
            against: against.clone(),
        }),
        ..ChainConfig::sampled([])
    };
    let limits = Limits {
        max_new_tokens: 12,
        ..Limits::default()
    };
    let prompts = ["w3 w14 w15", "w9 w2"].map(PromptText::raw);
    let second_prompt = Against::Prompt("w7 w1 w8".to_owned());
    for against in [
        second_prompt,
        Against::Prompt(String::new()),
        Against::Model,
    ] {
        let mut session = session("llama");
        let second = Fixture::open("gpt2", Form::Newer).model.into_inner();
        session.set_second(Some(second)).unwrap();
        let mut cells: Vec<ChainConfig> = [0.5, 1.0, 1.01, 3.0]
            .map(|scale| guided(scale, &against))
            .to_vec();
        cells.push(ChainConfig::sampled([]));
        let plan = SweepPlan {
            prompts: prompts.to_vec(),
            cells: cells.clone(),
            limits: limits.clone(),
            seed: 5,
            n_seeds: 3,
            width: 96,
        };
        let texts = swept(&mut session, &plan);
        assert_eq!(texts.len(), 2 * 5 * 3);
        for text in &texts {
            let config = GenerationConfig {
                chain: cells[text.cell].clone(),
                seed: 5 + text.seed as u64,
                limits: limits.clone(),
            };
            let prompt = session.prompt(prompts[text.prompt].clone()).unwrap();
            session.generate(prompt, [(ID, config)], Instant::now());
            let steps: Vec<Step> = advance(&mut session)
                .into_iter()
                .map(|(_, step)| step)
                .collect();
            assert_eq!(
                text.tokens,
                written(&steps),
                "{against:?}, cell {}",
                text.cell
            );
        }
        let all: Vec<_> = texts.iter().map(|text| &text.tokens).collect();
        assert!(all.iter().any(|tokens| *tokens != all[0]));
    }
}

#[test]
fn a_sweep_can_steer_away_from_only_one_text() {
    let mut session = session("llama");
    let guided = |text: &str| ChainConfig {
        guidance: Some(Guidance::usual(Against::Prompt(text.to_owned()))),
        ..ChainConfig::greedy()
    };
    let plan = |cells: Vec<ChainConfig>| SweepPlan {
        prompts: vec![PromptText::raw("w3")],
        cells,
        limits: Limits::default(),
        seed: 0,
        n_seeds: 1,
        width: 4,
    };
    let error = session.run_job(ID, &plan(vec![guided("w1"), guided("w2")]), None);
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("different guidance")
    );
    let mut by_model = guided("");
    by_model.guidance = Some(Guidance::usual(Against::Model));
    let error = session.run_job(ID, &plan(vec![by_model]), None);
    assert!(error.unwrap_err().to_string().contains("--draft-model"));
}
