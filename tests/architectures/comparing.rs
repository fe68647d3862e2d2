//! Compares two models on the same tokens, and checks the divergences against those computed from
//! transformers' logits.

use quartet::decoding::filters::TopP;
use quartet::decoding::{ChainConfig, Filter, TokenId};
use quartet::engine::Prompt;
use quartet::generation::{GenerationConfig, Limits};
use quartet::lab::models::{ComparedToken, DistributionGap, ModelComparison, PredictedToken};

use crate::architectures::fixture::{Fixture, Form};

type Pair = (Box<[PredictedToken; 2]>, DistributionGap);

fn prompt(tokens: &[u32]) -> Prompt {
    Prompt {
        text: String::new(),
        chat: None,
        tokens: tokens.iter().copied().map(TokenId).collect(),
    }
}

fn settings() -> Vec<GenerationConfig> {
    let sampled = ChainConfig::sampled([Filter::TopP(TopP { p: 0.9 })]);
    let config = |chain| GenerationConfig {
        chain,
        seed: 7,
        limits: Limits::default(),
    };
    [ChainConfig::greedy(), sampled].map(config).to_vec()
}

/// Runs both models over these tokens to the end.
fn compare(a: &Fixture, b: &Fixture, tokens: &[u32]) -> Vec<Pair> {
    let (mut a, mut b) = (a.model.borrow_mut(), b.model.borrow_mut());
    let texts = [prompt(tokens), prompt(tokens)];
    let mut comparison = ModelComparison::new(texts, settings(), [&a, &b]).unwrap();
    assert_eq!(comparison.facts().n_tokens, [tokens.len() - 1; 2]);
    assert!(comparison.facts().has_same_tokens);
    let mut pairs = Vec::new();
    while !comparison.is_done() {
        for token in comparison.advance([&mut a, &mut b]).unwrap() {
            match token {
                ComparedToken::Both { predicted, gap } => pairs.push((predicted, gap)),
                ComparedToken::One { .. } => panic!("the tokens are the same"),
            }
        }
    }
    comparison.close([&mut a, &mut b]);
    assert_eq!(pairs.len(), tokens.len() - 1);
    pairs
}

fn log_softmax(logits: &[f32]) -> Vec<f64> {
    let logits: Vec<f64> = logits.iter().map(|logit| f64::from(*logit)).collect();
    let highest = logits.iter().copied().fold(f64::MIN, f64::max);
    let sum: f64 = logits.iter().map(|logit| (logit - highest).exp()).sum();
    logits
        .iter()
        .map(|logit| logit - highest - sum.ln())
        .collect()
}

/// The definition of the KL divergence, applied to transformers' logits.
fn expected_kl(a: &[f32], b: &[f32]) -> f64 {
    let (ln_p, ln_q) = (log_softmax(a), log_softmax(b));
    let terms = ln_p.iter().zip(&ln_q);
    terms.map(|(ln_p, ln_q)| ln_p.exp() * (ln_p - ln_q)).sum()
}

#[test]
fn divergences_match_those_of_transformers_logits() {
    for (name, other) in [("llama", "qwen2"), ("gpt2", "llama"), ("qwen3", "mistral")] {
        let [a, b] = [name, other].map(|name| Fixture::open(name, Form::Newer));
        assert_eq!(a.tokens, b.tokens, "the fixtures have the same text");
        let pairs = compare(&a, &b, &a.tokens);
        let logits = a.logits().iter().zip(b.logits());
        let mut largest = 0.0_f64;
        for ((predicted, gap), (of_a, of_b)) in pairs.iter().zip(logits) {
            let expected = expected_kl(of_a, of_b);
            let difference = (gap.kl - expected).abs();
            // Log-probs differ by about 1e-6, because both sides compute in f32, and a divergence
            // is a mean of differences between log-probs.
            assert!(difference < 1e-5, "{name}, {other}: {} {expected}", gap.kl);
            largest = largest.max(gap.kl);
            for (token, logits) in predicted.iter().zip([of_a, of_b]) {
                let ln_probs = log_softmax(logits);
                let ln_prob = ln_probs[token.token.index()];
                assert!((token.ln_prob - ln_prob).abs() < 1e-4);
                let n_ahead = ln_probs.iter().filter(|other| **other > ln_prob + 1e-4);
                assert!(token.rank as usize > n_ahead.count());
            }
        }
        assert!(largest > 0.001, "the models differ");
    }
}

#[test]
fn a_model_does_not_differ_from_itself() {
    for name in ["llama", "gemma2"] {
        let [a, b] = [name; 2].map(|name| Fixture::open(name, Form::Newer));
        for (predicted, gap) in compare(&a, &b, &a.tokens) {
            assert_eq!((gap.kl, gap.noise), (0.0, 0.0));
            assert_eq!(predicted[0], predicted[1]);
            assert!(gap.choices.iter().all(|[own, other]| own == other));
        }
    }
}

#[test]
fn both_models_choose_by_the_settings_with_the_same_coin() {
    let [a, b] = ["llama", "qwen2"].map(|name| Fixture::open(name, Form::Newer));
    let pairs = compare(&a, &b, &a.tokens);
    for (predicted, gap) in &pairs {
        let [greedy, sampled] = gap.choices.as_slice() else {
            panic!("one choice for each of the settings");
        };
        assert_eq!(*greedy, [predicted[0].top, predicted[1].top]);
        assert_eq!(sampled.len(), 2);
    }
    let differ = |index: usize| {
        pairs
            .iter()
            .filter(|(_, gap)| gap.choices[index][0] != gap.choices[index][1])
            .count()
    };
    assert!(differ(0) > 0 && differ(1) > 0);
}
