//! Intervals from records that hold only heads, checked against the whole distributions.

use std::sync::Arc;

use super::{HeldToken, IntervalSearch, stability};
use crate::decoding::testing::row;
use crate::decoding::{ChainConfig, Coins, Detail, History, SamplerChain, TokenId};
use crate::generation::testing::generation;
use crate::generation::{Generation, PaneSettings};

/// How many tokens a text has.
const N_STEPS: usize = 6;

/// A text that these settings draw from known rows of logits, with only the heads of the rows, and
/// those rows.
fn text(settings: &str, seed: u32, spread: f32) -> (Generation, Vec<Vec<f32>>) {
    let mut text = generation(&[(" fox", 0.5); N_STEPS]);
    text.config.chain = settings.parse::<PaneSettings>().unwrap().chain;
    let rows: Vec<Vec<f32>> = (0..N_STEPS as u32)
        .map(|step| row(seed * 100 + step, spread))
        .collect();
    for (index, row) in rows.iter().enumerate() {
        let mut chain = SamplerChain::new(text.config.chain.clone());
        let (tokens, coins) = before(&text, index);
        let history = History::new(&tokens, text.prompt.tokens.len());
        let trace = chain.sample(row, history, coins).unwrap().trace;
        assert_eq!(trace.raw.detail, Detail::HeadOnly);
        assert_eq!(trace.raw.head.len(), 48);
        text.steps[index].token = trace.draw.token;
        text.steps[index].trace = Arc::new(trace);
    }
    (text, rows)
}

fn before(text: &Generation, index: usize) -> (Vec<TokenId>, Coins) {
    let generated = text.steps.iter().take(index).map(|step| step.token);
    let tokens: Vec<TokenId> = text
        .prompt
        .tokens
        .iter()
        .copied()
        .chain(generated)
        .collect();
    let position = tokens.len() as u64;
    let seed = text.config.seed;
    (tokens, Coins { seed, position })
}

/// The steps whose token changes under other settings, from the whole rows.
fn changes(text: &Generation, rows: &[Vec<f32>], chain: &ChainConfig) -> Vec<usize> {
    let differs = |(index, row): (usize, &Vec<f32>)| {
        let (tokens, coins) = before(text, index);
        let history = History::new(&tokens, text.prompt.tokens.len());
        let sampled = SamplerChain::new(chain.clone()).sample(row, history, coins);
        (sampled.unwrap().token != text.steps[index].token).then_some(index)
    };
    rows.iter().enumerate().filter_map(differs).collect()
}

const SETTINGS: [&str; 8] = [
    "epsilon 0.01",
    "temp 1.3",
    "temp 0.8, top-p 0.9",
    "temp 1.1, min-p 0.02, top-p 0.95",
    "typical-p 0.9, temp 0.9",
    "eta 0.002, temp 1.2",
    "frequency 0.3 last all, temp 0.9, top-p 0.95",
    "min-k 3, temp 0.8",
];

#[test]
fn no_interval_from_heads_contains_a_change_and_every_flip_is_one() {
    let (mut n_intervals, mut n_open, mut n_flips) = (0, 0, 0);
    for settings in SETTINGS {
        for seed in 0..3 {
            let (text, rows) = text(settings, seed, 1.3);
            let mut search = IntervalSearch::new(&text);
            assert!(search.advance(&text, || true));
            for interval in search.intervals() {
                n_intervals += 1;
                n_open += u32::from(interval.unknown_words().is_some());
                let at = |value: f64| {
                    let mut chain = text.config.chain.clone();
                    interval.parameter.set(&mut chain, value);
                    changes(&text, &rows, &chain)
                };
                for share in 0..=10 {
                    let share = f64::from(share) / 10.0;
                    let value = interval.low + share * (interval.high - interval.low);
                    let changed = at(value);
                    assert!(
                        changed.is_empty(),
                        "{settings}, {seed}: {value} in {interval:?}"
                    );
                }
                for flip in [&interval.below, &interval.above].into_iter().flatten() {
                    n_flips += 1;
                    let changed = at(flip.value);
                    assert!(changed.contains(&flip.step), "{settings}, {seed}: {flip:?}");
                }
            }
        }
    }
    assert!(
        n_open > 10 && n_open < n_intervals,
        "{n_open} of {n_intervals}"
    );
    assert!(n_flips > n_intervals / 2, "{n_flips} of {n_intervals}");
}

#[test]
fn a_map_from_heads_claims_only_what_the_whole_rows_show() {
    let (mut n_exact, mut n) = (0, 0);
    for settings in SETTINGS {
        let (text, rows) = text(settings, 3, 1.3);
        for temperature in 1..20 {
            let other = format!("temp {}, top-p 0.9", f64::from(temperature) / 10.0);
            let chain = other.parse::<PaneSettings>().unwrap().chain;
            let changed = changes(&text, &rows, &chain);
            let first = changed.first().copied().unwrap_or(N_STEPS);
            let found = stability(&text, &chain);
            assert!(
                found.n_same <= first,
                "{settings}, {other}: {found:?}, not {first}"
            );
            assert!(!found.exact || found.n_same == first, "{settings}, {other}");
            for step in 0..N_STEPS {
                let held = HeldToken::new(&text, step).unwrap();
                let held = held.stability(held.choice(&chain));
                let stays = usize::from(!changed.contains(&step));
                assert!(
                    !held.exact || held.n_same == stays,
                    "{settings}, {other}: {step}"
                );
                n += 1;
                n_exact += u32::from(held.exact);
            }
        }
    }
    assert!(n_exact * 2 > n, "{n_exact} of {n}");
}
