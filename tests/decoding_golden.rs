//! Checks filters against the published test vectors of llama.cpp's own sampler tests, to within
//! 1e-5.

use quartet::decoding::filters::{
    Dry, DynamicTemperature, FrequencyPenalty, MinP, PresencePenalty, RepetitionPenalty,
    Temperature, TopK, TopNSigma, TopP, TypicalP, Window, Xtc,
};
use quartet::decoding::rules::{Rules, TypicalRule};
use quartet::decoding::{Candidates, Coins, Filter, History, StageContext, TokenId};

const P: [f32; 4] = [0.1, 0.2, 0.3, 0.4];

/// Returns the probability of every token by id after the filters, or 0 if it was filtered out.
fn probs_after(filters: &[Filter], history: &[u32], probs: &[f32]) -> Vec<f64> {
    let logits: Vec<f32> = probs.iter().map(|prob| prob.ln()).collect();
    let tokens: Vec<TokenId> = history.iter().copied().map(TokenId).collect();
    let mut candidates = Candidates::from_logits(&logits).unwrap();
    let context = StageContext {
        history: History::new(&tokens, tokens.len()),
        coins: Coins {
            seed: 0,
            position: 0,
        },
        n_chance_before: 0,
        n_vocab: probs.len() as u32,
        rules: Rules {
            typical: TypicalRule::Passed,
            ..Rules::default()
        },
    };
    for filter in filters {
        filter.apply(context, &mut candidates);
    }
    let softmax = candidates.softmax();
    (0..probs.len() as u32)
        .map(|id| candidates.logit(TokenId(id)))
        .map(|logit| logit.map_or(0.0, |logit| softmax.prob(logit)))
        .collect()
}

#[track_caller]
fn check(filters: &[Filter], history: &[u32], probs: &[f32], expected: &[f32]) {
    let after = probs_after(filters, history, probs);
    let near = |(prob, expected): (&f64, &f32)| (prob - f64::from(*expected)).abs() < 1e-5;
    assert!(
        after.len() == expected.len() && after.iter().zip(expected).all(near),
        "{} after {history:?} on {probs:?} returned {after:?}, not {expected:?}",
        filters[0],
    );
}

#[test]
fn top_k() {
    for (k, expected) in [
        (1, [0.0, 0.0, 0.0, 1.0]),
        (3, [0.0, 0.222_222, 0.333_333, 0.444_444]),
        (4, P),
        (0, P),
    ] {
        check(&[Filter::TopK(TopK { k })], &[], &P, &expected);
    }
}

#[test]
fn top_p() {
    for (p, expected) in [
        (0.0, [0.0, 0.0, 0.0, 1.0]),
        (0.7, [0.0, 0.0, 0.428_571, 0.571_429]),
        (0.8, [0.0, 0.222_222, 0.333_333, 0.444_444]),
        (1.0, P),
    ] {
        check(&[Filter::TopP(TopP { p })], &[], &P, &expected);
    }
}

#[test]
fn min_p() {
    let three = [0.0, 0.2 / 0.9, 0.3 / 0.9, 0.4 / 0.9];
    let two = [0.0, 0.0, 0.3 / 0.7, 0.4 / 0.7];
    let one = [0.0, 0.0, 0.0, 1.0];
    for (p, expected) in [
        (0.0, P),
        (0.24, P),
        (0.26, three),
        (0.49, three),
        (0.51, two),
        (0.74, two),
        (0.76, one),
        (1.0, one),
        (1.05, one),
    ] {
        check(&[Filter::MinP(MinP { p })], &[], &P, &expected);
    }
}

#[test]
fn temperature_plain_and_dynamic() {
    for (temperature, expected) in [(1.0, P), (0.0, [0.0, 0.0, 0.0, 1.0])] {
        let plain = Filter::Temperature(Temperature { temperature });
        let dynamic = Filter::DynamicTemperature(DynamicTemperature {
            temperature,
            range: 0.0,
            exponent: 1.0,
        });
        check(&[plain], &[], &P, &expected);
        check(&[dynamic], &[], &P, &expected);
    }
}

#[test]
fn top_n_sigma() {
    for (n, expected) in [(1.0, [0.0, 0.0, 0.428_571, 0.571_429]), (0.0, P), (3.0, P)] {
        check(&[Filter::TopNSigma(TopNSigma { n })], &[], &P, &expected);
    }
}

#[test]
fn xtc() {
    // Unlike the published vectors, these are normalized, and XTC always acts instead of almost
    // always.
    let probs = [0.4, 0.3, 0.2, 0.1];
    for (threshold, expected) in [
        (0.09, [0.0, 0.0, 0.0, 1.0]),
        (0.19, [0.0, 0.0, 0.2 / 0.3, 0.1 / 0.3]),
        (0.29, [0.0, 0.3 / 0.6, 0.2 / 0.6, 0.1 / 0.6]),
        (0.39, probs),
    ] {
        let filter = Xtc {
            probability: 1.0,
            threshold,
        };
        check(&[Filter::Xtc(filter)], &[], &probs, &expected);
    }
}

#[test]
fn typical_p() {
    let third = 1.0 / 3.0;
    for (probs, expected) in [
        ([0.97, 0.01, 0.01, 0.01], [1.0, 0.0, 0.0, 0.0]),
        ([0.4, 0.2, 0.2, 0.2], [0.0, third, third, third]),
    ] {
        check(
            &[Filter::TypicalP(TypicalP { p: 0.5 })],
            &[],
            &probs,
            &expected,
        );
    }
}

