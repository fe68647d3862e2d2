//! Properties that hold for any logits, any chain and any order.

use proptest::prelude::*;
use quartet::decoding::filters::{
    EpsilonCutoff, EtaCutoff, MinK, MinP, PLess, QuadraticSmoothing, RepetitionPenalty, TailFree,
    Temperature, TopA, TopH, TopK, TopNSigma, TopP, TypicalP, Window, Xtc,
};
use quartet::decoding::{
    Candidates, ChainConfig, Coins, Filter, History, Rules, SamplerChain, StageContext, TokenId,
};
use quartet::generation::PaneSettings;

const COINS: Coins = Coins {
    seed: 5,
    position: 8,
};

/// Logits that may include ties and impossible tokens. At least one token is possible.
fn logits() -> impl Strategy<Value = Vec<f32>> {
    let logit = prop_oneof![
        6 => -20.0..20.0_f32,
        2 => prop::sample::select(vec![-1.0, 0.0, 0.0, 3.0_f32]),
        1 => Just(f32::NEG_INFINITY),
    ];
    let size = prop_oneof![Just(1..2_usize), Just(2..40), Just(300..400)];
    size.prop_flat_map(move |size| prop::collection::vec(logit.clone(), size))
        .prop_map(|mut logits| {
            if logits.iter().all(|logit| *logit == f32::NEG_INFINITY) {
                logits[0] = 0.0;
            }
            logits
        })
}

fn filter() -> impl Strategy<Value = Filter> {
    let window = Window::ALL;
    prop_oneof![
        (0..60_u32).prop_map(|k| Filter::TopK(TopK { k })),
        (0.0..=1.0_f32).prop_map(|p| Filter::TopP(TopP { p })),
        (0.0..=1.0_f32).prop_map(|p| Filter::MinP(MinP { p })),
        (0.0..=1.0_f32).prop_map(|p| Filter::TypicalP(TypicalP { p })),
        (0.0..=1.0_f32).prop_map(|h| Filter::TopH(TopH { h })),
        (0.0..=1.0_f32).prop_map(|factor| Filter::PLess(PLess { factor })),
        (-1.0..20.0_f32).prop_map(|tau| Filter::MinK(MinK { tau })),
        (0.0..4.0_f32).prop_map(|n| Filter::TopNSigma(TopNSigma { n })),
        (0.0..0.9_f32).prop_map(|epsilon| Filter::EpsilonCutoff(EpsilonCutoff { epsilon })),
        (0.0..0.9_f32).prop_map(|epsilon| Filter::EtaCutoff(EtaCutoff { epsilon })),
        (0.0..=1.0_f32).prop_map(|a| Filter::TopA(TopA { a })),
        (0.0..=1.0_f32).prop_map(|z| Filter::TailFree(TailFree { z })),
        (0.0..=1.0_f32, 0.0..0.5_f32).prop_map(|(probability, threshold)| Filter::Xtc(Xtc {
            probability,
            threshold
        })),
        prop_oneof![0.0..3.0_f32, Just(1e-9), Just(1e9)]
            .prop_map(|temperature| Filter::Temperature(Temperature { temperature })),
        (0.0..2.0_f32, 1.0..3.0_f32).prop_map(|(factor, curve)| Filter::QuadraticSmoothing(
            QuadraticSmoothing { factor, curve }
        )),
        (0.5..3.0_f32).prop_map(move |penalty| Filter::RepetitionPenalty(RepetitionPenalty {
            penalty,
            window
        })),
    ]
}

fn context(history: &[TokenId]) -> StageContext<'_> {
    StageContext {
        history: History::new(history, 0),
        coins: COINS,
        n_chance_before: 0,
        rules: Rules::default(),
        n_vocab: 400,
    }
}

fn after(filter: &Filter, logits: &[f32]) -> Candidates {
    let mut candidates = Candidates::from_logits(logits).unwrap();
    filter.apply(context(&[TokenId(0), TokenId(3)]), &mut candidates);
    candidates
}

/// Returns the possible tokens, by id.
fn possible(candidates: &Candidates) -> Vec<TokenId> {
    let possible = candidates
        .iter()
        .filter(|candidate| candidate.logit > f32::NEG_INFINITY);
    possible.map(|candidate| candidate.token).collect()
}

