//! What a what-if calls exact, and what it leaves open.

use proptest::prelude::*;

use super::{WhatIf, what_if, what_if_prob, what_if_rules_out};
use crate::decoding::dialect::Dialect;
use crate::decoding::filters::{
    FrequencyPenalty, GreenList, MinK, MinP, PLess, Phrase, RepetitionPenalty, SynthId,
    Temperature, ThinkingBudget, TopA, TopH, TopK, TopP, TypicalP, Window,
};
use crate::decoding::selector::GumbelMark;
use crate::decoding::testing::{row, token_ids};
use crate::decoding::watermark::LayerKeys;
use crate::decoding::{
    ChainConfig, Coins, Detail, Evidence, Filter, History, SamplerChain, Selector, TokenId,
};

/// More memory than any row of these tests takes.
const WHOLE: usize = 1_000_000;

fn filter() -> impl Strategy<Value = Filter> {
    let window = Window::ALL;
    prop_oneof![
        4 => (0.3..2.0_f32).prop_map(|temperature| Filter::Temperature(Temperature { temperature })),
        1 => Just(Filter::Temperature(Temperature { temperature: 0.0 })),
        3 => (1..80_u32).prop_map(|k| Filter::TopK(TopK { k })),
        3 => (0.1..1.0_f32).prop_map(|p| Filter::TopP(TopP { p })),
        3 => (0.001..0.5_f32).prop_map(|p| Filter::MinP(MinP { p })),
        1 => (0.1..1.0_f32).prop_map(|p| Filter::TypicalP(TypicalP { p })),
        1 => (0.1..1.0_f32).prop_map(|a| Filter::TopA(TopA { a })),
        1 => (0.1..1.0_f32).prop_map(|h| Filter::TopH(TopH { h })),
        1 => (0.1..1.0_f32).prop_map(|factor| Filter::PLess(PLess { factor })),
        1 => (0.0..20.0_f32).prop_map(|tau| Filter::MinK(MinK { tau })),
        1 => (1..4_u32, 0..9_u32).prop_map(|(window, key)| {
            Filter::GreenList(GreenList { bias: 2.0, ratio: 0.25, key, window })
        }),
        1 => (1..4_u32).prop_map(|window| {
            Filter::SynthId(SynthId { window, keys: LayerKeys::USUAL })
        }),
        1 => (0..6_u32, 0..400_u32).prop_map(|(max_tokens, closing)| {
            Filter::ThinkingBudget(ThinkingBudget {
                max_tokens,
                opening: Phrase::Tokens(token_ids(&[7])),
                closing: Phrase::Tokens(token_ids(&[closing])),
                ..ThinkingBudget::default()
            })
        }),
        1 => (1.0..1.5_f32).prop_map(move |penalty| {
            Filter::RepetitionPenalty(RepetitionPenalty { penalty, window })
        }),
        1 => (0.0..2.0_f32).prop_map(move |penalty| {
            Filter::FrequencyPenalty(FrequencyPenalty { penalty, window })
        }),
    ]
}

fn recorded(logits: &[f32], coins: Coins) -> Evidence {
    recorded_within(0, logits, coins)
}

/// Records a step with this much memory for more than the head.
fn recorded_within(n_bytes: usize, logits: &[f32], coins: Coins) -> Evidence {
    let mut chain = SamplerChain::new(ChainConfig::greedy()).with_detail(n_bytes);
    let sampled = chain.sample(logits, History::empty(), coins);
    sampled.unwrap().trace.raw
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn what_is_called_exact_is_what_the_chain_draws(
        seed in any::<u32>(), spread in 0.5..4.0_f32, position in 0..1000_u64,
        filters in prop::collection::vec(filter(), 0..4),
        selector in prop::sample::select(vec![
            Selector::Multinomial,
            Selector::Greedy,
            Selector::GumbelMark(GumbelMark { key: 4, window: 2 }),
        ]),
        n_bytes in prop::sample::select(vec![0, 1_000, WHOLE]),
    ) {
        let logits = row(seed, spread);
        let tokens = token_ids(&[1, 7, 7, 30, 200]);
        let history = History::new(&tokens, 2);
        let coins = Coins { seed: 3, position };
        let mut chain = ChainConfig::sampled(filters);
        chain.selector = selector;
        let evidence = recorded_within(n_bytes, &logits, coins);
        let draw = SamplerChain::new(chain.clone()).sample(&logits, history, coins).unwrap().trace.draw;
        let drawn = draw.token;
        if let Some([least, most]) = what_if_prob(&evidence, &chain, history, coins, drawn) {
            let near = least - 1e-5..=most + 1e-5;
            prop_assert!(near.contains(&draw.prob), "{}: {} in {:?}", chain, draw.prob, near);
        }
        prop_assert!(!what_if_rules_out(&evidence, &chain, history, coins, drawn), "{}", chain);
        match what_if(&evidence, &chain, history, coins).unwrap() {
            WhatIf::Exact(token) => prop_assert_eq!(token, drawn, "{}", chain),
            WhatIf::Unrecorded => {
                prop_assert!(!evidence.knows(drawn), "{}", chain);
            }
            WhatIf::Bounded(_) => prop_assert!(n_bytes < WHOLE, "{}", chain),
        }
    }
}