#[test]
fn penalties() {
    let window = Window::LAST_64;
    let repeat = [Filter::RepetitionPenalty(RepetitionPenalty {
        penalty: 50.0,
        window,
    })];
    let others = [
        Filter::FrequencyPenalty(FrequencyPenalty {
            penalty: 5.0,
            window,
        }),
        Filter::PresencePenalty(PresencePenalty {
            penalty: 5.0,
            window,
        }),
    ];
    for (filters, history, expected) in [
        (&repeat[..], &[0][..], [0.0, 0.25, 0.25, 0.25, 0.25]),
        (&repeat, &[0, 1, 2], [0.0, 0.0, 0.0, 0.5, 0.5]),
        (&repeat, &[0, 1, 2, 0, 0], [0.0, 0.0, 0.0, 0.5, 0.5]),
        (
            &others,
            &[0],
            [0.000_011, 0.249_997, 0.249_997, 0.249_997, 0.249_997],
        ),
        (
            &others,
            &[0, 1, 2],
            [0.000_023, 0.000_023, 0.000_023, 0.499_966, 0.499_966],
        ),
        (
            &others,
            &[0, 1, 2, 0, 0],
            [0.0, 0.000_023, 0.000_023, 0.499_977, 0.499_977],
        ),
    ] {
        check(filters, history, &[0.2; 5], &expected);
    }
}

#[test]
fn dry() {
    for (multiplier, allowed_length, breaker, history, probs, expected) in [
        (1.0, 2, None, &[0, 1][..], &[0.25; 4][..], &[0.25; 4][..]),
        (
            1.0,
            2,
            None,
            &[0, 1, 2, 0, 1],
            &[0.25; 4],
            &[0.296_923, 0.296_923, 0.109_232, 0.296_923],
        ),
        (1.0, 2, Some(3), &[0, 1, 3, 4, 0, 1], &[0.2; 5], &[0.2; 5]),
        (
            2.0,
            2,
            None,
            &[0, 1, 2, 0, 1],
            &[0.2; 5],
            &[0.241_818, 0.241_818, 0.032_727, 0.241_818, 0.241_818],
        ),
        (1.0, 4, None, &[0, 1, 2, 3, 4, 0, 1], &[0.2; 5], &[0.2; 5]),
    ] {
        let filter = Dry {
            multiplier,
            base: 1.1,
            allowed_length,
            window: Window {
                last_n: Some(history.len() as u32),
                prompt_counted: true,
            },
            breakers: breaker.map(|id| vec![TokenId(id)]).into_iter().collect(),
        };
        check(&[Filter::Dry(filter)], history, probs, expected);
    }
}

/// Top-k, top-p and min-p in every order over 10,000 tokens whose logits are `ln 1` to `ln 10000`,
/// against the closed form: each cut keeps the tokens from some id on, so a sequence of cuts keeps
/// those from the largest such id on. Each id depends on what the previous cuts kept.
#[test]
fn sequences_of_cuts_match_the_closed_form() {
    let n = 10_000_u32;
    let probs: Vec<f32> = (1..=n).map(|i| i as f32).collect();
    let orders = [
        "k", "p", "m", "kp", "km", "pk", "pm", "mk", "mp", "kpm", "kmp", "pkm", "pmk", "mkp", "mpk",
    ];
    for order in orders {
        for (k, p, m) in [
            (10_000, 1.0, 1.0),
            (1, 1.0, 1.0),
            (10_000, 0.0, 1.0),
            (100, 0.8, 0.100_05),
            (100, 0.8, 0.990_05),
            (9_500, 0.5, 0.300_05),
        ] {
            let (mut filters, mut first) = (Vec::new(), 1);
            for stage in order.chars() {
                match stage {
                    'k' => {
                        filters.push(Filter::TopK(TopK { k }));
                        first = first.max(n + 1 - k);
                    }
                    'p' => {
                        filters.push(Filter::TopP(TopP { p }));
                        first = first_of_top_p(first, n, p);
                    }
                    _ => {
                        filters.push(Filter::MinP(MinP { p: m }));
                        first = (first..=n).find(|i| *i as f32 >= m * n as f32).unwrap_or(n);
                    }
                }
            }
            let after = probs_after(&filters, &[], &probs);
            let kept = after.iter().filter(|prob| **prob > 0.0).count() as u32;
            assert_eq!(kept, n + 1 - first, "{order}, k {k}, p {p}, min-p {m}");
            let total: f64 = (first..=n).map(f64::from).sum();
            for id in first - 1..n {
                let expected = f64::from(id + 1) / total;
                assert!((after[id as usize] - expected).abs() < 1e-5);
            }
        }
    }
}

/// Returns the largest id such that the tokens from it to `n` hold at least the share `p` of the
/// mass of those from `first`.
fn first_of_top_p(first: u32, n: u32, p: f32) -> u32 {
    if p >= 1.0 {
        return first;
    }
    let total: f64 = (first..=n).map(f64::from).sum();
    let mut held = 0.0;
    (first..=n)
        .rev()
        .find(|i| {
            held += f64::from(*i) / total;
            held >= f64::from(p)
        })
        .unwrap_or(first)
}
