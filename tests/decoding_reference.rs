//! Compares our chain with transformers, vLLM and the definitions in papers on random logits, and
//! with candle's sampler.
//!
//! `golden/make_hf_fixtures.py` generated the expected values and explains how; their file names
//! the versions.

use std::collections::BTreeMap;

use candle_core::{Device, Tensor};
use candle_transformers::generation::{LogitsProcessor, Sampling};
use quartet::decoding::dialect::Dialect;
use quartet::decoding::{ChainConfig, Coins, DecodingError, History, Rules, SamplerChain, TokenId};
use quartet::generation::PaneSettings;
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    engine: String,
    title: String,
    n_formula: Option<u32>,
    logits: Option<Vec<Option<f32>>>,
    history: Vec<u32>,
    n_prompt: usize,
    stages: String,
    kept: Option<BTreeMap<u32, f64>>,
    large: Option<Large>,
}

#[derive(Deserialize)]
struct Large {
    n_kept: usize,
    head: BTreeMap<u32, f64>,
}

impl Case {
    fn logits(&self) -> Vec<f32> {
        match (&self.logits, self.n_formula) {
            (Some(logits), _) => logits
                .iter()
                .map(|logit| logit.unwrap_or(f32::NEG_INFINITY))
                .collect(),
            (None, n) => formula(n.unwrap_or(0)),
        }
    }

    fn chain(&self) -> ChainConfig {
        let mut chain = self.stages.parse::<PaneSettings>().unwrap().chain;
        chain.rules = match self.engine.as_str() {
            "transformers" => Dialect::Transformers.rules(),
            "vllm" => Dialect::Vllm.rules(),
            _ => Rules::default(),
        };
        chain
    }
}

/// Returns logits that any language computes exactly.
fn formula(n: u32) -> Vec<f32> {
    (0..n)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 1_048_576.0 - 8.0)
        .collect()
}

#[test]
fn the_reference_implementations_keep_the_same_tokens() {
    let text = include_str!("golden/decoding_reference.json");
    let file: File = serde_json::from_str(text).unwrap();
    assert!(file.cases.len() > 100);
    for case in file.cases {
        let name = format!("{}, {}: {}", case.engine, case.title, case.stages);
        let history: Vec<TokenId> = case.history.iter().copied().map(TokenId).collect();
        let history = History::new(&history, case.n_prompt);
        let kept = SamplerChain::new(case.chain())
            .distribution(
                &case.logits(),
                history,
                Coins {
                    seed: 0,
                    position: 0,
                },
            )
            .unwrap();
        let kept: BTreeMap<u32, f64> = kept
            .iter()
            .filter(|candidate| candidate.prob > 0.0)
            .map(|candidate| (candidate.token.0, candidate.prob))
            .collect();
        let expected = match (&case.kept, &case.large) {
            (Some(expected), _) => {
                assert!(
                    kept.keys().eq(expected.keys()),
                    "{name}: {kept:?}, not {expected:?}"
                );
                expected
            }
            (None, Some(large)) => {
                assert_eq!(kept.len(), large.n_kept, "{name}");
                &large.head
            }
            (None, None) => panic!("{name} has no expected values"),
        };
        for (id, prob) in expected {
            assert!((kept[id] - prob).abs() < 1e-5, "{name}: token {id}");
        }
    }
}

/// candle samples from its own distribution. Over many draws, each token must appear as often as
/// our chain predicts under candle's rules.
#[test]
fn candle_samples_as_our_chain_predicts() -> Result<(), DecodingError> {
    let logits: Vec<f32> = (0..24_u32).map(|i| (i * 7 % 24) as f32 * 0.25).collect();
    let tensor = Tensor::new(logits.as_slice(), &Device::Cpu).unwrap();
    let temperature = 0.7;
    for (words, sampling) in [
        ("temp 0.7", Sampling::All { temperature }),
        ("temp 0.7, top-k 5", Sampling::TopK { k: 5, temperature }),
        (
            "temp 0.7, top-p 0.8",
            Sampling::TopP {
                p: 0.8,
                temperature,
            },
        ),
        (
            "temp 0.7, top-k 5, top-p 0.7",
            Sampling::TopKThenTopP {
                k: 5,
                p: 0.7,
                temperature,
            },
        ),
        (
            "temp 0.7, top-k 5, top-p 0.95",
            Sampling::TopKThenTopP {
                k: 5,
                p: 0.95,
                temperature,
            },
        ),
        ("temp 0", Sampling::ArgMax),
    ] {
        let mut config = words.parse::<PaneSettings>().unwrap().chain;
        config.rules = Dialect::Candle.rules();
        let expected = SamplerChain::new(config).distribution(
            &logits,
            History::empty(),
            Coins {
                seed: 0,
                position: 0,
            },
        )?;
        let mut processor = LogitsProcessor::from_sampling(3, sampling);
        let n = 20_000;
        let mut counts = vec![0_u32; logits.len()];
        for _ in 0..n {
            counts[processor.sample(&tensor).unwrap() as usize] += 1;
        }
        for candidate in &expected {
            let count = f64::from(counts[candidate.token.index()]);
            let mean = candidate.prob * f64::from(n);
            let deviation = (mean * (1.0 - candidate.prob)).sqrt().max(1.0);
            assert!(
                (count - mean).abs() < 5.0 * deviation,
                "{words}: {candidate:?} appeared {count} times"
            );
            counts[candidate.token.index()] = 0;
        }
        assert_eq!(
            counts.iter().sum::<u32>(),
            0,
            "{words}: candle sampled a dropped token"
        );
    }
    Ok(())
}
