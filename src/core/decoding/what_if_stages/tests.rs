//! Compares the what-if answers with what the chain does.

use proptest::prelude::*;

use super::{KnownCount, KnownProb, WhatIfStages, what_if_stages};
use crate::decoding::dialect::Dialect;
use crate::decoding::filters::{
    DynamicTemperature, FrequencyPenalty, MinP, Phrase, RepetitionPenalty, TailFree, Temperature,
    ThinkingBudget, TopK, TopNSigma, TopP, TypicalP, Window, Xtc,
};
use crate::decoding::testing::{row, token_ids};
use crate::decoding::{ChainConfig, Coins, Filter, History, Rules, SamplerChain, Trace, WhatIf};

fn filter() -> impl Strategy<Value = Filter> {
    let window = Window::ALL;
    prop_oneof![
        4 => (0.3..2.0_f32).prop_map(|temperature| Filter::Temperature(Temperature { temperature })),
        3 => (1..80_u32).prop_map(|k| Filter::TopK(TopK { k })),
        3 => (0.1..1.0_f32).prop_map(|p| Filter::TopP(TopP { p })),
        3 => (0.001..0.5_f32).prop_map(|p| Filter::MinP(MinP { p })),
        1 => (0.1..1.0_f32).prop_map(|p| Filter::TypicalP(TypicalP { p })),
        1 => (0.0..0.3_f32).prop_map(|threshold| Filter::Xtc(Xtc { probability: 1.0, threshold })),
        1 => (1.0..1.5_f32).prop_map(move |penalty| {
            Filter::RepetitionPenalty(RepetitionPenalty { penalty, window })
        }),
        1 => (0.0..2.0_f32).prop_map(move |penalty| {
            Filter::FrequencyPenalty(FrequencyPenalty { penalty, window })
        }),
    ]
}

fn sampled(logits: &[f32], chain: &ChainConfig, history: History<'_>, coins: Coins) -> Trace {
    let mut chain = SamplerChain::new(chain.clone());
    chain.sample(logits, history, coins).unwrap().trace
}

