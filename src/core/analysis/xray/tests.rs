//! Compares the table with the chain itself.

use std::sync::Arc;

use super::{BarPart, CoinBar, DrawnBy, XrayCell, XrayPlace, XrayTable};
use crate::decoding::filters::{
    GreenList, MinP, Phrase, Temperature, ThinkingBudget, TopK, TopP, TypicalP,
};
use crate::decoding::selector::MirostatV2;
use crate::decoding::{
    Against, ChainConfig, Coins, Filter, Guidance, History, KnownCount, Mixture, SamplerChain,
    Selector, Stage, Taken, TokenId, Trace,
};
use crate::generation::testing::generation;

/// The drawn token's segment.
fn chosen(bar: &CoinBar) -> Option<BarPart> {
    let mut parts = bar.parts.iter();
    parts.find(|part| bar.is_drawn(part)).copied()
}

fn temperature(temperature: f32) -> Filter {
    Filter::Temperature(Temperature { temperature })
}

fn top_p(p: f32) -> Filter {
    Filter::TopP(TopP { p })
}

/// 400 logits that fall slowly, so that many more tokens are possible than are recorded.
fn wide_row() -> Vec<f32> {
    (1..=400_u16).map(|rank| -f32::from(rank).ln()).collect()
}

fn trace(chain: &ChainConfig, logits: &[f32], seed: u64) -> Trace {
    let coins = Coins { seed, position: 3 };
    let mut chain = SamplerChain::new(chain.clone());
    chain.sample(logits, History::empty(), coins).unwrap().trace
}

#[test]
fn a_recorded_step_shows_what_was_recorded() {
    let mut chain =
        ChainConfig::sampled([temperature(0.5), Filter::TopK(TopK { k: 2 }), top_p(0.9)]);
    chain.stages[2].enabled = false;
    let trace = trace(&chain, &[1.0, 3.0, 2.0], 1);
    let table = XrayTable::recorded(&chain, &trace);
    assert!(!table.what_if);
    assert_eq!(table.columns.len(), 4);
    let tokens: Vec<u32> = table.rows.iter().map(|row| row.token.0).collect();
    assert_eq!(tokens, [1, 2, 0]);
    for (row, at) in table.rows.iter().zip(0..) {
        let of_stage = |stage: usize| trace.stages[stage].head_probs[at].map(f64::from);
        assert_eq!(row.cells[0], XrayCell::Kept(trace.raw.head[at].prob));
        assert_eq!(row.cells[1], XrayCell::Kept(of_stage(0).unwrap()));
        assert_eq!(
            row.cells[2],
            match of_stage(1) {
                Some(prob) => XrayCell::Kept(prob),
                None => XrayCell::Cut(of_stage(0)),
            }
        );
        assert_eq!(row.cells[3], XrayCell::Muted);
        assert_eq!(row.chosen, row.token == trace.draw.token);
    }
    assert_eq!(table.cut_by(&table.rows[0]), None);
    let cut_by = table.cut_by(&table.rows[2]).unwrap();
    assert_eq!(
        cut_by.at,
        XrayPlace::Stage {
            index: 1,
            stage: Stage::from(Filter::TopK(TopK { k: 2 })),
        }
    );
    assert_eq!(cut_by.n_left, KnownCount::Exactly(2));
    assert_eq!(cut_by.mass_removed, Some(trace.stages[1].mass_removed));
}

#[test]
fn an_unrecorded_token_is_reconstructed_as_far_as_possible() {
    let row = wide_row();
    let chain = ChainConfig::sampled([temperature(1.4), Filter::TopK(TopK { k: 300 })]);
    let typical = ChainConfig::sampled([
        Filter::TypicalP(TypicalP { p: 0.99 }),
        Filter::QuadraticSmoothing(crate::decoding::filters::QuadraticSmoothing {
            factor: 0.1,
            curve: 1.0,
        }),
        temperature(1.2),
    ]);
    let mut n_seen = 0;
    for (chain, known) in [
        (&chain, [true, true, true, true]),
        (&typical, [true, true, false, true]),
    ] {
        for seed in 0..40 {
            let trace = trace(chain, &row, seed);
            let token = trace.draw.token;
            if trace.raw.head.iter().any(|ranked| ranked.token == token) {
                continue;
            }
            n_seen += 1;
            let table = XrayTable::recorded(chain, &trace);
            let last = table.rows.last().unwrap();
            assert!(last.chosen && last.token == token && last.rank == Some(trace.raw_rank));
            let coins = Coins { seed, position: 3 };
            for (n_stages, (cell, known)) in last.cells.iter().zip(known).enumerate() {
                let mut prefix = chain.clone();
                prefix.stages.truncate(n_stages);
                let distribution = SamplerChain::new(prefix)
                    .distribution(&row, History::empty(), coins)
                    .unwrap();
                let exact = distribution
                    .iter()
                    .find(|other| other.token == token)
                    .unwrap();
                match cell {
                    XrayCell::Kept(prob) => {
                        assert!(known);
                        assert!((prob - exact.prob).abs() < 1e-5 * exact.prob, "{n_stages}");
                    }
                    cell => assert_eq!((*cell, known), (XrayCell::Unknown, false)),
                }
            }
            let chosen = chosen(&table.bar).unwrap();
            let DrawnBy::OneCoin(coin) = table.bar.drawn.by else {
                panic!("a multinomial draw has one coin");
            };
            assert!(chosen.from <= coin && coin < chosen.to);
        }
    }
    assert!(n_seen > 10, "{n_seen}");
}