fn is_subset(small: &Candidates, large: &Candidates) -> bool {
    let large = possible(large);
    possible(small).iter().all(|token| large.contains(token))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn any_chain_leaves_a_valid_distribution(logits in logits(), filters in prop::collection::vec(filter(), 0..6)) {
        let tokens = [TokenId(0), TokenId(1), TokenId(1)];
        let chain = SamplerChain::new(ChainConfig::sampled(filters.clone()));
        let left = chain.distribution(&logits, History::new(&tokens, 1), COINS).unwrap();
        prop_assert!(!left.is_empty());
        let mass: f64 = left.iter().map(|candidate| candidate.prob).sum();
        prop_assert!((mass - 1.0).abs() < 1e-6, "{mass}");
        let sorted = left.windows(2).all(|pair| {
            let (first, second) = (&pair[0], &pair[1]);
            first.logit > second.logit || (first.logit >= second.logit && first.token < second.token)
        });
        prop_assert!(sorted);
        let trace = SamplerChain::new(ChainConfig::sampled(filters))
            .sample(&logits, History::new(&tokens, 1), COINS)
            .unwrap()
            .trace;
        prop_assert!(left.iter().any(|candidate| candidate.token == trace.draw.token));
        let coin = trace.draw.coin.unwrap();
        prop_assert!(trace.draw.below <= coin + 1e-9 && coin < trace.draw.below + trace.draw.prob + 1e-6);
        for stage in &trace.stages {
            prop_assert!((0.0..=1.0).contains(&stage.mass_removed));
            prop_assert!(stage.n_kept >= 1 && stage.entropy_nats >= 0.0);
        }
    }

    #[test]
    fn a_filter_either_drops_or_reshapes(logits in logits(), filter in filter()) {
        let before = Candidates::from_logits(&logits).unwrap();
        let after = after(&filter, &logits);
        prop_assert!(is_subset(&after, &before));
        if filter.cuts() {
            for candidate in after.iter().filter(|candidate| candidate.logit > f32::NEG_INFINITY) {
                prop_assert_eq!(before.logit(candidate.token), Some(candidate.logit));
            }
        } else if !matches!(&filter, Filter::Temperature(heat) if heat.temperature < 1e-3) {
            prop_assert_eq!(after.n_kept(), before.n_kept());
        }
    }

    #[test]
    fn neutral_settings_have_no_effect(logits in logits()) {
        for words in [
            "temp 1, top-k 0, top-p 1, min-p 0, typical-p 1, top-nσ 0, epsilon 0, eta 0, top-a 0",
            "top-h 0, p-less 0, min-k -1",
            "tail-free 1, xtc 0, xtc 1 threshold 0.6, smooth 0, repeat 1, frequency 0, presence 0",
            "no-repeat 0, dry 0, dyn-temp 1 range 0, bias 0 0, repeat 2 last 0, green-list 0, synth-id 0",
        ] {
            for stage in words.parse::<PaneSettings>().unwrap().chain.stages {
                prop_assert!(stage.filter.is_neutral(), "{}", stage.filter);
                let after = after(&stage.filter, &logits);
                let same = after.iter().map(|candidate| candidate.logit).eq(logits.iter().copied());
                prop_assert!(same, "{}", stage.filter);
            }
        }
    }

    #[test]
    fn a_looser_filter_keeps_everything_that_a_stricter_one_keeps(
        logits in logits(), a in 0.0..=1.0_f32, b in 0.0..=1.0_f32, k in 1..50_u32, more in 0..50_u32,
    ) {
        let (small, large) = (a.min(b), a.max(b));
        let pairs = [
            (Filter::TopP(TopP { p: small }), Filter::TopP(TopP { p: large })),
            (Filter::TypicalP(TypicalP { p: small }), Filter::TypicalP(TypicalP { p: large })),
            (Filter::MinP(MinP { p: large }), Filter::MinP(MinP { p: small })),
            (Filter::TopH(TopH { h: small.max(1e-6) }), Filter::TopH(TopH { h: large.max(1e-6) })),
            (Filter::PLess(PLess { factor: large }), Filter::PLess(PLess { factor: small })),
            (Filter::MinK(MinK { tau: small }), Filter::MinK(MinK { tau: large })),
            (Filter::TopA(TopA { a: large }), Filter::TopA(TopA { a: small })),
            (Filter::TopK(TopK { k }), Filter::TopK(TopK { k: k + more })),
        ];
        for (narrow, wide) in pairs {
            prop_assert!(is_subset(&after(&narrow, &logits), &after(&wide, &logits)), "{narrow}, {wide}");
        }
    }

    #[test]
    fn cutting_twice_equals_cutting_once(logits in logits(), k in 1..50_u32, p in 0.01..1.0_f32) {
        for filter in [Filter::TopK(TopK { k }), Filter::MinP(MinP { p })] {
            let once = after(&filter, &logits);
            let mut twice = once.clone();
            filter.apply(context(&[]), &mut twice);
            prop_assert_eq!(possible(&once), possible(&twice));
        }
    }

    #[test]
    fn top_k_and_min_p_commute(logits in logits(), k in 1..50_u32, p in 0.01..1.0_f32) {
        let (top_k, min_p) = (Filter::TopK(TopK { k }), Filter::MinP(MinP { p }));
        let mut one = after(&top_k, &logits);
        min_p.apply(context(&[]), &mut one);
        let mut other = after(&min_p, &logits);
        top_k.apply(context(&[]), &mut other);
        prop_assert_eq!(possible(&one), possible(&other));
    }

    #[test]
    fn a_lazy_head_equals_a_full_sort(logits in logits(), n in 1..400_usize) {
        let mut expected: Vec<usize> = (0..logits.len()).collect();
        expected.sort_by(|a, b| logits[*b].total_cmp(&logits[*a]).then(a.cmp(b)));
        expected.truncate(n);
        let mut candidates = Candidates::from_logits(&logits).unwrap();
        let head: Vec<usize> = candidates.head(n).iter().map(|next| next.token.index()).collect();
        prop_assert_eq!(head, expected);
    }

    #[test]
    fn printed_settings_parse_back_unchanged(filters in prop::collection::vec(filter(), 0..6), seed in any::<Option<u64>>()) {
        let mut pane = PaneSettings::from(ChainConfig::sampled(filters));
        pane.seed = seed;
        let words = pane.to_string();
        prop_assert_eq!(words.parse::<PaneSettings>().unwrap(), pane, "{}", words);
    }

    #[test]
    fn a_chain_survives_json(filters in prop::collection::vec(filter(), 0..6)) {
        let chain = ChainConfig::sampled(filters);
        let json = serde_json::to_string(&chain).unwrap();
        prop_assert_eq!(serde_json::from_str::<ChainConfig>(&json).unwrap(), chain);
    }
}

