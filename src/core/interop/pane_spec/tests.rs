//! Descriptions of panes that are read, printed, and refused.

use super::{GRAMMAR, filter_words};
use crate::decoding::filters::{RepetitionPenalty, Window};
use crate::decoding::{Filter, FilterKind, Selector};
use crate::generation::PaneSettings;

fn parsed(description: &str) -> PaneSettings {
    description
        .parse()
        .unwrap_or_else(|error| panic!("{description}: {error}"))
}

#[test]
fn a_description_is_read_in_every_spelling() {
    for (description, chain, name, seed) in [
        ("greedy", "top token", "Greedy", None),
        ("temp 0", "T 0", "Greedy by T 0", None),
        (
            "dry 0.8, greedy",
            "dry 0.8 › top token",
            "Greedy with DRY",
            None,
        ),
        ("sample", "T 1", "Pure sampling", None),
        (
            "top-p 0.9, temp 0.7, seed 7",
            "top-p 0.9 › T 0.7",
            "Top-p",
            Some(7),
        ),
        ("temp 0.7, top-p 0.9", "T 0.7 › top-p 0.9", "Top-p", None),
        ("T=0.7,topk=40", "T 0.7 › top-k 40", "Top-k", None),
        ("temperature 1.5", "T 1.5", "Temperature", None),
        (
            "Top K 40, TOP_P 0.9",
            "top-k 40 › top-p 0.9",
            "Top-k + top-p",
            None,
        ),
        (
            "top-k 40, xtc 0.5",
            "top-k 40 › xtc 0.5",
            "Top-k + XTC",
            None,
        ),
        (
            "min-p 0.05, name Mine and yours",
            "min-p 0.05",
            "Mine and yours",
            None,
        ),
        (
            "repetition penalty 1.1",
            "repeat 1.1",
            "Repetition penalty",
            None,
        ),
        (
            "frequency -0.5, presence 1",
            "frequency -0.5 › presence 1",
            "Frequency penalty + presence penalty",
            None,
        ),
        (
            "top-k 40 off, top-p 0.5, greedy",
            "top-p 0.5 › top token",
            "Greedy",
            None,
        ),
    ] {
        let pane = parsed(description);
        assert_eq!(pane.chain.to_string(), chain, "{description}");
        assert_eq!(pane.name, name, "{description}");
        assert_eq!(pane.seed, seed, "{description}");
    }
}

#[test]
fn guidance_is_read_in_every_form() {
    for (description, chain, name) in [
        (
            "greedy, guide 1.5",
            "top token · guided × 1.5",
            "Greedy + guidance",
        ),
        (
            "guide 1.5 against model",
            "T 1 · guided × 1.5",
            "Pure sampling + contrast",
        ),
        (
            "guide dola cutoff 0.1 against layers 2 4 6, greedy",
            "top token · guided by difference",
            "Greedy + early layers",
        ),
        (
            "guide 1.5 against layers 4 cutoff 0.1",
            "T 1 · guided × 1.5",
            "Pure sampling + early layers",
        ),
    ] {
        let pane = parsed(description);
        assert_eq!(pane.chain.to_string(), chain, "{description}");
        assert_eq!(pane.name, name, "{description}");
    }
}

#[test]
fn every_filter_and_selector_reads_back_at_its_usual_and_neutral_values() {
    for kind in FilterKind::ALL {
        let spec = kind.spec();
        for filter in [(spec.usual)(), spec.neutral()] {
            let pane = parsed(&filter_words(&filter));
            assert_eq!(pane.chain.stages, [filter.into()], "{}", spec.name);
        }
        let values = filter_words(&(spec.usual)())
            .strip_prefix(spec.chip)
            .unwrap()
            .to_owned();
        for key in spec.keys {
            let pane = parsed(&format!("{key}{values}"));
            assert_eq!(pane.chain.stages, [(spec.usual)().into()], "{key}");
        }
    }
    for spec in Selector::SPECS {
        let pane = parsed(&spec.usual.to_string());
        assert_eq!(pane.chain.selector, spec.usual);
    }
}

