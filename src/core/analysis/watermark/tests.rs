//! What is found in texts with and without a watermark, and what edits and repetition do to it.

use super::{Verdict, WatermarkScan, distortion_bits};
use crate::decoding::filters::{GreenList, SynthId};
use crate::decoding::selector::GumbelMark;
use crate::decoding::watermark::{LayerKeys, Watermark};
use crate::decoding::{ChainConfig, Coins, Filter, History, SamplerChain, Selector, TokenId};

const N_VOCAB: usize = 400;

const LIST: GreenList = GreenList {
    bias: 3.0,
    ratio: 0.25,
    key: 42,
    window: 1,
};

const MARK: GumbelMark = GumbelMark { key: 42, window: 3 };

/// Generates a text with a model that has 400 tokens and ignores the context.
fn generated(chain: &ChainConfig, n: usize, seed: u64) -> Vec<TokenId> {
    let mut text = vec![TokenId(1)];
    let mut chain = SamplerChain::new(chain.clone());
    for position in 1..=n as u64 {
        let logits = crate::decoding::testing::row(position as u32, 1.0);
        let coins = Coins { seed, position };
        let history = History::new(&text, 1);
        let token = chain.sample_token(&logits, history, coins).unwrap();
        text.push(token);
    }
    text.split_off(1)
}

fn marked(mark: Watermark, n: usize, seed: u64) -> Vec<TokenId> {
    let chain = match mark {
        Watermark::GreenList(list) => ChainConfig::sampled([Filter::GreenList(list)]),
        Watermark::GumbelMark(mark) => ChainConfig {
            selector: Selector::GumbelMark(mark),
            ..ChainConfig::sampled([])
        },
        Watermark::SynthId(synth) => ChainConfig::sampled([Filter::SynthId(synth)]),
    };
    generated(&chain, n, seed)
}

const SYNTH: SynthId = SynthId {
    window: 3,
    keys: LayerKeys::USUAL,
};

const MARKS: [Watermark; 3] = [
    Watermark::GreenList(LIST),
    Watermark::GumbelMark(MARK),
    Watermark::SynthId(SYNTH),
];

#[test]
fn a_marked_text_is_found_by_its_key_alone() {
    for mark in MARKS {
        let text = marked(mark, 200, 7);
        let scan = |mark| WatermarkScan::of(mark, N_VOCAB as u32, &text);
        let found = scan(mark);
        assert_eq!(found.verdict(), Verdict::Found, "{}", found.verdict_words());
        assert!(found.p_value().get() < 1e-9, "{}", found.p_value());
        let other = match mark {
            Watermark::GreenList(list) => Watermark::GreenList(GreenList { key: 43, ..list }),
            Watermark::GumbelMark(mark) => Watermark::GumbelMark(GumbelMark { key: 43, ..mark }),
            Watermark::SynthId(synth) => Watermark::SynthId(SynthId {
                keys: LayerKeys::new(&[1, 2, 3, 4, 5, 6, 7, 8, 9]).unwrap(),
                ..synth
            }),
        };
        assert_eq!(scan(other).verdict(), Verdict::NotFound, "{other}");
        let short = WatermarkScan::of(mark, N_VOCAB as u32, &text[..12]);
        assert_eq!(short.verdict(), Verdict::TooShort);
    }
}

#[test]
fn unmarked_texts_have_uniform_p_values() {
    for mark in MARKS {
        let n_texts = 400;
        let low = (0..n_texts).filter(|seed| {
            let text = generated(&ChainConfig::sampled([]), 60, *seed);
            let scan = WatermarkScan::of(mark, N_VOCAB as u32, &text);
            scan.p_value().get() <= 0.2
        });
        // A fifth of them, 80, is expected; the deviation is 8.
        let low = low.count();
        assert!((45..115).contains(&low), "{mark}: {low} of {n_texts}");
    }
}

#[test]
fn an_edit_spoils_its_own_token_and_those_whose_context_contains_it() {
    let text = marked(Watermark::GumbelMark(MARK), 120, 3);
    let mut edited = text.clone();
    edited[50] = TokenId(399);
    let scan = |text: &[TokenId]| WatermarkScan::of(MARKS[1], N_VOCAB as u32, text);
    let (before, after) = (scan(&text), scan(&edited));
    let changed: Vec<usize> = (0..120)
        .filter(|index| before.marks()[*index] != after.marks()[*index])
        .collect();
    assert_eq!(changed, [50, 51, 52, 53]);
    assert!(after.p_value().log10() > before.p_value().log10());
}

