//! Tests the difference between two settings, prompt by prompt.

use super::super::*;
use super::{count, drawn, near, reference, uniform};
use crate::decoding::SplitMix64;

#[test]
fn p_values_equal_those_of_scipy() {
    for case in reference("paired") {
        let shares = |key: &str| -> Vec<Option<PromptShare>> {
            let counts = case[key].as_array().unwrap().iter();
            let n_answers = count(&case["n_answers"]);
            counts
                .map(|n_right| Some(drawn(count(n_right), n_answers)))
                .collect()
        };
        let differences = differences(&shares("a"), &shares("b"));
        let paired = Paired::of(&differences).unwrap();
        near(paired.p_value, case["p_value"].as_f64().unwrap(), &case);
        assert_eq!(
            paired.interval.contains(0.0),
            paired.p_value >= 0.05,
            "{case}"
        );
    }
}

#[test]
fn zero_is_in_the_interval_exactly_if_it_is_not_rejected() {
    let mut random = SplitMix64::new(1);
    let mut n_rejected = 0;
    for case in 0..3000 {
        let n = 1 + random.below(if case % 10 == 0 { 60 } else { 24 });
        let n_answers = 1 + random.below(6);
        let shift = uniform(&mut random);
        let step = |random: &mut SplitMix64| match case % 3 {
            0 => uniform(random) - 0.5 * shift,
            _ => {
                (random.below(n_answers + 1) as f64 - shift * random.below(n_answers + 1) as f64)
                    .round()
                    / n_answers as f64
            }
        };
        let differences: Vec<f64> = (0..n).map(|_| step(&mut random)).collect();
        let paired = Paired::of(&differences).unwrap();
        assert_eq!(
            paired.interval.contains(0.0),
            paired.p_value >= 0.05,
            "{differences:?}"
        );
        assert!(
            paired.interval.contains(paired.difference),
            "{differences:?}"
        );
        n_rejected += usize::from(paired.is_significant());
    }
    assert!((500..2500).contains(&n_rejected), "{n_rejected}");
}

#[test]
fn the_interval_holds_what_the_test_does_not_reject() {
    let mut random = SplitMix64::new(2);
    for _ in 0..300 {
        let n = 6 + random.below(8);
        let differences: Vec<f64> = (0..n).map(|_| 2.0 * uniform(&mut random) - 1.0).collect();
        let Interval { low, high } = Paired::of(&differences).unwrap().interval;
        for (shift, is_inside) in [
            (low - 1e-6, false),
            (low + 1e-6, true),
            (high - 1e-6, true),
            (high + 1e-6, false),
        ] {
            let shifted: Vec<f64> = differences.iter().map(|d| d - shift).collect();
            let p_value = Paired::of(&shifted).unwrap().p_value;
            assert_eq!(p_value >= 0.05, is_inside, "{differences:?} {shift}");
        }
    }
}

#[test]
fn drawn_flips_agree_with_all_of_them_and_with_blocks() {
    let mut random = SplitMix64::new(4);
    for _ in 0..20 {
        // 17 differences of which one is tiny: drawn, though it hardly matters.
        let mut differences: Vec<f64> = (0..16).map(|_| uniform(&mut random) - 0.35).collect();
        let exact = Paired::of(&differences).unwrap();
        differences.push(1e-12);
        let drawn = Paired::of(&differences).unwrap();
        assert!(
            (exact.p_value - drawn.p_value).abs() < 0.015,
            "{exact:?} {drawn:?}"
        );
    }
    // With many differences, the interval agrees with the normal approximation, even if they flip in
    // blocks.
    for n in [1000, 10_000] {
        let ratios = (0..16).map(|_| {
            let differences: Vec<f64> = (0..n).map(|_| uniform(&mut random) - 0.49).collect();
            let paired = Paired::of(&differences).unwrap();
            assert!(paired.interval.contains(paired.difference));
            paired.interval.half_width() / (1.96 / (12.0 * f64::from(n)).sqrt())
        });
        let mean = ratios.sum::<f64>() / 16.0;
        assert!((mean - 1.0).abs() < 0.02, "{n}: {mean}");
    }
}

#[test]
fn few_or_equal_prompts_tell_nothing() {
    assert_eq!(Paired::of(&[]), None);
    let five = Paired::of(&[1.0; 5]).unwrap();
    assert_eq!((five.n_wins, five.p_value), (5, 1.0 / 16.0));
    assert_eq!(
        five.interval,
        Interval {
            low: -1.0,
            high: 1.0
        }
    );
    let equal = Paired::of(&[0.0; 40]).unwrap();
    assert_eq!((equal.n_ties, equal.p_value), (40, 1.0));
    assert!((equal.interval.high - 0.0876).abs() < 1e-4, "{equal:?}");
    near(equal.interval.low, -equal.interval.high, &equal);
}

#[test]
fn all_pairs_are_compared_on_the_prompts_that_both_answered() {
    let a = [
        Some(drawn(2, 2)),
        None,
        Some(drawn(1, 2)),
        Some(drawn(0, 2)),
    ];
    let b = [
        Some(drawn(1, 2)),
        Some(drawn(1, 2)),
        Some(PromptShare::Exact(0.5)),
        None,
    ];
    let comparisons = compare(&[&a, &b, &a]);
    let pairs: Vec<(usize, usize)> = comparisons.iter().map(|c| (c.first, c.second)).collect();
    assert_eq!(pairs, [(0, 1), (0, 2), (1, 2)]);
    let paired = comparisons[0].paired;
    assert_eq!((paired.n_wins, paired.n_losses, paired.n_ties), (1, 0, 1));
    assert_eq!(comparisons[2].paired, paired.reversed());
    assert_eq!(smallest_difference(&comparisons[..1]), None);
    assert_eq!(smallest_difference(&[]), None);
}

#[test]
fn looking_after_every_prompt_seldom_decides_between_equals() {
    // Of three settings, two are equally good, though their difference need not be symmetric.
    let mut random = SplitMix64::new(5);
    let (mut n_false, mut n_true) = (0, 0);
    for run in 0..150 {
        let mut shares: Vec<[f64; 3]> = Vec::new();
        let (mut is_false, mut is_true) = (false, false);
        for _ in 0..200 {
            let rare = if random.below(10) == 0 { 0.9 } else { 0.0 };
            let hard = uniform(&mut random) < 0.6;
            let hard_too = uniform(&mut random) < 0.6;
            let better = if uniform(&mut random) < 0.85 {
                1.0
            } else {
                0.0
            };
            let [hard, hard_too] = [hard, hard_too].map(f64::from);
            shares.push(match run % 2 {
                0 => [hard, hard_too, better],
                _ => [rare, 0.09, better],
            });
            let watch = |first: usize, second: usize| {
                let differences = shares.iter().map(|shares| shares[first] - shares[second]);
                is_decided(&differences.collect::<Vec<_>>(), 3)
            };
            is_false = is_false || watch(0, 1) || watch(1, 0) || watch(0, 2);
            is_true = is_true || watch(2, 0);
        }
        n_false += usize::from(is_false);
        n_true += usize::from(is_true);
    }
    assert!(n_false <= 9, "{n_false}");
    assert!(n_true >= 140, "{n_true}");
}
