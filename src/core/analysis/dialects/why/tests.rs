//! Each difference is explained if it applies, and only then.

use super::explain_differences;
use crate::analysis::dialects::{Numbers, in_order_of};
use crate::decoding::ChainConfig;
use crate::decoding::dialect::Dialect;
use crate::generation::PaneSettings;

fn chain(words: &str) -> ChainConfig {
    words.parse::<PaneSettings>().unwrap().chain
}

fn why_they_differ(one: &ChainConfig, other: &ChainConfig) -> Vec<String> {
    let names = ["the first", "the second"].map(str::to_owned);
    explain_differences([one, other], names)
}

/// The differences between two engines that run the same chain.
fn between(words: &str, one: Dialect, other: Dialect) -> Vec<String> {
    let [one, other] =
        [one, other].map(|dialect| in_order_of(Some(dialect), Numbers::Kept, &chain(words)).chain);
    why_they_differ(&one, &other)
}

#[test]
fn an_order_that_matters_is_explained() {
    use Dialect::{LlamaCpp, MistralRs, OpenAi, Transformers, Vllm};
    for (words, one, other, expected) in [
        (
            "temp 1.5, top-k 40, top-p 1, min-p 0.1",
            Transformers,
            LlamaCpp,
            &[
                "Temperature comes before min-p in transformers but after it in llama.cpp, where it \
                 sees unscaled probabilities; so transformers keeps more tokens",
                "Tokens tied with the k-th stay in transformers but are cut in llama.cpp",
            ][..],
        ),
        (
            "temp 0.7, top-k 0, top-p 0.9, min-p 0.1",
            LlamaCpp,
            MistralRs,
            &[
                "Temperature comes before top-p and min-p in mistral.rs but after them in \
                 llama.cpp, where they see unscaled probabilities; so mistral.rs keeps fewer tokens",
                "A token exactly at the min-p threshold is cut in mistral.rs but stays in llama.cpp",
            ],
        ),
        (
            "temp 0.7, top-p 0.9, typical-p 0.9, min-p 0, top-k 0",
            LlamaCpp,
            Transformers,
            &[
                "Temperature comes before typical-p and top-p in transformers but after them in \
                 llama.cpp, where they see unscaled probabilities",
                "Typical-p comes before top-p in llama.cpp but after it in transformers: the later \
                 filter sees only the tokens that the earlier one kept",
                "If the sum hits p exactly, typical-p keeps one more token in llama.cpp than in \
                 transformers",
            ],
        ),
        (
            "top-k 0, top-p 0.9, min-p 0.1",
            Vllm,
            Transformers,
            &[
                "Min-p comes before top-p in vLLM but after it in transformers: the later filter \
                 sees only the tokens that the earlier one kept",
            ],
        ),
        (
            "repeat 1.1, frequency 0.5",
            Vllm,
            MistralRs,
            &[
                "Repetition penalty comes before frequency penalty in vLLM but after it in \
                 mistral.rs: dividing before subtracting differs from subtracting first",
            ],
        ),
        ("temp 0.7, top-p 0.9, top-k 0", Vllm, OpenAi, &[]),
    ] {
        assert_eq!(between(words, one, other), expected, "{words}");
    }
}

#[test]
fn a_rule_that_differs_is_explained() {
    use Dialect::{Candle, LlamaCpp, MistralRs, OpenAi, Transformers, Vllm};
    for (words, one, other, expected) in [
        (
            "top-k 40, top-p 0.9",
            Candle,
            Vllm,
            &[
                "Tokens tied with the k-th stay in vLLM but are cut in candle",
                "In candle, top-p also counts the probability that the filter before it removed, so \
                 it keeps more tokens than in vLLM",
            ][..],
        ),
        (
            "top-p 0",
            Candle,
            OpenAi,
            &["Top-p 0 means off in candle; in OpenAI it keeps one token"],
        ),
        (
            "repeat 1.1, top-k 0, top-p 1, min-p 0, temp 1",
            LlamaCpp,
            Candle,
            &[],
        ),
        (
            "repeat 1.1, top-k 0, top-p 1, min-p 0, temp 1",
            LlamaCpp,
            Transformers,
            &[
                "Repetition penalty looks at the last 64 tokens (including the prompt) in llama.cpp \
                 but at all tokens (including the prompt) in transformers",
            ],
        ),
        (
            "top-k 1",
            Candle,
            Vllm,
            &["Tokens tied with the k-th stay in vLLM but are cut in candle"],
        ),
        (
            "min-p 1, top-k 0, top-p 1",
            MistralRs,
            Transformers,
            &["Min-p 1 means off in mistral.rs; in transformers it keeps only the top token"],
        ),
    ] {
        assert_eq!(between(words, one, other), expected, "{words}");
    }
}

