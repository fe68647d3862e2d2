//! Searches whose answers are checked with the real chain.

use super::{ChangedTo, SmallestChange};
use crate::decoding::testing::row;
use crate::decoding::{Coins, History, SamplerChain, TokenId};
use crate::generation::testing::generation;
use crate::generation::{Generation, PaneSettings};

/// A text of one token, sampled from a random row of logits under these settings.
fn sampled(settings: &str, seed: u32, spread: f32) -> (Generation, Vec<f32>) {
    let mut generation = generation(&[(" fox", 0.5)]);
    generation.config.chain = settings.parse::<PaneSettings>().unwrap().chain;
    let logits = row(seed, spread);
    let trace = sample(&generation, &logits);
    generation.steps[0].token = trace.draw.token;
    generation.steps[0].trace = std::sync::Arc::new(trace);
    (generation, logits)
}

fn sample(generation: &Generation, logits: &[f32]) -> crate::decoding::Trace {
    let tokens = &generation.prompt.tokens;
    let coins = Coins {
        seed: generation.config.seed,
        position: tokens.len() as u64,
    };
    let history = History::new(tokens, tokens.len());
    SamplerChain::new(generation.config.chain.clone())
        .sample(logits, history, coins)
        .unwrap()
        .trace
}

/// The token that the real chain samples with this value of a setting.
fn with(generation: &Generation, setting: &str, value: f64, logits: &[f32]) -> TokenId {
    let mut changed = generation.clone();
    for stage in &mut changed.config.chain.stages {
        if stage.filter.name().to_lowercase() == setting {
            let param = stage.filter.spec().params.first().unwrap();
            param.set(&mut stage.filter, value);
        }
    }
    sample(&changed, logits).draw.token
}

#[test]
fn an_exact_change_is_the_smallest_one_of_the_real_chain() {
    let mut n_exact = 0;
    for seed in 0..40 {
        let (generation, logits) = sampled("temp 0.7, top-k 30, top-p 0.9", seed, 2.5);
        let search = SmallestChange::find(&generation, 0).unwrap();
        let chosen = generation.steps[0].token;
        for change in search.changes().iter().filter(|change| change.is_exact()) {
            n_exact += 1;
            let token = with(&generation, &change.setting, change.to, &logits);
            assert_eq!(ChangedTo::Token(token), change.token, "{change:?}");
            assert_ne!(token, chosen, "{change:?}");
            // No value in between changes the choice.
            let from: f64 = change.from.parse().unwrap();
            let step = if change.setting == "top-k" {
                1.0
            } else {
                0.001
            };
            for at in [0.0, 0.3, 0.6, 1.0] {
                let near = change.to - step * (change.to - from).signum();
                let value = from + at * (near - from);
                let token = with(&generation, &change.setting, value, &logits);
                assert_eq!(token, chosen, "{change:?} at {value}");
            }
        }
    }
    assert!(n_exact > 40, "{n_exact}");
}

#[test]
fn an_uncertain_change_changes_the_choice_of_the_real_chain() {
    let mut n_changes = 0;
    for settings in [
        "temp 1.5",
        "temp 1.2, top-p 0.95",
        "frequency 0.2, temp 1.1",
    ] {
        for seed in 0..40 {
            let (generation, logits) = sampled(settings, seed, 1.5);
            let search = SmallestChange::find(&generation, 0).unwrap();
            let chosen = generation.steps[0].token;
            for change in search.changes() {
                let known = ["temperature", "top-p", "frequency penalty"];
                if known.contains(&change.setting.as_str()) {
                    n_changes += 1;
                    let token = with(&generation, &change.setting, change.to, &logits);
                    assert_ne!(token, chosen, "{settings}, seed {seed}: {change:?}");
                }
            }
        }
    }
    assert!(n_changes > 0);
}

#[test]
fn a_token_that_the_coin_does_not_draw_has_no_change() {
    let (mut generation, _) = sampled("temp 0.7", 3, 2.5);
    let mut others = (0..).map(TokenId);
    let drawn = generation.steps[0].token;
    generation.steps[0].token = others.find(|other| *other != drawn).unwrap();
    let search = SmallestChange::find(&generation, 0).unwrap();
    assert!(search.changes().is_empty() && !search.is_certain());
}

#[test]
fn a_change_that_a_penalty_makes_is_not_called_the_nearest() {
    for seed in 0..10 {
        let (generation, _) = sampled("repeat 1.3 last all, temp 0.9", seed, 1.5);
        let search = SmallestChange::find(&generation, 0).unwrap();
        let mut changes = search.changes().iter();
        assert!(changes.all(|change| change.setting == "temperature" || !change.is_nearest));
        let is_open = |setting: &str| {
            let mut sides = search.sides().iter();
            sides.any(|side| side.setting == setting && side.is_open)
        };
        assert!(is_open("repetition penalty"));
    }
}

