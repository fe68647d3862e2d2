//! Measures a decode step with a large vocabulary and full recording. Run it with
//! `cargo bench --bench chain`.
#![allow(
    missing_docs,
    reason = "criterion's macros generate functions without docs"
)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use quartet::decoding::{ChainConfig, Coins, History, LogitsHash, SamplerChain, TokenId, what_if};
use quartet::generation::PaneSettings;

/// The vocabulary size of the Qwen family.
const N_VOCAB: usize = 151_936;

/// The vocabulary size of the built-in model.
const N_VOCAB_BUILT_IN: usize = 6_144;

/// Commonly used chains, in the `--pane` grammar.
const CHAINS: [(&str, &str); 16] = [
    ("greedy", "greedy"),
    ("pure sampling", "sample"),
    ("top-k 40", "top-k 40"),
    ("T 0.7, top-p 0.9", "temp 0.7, top-p 0.9"),
    ("T 1.5, top-p 0.95", "temp 1.5, top-p 0.95"),
    (
        "llama.cpp",
        "repeat 1, frequency 0, presence 0, dry 0, top-nσ 0, top-k 40, typical-p 1, top-p 0.95, \
         min-p 0.05, xtc 0, temp 0.8",
    ),
    (
        "llama.cpp, all on",
        "repeat 1.1, frequency 0.1, presence 0.1, dry 0.8, top-nσ 2, top-k 40, typical-p 0.95, \
         top-p 0.95, min-p 0.05, xtc 0.5, temp 0.8",
    ),
    (
        "transformers",
        "repeat 1.1 last all, temp 0.7, top-k 50, top-p 0.9",
    ),
    (
        "vLLM",
        "repeat 1.1 last all, presence 0.5 generated only, temp 0.7, min-p 0.05, top-p 0.9",
    ),
    ("min-p, temperature last", "min-p 0.05, temp 1.5"),
    ("typical-p", "typical-p 0.9"),
    ("T 1.5, typical-p 0.95", "temp 1.5, typical-p 0.95"),
    ("top-nσ, T 1.5", "top-nσ 1, temp 1.5"),
    ("mirostat", "mirostat 5 eta 0.1"),
    ("gumbel", "gumbel"),
    ("gumbel after top-p", "top-p 0.9, gumbel"),
];

/// Returns logits shaped like a language model's: a bell curve around 0, and a few far above.
fn logits(n_vocab: usize) -> Vec<f32> {
    let mut state = 1_u32;
    let mut uniform = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0
    };
    let mut logits: Vec<f32> = (0..n_vocab)
        .map(|_| (0..4).map(|_| uniform()).sum::<f32>() * 3.0 - 6.0)
        .collect();
    for rank in 0..200_usize {
        let token = rank * 7919 % n_vocab;
        if let Some(logit) = logits.get_mut(token) {
            *logit = 20.0 - 2.5 * (rank as f32 + 1.0).ln();
        }
    }
    logits
}

fn chains(criterion: &mut Criterion) {
    chains_over(criterion, "a step", N_VOCAB);
    chains_over(criterion, "a step of the built-in model", N_VOCAB_BUILT_IN);
}

fn chains_over(criterion: &mut Criterion, name: &str, n_vocab: usize) {
    let logits = logits(n_vocab);
    let history: Vec<TokenId> = (0..2000_u32).map(|i| TokenId(i * i % 5000)).collect();
    let mut group = criterion.benchmark_group(name);
    for (name, words) in CHAINS {
        let Ok(settings) = words.parse::<PaneSettings>() else {
            panic!("{words}");
        };
        let mut chain = SamplerChain::new(settings.chain);
        let mut position = 0;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                position += 1;
                let coins = Coins { seed: 7, position };
                chain.sample(black_box(&logits), History::new(&history, 500), coins)
            });
        });
    }
    group.finish();
}

/// How many bytes a step may use to record more than the head of its distribution.
const RECORDS: [(&str, usize); 3] = [
    ("the head", 0),
    ("a summary", 80_000),
    ("the whole distribution", 800_000),
];

/// Measures how much time a step needs to record more than the head of its distribution.
fn recording(criterion: &mut Criterion) {
    let logits = logits(N_VOCAB);
    let mut group = criterion.benchmark_group("a step that records");
    for (name, n_bytes) in RECORDS {
        let mut chain = SamplerChain::new(ChainConfig::sampled([])).with_detail(n_bytes);
        let mut position = 0;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                position += 1;
                let coins = Coins { seed: 7, position };
                chain.sample(black_box(&logits), History::empty(), coins)
            });
        });
    }
    group.finish();
}

/// Measures the hash of a whole row of logits, which every step records.
fn hashing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("the hash of a row");
    for (name, n_vocab) in [("Qwen", N_VOCAB), ("built-in", N_VOCAB_BUILT_IN)] {
        let logits = logits(n_vocab);
        group.bench_function(name, |bencher| {
            bencher.iter(|| LogitsHash::of(black_box(&logits)));
        });
    }
    group.finish();
}

/// The settings of the what-ifs, in the `--pane` grammar.
const WHAT_IFS: [(&str, &str); 3] = [
    ("usual", "repeat 1.1, temp 0.7, top-k 30, top-p 0.9"),
    ("a penalty on the whole text", "repeat 1.1 last all"),
    (
        "every filter that looks back",
        "repeat 1.1 last all, no-repeat 3 last all, dry 0.8 last all, temp 0.7",
    ),
];

/// Measures what-if on a text of a thousand steps, as dragging a slider triggers it.
fn what_if_a_thousand_steps(criterion: &mut Criterion) {
    let logits = logits(N_VOCAB);
    let history: Vec<TokenId> = (0..1500_u32).map(|i| TokenId(i * i % 5000)).collect();
    let Ok(recorded) = "sample".parse::<PaneSettings>() else {
        panic!("invalid settings");
    };
    let mut chain = SamplerChain::new(recorded.chain);
    let coins = |position| Coins { seed: 7, position };
    let Ok(sampled) = chain.sample(&logits, History::new(&history, 500), coins(0)) else {
        panic!("no token can be sampled from the row");
    };
    let evidence = sampled.trace.raw;
    let mut group = criterion.benchmark_group("what if, 1,000 steps");
    for (name, words) in WHAT_IFS {
        let Ok(asked) = words.parse::<PaneSettings>() else {
            panic!("{words}");
        };
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                (500..1500)
                    .filter_map(|position| {
                        let written = history.get(..position)?;
                        let history = History::new(written, 500);
                        let coins = coins(position as u64);
                        what_if(black_box(&evidence), &asked.chain, history, coins)
                    })
                    .count()
            });
        });
    }
    group.finish();
}

criterion_group!(
    benches,
    chains,
    recording,
    hashing,
    what_if_a_thousand_steps
);
criterion_main!(benches);
