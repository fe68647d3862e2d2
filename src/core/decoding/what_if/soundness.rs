//! Whatever is claimed from the head of a distribution holds for the whole one.

use proptest::prelude::*;

use super::{WhatIf, what_if, what_if_prob, what_if_rules_out};
use crate::decoding::dialect::Dialect;
use crate::decoding::filters::{
    DynamicTemperature, EpsilonCutoff, EtaCutoff, FrequencyPenalty, LogitBias, MinP, PLess,
    PresencePenalty, QuadraticSmoothing, RepetitionPenalty, TailFree, Temperature, TokenBias, TopA,
    TopH, TopK, TopNSigma, TopP, TypicalP, Window, Xtc,
};
use crate::decoding::testing::token_ids;
use crate::decoding::{
    Candidate, ChainConfig, Coins, Evidence, Filter, History, KnownCount, KnownProb, Sampled,
    SamplerChain, Selector, ServedHead, TokenId, what_if_stages,
};

/// The shapes of distributions that models produce, and those that are hardest to bound.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    /// A few tokens far above a long tail that falls as a power of the rank.
    Zipf,
    /// Logits of a normal distribution.
    Normal,
    /// All logits within a narrow band.
    Flat,
    /// Logits rounded to eighths, so that many are equal.
    Ties,
    /// One token with nearly all of the probability.
    Peaked,
    /// A fixed number of likely tokens, and all others equal.
    Plateau,
}

const SHAPES: [Shape; 6] = [
    Shape::Zipf,
    Shape::Normal,
    Shape::Flat,
    Shape::Ties,
    Shape::Peaked,
    Shape::Plateau,
];

fn logits(shape: Shape, n_vocab: u32, seed: u32) -> Vec<f32> {
    let mut state = seed | 1;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        f64::from(state) / f64::from(u32::MAX)
    };
    let mut normal = move || (0..4).map(|_| uniform() - 0.5).sum::<f64>() * 3.0_f64.sqrt();
    let mut rank = 0.0;
    (0..n_vocab)
        .map(|_| {
            rank += 1.0;
            let logit = match shape {
                Shape::Zipf => -1.1 * f64::ln(rank) + 0.5 * normal(),
                Shape::Normal => 3.0 * normal() + 5.0,
                Shape::Flat => 0.02 * normal(),
                Shape::Ties => (16.0 * normal()).round() / 8.0,
                Shape::Peaked if rank < 2.0 => 14.0,
                Shape::Peaked => 1.5 * normal(),
                Shape::Plateau if rank < 40.0 => 6.0 + normal(),
                Shape::Plateau => -2.0,
            };
            logit as f32
        })
        .collect()
}

/// The log-probabilities of a row as llama-server computes them: sorted, and added in 32 bits.
fn log_probs(logits: &[f32]) -> Vec<f32> {
    let mut sorted = logits.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let max = sorted[0];
    let sum: f32 = sorted.iter().map(|logit| (logit - max).exp()).sum();
    let log_prob = |logit: &f32| ((logit - max).exp() / sum).ln();
    logits.iter().map(log_prob).collect()
}

fn served(row: &[f32], n: usize) -> ServedHead {
    let mut all: Vec<Candidate> = (0..)
        .map(TokenId)
        .zip(row)
        .map(|(token, logit)| Candidate {
            token,
            logit: *logit,
        })
        .collect();
    all.sort_by(|a, b| b.logit.total_cmp(&a.logit).then(a.token.cmp(&b.token)));
    all.truncate(n);
    ServedHead::new(all, row.len())
}