#[test]
fn the_most_likely_token_has_no_change_and_an_adaptive_selector_no_answer() {
    let (generation, _) = sampled("greedy", 3, 2.5);
    let search = SmallestChange::find(&generation, 0).unwrap();
    assert!(search.changes().is_empty() && search.is_certain());
    let (generation, _) = sampled("mirostat 5", 3, 2.5);
    let search = SmallestChange::find(&generation, 0).unwrap();
    assert!(search.changes().is_empty());
}

#[test]
fn a_search_in_slices_finds_what_one_search_finds() {
    let (generation, _) = sampled("temp 0.7, top-p 0.9, min-p 0.02", 7, 2.5);
    let mut search = SmallestChange::new(&generation, 0).unwrap();
    let mut n_slices = 0;
    loop {
        let mut left = 1;
        let done = search.advance(|| {
            left -= 1;
            left >= 0
        });
        n_slices += 1;
        if done {
            break;
        }
        assert!(search.progress() < 1.0);
    }
    let mut whole = SmallestChange::new(&generation, 0).unwrap();
    let mut n_tried = 0;
    whole.advance(|| {
        n_tried += 1;
        true
    });
    // A slice tries one value, and no value is tried again.
    assert_eq!((n_slices, n_tried), (16, 16));
    assert_eq!(search, whole);
}

#[test]
fn a_value_at_which_a_stage_has_no_effect_is_called_off() {
    let mut n_off = 0;
    for (settings, setting, is_off) in [
        ("min-k 3", "min-k", true),
        ("top-p 0.5", "top-p", true),
        ("xtc 1 threshold 0.1", "XTC threshold", true),
        ("temp 0.5", "temperature", false),
    ] {
        for seed in 0..40 {
            let (generation, _) = sampled(settings, seed, 1.5);
            let search = SmallestChange::find(&generation, 0).unwrap();
            for change in search
                .changes()
                .iter()
                .filter(|change| change.setting == setting)
            {
                let mut filter = generation.config.chain.stages[0].filter.clone();
                let place = usize::from(setting == "XTC threshold");
                filter.spec().params[place].set(&mut filter, change.to);
                let expected = is_off && filter.is_neutral();
                assert_eq!(change.to_words.contains("off"), expected, "{change:?}");
                assert_ne!(change.to_words, "-0.01");
                n_off += u32::from(expected);
            }
        }
    }
    assert!(n_off > 3, "{n_off}");
}

#[test]
fn a_head_proves_what_it_says_about_a_choice() {
    let (mut n_changes, mut n_closed) = (0, 0);
    for settings in [
        "temp 0.9, top-p 0.9",
        "temp 1.4",
        "epsilon 0.01",
        "temp 0.8, eta 0.01",
        "typical-p 0.8",
        "frequency 0.4, temp 1.1, top-p 0.95",
    ] {
        for seed in 0..10 {
            let (mut generation, logits) = sampled(settings, seed, 1.2);
            let trace = std::sync::Arc::make_mut(&mut generation.steps[0].trace);
            trace.raw.detail = crate::decoding::Detail::HeadOnly;
            let search = SmallestChange::find(&generation, 0).unwrap();
            let chosen = generation.steps[0].token;
            for change in search.changes() {
                n_changes += 1;
                let token = with(&generation, &change.setting, change.to, &logits);
                assert_ne!(token, chosen, "{settings}, seed {seed}: {change:?}");
                if let ChangedTo::Token(expected) = change.token {
                    assert_eq!(token, expected, "{settings}, seed {seed}: {change:?}");
                }
            }
            for side in search.sides() {
                n_closed += u32::from(!side.is_open);
                let from = with_value(&generation, &side.setting);
                for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
                    let value = from + share * (side.stays_to - from);
                    let token = with(&generation, &side.setting, value, &logits);
                    assert_eq!(
                        token, chosen,
                        "{settings}, seed {seed}: {side:?} at {value}"
                    );
                }
            }
        }
    }
    assert!(n_changes > 100 && n_closed > 15, "{n_changes}, {n_closed}");
}

/// The current value of a setting with one number.
fn with_value(generation: &Generation, setting: &str) -> f64 {
    let mut stages = generation.config.chain.stages.iter();
    let stage = stages.find(|stage| stage.filter.name().to_lowercase() == setting);
    let filter = &stage.unwrap().filter;
    filter.spec().params[0].get(filter).unwrap()
}