#[test]
fn a_penalty_has_a_window() {
    let window = |last_n, prompt_counted| Window {
        last_n,
        prompt_counted,
    };
    for (description, expected) in [
        ("repeat 1.1", window(Some(64), true)),
        ("repeat 1.1 last 32", window(Some(32), true)),
        ("repeat 1.1 last all", window(None, true)),
        ("repeat 1.1 generated only", window(Some(64), false)),
        ("repeat 1.1 generated last 0", window(Some(0), false)),
    ] {
        let filter = RepetitionPenalty {
            penalty: 1.1,
            window: expected,
        };
        let stages = parsed(description).chain.stages;
        assert_eq!(
            stages,
            [Filter::RepetitionPenalty(filter).into()],
            "{description}"
        );
    }
}

#[test]
fn options_may_come_before_and_after_a_list_of_breakers() {
    let expected = parsed("dry 0.8 base 2 last 100 generated only breakers 13 5+6 off");
    for description in [
        "dry 0.8 breakers 13 5+6 last 100 generated only base 2 off",
        "dry 0.8 last 100 breakers 13 generated base 2 breakers 5+6 off",
    ] {
        assert_eq!(parsed(description), expected, "{description}");
    }
}

#[test]
fn what_is_printed_reads_back_the_same() {
    for description in [
        "greedy",
        "sample",
        "T 0",
        "T 0.7, top-p 0.9, seed 18446744073709551615",
        "repeat 1.1 last all generated only, frequency 0.5 last 3, presence -1 off, greedy",
        "dyn-temp 1 range 0.5 exponent 2, smooth 0.3 curve 1.5, top-nσ 1, gumbel",
        "typical-p 0.9, epsilon 0.001, eta 0.002, top-a 0.2, tail-free 0.95 off, mirostat 5 eta 0.1",
        "xtc 0.5 threshold 0.2, no-repeat 3 last all, mirostat-1 3 eta 0.2",
        "top-h 0.4, p-less 1, min-k 3, green-list 2 ratio 0.25 key 42 window 1, gumbel-mark 7 window 4",
        "synth-id 4 keys 654 400 836, synth-id 1 keys off, synth-id 0 keys 1 off",
        "dry 0.8 base 1.75 allowed 2, adaptive-p 0.5 decay 0.9",
        "no-repeat 3, beams 8 length 0.5 early 1",
        "think 200",
        "think 0 open 5 close 6+7 message 13 off, T 1",
        r#"think 200 open "<think>" close "</think>" message "\nTime \"is\" up.\n""#,
        "T 0.7, drafts 6 ngram 3",
        "T 0.7, drafts 4 model",
        "T 0.7, drafts 4 layers 2 ratio",
        "T 0.7, drafts 2 mtp",
        "T 0.7, drafts 2 mtp ratio",
        "greedy, guide 1.5",
        "T 0.7, guide -0.5 cutoff 0.1 against \"A \\\"sad\\\", short story:\", seed 3",
        "T 0.7, guide 1.5 cutoff 0.1 against model",
        "dry 1 base 2 allowed 4 last 9 generated only breakers 13 5+6",
        "top-k 5, dialect transformers",
        "top-p 0.9, dialect candle, seed 3",
        "T 1, dialect ollama",
        "top-p 0.9, dialect openai",
        "bias 13 -2.5 14 1 ban 5 6, ban 7, greedy",
        "bias 13 -2.5 off, bias 13 1 ban 5 off, ban 7 8 off, bias off, gumbel",
        "dry 0.8 base 1.75 allowed 2 breakers 13 5+6 off, mirostat 1 eta 0.1",
        "T 1, mirostat 2 eta 0.1",
        "T 1, mirostat-1 2 eta 0.1",
        "top-p 0.9, dialect llama.cpp, min-keep 3",
        "repeat 1.3 last all, beams 4 length 1 early 0, dialect transformers",
        "repeat 1.3 last all, beams 4 length 1 early 0, dialect transformers, beam-scores renormalized, min-keep 2",
        "repeat 1.3 last all, beams 4 length 1 early 0, dialect transformers, beam-scores logits",
        "repeat 1.3 last all, beams 4 length 1 early 0, beam-scores log-probs",
        "top-p 0.9, dialect transformers, min-keep 0",
        "top-p 0.9, min-keep 1, seed 3",
        "min-p 0.000000001, name \"a \\\"b\\\", c\\\\d\"",
    ] {
        let pane = parsed(description);
        assert_eq!(pane.to_string(), description);
        assert_eq!(parsed(&pane.to_string()), pane);
    }
    let min_keep = |description| parsed(description).chain.rules.min_keep;
    assert_eq!(min_keep("min-keep 3, dialect transformers"), 3);
    assert_eq!(min_keep("dialect transformers"), 1);
    for pane in PaneSettings::classics() {
        assert_eq!(parsed(&pane.to_string()), pane);
    }
}

