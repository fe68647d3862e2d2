//! Tests the sentences about judged settings.

use super::super::words::{p_words, points, range_words, share_words};
use super::super::*;

type Shares = Vec<Option<PromptShare>>;

/// Returns five answers to each prompt: how many prompts, and how many right answers to each.
fn shares(runs: &[(usize, usize)]) -> Shares {
    let all = runs.iter().flat_map(|(n_prompts, n_right)| {
        let share = PromptShare::Sampled {
            n_right: *n_right,
            n_answers: 5,
        };
        vec![Some(share); *n_prompts]
    });
    all.collect()
}

fn said(settings: &[(&str, Shares)]) -> (String, Option<String>) {
    let judged: Vec<JudgedSetting<'_>> = settings
        .iter()
        .map(|(name, shares)| JudgedSetting { name, shares })
        .collect();
    let shares: Vec<&[Option<PromptShare>]> = judged.iter().map(|setting| setting.shares).collect();
    let Verdict { sentence, limits } = sentence(&judged, &compare(&shares)).unwrap();
    (sentence, limits)
}

#[test]
fn the_best_is_compared_with_the_nearest_and_with_the_first_it_surely_beats() {
    let (sentence, limits) = said(&[
        ("Top-p", shares(&[(18, 5), (6, 3), (3, 1), (1, 4), (12, 0)])),
        ("Pure", shares(&[(20, 2), (16, 1), (4, 2)])),
        ("Greedy", shares(&[(24, 5), (16, 0)])),
    ]);
    assert_eq!(
        sentence,
        "Greedy answers 60 % of these 40; of others like them, 44 to 74 %. It beats Top-p on 6 and \
         loses on 4: that can be chance (p 0.56). Against Pure it isn’t: 24 to 16 (p < 0.001)."
    );
    assert_eq!(
        limits.unwrap(),
        "40 prompts can’t tell differences under 13 points."
    );
}

#[test]
fn one_setting_is_not_compared() {
    let (sentence, limits) = said(&[("Greedy", shares(&[(24, 5), (16, 0)]))]);
    assert_eq!(
        sentence,
        "Greedy answers 60 % of these 40; of others like them, 44 to 74 %."
    );
    assert_eq!(limits, None);
}

#[test]
fn one_prompt_says_nothing() {
    let (sentence, limits) = said(&[("A", shares(&[(1, 3)])), ("B", shares(&[(1, 1)]))]);
    assert_eq!(
        sentence,
        "A answers 60 % of one prompt, which says nothing about others."
    );
    assert_eq!(
        limits.unwrap(),
        "One prompt is too few to compare settings."
    );
}

#[test]
fn a_sure_difference_alone_is_hardly_chance() {
    let (sentence, limits) = said(&[
        ("A", shares(&[(20, 5)])),
        ("B", shares(&[(10, 5), (10, 1)])),
    ]);
    assert_eq!(
        sentence,
        "A answers 100 % of these 20; of others like them, 84 to 100 %. It beats B on 10 and loses on \
         none: that is hardly chance (p 0.002)."
    );
    assert!(
        limits
            .unwrap()
            .starts_with("20 prompts can’t tell differences under ")
    );
}

#[test]
fn settings_that_are_equal_are_named_together() {
    let equal = shares(&[(4, 5), (6, 1)]);
    let (sentence, limits) = said(&[
        ("A", equal.clone()),
        ("B", equal.clone()),
        ("C", equal.clone()),
    ]);
    assert_eq!(
        sentence,
        "All three settings answer 52 % of these 10; of others like them, 26 to 77 %. They are right \
         equally often on every prompt."
    );
    assert_eq!(
        limits.unwrap(),
        "10 prompts can’t tell differences under 28 points."
    );
    let other = shares(&[(1, 1), (3, 5), (1, 5), (5, 1)]);
    let (sentence, _) = said(&[("A", equal.clone()), ("B", other)]);
    assert_eq!(
        sentence,
        "A and B both answer 52 % of these 10; of others like them, 26 to 77 %. A is right more often \
         on 1, B on 1."
    );
    let worse = shares(&[(10, 1)]);
    let (sentence, _) = said(&[("A", equal.clone()), ("B", equal), ("C", worse)]);
    assert_eq!(
        sentence,
        "A and B both answer 52 % of these 10; of others like them, 26 to 77 %. A beats C on 4 and \
         loses on none: that can be chance (p 0.12)."
    );
}