#[test]
fn different_defaults_come_first() {
    let own = chain("temp 0.7, top-p 0.9");
    let llama = in_order_of(Some(Dialect::LlamaCpp), Numbers::Kept, &own).chain;
    let reasons = why_they_differ(&own, &llama);
    assert_eq!(
        reasons,
        [
            "llama.cpp applies top-k 40 and min-p 0.05 by default; Quartet does not",
            "Temperature comes before top-p in Quartet but after it in llama.cpp, where it sees \
             unscaled probabilities; so Quartet keeps fewer tokens",
        ]
    );
    let defaults = [Dialect::LlamaCpp, Dialect::Transformers].map(Dialect::chain);
    let [llama, transformers] = &defaults;
    assert_eq!(
        why_they_differ(llama, transformers)
            .first()
            .map(String::as_str),
        Some(
            "The defaults differ: llama.cpp applies top-k 40, top-p 0.95, min-p 0.05 and T 0.8, \
             transformers applies top-k 50"
        )
    );
}

#[test]
fn parameters_that_the_user_set_differently_need_no_explanation() {
    for (one, other) in [
        ("temp 0.7", "temp 0.8, dialect vllm"),
        ("temp 0.7", "temp 0.7, top-p 0.9, dialect openai"),
        ("top-p 0.9, greedy", "top-p 0.9, dialect candle"),
        ("top-p 0.9 off", "top-p 0.9, dialect openai"),
    ] {
        let reasons = why_they_differ(&chain(one), &chain(other));
        assert!(reasons.is_empty(), "{one}, {other}: {reasons:?}");
    }
}

#[test]
fn the_order_of_cuts_does_not_matter_for_greedy_chains() {
    let one = chain("temp 1.5, min-p 0.1, greedy, dialect transformers");
    let other = chain("min-p 0.1, temp 1.5, greedy, dialect llama.cpp");
    assert!(why_they_differ(&one, &other).is_empty());
    let one = chain("top-k 40, top-p 0.95, min-p 0.05, dyn-temp 0 range 0, dialect llama.cpp");
    let other = chain("top-k 40, top-p 0.9, dyn-temp 0 range 0, dialect ollama");
    assert!(why_they_differ(&one, &other).is_empty());
    let one = chain("repeat 1.1 last all, greedy, dialect transformers");
    let other = chain("repeat 1.1, greedy, dialect llama.cpp");
    assert_eq!(why_they_differ(&one, &other).len(), 1);
}

#[test]
fn chains_of_the_same_engine_are_told_apart_by_the_given_names() {
    let one = chain("temp 0.5, top-p 0.9");
    let other = chain("top-p 0.9, temp 0.5");
    let reasons = why_they_differ(&one, &other);
    assert_eq!(
        reasons,
        [
            "Temperature comes before top-p in the first but after it in the second, where it sees \
             unscaled probabilities; so the first keeps fewer tokens"
        ]
    );
    assert!(why_they_differ(&one, &one).is_empty());
}

#[test]
fn acronyms_stay_uppercase_inside_a_sentence() {
    for (one, other, expected) in [
        (
            "temp 0.5, xtc 0.5",
            "xtc 0.5, temp 0.5",
            "Temperature comes before XTC in the first but after it in the second, where it sees \
             unscaled probabilities",
        ),
        (
            "temp 0.5, dry 0.8",
            "dry 0.8, temp 0.5",
            "Temperature comes before DRY in the first but after it in the second: temperature also \
             scales what was added before it",
        ),
    ] {
        let reasons = why_they_differ(&chain(one), &chain(other));
        assert_eq!(reasons, [expected], "{one}");
    }
}

#[test]
fn equivalent_chains_have_no_differences() {
    for dialect in Dialect::ALL {
        assert!(why_they_differ(&dialect.chain(), &dialect.chain()).is_empty());
    }
    // A plain temperature commutes with a repetition penalty, and two cuts commute if they only
    // depend on rank or on the top token.
    for (one, other) in [
        ("repeat 1.1, temp 0.7", "temp 0.7, repeat 1.1"),
        ("top-k 40, min-p 0.1", "min-p 0.1, top-k 40"),
        ("top-k 40, temp 0.7", "temp 0.7, top-k 40"),
        ("frequency 0.5, presence 0.5", "presence 0.5, frequency 0.5"),
    ] {
        let reasons = why_they_differ(&chain(one), &chain(other));
        assert!(reasons.is_empty(), "{one}: {reasons:?}");
    }
}
