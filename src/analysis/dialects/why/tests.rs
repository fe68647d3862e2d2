//! Each trap is named where it applies, and nowhere else.

use super::why_these_differ;
use crate::analysis::dialects::{Numbers, in_order_of};
use crate::decoding::ChainConfig;
use crate::decoding::dialect::Dialect;
use crate::generation::PaneSettings;

fn chain(words: &str) -> ChainConfig {
    words.parse::<PaneSettings>().unwrap().chain
}

fn why_they_differ(one: &ChainConfig, other: &ChainConfig) -> Vec<String> {
    let names = ["the first", "the second"].map(str::to_owned);
    why_these_differ([one, other], names)
}

/// The reasons between two engines that were given the same chain.
fn between(words: &str, one: Dialect, other: Dialect) -> Vec<String> {
    let [one, other] =
        [one, other].map(|dialect| in_order_of(Some(dialect), Numbers::Kept, &chain(words)).chain);
    why_they_differ(&one, &other)
}

#[test]
fn an_order_that_matters_is_named() {
    use Dialect::{LlamaCpp, MistralRs, OpenAi, Transformers, Vllm};
    for (words, one, other, expected) in [
        (
            "temp 1.5, top-k 40, top-p 1, min-p 0.1",
            Transformers,
            LlamaCpp,
            &[
                "Temperature comes before min-p in transformers and after in llama.cpp, where it \
                 sees the model's own probabilities; so transformers lets more tokens through",
                "Tokens as likely as the last that top-k counts stay in transformers, and go in \
                 llama.cpp",
            ][..],
        ),
        (
            "temp 0.7, top-k 0, top-p 0.9, min-p 0.1",
            LlamaCpp,
            MistralRs,
            &[
                "Temperature comes before top-p and min-p in mistral.rs and after in llama.cpp, \
                 where they see the model's own probabilities; so mistral.rs lets fewer tokens \
                 through",
                "A token exactly at the bar of min-p is cut in mistral.rs and stays in llama.cpp",
            ],
        ),
        (
            "temp 0.7, top-p 0.9, typical-p 0.9, min-p 0, top-k 0",
            LlamaCpp,
            Transformers,
            &[
                "Temperature comes before typical-p and top-p in transformers and after in \
                 llama.cpp, where they see the model's own probabilities",
                "Typical-p comes before top-p in llama.cpp and after in transformers: the one that \
                 comes later sees only what the other left",
                "Where the sum meets its share exactly, typical-p takes one token more in llama.cpp \
                 than in transformers",
            ],
        ),
        (
            "top-k 0, top-p 0.9, min-p 0.1",
            Vllm,
            Transformers,
            &[
                "Min-p comes before top-p in vLLM and after in transformers: the one that comes \
                 later sees only what the other left",
            ],
        ),
        (
            "repeat 1.1, frequency 0.5",
            Vllm,
            MistralRs,
            &[
                "Repetition penalty comes before frequency penalty in vLLM and after in mistral.rs: \
                 dividing and then subtracting is not subtracting and then dividing",
            ],
        ),
        ("temp 0.7, top-p 0.9, top-k 0", Vllm, OpenAi, &[]),
    ] {
        assert_eq!(between(words, one, other), expected, "{words}");
    }
}

#[test]
fn a_rule_that_differs_is_named() {
    use Dialect::{Candle, LlamaCpp, MistralRs, OpenAi, Transformers, Vllm};
    for (words, one, other, expected) in [
        (
            "top-k 40, top-p 0.9",
            Candle,
            Vllm,
            &[
                "Tokens as likely as the last that top-k counts stay in vLLM, and go in candle",
                "Top-p in candle counts what the cut before it took too, so it keeps more tokens \
                 than in vLLM",
            ][..],
        ),
        (
            "top-p 0",
            Candle,
            OpenAi,
            &["A top-p of 0 is off in candle, and keeps one token in OpenAI"],
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
                "Repetition penalty looks at the last 64 tokens (the prompt's too) in llama.cpp, and \
                 at all tokens (the prompt's too) in transformers",
            ],
        ),
        (
            "top-k 1",
            Candle,
            Vllm,
            &["Tokens as likely as the last that top-k counts stay in vLLM, and go in candle"],
        ),
        (
            "min-p 1, top-k 0, top-p 1",
            MistralRs,
            Transformers,
            &["A min-p of 1 is off in mistral.rs, and keeps the best alone in transformers"],
        ),
    ] {
        assert_eq!(between(words, one, other), expected, "{words}");
    }
}

#[test]
fn what_nobody_set_is_named_first() {
    let own = chain("temp 0.7, top-p 0.9");
    let llama = in_order_of(Some(Dialect::LlamaCpp), Numbers::Kept, &own).chain;
    let reasons = why_they_differ(&own, &llama);
    assert_eq!(
        reasons,
        [
            "llama.cpp applies top-k 40 and min-p 0.05 on its own, Quartet does not",
            "Temperature comes before top-p in Quartet and after in llama.cpp, where it sees the \
             model's own probabilities; so Quartet lets fewer tokens through",
        ]
    );
    let defaults = [Dialect::LlamaCpp, Dialect::Transformers].map(Dialect::chain);
    let [llama, transformers] = &defaults;
    assert_eq!(
        why_they_differ(llama, transformers)
            .first()
            .map(String::as_str),
        Some(
            "What nobody set differs: llama.cpp applies top-k 40, top-p 0.95, min-p 0.05 and T 0.8, \
             transformers top-k 50"
        )
    );
}

#[test]
fn other_numbers_are_their_own_reason() {
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
fn the_top_token_minds_no_order_of_cuts() {
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
fn two_of_one_name_are_the_first_and_the_second() {
    let one = chain("temp 0.5, top-p 0.9");
    let other = chain("top-p 0.9, temp 0.5");
    let reasons = why_they_differ(&one, &other);
    assert_eq!(
        reasons,
        [
            "Temperature comes before top-p in the first and after in the second, where it sees the \
             model's own probabilities; so the first lets fewer tokens through"
        ]
    );
    assert!(why_they_differ(&one, &one).is_empty());
}

#[test]
fn initials_stay_as_they_are_inside_a_sentence() {
    for (one, other, expected) in [
        (
            "temp 0.5, xtc 0.5",
            "xtc 0.5, temp 0.5",
            "Temperature comes before XTC in the first and after in the second, where it sees the \
             model's own probabilities",
        ),
        (
            "temp 0.5, dry 0.8",
            "dry 0.8, temp 0.5",
            "Temperature comes before DRY in the first and after in the second: temperature scales \
             what comes before it",
        ),
    ] {
        let reasons = why_they_differ(&chain(one), &chain(other));
        assert_eq!(reasons, [expected], "{one}");
    }
}

#[test]
fn two_chains_that_do_the_same_differ_in_nothing() {
    for dialect in Dialect::ALL {
        assert!(why_they_differ(&dialect.chain(), &dialect.chain()).is_empty());
    }
    // A plain temperature and what multiplies may change places, and so may two cuts that look at
    // the best alone.
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