#[test]
fn repeated_contexts_count_once() {
    let text: Vec<TokenId> = (0..60).map(|index| TokenId(index % 3)).collect();
    let gumbel = WatermarkScan::of(MARKS[1], N_VOCAB as u32, &text);
    // Three padded contexts and three full ones.
    assert_eq!((gumbel.n_scored(), gumbel.n_repeated()), (6, 54));
    let green = WatermarkScan::of(MARKS[0], N_VOCAB as u32, &text);
    // The first token has no context; the pairs 01, 12 and 20 repeat.
    assert_eq!((green.n_scored(), green.n_repeated()), (3, 56));
}

#[test]
fn scanning_a_growing_text_equals_scanning_it_at_once() {
    for mark in MARKS {
        let text = marked(mark, 50, 1);
        let whole = WatermarkScan::of(mark, N_VOCAB as u32, &text);
        let mut growing = WatermarkScan::new(MARKS[0], 9);
        for n in [0, 10, 11, 30, 20, 50] {
            growing.follow(mark, N_VOCAB as u32, &text[..n]);
            assert_eq!(growing.p_values(), &whole.p_values()[..n], "{n}");
        }
        assert_eq!(growing.n_repeated(), whole.n_repeated());
    }
}

#[test]
fn the_distortion_follows_from_any_token() {
    // Green tokens have a probability of 0.3. Their logits gain 2.
    let (share, gain) = (0.3_f64, 2_f64.exp());
    let z = 1.0 - share + share * gain;
    let after = [share * gain / z, (1.0 - share) / z];
    let bits = after[0] * (after[0] / share).log2() + after[1] * (after[1] / (1.0 - share)).log2();
    let filter = Filter::GreenList(GreenList { bias: 2.0, ..LIST });
    for (before, after) in [(0.3, after[0]), (0.7, after[1])] {
        let found = distortion_bits(&filter, before, after).unwrap();
        assert!((found - bits).abs() < 1e-9, "{found}, not {bits}");
    }
    assert_eq!(distortion_bits(&filter, 0.0, 0.0), None);
}

#[test]
fn the_gumbel_watermark_draws_each_token_with_its_probability() {
    let logits = crate::decoding::testing::logits_of(&[0.5, 0.3, 0.2]);
    let mut counts = [0_u32; 3];
    for key in 0..20_000 {
        let selector = Selector::GumbelMark(GumbelMark { key, window: 2 });
        let chain = ChainConfig {
            selector,
            ..ChainConfig::sampled([])
        };
        let coins = Coins {
            seed: 0,
            position: 0,
        };
        let token = SamplerChain::new(chain).sample_token(&logits, History::empty(), coins);
        counts[token.unwrap().index()] += 1;
    }
    for (count, prob) in counts.iter().zip([0.5, 0.3, 0.2]) {
        let deviation = (f64::from(*count) / 20_000.0 - prob).abs();
        assert!(deviation < 0.015, "{counts:?}");
    }
}

#[test]
fn tokens_after_repeated_contexts_are_drawn_by_the_seed() {
    let chain = ChainConfig {
        selector: Selector::GumbelMark(GumbelMark { key: 5, window: 1 }),
        ..ChainConfig::sampled([])
    };
    let logits = [0.0; 50];
    let draw = |tokens: &[u32], seed| {
        let tokens: Vec<TokenId> = tokens.iter().copied().map(TokenId).collect();
        let coins = Coins { seed, position: 9 };
        let token = SamplerChain::new(chain.clone())
            .sample_token(&logits, History::new(&tokens, 0), coins)
            .unwrap();
        token.0
    };
    let fresh: Vec<u32> = (0..8).map(|seed| draw(&[3, 4, 7], seed)).collect();
    assert!(fresh.iter().all(|token| *token == fresh[0]), "{fresh:?}");
    let repeated: Vec<u32> = (0..8).map(|seed| draw(&[7, 4, 7], seed)).collect();
    assert!(
        repeated.iter().any(|token| *token != repeated[0]),
        "{repeated:?}"
    );
}
