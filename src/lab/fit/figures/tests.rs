//! Tests of a fit against likelihoods that are known in closed form.

use crate::analysis::sweep::{Axis, Parameter};
use crate::decoding::{ChainConfig, FilterKind, TokenId};
use crate::generation::testing::generation;
use crate::generation::{FitPlace, FitTokens, Likelihood, PaneSettings};
use crate::lab::fit::{Fit, FitSetup};

const T: Parameter = Parameter::Filter(FilterKind::Temperature, 0);
const TOP_P: Parameter = Parameter::Filter(FilterKind::TopP, 0);
const TOP_K: Parameter = Parameter::Filter(FilterKind::TopK, 0);

fn setup(
    rows: (Parameter, [f64; 2], usize),
    columns: Option<(Parameter, [f64; 2], usize)>,
) -> FitSetup {
    let axis = |(parameter, ends, n)| Axis::range(parameter, ends, n).unwrap();
    FitSetup {
        base: ChainConfig::sampled([]),
        rows: axis(rows),
        columns: columns.map(axis),
    }
}

/// A text of five tokens after a prompt of one.
fn texts(n: usize) -> Vec<FitTokens> {
    let text = FitTokens {
        tokens: (0..6).map(TokenId).collect(),
        n_prompt: 1,
        n_left_out: 0,
    };
    vec![text; n]
}

/// Runs a fit to the end with these likelihoods. An `Err` is the step that rules the settings out.
fn run(setup: FitSetup, of: impl Fn(&ChainConfig) -> Result<f64, usize>) -> Fit {
    let mut fit = Fit::new(setup);
    fit.set_texts(texts(1));
    while let Some(chains) = fit.next_batch() {
        for (index, chain) in chains.iter().enumerate() {
            let likelihood = match of(chain) {
                Ok(ln_prob) => Likelihood {
                    ln_prob,
                    ruled_out: None,
                },
                Err(step) => Likelihood {
                    ln_prob: f64::NEG_INFINITY,
                    ruled_out: Some(FitPlace { text: 0, step }),
                },
            };
            fit.add(index, likelihood);
        }
    }
    fit
}

fn near(found: f64, expected: f64, by: f64) {
    assert!((found - expected).abs() < by, "{found}, not {expected}");
}

#[test]
fn the_best_value_and_its_interval_are_narrowed_down() {
    // A parabola that is 1.92 below its top at a distance of √0.0192.
    let fit = run(setup((T, [0.2, 1.6], 8), None), |chain| {
        Ok(-10.0 - 100.0 * (T.get(chain).unwrap_or(1.0) - 0.734).powi(2))
    });
    let best = fit.best().unwrap();
    near(best.values[0], 0.734, 0.008);
    near(best.likelihood.ln_prob, -10.0, 0.006);
    let [interval] = fit.intervals().unwrap()[..] else {
        panic!("one number, one interval");
    };
    let half = (1.92_f64 / 100.0).sqrt();
    near(interval.low, 0.734 - half, 1e-3);
    near(interval.high, 0.734 + half, 1e-3);
    assert!(!interval.is_open_below && !interval.is_open_above);
    assert!(fit.limits().is_empty());
}

#[test]
fn the_best_is_never_worse_than_another_printed_point() {
    for top in [0.7344, 0.7, 1.007, 0.2, 1.6] {
        let fit = run(setup((T, [0.2, 1.6], 8), None), |chain| {
            Ok(-10.0 - 3.0 * (T.get(chain).unwrap_or(1.0) - top).abs().powf(1.3))
        });
        let best = fit.best().unwrap().likelihood.ln_prob;
        assert!(fit.known().all(|point| point.likelihood.ln_prob <= best));
    }
    // Of equally good values, the one with the fewest digits.
    let flat = run(setup((TOP_P, [0.123, 1.0], 4), None), |_| Ok(-10.0));
    assert_eq!(flat.best().unwrap().values, [1.0]);
}

#[test]
fn an_interval_that_reaches_the_end_is_open() {
    let fit = run(setup((T, [0.5, 1.0], 6), None), |chain| {
        Ok(-T.get(chain).unwrap_or(1.0))
    });
    let [interval] = fit.intervals().unwrap()[..] else {
        panic!("one number, one interval");
    };
    assert!(interval.is_open_below && interval.is_open_above);
    let words = fit.interval_sentences();
    assert_eq!(
        words,
        ["Temperature 0.5 to 1, the whole range tried, explains it nearly as well."]
    );
}

#[test]
fn settings_outside_the_range_can_be_likelier_than_the_best() {
    for (ln_prob, words) in [
        (
            -3.0,
            "it is 10.1 bits more likely; the best value may lie outside the range that was tried.",
        ),
        (-10.01, "it is just as likely."),
        (
            -11.0,
            "it is 1.4 bits less likely: the text can’t tell them apart.",
        ),
        (-17.0, "it is 10.1 bits less likely."),
    ] {
        let fit = run(setup((T, [0.3, 0.5], 3), None), |chain| {
            Ok(T.get(chain).map_or(ln_prob, |_| -10.0))
        });
        let sentence = fit.base_sentence(&generation(&[]).vocabulary).unwrap();
        assert!(sentence.ends_with(words), "{sentence}");
    }
}

