//! Tests the interval of a share of right answers.

use super::super::*;
use super::{count, drawn, near, reference, uniform};
use crate::decoding::SplitMix64;

#[test]
fn one_answer_to_each_prompt_has_the_wilson_interval() {
    for case in reference("wilson") {
        let (n, n_right) = (count(&case["n"]), count(&case["n_right"]));
        let one = |n_answers: usize| -> ShareEstimate {
            let shares = (0..n).map(|i| drawn(usize::from(i < n_right) * n_answers, n_answers));
            ShareEstimate::of(&shares.collect::<Vec<_>>()).unwrap()
        };
        let mut estimates = vec![one(1)];
        if n_right == 0 || n_right == n {
            estimates.push(one(5));
        }
        for estimate in estimates {
            let interval = estimate.interval.unwrap();
            near(interval.low, case["low"].as_f64().unwrap(), &case);
            near(interval.high, case["high"].as_f64().unwrap(), &case);
        }
    }
}

#[test]
fn an_interval_of_shares_needs_two_prompts_and_stays_within_0_and_1() {
    assert_eq!(ShareEstimate::of(&[]), None);
    let one = ShareEstimate::of(&[drawn(3, 5)]).unwrap();
    assert_eq!((one.n_prompts, one.interval), (1, None));
    let mut random = SplitMix64::new(3);
    for _ in 0..2000 {
        let n = 2 + random.below(30);
        let n_answers = 1 + random.below(5);
        let is_exact = random.below(2) == 0;
        let shares: Vec<PromptShare> = (0..n)
            .map(|_| {
                if is_exact {
                    PromptShare::Exact(uniform(&mut random).powi(4))
                } else {
                    drawn(random.below(n_answers + 1), n_answers)
                }
            })
            .collect();
        let ShareEstimate {
            share, interval, ..
        } = ShareEstimate::of(&shares).unwrap();
        let Interval { low, high } = interval.unwrap();
        assert!(
            0.0 <= low && low <= share && share <= high && high <= 1.0,
            "{shares:?}"
        );
        assert!(low < high, "{shares:?}");
    }
}

#[test]
fn an_interval_of_shares_depends_on_prompts_more_than_on_answers() {
    let width = |shares: &[PromptShare]| {
        ShareEstimate::of(shares)
            .unwrap()
            .interval
            .unwrap()
            .half_width()
    };
    // The same answers, once all alike within a prompt and once spread over all prompts.
    let split: Vec<PromptShare> = (0..20).map(|i| drawn(5 * (i % 2), 5)).collect();
    let spread: Vec<PromptShare> = (0..20).map(|i| drawn(2 + i % 2, 5)).collect();
    assert!(width(&split) > 1.9 * width(&spread));
    // Never narrower than if all answers were independent.
    let (low, high) = crate::analysis::futures::Share { n_with: 50, n: 100 }.interval();
    assert!(width(&spread) >= (high - low) / 2.0);
}