#[test]
fn usual_settings_are_answered_exactly() {
    let (mut n_exact, n) = (0, 200);
    for position in 0..n {
        let logits = row(position as u32, 2.5);
        let coins = Coins { seed: 3, position };
        let chain = ChainConfig::sampled([
            Filter::Temperature(Temperature { temperature: 0.7 }),
            Filter::TopP(TopP { p: 0.9 }),
        ]);
        let outcome = what_if(&recorded(&logits, coins), &chain, History::empty(), coins);
        n_exact += u32::from(matches!(outcome, Some(WhatIf::Exact(_))));
    }
    assert!(u64::from(n_exact) * 10 > n * 9, "{n_exact} of {n}");
}

#[test]
fn what_depends_on_unrecorded_tokens_is_called_bounded() {
    let logits = vec![0.0; 4000];
    let coins = Coins {
        seed: 3,
        position: 0,
    };
    let outcome = |filter: Filter| {
        let chain = ChainConfig::sampled([filter]);
        what_if(&recorded(&logits, coins), &chain, History::empty(), coins).unwrap()
    };
    let typical = outcome(Filter::TypicalP(TypicalP { p: 0.5 }));
    assert!(matches!(typical, WhatIf::Bounded(_)));
    let all = outcome(Filter::TopP(TopP { p: 1.0 }));
    assert_eq!(all, WhatIf::Unrecorded);
    let first = outcome(Filter::TopK(TopK { k: 1 }));
    assert_eq!(first, WhatIf::Exact(TokenId(0)));
    // It is not known where this top-p ends, but its best token is.
    let greedy = ChainConfig {
        selector: Selector::Greedy,
        ..ChainConfig::sampled([Filter::TopP(TopP { p: 0.5 })])
    };
    let evidence = recorded(&row(7, 0.6), coins);
    let best = what_if(&evidence, &greedy, History::empty(), coins);
    assert_eq!(best, Some(WhatIf::Exact(evidence.head[0].token)));

    let mut off = ChainConfig::sampled([Filter::MinP(MinP { p: 1.0 })]);
    off.rules = Dialect::MistralRs.rules();
    let logits = row(7, 2.5);
    let late = Coins {
        seed: 3,
        position: 40,
    };
    let outcome = |chain| what_if(&recorded(&logits, late), chain, History::empty(), late);
    assert_eq!(outcome(&off), outcome(&ChainConfig::sampled([])));
}

#[test]
fn more_memory_makes_a_hot_what_if_exact() {
    let hot = ChainConfig::sampled([Filter::Temperature(Temperature { temperature: 1.8 })]);
    let n_exact = |n_bytes: usize| {
        let exact = (0..100).filter(|position| {
            let logits: Vec<f32> = (0..20)
                .flat_map(|seed| row(*position as u32 + seed, 2.5))
                .collect();
            let coins = Coins {
                seed: 3,
                position: *position,
            };
            let evidence = recorded_within(n_bytes, &logits, coins);
            let outcome = what_if(&evidence, &hot, History::empty(), coins);
            matches!(outcome, Some(WhatIf::Exact(_)))
        });
        exact.count()
    };
    let [head_only, summary, whole] = [0, 16_000, WHOLE].map(n_exact);
    assert!(
        head_only < summary && summary < whole,
        "{head_only}, {summary}"
    );
    assert_eq!(whole, 100);
}

#[test]
fn an_uncertain_draw_rules_out_the_tokens_before_it() {
    let hot = ChainConfig::sampled([Filter::Temperature(Temperature { temperature: 1.8 })]);
    let mut n_bounded = 0;
    for position in 0..100 {
        let logits: Vec<f32> = (0..20)
            .flat_map(|seed| row(position as u32 + seed, 2.5))
            .collect();
        let coins = Coins { seed: 3, position };
        let evidence = recorded(&logits, coins);
        let Some(WhatIf::Bounded(likely)) = what_if(&evidence, &hot, History::empty(), coins)
        else {
            continue;
        };
        n_bounded += 1;
        let rules_out = |token| what_if_rules_out(&evidence, &hot, History::empty(), coins, token);
        assert!(!rules_out(likely));
        let best = evidence.head[0].token;
        assert_eq!(rules_out(best), likely != best);
    }
    assert!(n_bounded > 0);
}

#[test]
fn a_summary_names_a_token_far_below_the_head() {
    let logits: Vec<f32> = (0..20).flat_map(|seed| row(seed, 2.5)).collect();
    let coins = Coins {
        seed: 3,
        position: 0,
    };
    let evidence = recorded_within(16_000, &logits, coins);
    assert!(matches!(evidence.detail, Detail::Summary(_)));
    let whole = recorded_within(WHOLE, &logits, coins);
    let known: Vec<TokenId> = (0..logits.len() as u32)
        .map(TokenId)
        .filter(|token| evidence.knows(*token))
        .collect();
    assert!(known.len() > 2 * evidence.head.len());
    for token in known {
        assert_eq!(evidence.rank(token), whole.rank(token));
    }
}