#[test]
fn a_limit_is_found_with_the_token_that_sets_it() {
    let fit = run(setup((TOP_P, [0.5, 1.0], 6), None), |chain| {
        match TOP_P.get(chain).unwrap_or(1.0) {
            p if p < 0.7 => Err(0),
            p if p < 0.831_27 => Err(2),
            p => Ok(-5.0 * p),
        }
    });
    let [limit] = &fit.limits()[..] else {
        panic!("{:?}", fit.limits());
    };
    assert!(limit.is_lower());
    near(limit.possible, 0.831_27, 1e-4);
    assert_eq!(limit.place.step, 2);
    let vocabulary = generation(&[]).vocabulary;
    let (row, words) = fit.limit_words(limit, &vocabulary);
    assert_eq!(row, "");
    assert!(
        words.starts_with("Top-p below 0.831") && words.ends_with(" at token 3."),
        "{words}"
    );
    // The best value is the lowest possible one.
    near(fit.best().unwrap().values[0], 0.8313, 1e-3);
}

#[test]
fn counts_stay_whole() {
    let fit = run(setup((TOP_K, [1.0, 41.0], 5), None), |chain| {
        match TOP_K.get(chain).unwrap_or(0.0) {
            k if k < 17.0 => Err(1),
            k => Ok(-k),
        }
    });
    assert!(
        fit.points()
            .iter()
            .all(|point| point.values[0].fract() == 0.0)
    );
    let [limit] = &fit.limits()[..] else {
        panic!("{:?}", fit.limits());
    };
    assert_eq!((limit.impossible, limit.possible), (16.0, 17.0));
    assert_eq!(fit.best().unwrap().values, [17.0]);
}

#[test]
fn a_map_finds_the_best_pair_the_profiles_and_the_limits_of_rows() {
    let limit_of = |t: f64| 1.0 - 0.3 * t;
    let setup = setup((T, [0.1, 1.5], 15), Some((TOP_P, [0.5, 1.0], 11)));
    let fit = run(setup, |chain| {
        let t = T.get(chain).unwrap_or(1.0);
        let p = TOP_P.get(chain).unwrap_or(1.0);
        if p < limit_of(t) {
            Err(3)
        } else {
            Ok(-20.0 - 30.0 * (t - 0.83).powi(2) - 10.0 * (p - 0.93).powi(2))
        }
    });
    let best = fit.best().unwrap();
    near(best.values[0], 0.83, 0.03);
    near(best.values[1], 0.93, 0.03);
    let [rows, columns] = fit.intervals().unwrap()[..] else {
        panic!("two numbers, two intervals");
    };
    // Top-p cuts what this temperature leaves, so both need 3 nats.
    let half = (3.0_f64 / 30.0).sqrt();
    near(rows.low, 0.83 - half, 0.1);
    near(rows.high, 0.83 + half, 0.1);
    assert!(columns.is_open_above);
    let limits = fit.limits();
    assert!((2..=4).contains(&limits.len()), "{limits:?}");
    for limit in &limits {
        let row = limit.row.unwrap();
        near(limit.possible, limit_of(row), 1e-4);
    }
    let sentences = fit.interval_sentences();
    assert!(
        sentences[0].ends_with("explains it nearly as well, each value with its own top-p."),
        "{sentences:?}"
    );
}

#[test]
fn an_impossible_text_names_the_furthest_token_reached() {
    let fit = run(setup((TOP_P, [0.5, 1.0], 3), None), |chain| {
        Err(if TOP_P.get(chain).unwrap_or(1.0) > 0.9 {
            4
        } else {
            1
        })
    });
    assert_eq!(fit.best(), None);
    let vocabulary = generation(&[]).vocabulary;
    let words = fit.best_sentence(&vocabulary).unwrap();
    assert!(
        words.starts_with("None of these values of top-p can generate it"),
        "{words}"
    );
    assert!(words.ends_with("at token 5."), "{words}");
    assert!(fit.intervals().is_none() && fit.limits().is_empty());
}

#[test]
fn a_grid_fills_from_coarse_to_fine() {
    let mut fit = Fit::new(setup((T, [0.1, 1.5], 9), Some((TOP_P, [0.5, 1.0], 9))));
    fit.set_texts(texts(2));
    let chains = fit.next_batch().unwrap();
    assert_eq!(chains.len(), 82, "the base and the cells");
    assert_eq!(chains[0], fit.setup.base);
    let some = |ln_prob| Likelihood {
        ln_prob,
        ruled_out: None,
    };
    for index in 0..10 {
        fit.add(index, some(-f64::from(index as u32)));
    }
    assert_eq!(fit.n_done(), 9);
    assert_eq!(fit.base(), Some(some(0.0)));
    assert_eq!(fit.shown(0), Some(some(-1.0)));
    // Until it is known, a cell takes the value of the coarse cell above and to the left.
    assert_eq!(fit.cell(13), None);
    assert_eq!(fit.shown(13), fit.cell(4));
    assert_eq!(fit.size_words(), "2 texts of 10 tokens");
    // 10 tokens of 1 bit each.
    let bits = fit
        .bits_per_token(some(-10.0 * std::f64::consts::LN_2))
        .unwrap();
    near(bits, 1.0, 1e-9);
}

#[test]
fn invalid_setups_say_why() {
    let same = setup((T, [0.5, 1.0], 2), Some((T, [0.5, 1.0], 2)));
    let error = same.validate().unwrap_err().to_string();
    assert_eq!(
        error,
        "Choose two different numbers to vary: both are Temperature"
    );
    let mut adaptive = setup((T, [0.5, 1.0], 2), None);
    adaptive.base.selector = crate::decoding::Selector::SPECS[4].usual;
    let error = adaptive.validate().unwrap_err().to_string();
    assert!(error.contains("adapts to what it has picked"), "{error}");
    let mut beams = setup((T, [0.5, 1.0], 2), None);
    beams.base = "beams 2".parse::<PaneSettings>().unwrap().chain;
    let error = beams.validate().unwrap_err().to_string();
    assert!(error.contains("no likelihood under it"), "{error}");
}