#[test]
fn a_forced_token_shows_what_it_was_before_the_cut() {
    let budget = Filter::ThinkingBudget(ThinkingBudget {
        max_tokens: 1,
        opening: Phrase::Tokens(vec![TokenId(2)]),
        closing: Phrase::Tokens(vec![TokenId(350)]),
        ..ThinkingBudget::default()
    });
    let chain = ChainConfig::sampled([budget, temperature(0.5), top_p(0.9)]);
    let tokens = [2, 5].map(TokenId);
    let (history, coins) = (
        History::new(&tokens, 1),
        Coins {
            seed: 1,
            position: 1,
        },
    );
    let mut sampler = SamplerChain::new(chain.clone());
    let trace = sampler.sample(&wide_row(), history, coins).unwrap().trace;
    let table = XrayTable::recorded(&chain, &trace);
    let forced = table.rows.last().unwrap();
    assert!(forced.chosen && forced.token == TokenId(350));
    let XrayCell::Kept(before) = forced.cells[0] else {
        panic!("the model’s probability is known");
    };
    assert!(before > 0.0 && (before - trace.raw_prob).abs() < 1e-9);
    for cell in &forced.cells[1..] {
        let XrayCell::Kept(after) = cell else {
            panic!("{cell:?}");
        };
        assert!((after - 1.0).abs() < 1e-9);
    }
    // What the model would have written instead.
    let mut without = chain.clone();
    without.stages[0].enabled = false;
    let free = SamplerChain::new(without.clone()).sample(&wide_row(), history, coins);
    let instead = crate::decoding::what_if(&trace.raw, &without, history, coins);
    assert_eq!(instead.unwrap().token(), Some(free.unwrap().token));
}

#[test]
fn a_given_token_below_the_record_is_cut_by_the_only_stage_that_cuts() {
    for (settings, sure) in [
        ([Filter::TopK(TopK { k: 5 }), temperature(0.7)], true),
        ([Filter::TopK(TopK { k: 300 }), top_p(0.5)], false),
    ] {
        let chain = ChainConfig::sampled(settings);
        let coins = Coins {
            seed: 1,
            position: 3,
        };
        let given = Taken::Given(TokenId(350));
        let mut sampler = SamplerChain::new(chain.clone());
        let scored = sampler.take(&wide_row(), History::empty(), coins, given);
        let table = XrayTable::recorded(&chain, &scored.unwrap().trace);
        let last = table.rows.last().unwrap();
        assert_eq!((last.token, last.chosen), (TokenId(350), true));
        let [XrayCell::Kept(prob), stages @ ..] = last.cells.as_slice() else {
            panic!("{last:?}");
        };
        let expected = if sure {
            [XrayCell::Cut(Some(*prob)), XrayCell::Gone]
        } else {
            [XrayCell::Unknown; 2]
        };
        assert_eq!(stages, expected);
    }
}

#[test]
fn the_bar_has_no_gaps_between_zero_and_one() {
    let rows = [wide_row(), vec![2.0, 1.0, 0.5, f32::NEG_INFINITY]];
    for row in &rows {
        for chain in [
            ChainConfig::sampled([]),
            ChainConfig::sampled([top_p(0.6)]),
            ChainConfig::greedy(),
        ] {
            for seed in 0..20 {
                let bar = XrayTable::recorded(&chain, &trace(&chain, row, seed)).bar;
                let mut end = 0.0_f64;
                for part in &bar.parts {
                    assert!((part.from - end).abs() < 1e-9, "{bar:?}");
                    end = part.to;
                }
                assert!((end - 1.0).abs() < 1e-5, "{bar:?}");
                assert!(chosen(&bar).is_some());
            }
        }
    }
}

