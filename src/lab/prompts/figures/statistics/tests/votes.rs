//! Tests the votes among several answers.

use super::super::*;
use super::{count, near, reference};
use crate::decoding::SplitMix64;

#[test]
fn passing_equals_the_formula_of_its_paper() {
    for case in reference("pass_at_k") {
        let [n, n_right, k] = ["n", "n_right", "k"].map(|key| count(&case[key]));
        let found = pass_at_k(n, n_right, k).unwrap();
        near(found, case["prob"].as_f64().unwrap(), &case);
    }
    assert_eq!(pass_at_k(5, 2, 6), None);
    assert_eq!(pass_at_k(5, 6, 1), None);
    assert_eq!(pass_at_k(5, 5, 5), Some(1.0));
}

/// Returns the probability that the majority of these answers is right.
fn of_all(answers: &[GroupedAnswer]) -> f64 {
    let counts: Vec<usize> = (0..8)
        .map(|group| {
            answers
                .iter()
                .filter(|answer| answer.group == group)
                .count()
        })
        .collect();
    let most = counts.iter().max().unwrap();
    let winners: Vec<usize> = (0..8).filter(|group| counts[*group] == *most).collect();
    let right = winners.iter().filter(|group| **group < 2).count();
    right as f64 / winners.len() as f64
}

/// Answers of which those of the first two groups are right.
fn answers(groups: &[usize]) -> Vec<GroupedAnswer> {
    let answer = |group: &usize| GroupedAnswer {
        group: *group,
        is_right: *group < 2,
    };
    groups.iter().map(answer).collect()
}

#[test]
fn a_majority_is_averaged_over_all_subsets() {
    let mut random = SplitMix64::new(6);
    for _ in 0..200 {
        let groups: Vec<usize> = (0..=random.below(9)).map(|_| random.below(5)).collect();
        let answers = answers(&groups);
        for n in 1..=answers.len() {
            let subsets = (0_u32..1 << answers.len()).filter(|s| s.count_ones() as usize == n);
            let all: Vec<f64> = subsets
                .map(|subset| {
                    let chosen = (0..answers.len()).filter(|i| subset >> i & 1 == 1);
                    of_all(&chosen.map(|i| answers[i]).collect::<Vec<_>>())
                })
                .collect();
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            near(
                majority_accuracy(&answers, n).unwrap(),
                mean,
                &(groups.clone(), n),
            );
        }
    }
    assert_eq!(majority_accuracy(&answers(&[0, 1]), 3), None);
    assert_eq!(majority_accuracy(&answers(&[0, 1]), 0), None);
}

#[test]
fn the_estimate_of_a_majority_is_unbiased() {
    // Two right and three wrong answers, drawn with these probabilities in twentieths.
    let weights = [7, 2, 6, 3, 2];
    let mut random = SplitMix64::new(7);
    let mut draw = |n: usize| -> Vec<GroupedAnswer> {
        let groups = (0..n).map(|_| {
            let mut left = random.below(20);
            let group = weights.iter().position(|weight| {
                let is_here = left < *weight;
                left = left.saturating_sub(*weight);
                is_here
            });
            group.unwrap()
        });
        answers(&groups.collect::<Vec<_>>())
    };
    for n in [1, 2, 3, 5] {
        let n_runs = 10_000;
        let truth: f64 = (0..n_runs).map(|_| of_all(&draw(n))).sum();
        let found: f64 = (0..n_runs)
            .map(|_| majority_accuracy(&draw(8), n).unwrap())
            .sum();
        // Three standard errors of both.
        let gap = (truth - found).abs() / f64::from(n_runs);
        assert!(gap < 0.02, "{n}: {truth} {found}");
    }
}

#[test]
fn many_answers_are_drawn_from_and_agree() {
    let groups: Vec<usize> = (0..400).map(|i| [0, 0, 0, 2, 2, 3, 4, 5][i % 8]).collect();
    let many = majority_accuracy(&answers(&groups), 5).unwrap();
    let drawn = majority_accuracy(&answers(&groups.repeat(3)), 5).unwrap();
    assert!((many - drawn).abs() < 0.03, "{many} {drawn}");
}

#[test]
fn all_numbers_of_answers_pass_as_by_the_formula() {
    for (n, n_right) in [(1, 0), (1, 1), (5, 2), (40, 1), (256, 250)] {
        let all = pass_at_all(n, n_right);
        assert_eq!(all.len(), n);
        for (k, found) in (1..).zip(all) {
            near(found, pass_at_k(n, n_right, k).unwrap(), &(n, n_right, k));
        }
    }
}

#[test]
fn votes_among_few_answers_are_exact() {
    let prompts = [answers(&[0, 0, 2, 3]), answers(&[0, 2, 2, 1, 4])];
    let found = majority_accuracies(&prompts);
    assert_eq!(found.len(), 4);
    for (n, found) in (1..).zip(found) {
        let each = prompts.iter().map(|answers| majority_accuracy(answers, n));
        near(found, each.map(Option::unwrap).sum::<f64>() / 2.0, &n);
    }
    assert_eq!(majority_accuracies(&[]), Vec::<f64>::new());
}

#[test]
fn votes_among_hundreds_of_answers_to_a_thousand_prompts_are_bounded() {
    let groups: Vec<usize> = (0..256).map(|i| [0, 0, 0, 2, 2, 3, 4, 5][i % 8]).collect();
    let other: Vec<usize> = (0..256).collect();
    let prompts: Vec<Vec<GroupedAnswer>> = (0..1000)
        .map(|prompt| answers(if prompt % 2 == 0 { &groups } else { &other }))
        .collect();
    let found = majority_accuracies(&prompts);
    assert_eq!(found.len(), 256);
    // Of 256 answers that all differ, two are right and none is a majority.
    let exact = |n: usize| {
        let first = majority_accuracy(&prompts[0], n).unwrap();
        f64::midpoint(first, 2.0 / 256.0)
    };
    for n in [1, 5, 31, 256] {
        let gap = (found[n - 1] - exact(n)).abs();
        assert!(gap < 0.01, "{n}: {} {}", found[n - 1], exact(n));
    }
}