#[test]
fn extreme_settings_sample_a_possible_token() {
    let history: Vec<TokenId> = (0..3).map(TokenId).collect();
    let logits = [f32::MAX, 3.0, -f32::MAX, f32::NEG_INFINITY, 3.0];
    for words in [
        "temp 0.000000001",
        "temp 1000000000",
        "temp 1000000000, temp 0.000000001",
        "repeat 0.000001 last 4000000000",
        "repeat 1000000 last all",
        "frequency 1000000000, presence -1000000000",
        "dry 1000000000 base 1000 allowed 0",
        "dyn-temp 0.000000001 range 1000000000 exponent 9",
        "smooth 1000000000 curve 3",
        "top-nσ 1000000000",
        "top-h 1, p-less 1, min-k 1000000000",
        "no-repeat 1",
        "no-repeat 4000000000",
        "mirostat 0 eta 1000000",
        "mirostat-1 1000000 eta 1000000",
        "adaptive-p 1 decay 0.99",
        "gumbel",
        "ban 0 1 2 3 4",
    ] {
        let pane: PaneSettings = words.parse().unwrap();
        for history in [History::empty(), History::new(&history, 2)] {
            let mut chain = SamplerChain::new(pane.chain.clone());
            for position in 0..3 {
                let coins = Coins { seed: 1, position };
                let sampled = chain.sample(&logits, history, coins).unwrap();
                assert!(
                    sampled.token.index() < 5 && sampled.token != TokenId(3),
                    "{words}"
                );
                assert!(
                    sampled.trace.draw.prob > 0.0,
                    "{words}: {:?}",
                    sampled.trace.draw
                );
            }
        }
    }
}