/// Checks that every answer agrees with the chain's own report.
fn check(told: &WhatIfStages, done: &Trace, chain: &ChainConfig) {
    for (known, report) in told.stages.iter().zip(&done.stages) {
        for (known, prob) in known.probs.iter().zip(&report.head_probs) {
            let prob = prob.map(f64::from);
            let holds = match (known, prob) {
                (KnownProb::Unknown, _) | (KnownProb::Cut, None) => true,
                (KnownProb::Exactly(known), Some(prob)) => {
                    (known - prob).abs() <= 2e-4 * prob + 1e-9
                }
                (KnownProb::Between(least, most), Some(prob)) => {
                    let off = 1e-4 * prob + 1e-9;
                    least - off <= prob && prob <= most + off
                }
                _ => false,
            };
            assert!(
                holds,
                "{chain}: {known:?}, but {prob:?} after {}",
                report.filter
            );
        }
        match known.n_kept {
            KnownCount::Exactly(n) => assert_eq!(n, report.n_kept, "{chain}"),
            KnownCount::AtMost(n) => assert!(report.n_kept <= n, "{chain}"),
            KnownCount::Unknown => {}
        }
        if let Some(entropy) = known.entropy_nats {
            assert!((entropy - report.entropy_nats).abs() < 1e-4, "{chain}");
        }
        if let Some(mass) = known.mass_removed {
            let off = (mass - report.mass_removed).abs();
            assert!(off < 1e-4, "{chain}: {mass}, but {}", report.mass_removed);
        }
    }
    if let WhatIf::Exact(token) = told.outcome {
        assert_eq!(token, done.draw.token, "{chain}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn answers_for_other_settings_match_what_they_do(
        seed in any::<u32>(), spread in 0.5..4.0_f32, position in 0..1000_u64,
        shared in prop::collection::vec(filter(), 0..3),
        others in prop::collection::vec(filter(), 0..3),
    ) {
        let logits = row(seed, spread);
        let tokens = token_ids(&[1, 7, 7, 30, 200]);
        let history = History::new(&tokens, 2);
        let coins = Coins { seed: 3, position };
        let run = sampled(&logits, &ChainConfig::sampled(shared.clone()), history, coins);
        let chain = ChainConfig::sampled(shared.into_iter().chain(others));
        let done = sampled(&logits, &chain, history, coins);
        let told = what_if_stages(&run.raw, &run.stages, &chain, history, coins).unwrap();
        check(&told, &done, &chain);
        let told = what_if_stages(&run.raw, &[], &chain, history, coins).unwrap();
        check(&told, &done, &chain);
    }
}

/// Candidates that were ruled out are still counted by what comes after.
#[test]
fn what_top_n_sigma_rules_out_is_counted_by_the_stages_after_it() {
    let mut logits = vec![0.0; 16];
    logits[..3].copy_from_slice(&[5.0, 4.5, 4.0]);
    let top = Filter::TopNSigma(TopNSigma { n: 1.0 });
    for (seed, other) in [
        Filter::DynamicTemperature(DynamicTemperature {
            temperature: 1.0,
            range: 0.5,
            exponent: 1.0,
        }),
        Filter::TailFree(TailFree { z: 0.3 }),
        Filter::TypicalP(TypicalP { p: 0.3 }),
    ]
    .into_iter()
    .enumerate()
    {
        for rules in [Rules::default(), Dialect::LlamaCpp.rules()] {
            let coins = Coins {
                seed: seed as u64,
                position: 9,
            };
            let chain = |filters: Vec<Filter>| ChainConfig {
                rules,
                ..ChainConfig::sampled(filters)
            };
            let history = History::empty();
            let run = sampled(&logits, &chain(vec![top.clone()]), history, coins);
            let chain = chain(vec![top.clone(), other.clone()]);
            let done = sampled(&logits, &chain, history, coins);
            let told = what_if_stages(&run.raw, &run.stages, &chain, history, coins).unwrap();
            assert!(matches!(told.outcome, WhatIf::Exact(_)), "{chain}");
            check(&told, &done, &chain);
        }
    }
}

#[test]
fn after_the_same_temperature_a_cut_is_known_exactly() {
    let logits = row(5, 2.5);
    let coins = Coins {
        seed: 3,
        position: 9,
    };
    let cool = Filter::Temperature(Temperature { temperature: 0.7 });
    let run = sampled(
        &logits,
        &ChainConfig::sampled([cool.clone()]),
        History::empty(),
        coins,
    );
    let chain = ChainConfig::sampled([cool, Filter::TopP(TopP { p: 0.8 })]);
    let told = what_if_stages(&run.raw, &run.stages, &chain, History::empty(), coins).unwrap();
    let last = told.stages.last().unwrap();
    assert!(matches!(last.n_kept, KnownCount::Exactly(_)), "{last:?}");
    assert!(matches!(told.outcome, WhatIf::Exact(_)));
    let sum: f64 = last
        .probs
        .iter()
        .map(|known| match known {
            KnownProb::Exactly(prob) => *prob,
            KnownProb::Cut => 0.0,
            other => panic!("{other:?}"),
        })
        .sum();
    assert!((sum - 1.0).abs() < 1e-6, "{sum}");
}

/// Scores beyond 709 have no exponential in 64 bits.
#[test]
fn a_token_that_falls_from_large_scores_leaves_the_others_known() {
    let logits: Vec<f32> = (0..400_u16).map(|i| 20.0 - f32::from(i) * 0.01).collect();
    let coins = Coins {
        seed: 3,
        position: 9,
    };
    let tokens = token_ids(&[1]);
    let history = History::new(&tokens, 0);
    let chain = ChainConfig::sampled([
        Filter::Temperature(Temperature { temperature: 0.02 }),
        Filter::RepetitionPenalty(RepetitionPenalty {
            penalty: 1.2,
            window: Window::ALL,
        }),
    ]);
    let run = sampled(&logits, &ChainConfig::greedy(), history, coins);
    let told = what_if_stages(&run.raw, &[], &chain, history, coins).unwrap();
    let done = sampled(&logits, &chain, history, coins);
    check(&told, &done, &chain);
    // Each has e^-0.5 times as much as the one before it, and the second is gone: 1 / (2.5415 -
    // 0.6065).
    let best = told.stages[1].probs[0];
    assert!(
        matches!(best, KnownProb::Exactly(prob) if (prob - 0.5168).abs() < 1e-3),
        "{best:?}"
    );
}

#[test]
fn what_depends_on_the_tail_is_not_answered_with_a_number() {
    let logits = vec![0.0; 400];
    let coins = Coins {
        seed: 3,
        position: 0,
    };
    let run = sampled(&logits, &ChainConfig::greedy(), History::empty(), coins);
    let told = |filter: Filter| {
        let chain = ChainConfig::sampled([filter]);
        let told = what_if_stages(&run.raw, &[], &chain, History::empty(), coins);
        told.unwrap().stages.remove(0)
    };
    let typical = told(Filter::TypicalP(TypicalP { p: 0.5 }));
    assert_eq!(typical.probs[0], KnownProb::Unknown);
    assert_eq!(typical.n_kept, KnownCount::Unknown);
    assert_eq!(typical.entropy_nats, None);
    let top_k = told(Filter::TopK(TopK { k: 2 }));
    assert_eq!(
        top_k.probs[..3],
        [
            KnownProb::Exactly(0.5),
            KnownProb::Exactly(0.5),
            KnownProb::Cut,
        ]
    );
    assert_eq!(top_k.n_kept, KnownCount::Exactly(2));
}

#[test]
fn a_forced_token_is_back_although_it_was_cut() {
    let logits: Vec<f32> = (0..400_u16).map(|i| 5.0 - f32::from(i) * 0.1).collect();
    let tokens = token_ids(&[300, 5]);
    let history = History::new(&tokens, 1);
    let coins = Coins {
        seed: 3,
        position: 1,
    };
    let phrase = |token| Phrase::Tokens(token_ids(&[token]));
    for forced in [7, 350] {
        let chain = ChainConfig::sampled([
            Filter::TopK(TopK { k: 2 }),
            Filter::ThinkingBudget(ThinkingBudget {
                max_tokens: 1,
                opening: phrase(300),
                closing: phrase(forced),
                ..ThinkingBudget::default()
            }),
        ]);
        let run = sampled(&logits, &chain, history, coins);
        let told = what_if_stages(&run.raw, &[], &chain, history, coins).unwrap();
        check(&told, &run, &chain);
        let probs = &told.stages[1].probs;
        let is_kept = |prob: &KnownProb| matches!(prob, KnownProb::Exactly(_));
        assert_eq!(probs.iter().position(is_kept), (forced == 7).then_some(7));
    }
}