#[test]
fn an_error_points_at_the_word_that_caused_it() {
    check_errors(&[
        (
            "top-pp 0.9",
            "top-pp",
            "\"top-pp\" is not a setting; did you mean \"top-p\"?",
        ),
        (
            "temp 0.7, banana",
            "banana",
            "\"banana\" is not a setting; use one of repeat, frequency, presence, temp, top-k, top-p, min-p, think, bias, no-repeat, dry, dyn-temp, smooth, typical-p, top-h, p-less, top-nσ, min-k, epsilon, eta, xtc, top-a, tail-free, green-list, synth-id, ban, sample, greedy, gumbel, gumbel-mark, mirostat-1, mirostat, adaptive-p, beams, dialect, beam-scores, min-keep, drafts, guide, grammar, seed, name",
        ),
        (
            "top-p",
            "top-p",
            "\"top-p\" needs a number, as in \"top-p 0.9\"",
        ),
        (
            "top-p high",
            "high",
            "\"high\" is not a number, as in \"top-p 0.9\"",
        ),
        (
            "top-p 0,9",
            "9",
            "\"9\" needs a setting before it; write decimals with a point",
        ),
        ("temp 1, top-p 1.5", "1.5", "Top-p must be between 0 and 1"),
        ("temp -1", "-1", "Temperature must be 0 or more"),
        (
            "repeat 0 last 5",
            "0",
            "Repetition penalty must be greater than 0",
        ),
        ("temp nan", "nan", "Temperature must be 0 or more"),
        (
            "top-k 1.5",
            "1.5",
            "\"1.5\" is not a whole number of 0 or more, as in \"top-k 40\"",
        ),
        (
            "top-k -1",
            "-1",
            "\"-1\" is not a whole number of 0 or more, as in \"top-k 40\"",
        ),
        (
            "beams 4, beam-scores high",
            "high",
            "\"high\" is not a kind of score; use one of logits, log-probs, renormalized",
        ),
        (
            "think 5 message Stop",
            "Stop",
            "write a text in quotes, as in message \"\\nTime is up.\\n\", or its tokens, as in message 13 or message 5+6",
        ),
        (
            "think 5 open 6 message 5+6",
            "5+6",
            "The message can’t open another thought, because that would be cut as well",
        ),
        (
            "seed 1.5",
            "1.5",
            "\"1.5\" is not a whole number of 0 or more, as in \"seed 7\"",
        ),
    ]);
    let empty = "".parse::<PaneSettings>().unwrap_err();
    assert_eq!(
        (empty.message.as_str(), empty.span),
        ("a setting is missing here", 0..0)
    );
}