fn filter() -> impl Strategy<Value = Filter> {
    let window = Window::ALL;
    prop_oneof![
        6 => (0.2..1.0_f32).prop_map(|temperature| Filter::Temperature(Temperature { temperature })),
        3 => (1.0..3.0_f32).prop_map(|temperature| Filter::Temperature(Temperature { temperature })),
        4 => (0.05..1.0_f32).prop_map(|p| Filter::TopP(TopP { p })),
        3 => (1..300_u32).prop_map(|k| Filter::TopK(TopK { k })),
        3 => (0.001..0.5_f32).prop_map(|p| Filter::MinP(MinP { p })),
        1 => (0.05..1.0_f32).prop_map(|p| Filter::TypicalP(TypicalP { p })),
        1 => (0.0001..0.1_f32).prop_map(|epsilon| Filter::EpsilonCutoff(EpsilonCutoff { epsilon })),
        1 => (0.0001..0.1_f32).prop_map(|epsilon| Filter::EtaCutoff(EtaCutoff { epsilon })),
        1 => (0.01..1.0_f32).prop_map(|a| Filter::TopA(TopA { a })),
        1 => (0.1..1.0_f32).prop_map(|h| Filter::TopH(TopH { h })),
        1 => (0.1..1.5_f32).prop_map(|factor| Filter::PLess(PLess { factor })),
        1 => (0.01..0.4_f32, 0.0..1.0_f32).prop_map(|(threshold, probability)| {
            Filter::Xtc(Xtc { probability, threshold })
        }),
        1 => (0.3..3.0_f32).prop_map(|n| Filter::TopNSigma(TopNSigma { n })),
        1 => (0.5..1.0_f32).prop_map(|z| Filter::TailFree(TailFree { z })),
        1 => (0.05..0.5_f32, 1.0..2.0_f32).prop_map(|(factor, curve)| {
            Filter::QuadraticSmoothing(QuadraticSmoothing { factor, curve })
        }),
        1 => (0.5..1.5_f32, 0.0..0.5_f32).prop_map(|(temperature, range)| {
            Filter::DynamicTemperature(DynamicTemperature { temperature, range, exponent: 1.0 })
        }),
        1 => (1.0..1.5_f32).prop_map(move |penalty| {
            Filter::RepetitionPenalty(RepetitionPenalty { penalty, window })
        }),
        1 => (0.0..2.0_f32).prop_map(move |penalty| {
            Filter::FrequencyPenalty(FrequencyPenalty { penalty, window })
        }),
        1 => (0.0..2.0_f32).prop_map(move |penalty| {
            Filter::PresencePenalty(PresencePenalty { penalty, window })
        }),
        1 => (0..60_u32, -3.0..3.0_f32, 0..60_u32).prop_map(|(token, bias, banned)| {
            let (biases, banned) = (vec![TokenBias { token: TokenId(token), bias }], vec![TokenId(banned)]);
            Filter::LogitBias(LogitBias { biases, banned })
        }),
    ]
}

fn chain() -> impl Strategy<Value = ChainConfig> {
    let selector = prop_oneof![
        6 => Just(Selector::Multinomial),
        1 => Just(Selector::Greedy),
        1 => Just(Selector::GumbelMax),
    ];
    let dialect = prop_oneof![
        4 => Just(None),
        1 => Just(Some(Dialect::LlamaCpp)),
        1 => Just(Some(Dialect::Transformers)),
        1 => Just(Some(Dialect::Vllm)),
        1 => Just(Some(Dialect::MistralRs)),
    ];
    let filters = prop::collection::vec(filter(), 0..4);
    (filters, selector, dialect).prop_map(|(filters, selector, dialect)| {
        let mut chain = ChainConfig::sampled(filters);
        chain.selector = selector;
        chain.rules = dialect.map_or(chain.rules, Dialect::rules);
        chain
    })
}

/// A step: its row, how many tokens of it are known, its chain and its coins.
fn step(
    n_vocab: std::ops::Range<u32>,
) -> impl Strategy<Value = (Vec<f32>, usize, ChainConfig, Coins)> {
    let row = (prop::sample::select(SHAPES.to_vec()), n_vocab, any::<u32>());
    let n_known = prop::sample::select(vec![20, 48, 128, 512]);
    (row, n_known, chain(), 0..10_000_u64).prop_map(
        |((shape, n_vocab, seed), n, chain, position)| {
            (
                logits(shape, n_vocab, seed),
                n,
                chain,
                Coins { seed: 3, position },
            )
        },
    )
}

/// The tokens before the step.
fn history() -> Vec<TokenId> {
    token_ids(&[1, 7, 7, 30, 200])
}

fn sample(row: &[f32], chain: &ChainConfig, coins: Coins) -> Sampled {
    let tokens = history();
    let mut sampler = SamplerChain::new(chain.clone());
    sampler
        .sample(row, History::new(&tokens, 2), coins)
        .unwrap()
}

/// Checks everything that a head says about a step against the step itself.
fn check(head: &Evidence, chain: &ChainConfig, coins: Coins, whole: &Sampled) {
    let tokens = history();
    let history = History::new(&tokens, 2);
    let outcome = what_if(head, chain, history, coins).unwrap();
    let (token, draw) = (whole.token, whole.trace.draw);
    match outcome {
        WhatIf::Exact(found) => assert_eq!(found, token, "{chain}"),
        WhatIf::Unrecorded => assert!(!head.knows(token), "{chain}"),
        WhatIf::Bounded(_) => {}
    }
    assert!(
        !what_if_rules_out(head, chain, history, coins, token),
        "{chain}"
    );
    if let Some([least, most]) = what_if_prob(head, chain, history, coins, token) {
        let near = least - 1e-5..=most + 1e-5;
        assert!(
            near.contains(&draw.prob),
            "{chain}: {} in {near:?}",
            draw.prob
        );
    }
    let known = what_if_stages(head, &[], chain, history, coins).unwrap();
    for (stage, report) in known.stages.iter().zip(&whole.trace.stages) {
        match stage.n_kept {
            KnownCount::Exactly(n) => assert_eq!(n, report.n_kept, "{chain}"),
            KnownCount::AtMost(n) => assert!(n >= report.n_kept, "{chain}"),
            KnownCount::Unknown => {}
        }
        let probs = stage.probs.iter().zip(&report.head_probs);
        for (known, prob) in probs {
            let prob = prob.map(f64::from);
            let holds = match *known {
                KnownProb::Exactly(p) => (p - prob.unwrap_or(0.0)).abs() < 1e-4,
                KnownProb::Between(low, high) => {
                    (low - 1e-5..=high + 1e-5).contains(&prob.unwrap_or(0.0))
                }
                KnownProb::Cut => prob.unwrap_or(0.0) == 0.0,
                KnownProb::Unknown => true,
            };
            assert!(holds, "{chain}: {known:?}, not {prob:?}");
        }
    }
}