#[test]
fn each_selector_reports_how_it_decided() {
    let mirostat = Selector::MirostatV2(MirostatV2 { tau: 1.0, eta: 0.1 });
    for (selector, has_column, coin) in [
        (Selector::Greedy, false, false),
        (Selector::Multinomial, false, true),
        (Selector::GumbelMax, false, false),
        (mirostat, true, true),
    ] {
        let chain = ChainConfig {
            selector,
            ..ChainConfig::sampled([])
        };
        let table = XrayTable::recorded(&chain, &trace(&chain, &[3.0, 2.5, 1.0, -2.0], 5));
        assert_eq!(
            table.columns.len(),
            1 + usize::from(has_column),
            "{selector}"
        );
        assert_eq!(matches!(table.bar.drawn.by, DrawnBy::OneCoin(_)), coin);
        assert_eq!(
            table.bar.drawn.by == DrawnBy::CoinForEach,
            selector == Selector::GumbelMax
        );
        if has_column {
            assert!(matches!(table.rows[3].cells[1], XrayCell::Cut(Some(_))));
            assert!(matches!(
                table.columns[1].n_left,
                KnownCount::Exactly(1..=3)
            ));
        }
    }
}

#[test]
fn a_moved_coin_selects_the_token_under_it() {
    let chain = ChainConfig::sampled([]);
    let logits = [0.5_f32, 0.3, 0.2].map(f32::ln);
    let mut table = XrayTable::recorded(&chain, &trace(&chain, &logits, 1));
    for (coin, token) in [(0.0, 0), (0.499, 0), (0.501, 1), (0.801, 2), (1.0, 2)] {
        table.move_coin(coin);
        assert_eq!(table.bar.drawn.token, Some(TokenId(token)), "{coin}");
        let chosen: Vec<u32> = table
            .rows
            .iter()
            .filter(|row| row.chosen)
            .map(|row| row.token.0)
            .collect();
        assert_eq!(chosen, [token]);
    }
    let greedy = ChainConfig::greedy();
    let mut table = XrayTable::recorded(&greedy, &trace(&greedy, &logits, 1));
    table.move_coin(0.9);
    assert_eq!(table.bar.drawn.token, Some(TokenId(0)));
}

#[test]
fn other_settings_show_what_they_would_have_done() {
    let generation = generation(&[(" fox", 0.6), (" house", 0.2)]);
    let run = &generation.config;
    let same = XrayTable::of(&generation, 1, &run.chain, run.seed).unwrap();
    assert!(!same.what_if);
    assert_eq!(same.bar.drawn.token, Some(generation.steps[1].token));

    let mut muted = run.chain.clone();
    muted.stages[0].enabled = false;
    muted
        .stages
        .push(Stage::from(Filter::MinP(MinP { p: 0.3 })));
    let table = XrayTable::of(&generation, 1, &muted, run.seed).unwrap();
    assert!(table.what_if);
    assert_eq!(table.columns.len(), 3);
    assert_eq!(table.rows[0].cells[1], XrayCell::Muted);
    let trace = &generation.steps[1].trace;
    let best = trace.raw.head[0].prob;
    for (row, ranked) in table.rows.iter().zip(&trace.raw.head) {
        let kept = matches!(row.cells[2], XrayCell::Kept(_));
        assert_eq!(kept, ranked.prob >= 0.3 * best, "{row:?}");
    }
    assert_eq!(XrayTable::of(&generation, 2, &muted, run.seed), None);
}

