//! How many what-ifs the 48 tokens of a run file answer, and that none of these answers is wrong.
//!
//! The built-in model writes four panes with all probabilities. Each step is asked about random
//! settings twice: with its head alone, as a run file keeps it, and with everything.
//!
//! The second test counts how many log-probabilities a server must report for the default panes.
//!
//! `QUARTET_WHAT_IFS=full cargo test --release --test engine what_if_heads -- --nocapture` asks about 50
//! settings at each of 4 × 200 tokens; without it, fewer are asked.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use quartet::analysis::WhatIfReader;
use quartet::decoding::{
    Candidate, ChainConfig, Coins, Detail, History, SamplerChain, ServedHead, TokenId, WhatIf,
};
use quartet::engine::{Compute, Progress, Session, open_embedded};
use quartet::generation::{
    EndOfText, GenerationConfig, GenerationId, Limits, PaneSettings, PromptRecord, Step,
};

/// The settings that write the texts.
const PANES: [&str; 4] = ["greedy", "sample", "top-k 40", "temp 0.7, top-p 0.9"];

/// A kind of settings, and how a random number makes one of it.
type Kind = (&'static str, fn(f64) -> String);

/// What kinds of settings are asked about; `$` is a random number from 0 to 1.
const KINDS: [Kind; 12] = [
    ("T below 1", |x| format!("temp {:.3}", 0.2 + 0.8 * x)),
    ("T above 1", |x| format!("temp {:.3}", 1.0 + x)),
    ("top-p", |x| format!("top-p {:.3}", 0.1 + 0.89 * x)),
    ("T below 1, top-p", |x| {
        format!("temp {:.3}, top-p {:.3}", 0.3 + 0.7 * x, 0.99 - 0.5 * x)
    }),
    ("T above 1, top-p", |x| {
        format!("temp {:.3}, top-p {:.3}", 1.0 + 0.5 * x, 0.5 + 0.45 * x)
    }),
    ("top-k", |x| {
        format!("top-k {:.0}", 1.0 + (100.0 * x).floor())
    }),
    ("min-p, T above 1", |x| {
        format!("min-p {:.3}, temp 1.3", 0.005 + 0.2 * x)
    }),
    ("top-p, T above 1", |x| {
        format!("top-p {:.3}, temp 1.3", 0.5 + 0.45 * x)
    }),
    ("cutoffs", |x| {
        let name = if x < 0.5 { "epsilon" } else { "eta" };
        format!("{name} {:.4}", 0.0005 + 0.02 * x)
    }),
    ("typical-p", |x| {
        format!("temp 0.8, typical-p {:.3}", 0.2 + 0.75 * x)
    }),
    ("XTC", |x| {
        format!("temp 0.9, xtc 0.5 threshold {:.3}", 0.02 + 0.3 * x)
    }),
    ("penalty", |x| {
        format!("repeat {:.3} last all, temp 0.8, top-p 0.9", 1.0 + 0.4 * x)
    }),
];

/// The texts, with all probabilities of every step.
fn texts(n_tokens: usize) -> (PromptRecord, Vec<Vec<Step>>) {
    let keep_going = &mut |_| ControlFlow::Continue(());
    let opened = open_embedded(&Compute::on_cpu(), keep_going);
    let mut session = Session::new(opened.unwrap().unwrap());
    session.set_detail(1 << 20);
    let configs = PANES.iter().map(|pane| GenerationConfig {
        chain: pane.parse::<PaneSettings>().unwrap().chain,
        seed: 42,
        limits: Limits {
            max_new_tokens: n_tokens,
            end_of_text: EndOfText::Ignored,
            ..Limits::default()
        },
    });
    let panes: Vec<_> = (0..).map(GenerationId).zip(configs).collect();
    let read = session.prompt("Once upon a time".to_owned()).unwrap();
    session.generate(read, panes, Instant::now());
    let (mut prompt, mut steps) = (PromptRecord::default(), BTreeMap::<u64, Vec<Step>>::new());
    while session.is_busy() {
        let mut reported = Vec::new();
        session.advance(&mut reported);
        for progress in reported {
            match progress {
                Progress::Started { prompt: read, .. } => prompt = PromptRecord::clone(&read),
                Progress::Stepped { id, step } => steps.entry(id.0).or_default().push(*step),
                _ => {}
            }
        }
    }
    (prompt, steps.into_values().collect())
}

/// A number from 0 to 1 that depends on these.
fn random(a: usize, b: usize) -> f64 {
    let mixed = (a as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ (b as u64 + 1).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
    let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

#[test]
fn a_head_answers_most_what_ifs_and_none_wrongly() {
    let is_full = std::env::var("QUARTET_WHAT_IFS").is_ok_and(|it| it == "full");
    let (n_tokens, n_settings) = if is_full { (200, 50) } else { (24, 24) };
    let (prompt, texts) = texts(n_tokens);
    let mut tally = BTreeMap::<&str, [u32; 2]>::new();
    for steps in &texts {
        assert_eq!(steps.len(), n_tokens);
        for setting in 0..n_settings {
            let (kind, settings) = KINDS[setting % KINDS.len()];
            let settings = settings(random(setting, steps.len()));
            let chain: ChainConfig = settings.parse::<PaneSettings>().unwrap().chain;
            let seed = setting as u64;
            let [mut whole, mut head] =
                [(); 2].map(|()| WhatIfReader::new(&prompt, chain.clone(), seed));
            for step in steps {
                let Some(WhatIf::Exact(token)) = whole.read(step) else {
                    panic!("all probabilities decide {settings}");
                };
                let mut kept = step.clone();
                Arc::make_mut(&mut kept.trace).raw.detail = Detail::HeadOnly;
                let [n_exact, n] = tally.entry(kind).or_default();
                *n += 1;
                match head.read(&kept).unwrap() {
                    WhatIf::Exact(found) => {
                        assert_eq!(found, token, "{settings}");
                        *n_exact += 1;
                    }
                    WhatIf::Unrecorded => {
                        assert!(!kept.trace.raw.knows(token), "{settings}");
                        *n_exact += 1;
                    }
                    WhatIf::Bounded(_) => {}
                }
            }
        }
    }
    let [n_exact, n] = tally.values().fold([0, 0], |[a, b], [c, d]| [a + c, b + d]);
    for (kind, [n_exact, n]) in &tally {
        println!("{kind}: {n_exact} of {n}");
    }
    println!("all: {n_exact} of {n}");
    assert!(f64::from(n_exact) > 0.75 * f64::from(n), "{n_exact} of {n}");
}

/// The log-probabilities of a row as llama-server computes them: sorted, and added in 32 bits.
fn log_probs(logits: &[f32]) -> Vec<f32> {
    let mut sorted = logits.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let max = sorted.first().copied().unwrap_or_default();
    let sum: f32 = sorted.iter().map(|logit| (logit - max).exp()).sum();
    let log_prob = |logit: &f32| ((logit - max).exp() / sum).ln();
    logits.iter().map(log_prob).collect()
}

/// The `n` most likely tokens of a row.
fn head(row: &[f32], n: usize) -> ServedHead {
    let all = (0..).map(TokenId).zip(row);
    let mut all: Vec<Candidate> = all
        .map(|(token, logit)| Candidate {
            token,
            logit: *logit,
        })
        .collect();
    all.sort_by(|a, b| b.logit.total_cmp(&a.logit).then(a.token.cmp(&b.token)));
    all.truncate(n);
    ServedHead::new(all, row.len())
}

#[test]
fn a_server_rarely_has_to_report_the_whole_distribution() {
    let is_full = std::env::var("QUARTET_WHAT_IFS").is_ok_and(|it| it == "full");
    let n_tokens = if is_full { 200 } else { 40 };
    let (prompt, texts) = texts(n_tokens);
    for (pane, steps) in PANES.iter().zip(&texts) {
        let chain = pane.parse::<PaneSettings>().unwrap().chain;
        let mut tokens = prompt.tokens.clone();
        let mut n_needed = [0; 3];
        for step in steps {
            let Detail::Whole(logits) = &step.trace.raw.detail else {
                panic!("all probabilities are recorded");
            };
            let row = log_probs(logits);
            let history = History::new(&tokens, prompt.tokens.len());
            let coins = Coins {
                seed: 42,
                position: tokens.len() as u64,
            };
            let whole = SamplerChain::new(chain.clone()).sample(&row, history, coins);
            let whole = whole.unwrap().token;
            let decided = [128, 512].iter().position(|n| {
                let mut sampler = SamplerChain::new(chain.clone());
                let sampled = sampler.sample_served(&head(&row, *n), history, coins);
                let decided = sampled.unwrap().filter(|it| !it.trace.bounded);
                let token = decided.map(|sampled| sampled.token);
                assert!(token.is_none_or(|token| token == whole), "{pane}");
                token.is_some()
            });
            n_needed[decided.unwrap_or(2)] += 1;
            tokens.push(step.token);
        }
        let [n_128, n_512, n_whole] = n_needed;
        println!("{pane}: 128 decide {n_128} of {n_tokens} tokens, 512 {n_512}, all {n_whole}");
        match *pane {
            "greedy" | "top-k 40" => assert_eq!(n_128, n_tokens, "{pane}"),
            "sample" => assert!(n_whole * 4 < n_tokens, "{n_whole}"),
            _ => assert!(
                n_128 * 10 >= n_tokens * 9 && n_whole * 20 < n_tokens,
                "{n_needed:?}"
            ),
        }
    }
}
