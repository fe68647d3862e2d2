//! Compares the perplexity of a scored text with that of transformers on the same tokens.

use std::time::Instant;

use quartet::decoding::{ChainConfig, TokenId};
use quartet::engine::{Progress, Prompt, Session};
use quartet::generation::{FinishReason, GenerationConfig, GenerationId, Limits, Step};

use crate::architectures::fixture::{Fixture, Form};

/// The perplexity as transformers users compute it: `exp` of the mean cross-entropy of each token
/// but the first, from the logits that transformers returned for the text.
fn expected(fixture: &Fixture) -> f64 {
    let targets = fixture.tokens.iter().skip(1);
    let losses = fixture
        .logits()
        .iter()
        .zip(targets)
        .map(|(logits, target)| {
            let logits: Vec<f64> = logits.iter().map(|logit| f64::from(*logit)).collect();
            let highest = logits.iter().copied().fold(f64::MIN, f64::max);
            let sum: f64 = logits.iter().map(|logit| (logit - highest).exp()).sum();
            highest + sum.ln() - logits[*target as usize]
        });
    let losses: Vec<f64> = losses.collect();
    (losses.iter().sum::<f64>() / losses.len() as f64).exp()
}

fn score(fixture: Fixture) -> Vec<Step> {
    let tokens = fixture.tokens.iter().copied().map(TokenId).collect();
    let mut session = Session::new(fixture.model.into_inner());
    let text = Prompt {
        text: String::new(),
        chat: None,
        tokens,
    };
    let config = GenerationConfig {
        chain: ChainConfig::greedy(),
        seed: 0,
        limits: Limits::default(),
    };
    session.score(text, [(GenerationId(0), config)], Instant::now());
    let mut progress = Vec::new();
    while session.is_busy() {
        session.advance(&mut progress);
    }
    let reason = FinishReason::Scored;
    let id = GenerationId(0);
    assert_eq!(progress.pop(), Some(Progress::Finished { id, reason }));
    let steps = progress.into_iter().filter_map(|progress| match progress {
        Progress::Stepped { step, .. } => Some(*step),
        _ => None,
    });
    steps.collect()
}

#[test]
fn a_scored_text_has_the_same_perplexity_as_in_transformers() {
    for name in ["llama", "gpt2", "gemma2", "qwen3", "mixtral"] {
        let fixture = Fixture::open(name, Form::Newer);
        let (expected, n_tokens) = (expected(&fixture), fixture.tokens.len());
        let steps = score(fixture);
        assert_eq!(steps.len(), n_tokens - 1, "{name}");
        let nats: f64 = steps.iter().map(|step| -step.trace.raw_prob.ln()).sum();
        let perplexity = (nats / steps.len() as f64).exp();
        assert!(
            (perplexity - expected).abs() < 1e-3,
            "{name}: {perplexity}, not {expected}"
        );
    }
}
