//! How often the intervals of a fit hold the settings that the built-in model wrote its texts with.
//! It takes minutes: `cargo test --release --test fit -- --ignored --nocapture coverage`.
//! `coverage.py` simulates the same without a model.

use quartet::analysis::fit::FitInterval;
use quartet::decoding::ChainConfig;
use quartet::generation::FitText;

use crate::fit::{chain, embedded, fit, likelihoods, written};

const N_TOKENS: usize = 80;

/// The settings of a pane, what is varied, and the true values.
const CURVES: [(&str, &str, f64); 9] = [
    ("top-p 0.8", "top-p 0.5..1/26", 0.8),
    ("min-p 0.1", "min-p 0..0.4/41", 0.1),
    ("typical 0.8", "typical 0.5..1/26", 0.8),
    ("top-k 10", "top-k 1..41/41", 10.0),
    ("epsilon 0.02", "epsilon 0..0.1/26", 0.02),
    ("top-n-sigma 1.2", "top-n-sigma 0.4..3/27", 1.2),
    ("temp 0.9", "temp 0.4..1.6/25", 0.9),
    ("frequency 0.5", "frequency -0.5..2/26", 0.5),
    ("temp 0.9, top-p 0.8", "temp 0.4..1.6/25", 0.9),
];

/// Two numbers at once, and their true values.
const MAPS: [(&str, [&str; 2], [f64; 2]); 2] = [
    (
        "temp 0.9, top-p 0.8",
        ["temp 0.4..1.6/13", "top-p 0.5..1/26"],
        [0.9, 0.8],
    ),
    (
        "repeat 1.2, temp 0.9",
        ["repeat 1..1.6/13", "temp 0.4..1.6/13"],
        [1.2, 0.9],
    ),
];

fn n_texts() -> u64 {
    let n = std::env::var("QUARTET_COVERAGE_TEXTS").ok();
    n.and_then(|n| n.parse().ok()).unwrap_or(250)
}

fn holds(interval: FitInterval, truth: f64) -> bool {
    interval.low <= truth && truth <= interval.high
}

#[test]
#[ignore = "takes minutes, and measures rather than checks"]
fn coverage_of_curves() {
    let mut session = embedded();
    for (settings, vary, truth) in CURVES {
        let texts = written(
            &mut session,
            "Once upon a time",
            settings,
            n_texts(),
            N_TOKENS,
        );
        let (mut n_held, mut n_wilks, mut drops) = (0, 0, 0.0);
        for text in &texts {
            let fit = fit(&mut session, std::slice::from_ref(text), settings, &[vary]);
            n_held += u32::from(holds(fit.intervals().unwrap()[0], truth));
            let drop = drop_to(
                &mut session,
                text,
                chain(settings),
                fit.best().unwrap().likelihood.ln_prob,
            );
            n_wilks += u32::from(drop <= 1.92);
            drops += drop;
        }
        let n = texts.len() as f64;
        let share = |n_held: u32| 100.0 * f64::from(n_held) / n;
        println!(
            "{settings}: {vary} held {:.1} %, with 1.92 nats {:.1} %, mean drop {:.2} nats, {n} texts",
            share(n_held),
            share(n_wilks),
            drops / n
        );
    }
}

#[test]
#[ignore = "takes minutes, and measures rather than checks"]
fn coverage_of_maps() {
    let mut session = embedded();
    for (settings, vary, truth) in MAPS {
        let n = n_texts() / 2;
        let texts = written(&mut session, "Once upon a time", settings, n, N_TOKENS);
        let (mut held, mut n_region) = ([0; 2], 0);
        for text in &texts {
            let fit = fit(&mut session, std::slice::from_ref(text), settings, &vary);
            let intervals = fit.intervals().unwrap();
            for ((held, interval), truth) in held.iter_mut().zip(intervals).zip(truth) {
                *held += u32::from(holds(interval, truth));
            }
            let drop = drop_to(
                &mut session,
                text,
                chain(settings),
                fit.best().unwrap().likelihood.ln_prob,
            );
            n_region += u32::from(drop <= fit.setup.region_nats());
        }
        let share = |n_held: u32| 100.0 * f64::from(n_held) / texts.len() as f64;
        println!(
            "{settings}: {} held {:.1} %, {} held {:.1} %, region held {:.1} %, {n} texts",
            vary[0],
            share(held[0]),
            vary[1],
            share(held[1]),
            share(n_region)
        );
    }
}

/// Returns how far the true settings are below the best, in nats.
fn drop_to(
    session: &mut quartet::engine::Session,
    text: &FitText,
    truth: ChainConfig,
    best: f64,
) -> f64 {
    let (_, found) = likelihoods(session, std::slice::from_ref(text), &[truth]);
    best - found[0].ln_prob
}