#[test]
fn exact_shares_say_what_is_uncertain() {
    let exact = |probs: &[f64]| -> Shares {
        probs
            .iter()
            .map(|prob| Some(PromptShare::Exact(*prob)))
            .collect()
    };
    let (sentence, limits) = said(&[
        ("A", exact(&[0.9, 0.2, 0.95, 0.5, 1.0, 0.3, 0.7])),
        ("B", exact(&[0.8, 0.1, 0.9, 0.4, 0.9, 0.2, 0.6])),
    ]);
    assert_eq!(
        sentence,
        "A answers exactly 65 % of these 7; of others like them, 35 to 86 %. It beats B on 7 and loses \
         on none: that is hardly chance (p 0.02)."
    );
    assert_eq!(
        limits.unwrap(),
        "These shares are exact: only the choice of prompts is uncertain. 7 prompts can’t tell \
         differences under 1.3 points."
    );
}

#[test]
fn settings_without_answers_are_left_out() {
    let (sentence, limits) = said(&[("A", vec![None; 3]), ("B", shares(&[(3, 5)]))]);
    assert_eq!(
        sentence,
        "B answers 100 % of these 3; of others like them, 44 to 100 %."
    );
    assert_eq!(limits, None);
    let none = [JudgedSetting {
        name: "A",
        shares: &[None],
    }];
    assert_eq!(super::super::sentence(&none, &[]), None);
}

fn said_of_axis(points: &[(&str, Shares)]) -> String {
    let points: Vec<AxisPoint<'_>> = points
        .iter()
        .map(|(label, shares)| AxisPoint { label, shares })
        .collect();
    axis_sentence(&points).unwrap().sentence
}

#[test]
fn an_axis_has_values_that_are_alike_and_one_beyond_which_accuracy_falls() {
    let level = |n: usize| shares(&[(n, 5), (40 - n, 0)]);
    let falling = [
        ("0", level(20)),
        ("0.2", level(30)),
        ("0.4", level(32)),
        ("0.6", level(29)),
        ("0.9", level(26)),
        ("1.2", level(28)),
        ("1.5", level(12)),
    ];
    assert_eq!(
        said_of_axis(&falling),
        "On these 40 prompts 0.2 to 0.6 are alike; below 0.2 accuracy falls below 70 %; above 1.2 \
         accuracy falls below 70 %."
    );
    assert_eq!(
        said_of_axis(&falling[1..4]),
        "On these 40 prompts all values from 0.2 to 0.6 are alike."
    );
    let steep = [("1", level(40)), ("2", level(30)), ("3", level(31))];
    assert_eq!(
        said_of_axis(&steep),
        "On these 40 prompts 1 is best; above 1 accuracy falls below 90 %."
    );
    let near = [
        ("1", shares(&[(40, 4)])),
        ("2", shares(&[(30, 4), (10, 3)])),
    ];
    assert_eq!(
        said_of_axis(&near),
        "On these 40 prompts 1 is best; above 1 accuracy falls below 80 %."
    );
    let little = [("1", shares(&[(35, 4), (5, 5)])), ("2", shares(&[(40, 4)]))];
    assert_eq!(
        said_of_axis(&little),
        "On these 40 prompts 1 and 2 are alike."
    );
    assert!(axis_sentence(&[]).is_none());
}

#[test]
fn a_shown_p_value_is_below_5_percent_exactly_if_it_is() {
    for (p_value, words) in [
        (1.0, "p 1"),
        (0.996, "p 1"),
        (0.42, "p 0.42"),
        (0.05, "p 0.05"),
        (0.0499, "p 0.049"),
        (0.0449, "p 0.04"),
        (0.0078, "p 0.008"),
        (0.00012, "p < 0.001"),
    ] {
        assert_eq!(p_words(p_value), words);
    }
    assert_eq!(
        [0.078, 0.012, 0.0042, 0.0].map(points),
        ["8 points", "1.2 points", "0.4 points", "0.1 points"]
    );
    assert_eq!([0.0, 0.05, 1.0].map(share_words), ["0 %", "5.0 %", "100 %"]);
    let range = |low, high| range_words(Interval { low, high });
    assert_eq!(range(0.45, 0.75), "45 to 75 %");
    assert_eq!(range(0.452, 0.461), "45.2 to 46.1 %");
}