#[test]
fn a_hot_what_if_names_tokens_far_below_the_head() {
    let logits = wide_row();
    let hot = ChainConfig::sampled([temperature(2.0), top_p(0.9)]);
    let mut n_below_head = 0;
    for seed in 0..20 {
        let mut text = generation(&[(" fox", 0.4)]);
        let coins = Coins { seed, position: 3 };
        let plain = ChainConfig::sampled([]);
        let mut chain = SamplerChain::new(plain.clone()).with_detail(10_000);
        let sampled = chain.sample(&logits, History::empty(), coins).unwrap();
        text.config.chain = plain;
        text.config.seed = seed;
        text.steps[0].token = sampled.token;
        text.steps[0].trace = std::sync::Arc::new(sampled.trace);

        let table = XrayTable::of(&text, 0, &hot, seed).unwrap();
        let run = trace(&hot, &logits, seed);
        let drawn = run.draw;
        for (column, report) in table.columns.iter().skip(1).zip(&run.stages) {
            assert_eq!(column.n_left, KnownCount::Exactly(report.n_kept));
            let removed = column.mass_removed.unwrap();
            assert!((removed - report.mass_removed).abs() < 1e-6, "{removed}");
        }
        assert_eq!(table.bar.drawn.token, Some(drawn.token));
        assert!(table.bar.drawn.sure);
        let row = table.rows.iter().find(|row| row.chosen).unwrap();
        assert_eq!(row.rank, Some(drawn.token.0 + 1));
        let Some(XrayCell::Kept(prob)) = row.cells.last() else {
            panic!("{row:?}");
        };
        assert!((prob - drawn.prob).abs() < 1e-6);
        n_below_head += u32::from(row.rank > Some(48));
    }
    assert!(n_below_head > 5, "{n_below_head}");
}

#[test]
fn a_green_list_shows_by_how_much_it_distorts_the_distribution() {
    let list = Filter::GreenList(GreenList {
        bias: 2.0,
        ratio: 0.25,
        key: 42,
        window: 1,
    });
    let chain = ChainConfig::sampled([temperature(0.8), list]);
    let logits = [3.0, 2.0, 2.5, 1.0, 0.0, 1.5, 0.5, 2.2];
    let coins = Coins {
        seed: 1,
        position: 3,
    };
    let tokens = [TokenId(5)];
    let sampled = SamplerChain::new(chain.clone()).sample(&logits, History::new(&tokens, 1), coins);
    let table = XrayTable::recorded(&chain, &sampled.unwrap().trace);
    let probs = |column: usize| {
        table.rows.iter().map(move |row| match row.cells[column] {
            XrayCell::Kept(prob) => prob,
            cell => panic!("{cell:?}"),
        })
    };
    let bits: f64 = probs(1)
        .zip(probs(2))
        .map(|(before, after)| after * (after / before).log2())
        .sum();
    let shown = table.columns[2].distortion_bits.unwrap();
    assert!(
        bits > 0.05 && (shown - bits).abs() < 1e-4,
        "{shown}, not {bits}"
    );
    assert_eq!(table.columns[1].distortion_bits, None);
}

#[test]
fn a_guided_step_shows_both_rows_before_their_mixture() {
    let guidance = Arc::new(Guidance::usual(Against::Prompt("A sad story:".to_owned())));
    let (own, other) = ([1.0, 3.0, 2.0], [3.0, 2.0, 1.0]);
    let mut text = generation(&[(" fox", 0.4)]);
    text.config.chain = ChainConfig {
        guidance: Some(Guidance::clone(&guidance)),
        ..ChainConfig::sampled([temperature(0.5)])
    };
    let chain = text.config.chain.clone();
    let mut trace = trace(
        &chain,
        &guidance.mix(&own, &other).unwrap(),
        text.config.seed,
    );
    let head = &trace.raw.head;
    let mixture = Mixture::of(&guidance, head, trace.draw.token, [&own, &other]).unwrap();
    let own_probs = mixture.own.head_probs.clone();
    trace.mixture = Some(Box::new(mixture));
    text.steps[0].token = trace.draw.token;
    text.steps[0].trace = Arc::new(trace);

    let table = XrayTable::of(&text, 0, &chain, text.config.seed).unwrap();
    let places: Vec<_> = table
        .columns
        .iter()
        .take(3)
        .map(|column| &column.at)
        .collect();
    let expected = [
        XrayPlace::Row("Own".to_owned()),
        XrayPlace::Row("Second prompt".to_owned()),
        XrayPlace::Mixture(Arc::clone(&guidance)),
    ];
    assert_eq!(places, expected.iter().collect::<Vec<_>>());
    for ((row, ranked), own) in table
        .rows
        .iter()
        .zip(&text.steps[0].trace.raw.head)
        .zip(own_probs)
    {
        assert_eq!(row.cells[0], XrayCell::Kept(f64::from(own)));
        assert_eq!(table.raw_prob(row), Some(ranked.prob));
    }

    let mut warmer = chain.clone();
    warmer.stages[0] = Stage::from(temperature(1.0));
    let table = XrayTable::of(&text, 0, &warmer, text.config.seed).unwrap();
    assert!(table.what_if && table.columns.len() == 4);

    let mut stronger = chain;
    stronger.guidance.as_mut().unwrap().scale = Some(3.0);
    assert_eq!(XrayTable::of(&text, 0, &stronger, text.config.seed), None);
}
