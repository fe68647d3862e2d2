//! Which stages, defaults and orders each dialect has.

use super::Dialect;
use crate::decoding::filters::{MinP, Temperature, TopK, TopP};
use crate::decoding::testing::logits_of;
use crate::decoding::{ChainConfig, Coins, Filter, FilterKind, History, SamplerChain, TokenId};

fn temperature(temperature: f32) -> Filter {
    Filter::Temperature(Temperature { temperature })
}

fn top_k(k: u32) -> Filter {
    Filter::TopK(TopK { k })
}

fn top_p(p: f32) -> Filter {
    Filter::TopP(TopP { p })
}

fn min_p(p: f32) -> Filter {
    Filter::MinP(MinP { p })
}

/// Returns the ids that remain after these stages under a dialect's rules.
fn kept(dialect: Dialect, filters: &[Filter], probs: &[f32]) -> Vec<u32> {
    let config = ChainConfig {
        rules: dialect.rules(),
        ..ChainConfig::sampled(filters.to_vec())
    };
    let coins = Coins {
        seed: 0,
        position: 0,
    };
    let left = SamplerChain::new(config)
        .distribution(&logits_of(probs), History::empty(), coins)
        .unwrap();
    let mut ids: Vec<u32> = left.iter().map(|candidate| candidate.token.0).collect();
    ids.sort_unstable();
    ids
}

const P: [f32; 4] = [0.4, 0.3, 0.2, 0.1];

#[test]
fn defaults_are_those_of_the_engines_documentation() {
    for (dialect, expected) in [
        (
            Dialect::LlamaCpp,
            "top-k 40 › top-p 0.95 › min-p 0.05 › T 0.8",
        ),
        (Dialect::Transformers, "top-k 50"),
        (Dialect::Vllm, "T 1"),
        (Dialect::MistralRs, "T 1"),
        (Dialect::Candle, "T 1"),
        (Dialect::Ollama, "top-k 40 › top-p 0.9 › T 0.8"),
        (Dialect::OllamaMlx, "top-k 40 › T 0.8 › top-p 0.9"),
        (Dialect::OpenAi, "T 1"),
    ] {
        assert_eq!(dialect.chain().to_string(), expected, "{dialect:?}");
        assert_eq!(dialect.chain().validate(), Ok(()));
        assert!(!dialect.traps().is_empty());
    }
}

#[test]
fn temperature_comes_last_in_llama_cpp_and_before_the_cuts_elsewhere() {
    for dialect in Dialect::ALL {
        let position = |wanted: FilterKind| dialect.kinds().position(|kind| kind.place() == wanted);
        let comes_last = position(FilterKind::Temperature) > position(FilterKind::TopP);
        let llama = matches!(dialect, Dialect::LlamaCpp | Dialect::Ollama);
        assert_eq!(comes_last, llama, "{dialect:?}");
    }
    // A high temperature lets the second token through min-p 0.4 if it comes first, but not
    // after it.
    let hot = temperature(3.0);
    let p = [0.7, 0.2, 0.1];
    assert_eq!(kept(Dialect::LlamaCpp, &[min_p(0.4), hot.clone()], &p), [0]);
    assert_eq!(
        kept(Dialect::Transformers, &[hot, min_p(0.4)], &p),
        [0, 1, 2]
    );
}

#[test]
fn min_p_comes_before_the_other_cuts_in_vllm_and_after_them_elsewhere() {
    // Min-p first leaves three, of which top-p keeps two. Top-p first leaves three.
    let p = [0.35, 0.25, 0.2, 0.12, 0.08];
    assert_eq!(kept(Dialect::Vllm, &[min_p(0.5), top_p(0.74)], &p), [0, 1]);
    assert_eq!(
        kept(Dialect::Transformers, &[top_p(0.74), min_p(0.5)], &p),
        [0, 1, 2]
    );
}

#[test]
fn ties_with_the_k_th_stay_in_transformers_and_vllm() {
    let p = [0.4, 0.2, 0.2, 0.2];
    for (dialect, expected) in [
        (Dialect::LlamaCpp, &[0, 1][..]),
        (Dialect::Transformers, &[0, 1, 2, 3]),
        (Dialect::Vllm, &[0, 1, 2, 3]),
        (Dialect::Candle, &[0, 1]),
    ] {
        assert_eq!(kept(dialect, &[top_k(2)], &p), expected, "{dialect:?}");
    }
}

#[test]
fn a_token_exactly_at_the_threshold_of_min_p_is_dropped_in_mistral_rs() {
    let p = [0.5, 0.25, 0.25];
    assert_eq!(kept(Dialect::LlamaCpp, &[min_p(0.5)], &p), [0, 1, 2]);
    assert_eq!(kept(Dialect::MistralRs, &[min_p(0.5)], &p), [0]);
    // A threshold that drops even the best token switches the stage off there.
    assert_eq!(kept(Dialect::LlamaCpp, &[min_p(1.0)], &p), [0]);
    assert_eq!(kept(Dialect::MistralRs, &[min_p(1.0)], &p), [0, 1, 2]);
}

#[test]
fn top_p_after_top_k_counts_the_dropped_mass_in_candle() {
    let filters = [top_k(3), top_p(0.7)];
    // Relative to the 0.9 left, 0.39 and 0.3 reach 0.7; relative to 1, they barely do not.
    let p = [0.39, 0.3, 0.21, 0.1];
    assert_eq!(kept(Dialect::LlamaCpp, &filters, &p), [0, 1]);
    assert_eq!(kept(Dialect::Candle, &filters, &p), [0, 1, 2]);
    // If top-k left less than p, nothing more is dropped.
    let filters = [top_k(3), top_p(0.95)];
    assert_eq!(kept(Dialect::Candle, &filters, &P), [0, 1, 2]);
}

#[test]
fn a_top_p_of_zero_is_off_in_candle_and_mistral_rs() {
    assert_eq!(kept(Dialect::LlamaCpp, &[top_p(0.0)], &P), [0]);
    assert_eq!(kept(Dialect::Transformers, &[top_p(0.0)], &P), [0]);
    for dialect in [Dialect::Candle, Dialect::MistralRs] {
        assert_eq!(kept(dialect, &[top_p(0.0)], &P), [0, 1, 2, 3]);
    }
}

#[test]
fn penalties_look_at_the_window_of_each_engine() {
    let tokens = [TokenId(0), TokenId(1), TokenId(2)];
    let history = History::new(&tokens, 2);
    for (dialect, repetition, frequency) in [
        (Dialect::LlamaCpp, 3, Some(3)),
        (Dialect::Transformers, 3, None),
        (Dialect::Vllm, 3, Some(1)),
        (Dialect::MistralRs, 3, Some(1)),
    ] {
        let n_seen = |kind| Some(dialect.default_of(kind)?.window()?.of(history).len());
        let seen = [FilterKind::RepetitionPenalty, FilterKind::FrequencyPenalty].map(n_seen);
        assert_eq!(seen, [Some(repetition), frequency], "{dialect:?}");
    }
}
