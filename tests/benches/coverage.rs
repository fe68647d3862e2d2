//! Measures how often 95 % intervals hold the truth: of a blind test, of judged answers, of a fit on
//! made-up rows of logits, and of a fit of texts that the built-in model wrote.
//!
//!     cargo bench --bench coverage -- blind judged rows curves maps 250
//!
//! The words select parts (all by default), and the number says how many tests or texts each figure
//! is based on. `tests/fit/coverage.py` simulates fits without this program.

#![expect(clippy::print_stdout, reason = "the benchmark prints its results")]
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a benchmark that panics has failed"
)]

#[path = "../coverage/blind_votes.rs"]
mod blind_votes;
#[path = "../coverage/fit_rows.rs"]
mod fit_rows;
#[path = "../fit/fits.rs"]
mod fits;
#[path = "../coverage/judged.rs"]
mod judged;

use blind_votes::{Setting, TEN_VOTES};
use fits::{chain, embedded, fit, likelihoods, written};
use judged::{DIFFICULTIES, JudgedCase};
use quartet::decoding::ChainConfig;
use quartet::engine::Session;
use quartet::generation::FitText;
use quartet::lab::blind::PRIOR_SPREAD;
use quartet::lab::fit::{Fit, FitInterval};

/// The tokens of each text of the model.
const N_TOKENS: usize = 80;

const PROMPT: &str = "Once upon a time";

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

type Measure = fn(u64);

/// The parts, each with the function that measures it with this many texts or tests per figure.
const PARTS: [(&str, Measure); 5] = [
    ("blind", measure_blind_tests),
    ("judged", measure_judged),
    ("rows", measure_rows),
    ("curves", measure_curves),
    ("maps", measure_maps),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let n = words.iter().find_map(|word| word.parse().ok());
    let names_none = PARTS
        .iter()
        .all(|(name, _)| words.iter().all(|word| word != name));
    for (name, measure) in PARTS {
        if names_none || words.iter().any(|word| word == name) {
            measure(n.unwrap_or(250));
        }
    }
}

fn measure_blind_tests(n_tests: u64) {
    for n_votes in [10, 30, 80] {
        for undecided in [0.0, 0.2] {
            for n_shown in [2, 4] {
                for spread in [0.0, 0.75, PRIOR_SPREAD, 2.5] {
                    let setting = Setting {
                        n_shown,
                        n_votes,
                        spread,
                        undecided,
                        ..TEN_VOTES
                    };
                    let held = 100.0 * blind_votes::coverage(setting, n_tests);
                    println!("{setting:?}: {held:.1} %");
                }
            }
        }
    }
}

fn measure_judged(n_tests: u64) {
    for n_prompts in [10, 20, 40, 100] {
        for difficulty in DIFFICULTIES {
            for n_answers in [1, 3, 5, 0] {
                let case = JudgedCase {
                    n_prompts,
                    n_answers,
                    difficulty,
                };
                let [share, _] = judged::share_coverage(case, n_tests);
                let [differ, _] = judged::difference_coverage(case, false, n_tests);
                let [alike, _] = judged::difference_coverage(case, true, n_tests);
                let [share, differ, alike] = [share, differ, alike].map(|held| 100.0 * held);
                println!(
                    "{case:?}: share {share:.1} %, difference {differ:.1} %, none {alike:.1} %"
                );
            }
        }
    }
    for difficulty in DIFFICULTIES {
        let case = JudgedCase {
            n_prompts: 200,
            n_answers: 1,
            difficulty,
        };
        let alarms = 100.0 * judged::false_alarms(case, n_tests);
        println!("{case:?}: false alarms {alarms:.1} %");
    }
}

fn measure_rows(n_texts: u64) {
    for case in fit_rows::CASES {
        let [held, by_wilks] = fit_rows::coverage(n_texts, case).map(|share| 100.0 * share);
        println!("{case:?}: {held:.1} %, with 1.92 nats {by_wilks:.1} %");
    }
}

fn measure_curves(n_texts: u64) {
    let mut session = embedded();
    for (settings, vary, truth) in CURVES {
        let texts = written(&mut session, PROMPT, settings, n_texts, N_TOKENS);
        let (mut n_held, mut n_wilks, mut drops) = (0, 0, 0.0);
        for text in &texts {
            let fit = fit(&mut session, std::slice::from_ref(text), settings, &[vary]);
            n_held += u32::from(holds(fit.intervals().unwrap()[0], truth));
            let drop = drop_to(&mut session, text, chain(settings), &fit);
            n_wilks += u32::from(drop <= 1.92);
            drops += drop;
        }
        let n = texts.len() as f64;
        let [held, by_wilks] = [n_held, n_wilks].map(|count| 100.0 * f64::from(count) / n);
        let mean = drops / n;
        println!(
            "{settings}: {vary} held {held:.1} %, with 1.92 nats {by_wilks:.1} %, mean drop \
             {mean:.2} nats, {n} texts"
        );
    }
}

fn measure_maps(n_texts: u64) {
    let mut session = embedded();
    for (settings, vary, truth) in MAPS {
        let texts = written(&mut session, PROMPT, settings, n_texts, N_TOKENS);
        let (mut n_held, mut n_region) = ([0; 2], 0);
        for text in &texts {
            let fit = fit(&mut session, std::slice::from_ref(text), settings, &vary);
            let intervals = fit.intervals().unwrap();
            for ((n_held, interval), truth) in n_held.iter_mut().zip(intervals).zip(truth) {
                *n_held += u32::from(holds(interval, truth));
            }
            let drop = drop_to(&mut session, text, chain(settings), &fit);
            n_region += u32::from(drop <= fit.setup.region_nats());
        }
        let n = texts.len() as f64;
        let [rows, columns, region] =
            [n_held[0], n_held[1], n_region].map(|count| 100.0 * f64::from(count) / n);
        println!(
            "{settings}: {} held {rows:.1} %, {} held {columns:.1} %, region held {region:.1} %, \
             {n} texts",
            vary[0], vary[1]
        );
    }
}

fn holds(interval: FitInterval, truth: f64) -> bool {
    interval.low <= truth && truth <= interval.high
}

/// Returns how far the true settings are below the best, in nats.
fn drop_to(session: &mut Session, text: &FitText, truth: ChainConfig, fit: &Fit) -> f64 {
    let (_, found) = likelihoods(session, std::slice::from_ref(text), &[truth]);
    fit.best().unwrap().likelihood.ln_prob - found[0].ln_prob
}