#[test]
fn an_error_points_at_what_has_no_place() {
    check_errors(&[
        (
            "repeat 1.1 last",
            "last",
            "\"last\" needs a whole number of 0 or more, or \"all\", as in \"last 64\"",
        ),
        ("top-p 0.9 0.8", "0.8", "\"0.8\" was not expected here"),
        ("greedy 3", "3", "\"3\" was not expected here"),
        (
            "greedy, top-k 5, mirostat 5",
            "mirostat",
            "a pane has one selector, and \"greedy\" has already been given",
        ),
        (
            "temp 1e-50",
            "1e-50",
            "\"1e-50\" is too small; write 0 or at least 1.1754944e-38",
        ),
        ("temp 1, , top-p 1", " ", "a setting is missing here"),
        (
            "drafts 4 ngram 9",
            "9",
            "Prompt lookup n-gram must be between 1 and 8",
        ),
        (
            "drafts 4, beams 4",
            "4",
            "Beam search compares whole texts, so it can’t use drafts",
        ),
        (
            "drafts 4 model, beams 4",
            "model",
            "Beam search compares whole texts, so it can’t use drafts",
        ),
        (
            "drafts 4 ngram 2 ratio",
            "ratio",
            "n-grams have no probabilities to compare; use \"drafts 4 model ratio\"",
        ),
        (
            "drafts 4 ngram 2 model",
            "model",
            "drafts come from a model or from n-grams",
        ),
        (
            "drafts 4 ngram 2 mtp",
            "mtp",
            "drafts come from a model or from n-grams",
        ),
        (
            "drafts 4 model ratio, mirostat 5",
            "ratio",
            "Mirostat v2 draws in its own way; choose the same-coin rule for its drafts",
        ),
        ("name", "name", "a name is missing, as in name \"My pane\""),
        ("name \"x", "\"x", "this quote is not closed"),
    ]);
}

#[test]
fn an_error_in_guidance_points_at_its_word() {
    check_errors(&[
        (
            "guide 1.5 cutoff 2",
            "2",
            "Guidance cutoff must be between 0 and 1",
        ),
        (
            "guide 1.5 against sad",
            "sad",
            "write a text in quotes, as in against \"A sad story:\", or against model, or against \
             layers 2 4",
        ),
        (
            "guide dola, greedy",
            "dola",
            "The difference is taken from early layers: guide dola against layers 2 4 6",
        ),
        (
            "guide 1.5 against layers",
            "layers",
            "\"layers\" needs a whole number of 0 or more, as in \"against layers 2 4\"",
        ),
        (
            "guide 1.5 against layers 2 4 2",
            "2",
            "Guidance takes 1 to 16 different early layers",
        ),
        (
            "guide 1.5, beams 4",
            "1.5",
            "Guidance writes one token at a time, so it can’t be combined with beams or drafts",
        ),
    ]);
}

/// Checks the word that each description's error points at, and its message.
fn check_errors(cases: &[(&str, &str, &str)]) {
    for (description, word, message) in cases {
        let error = description.parse::<PaneSettings>().unwrap_err();
        assert_eq!(error.message, *message, "{description}");
        assert_eq!(&description[error.span], *word, "{description}");
    }
}

#[test]
fn an_error_is_underlined() {
    let description = "näme x, top-q 1";
    let error = "temp 1, top-q 1".parse::<PaneSettings>().unwrap_err();
    let lines = error.pointing_into("temp 1, top-q 1");
    assert!(
        lines.starts_with("temp 1, top-q 1\n        ^^^^^\n\"top-q\""),
        "{lines}"
    );
    let error = description.parse::<PaneSettings>().unwrap_err();
    assert!(error.pointing_into(description).contains("\n^^^^\n"));
}

#[test]
fn the_help_contains_only_what_can_be_read() {
    let examples = GRAMMAR
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   ") && !line.contains('…'))
        .map(|line| line.trim().split("  ").next().unwrap_or_default());
    let mut n_examples = 0;
    for example in examples {
        parsed(example);
        n_examples += 1;
    }
    assert!(n_examples > 25, "{}", *GRAMMAR);
    assert_eq!(parsed("greedy").chain.selector, Selector::Greedy);
}