/// The evidence of a step without the tokens below the `n` most likely.
fn head_of(row: &[f32], n: usize) -> Evidence {
    let mut evidence = sample(
        row,
        &ChainConfig::greedy(),
        Coins {
            seed: 3,
            position: 0,
        },
    )
    .trace
    .raw;
    evidence.head.truncate(n);
    evidence
}

fn check_recorded((row, _, chain, coins): (Vec<f32>, usize, ChainConfig, Coins)) {
    let whole = sample(&row, &chain, coins);
    check(&head_of(&row, 48), &chain, coins, &whole);
}

fn check_served((row, n, chain, coins): (Vec<f32>, usize, ChainConfig, Coins)) {
    let row = log_probs(&row);
    let whole = sample(&row, &chain, coins);
    let (tokens, head) = (history(), served(&row, n));
    let mut sampler = SamplerChain::new(chain.clone());
    let sampled = sampler
        .sample_served(&head, History::new(&tokens, 2), coins)
        .unwrap();
    if let Some(sampled) = sampled.filter(|sampled| !sampled.trace.bounded) {
        assert_eq!(
            sampled.token,
            whole.token,
            "{chain} with {n} of {}",
            row.len()
        );
    }
    check(&head_of(&row, n.min(48)), &chain, coins, &whole);
}

/// Each case is a random what-if. More were tried once: 3,000 each with up to 30,000 tokens.
fn cases(n: u32) -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(n)
    }
}

proptest! {
    #![proptest_config(cases(2500))]

    #[test]
    fn a_recorded_head_is_never_wrong(step in step(60..900)) {
        check_recorded(step);
    }

    #[test]
    fn a_served_head_is_never_wrong(step in step(60..900)) {
        check_served(step);
    }
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn the_head_of_a_large_vocabulary_is_never_wrong(step in step(20_000..50_000)) {
        check_recorded(step.clone());
        check_served(step);
    }
}

#[test]
fn equal_tokens_before_the_last_one_left_stay_before_it() {
    let mut row = vec![0.0_f32; 60];
    for token in [10, 20, 30] {
        row[token] = 3.0;
    }
    let chain = ChainConfig::sampled([
        Filter::EtaCutoff(EtaCutoff { epsilon: 0.05 }),
        Filter::TopP(TopP { p: 0.4 }),
        Filter::RepetitionPenalty(RepetitionPenalty {
            penalty: 1.1,
            window: Window::ALL,
        }),
    ]);
    for position in 0..50 {
        let coins = Coins { seed: 3, position };
        let whole = sample(&row, &chain, coins);
        check(&head_of(&row, 20), &chain, coins, &whole);
    }
}

#[test]
fn a_hot_chain_is_not_decided_by_a_head_that_holds_nearly_everything() {
    // The 20 likely tokens hold 0.999998 of the probability; at a temperature of 4 the others
    // outweigh them.
    let mut row = vec![-10.0_f32; 20_000];
    row[..20].fill(13.0);
    let row = log_probs(&row);
    let head = served(&row, 20);
    assert!(head.mass_left() < 1e-5);
    let hot = ChainConfig::sampled([Filter::Temperature(Temperature { temperature: 4.0 })]);
    let mut n_wrong = 0;
    for position in 0..50 {
        let coins = Coins { seed: 3, position };
        let whole = sample(&row, &hot, coins);
        let mut sampler = SamplerChain::new(hot.clone());
        let sampled = sampler
            .sample_served(&head, History::empty(), coins)
            .unwrap();
        let differs = sampled.as_ref().is_none_or(|it| it.token != whole.token);
        n_wrong += u32::from(differs);
        let claimed = sampled.is_some_and(|sampled| !sampled.trace.bounded);
        assert!(!claimed || !differs, "{position}");
    }
    assert!(n_wrong > 25, "{n_wrong}");
}
