//! The kinds of tokens whose circumstances are known.

use std::sync::Arc;

use super::{TokenKind, TokenKinds, coin_of, without_settings};
use crate::analysis::why::tests::{drawn, sampled, seed};
use crate::decoding::filters::{Temperature, TopK, TopP, TypicalP};
use crate::decoding::testing::logits_of;
use crate::decoding::{
    Against, Candidate, ChainConfig, Coins, Filter, GrammarMode, Guidance, History, Mixture,
    SamplerChain, Selector, ServedHead, Taken, TokenId, WhatIf,
};
use crate::generation::Generation;

use TokenKind::{ByHand, Changed, Forced, LikelierCut, NearlyTied, NotFirst, Unlikely};

/// The probabilities of " the", " a", " little", " house" and " fox" in [`sampled`].
const PROBS: [f32; 5] = [0.4, 0.3, 0.15, 0.1, 0.05];

/// Returns the kinds of the only token, and those that the record does not tell.
fn kinds(text: &Generation) -> [Vec<TokenKind>; 2] {
    let kinds = TokenKinds::of(text, 0);
    let are = |is: fn(TokenKinds, TokenKind) -> bool| {
        let all = TokenKind::ALL.into_iter();
        all.filter(|kind| is(kinds, *kind)).collect()
    };
    [are(TokenKinds::contains), are(TokenKinds::is_unknown)]
}

fn top_k(k: u32) -> ChainConfig {
    ChainConfig::sampled([Filter::TopK(TopK { k })])
}

/// A text of one token that was taken, not drawn, from these probabilities.
fn taken(taken: Taken, probs: &[f32]) -> Generation {
    let mut text = sampled(top_k(4), 1);
    let mut chain = SamplerChain::new(top_k(4));
    let coins = Coins {
        seed: 1,
        position: 3,
    };
    let step = chain.take(&logits_of(probs), History::empty(), coins, taken);
    set_trace(&mut text, step.unwrap().trace);
    text
}

/// A text of one token of which a server named these candidates of a vocabulary of eight, and that
/// its own sampler or ours picked.
fn served(probs: &[f32], taken: Option<Taken>) -> Generation {
    let mut text = sampled(top_k(2), seed(0.90..0.91));
    let tokens = (0..).map(TokenId).zip(logits_of(probs));
    let known = tokens.map(|(token, logit)| Candidate { token, logit });
    let head = ServedHead::new(known.collect(), 8);
    let coins = Coins {
        seed: text.config.seed,
        position: 3,
    };
    let mut chain = SamplerChain::new(top_k(2));
    let step = if let Some(taken) = taken {
        chain.take_served(&head, History::empty(), coins, taken)
    } else {
        let sampled = chain.sample_served(&head, History::empty(), coins);
        Ok(sampled.unwrap().unwrap())
    };
    set_trace(&mut text, step.unwrap().trace);
    text
}

fn set_trace(text: &mut Generation, trace: crate::decoding::Trace) {
    text.steps[0].token = trace.draw.token;
    text.steps[0].trace = Arc::new(trace);
}

#[test]
fn probability_rank_and_margin_make_a_kind() {
    let plain = ChainConfig::sampled([]);
    for (coin, expected) in [
        (0.30..0.31, &[][..]),
        (0.50..0.51, &[NotFirst]),
        // " fox" has a probability just below 0.05, because six tokens have a little.
        (0.96..0.97, &[Unlikely, NotFirst]),
    ] {
        let text = sampled(plain.clone(), seed(coin));
        assert_eq!(kinds(&text), [expected.to_vec(), Vec::new()]);
    }
    // 0.45 and 0.4 are 0.17 bits apart, 0.46 and 0.4 are 0.2016.
    for (first, is_tied) in [(0.45, true), (0.46, false)] {
        let text = taken(Taken::Given(TokenId(0)), &[first, 0.4, 0.1]);
        assert_eq!(NearlyTied.matches(&text, 0), Some(is_tied), "{first}");
    }
    // There is no second token.
    let text = taken(Taken::Given(TokenId(0)), &[1.0, 0.0]);
    assert_eq!(NearlyTied.matches(&text, 0), Some(false));
}

#[test]
fn a_setting_changed_a_token_if_the_coin_falls_on_another_one_without_it() {
    let hot = ChainConfig::sampled([Filter::Temperature(Temperature { temperature: 0.3 })]);
    let gumbel = ChainConfig {
        selector: Selector::GumbelMax,
        ..ChainConfig::sampled([])
    };
    let neutral = ChainConfig::sampled([Filter::Temperature(Temperature { temperature: 1.0 })]);
    let coin = || seed(0.70..0.71);
    // The coin falls on " little", the third token.
    for (chain, token, is_changed) in [
        (ChainConfig::greedy(), 1, true),
        (hot, 2, true),
        (top_k(2), 2, true),
        (top_k(5), 3, false),
        (neutral, 3, false),
        (ChainConfig::sampled([]), 3, false),
    ] {
        let text = sampled(chain.clone(), coin());
        assert_eq!(text.steps[0].token, TokenId(token), "{chain}");
        assert_eq!(Changed.matches(&text, 0), Some(is_changed), "{chain}");
        let without = without_settings(&text, 0);
        assert_eq!(without, Some(WhatIf::Exact(TokenId(3))), "{chain}");
        let shown = coin_of(&text, 0).unwrap();
        assert!((0.70..0.71).contains(&shown), "{chain}: {shown}");
    }
    let text = sampled(gumbel, coin());
    assert_eq!(Changed.matches(&text, 0), Some(false));
    assert_eq!(coin_of(&text, 0), None);
}

#[test]
fn settings_that_wrote_only_the_beginning_count_there() {
    let mut text = sampled(top_k(2), seed(0.70..0.71));
    let config = crate::generation::GenerationConfig {
        chain: ChainConfig::sampled([]),
        seed: 7,
        ..text.config.clone()
    };
    text.go_on(1, config);
    assert_eq!(Changed.matches(&text, 0), Some(true));
}

#[test]
fn a_likelier_token_was_cut_by_a_filter() {
    // Typical sampling keeps what is near the entropy: here " a", without " the".
    let typical = ChainConfig::sampled([Filter::TypicalP(TypicalP { p: 0.2 })]);
    let text = sampled(typical, 1);
    assert_ne!(text.steps[0].token, TokenId(1));
    assert_eq!(LikelierCut.matches(&text, 0), Some(true));
    for chain in [
        ChainConfig::sampled([Filter::TopP(TopP { p: 0.5 })]),
        ChainConfig::sampled([]),
        ChainConfig::greedy(),
    ] {
        let text = sampled(chain.clone(), seed(0.70..0.71));
        assert_eq!(LikelierCut.matches(&text, 0), Some(false), "{chain}");
    }
}

#[test]
fn a_token_below_the_recorded_head_follows_from_what_the_filters_keep() {
    let probs: Vec<f32> = (1..=400_u16).map(|rank| 1.0 / f32::from(rank)).collect();
    let total: f32 = probs.iter().sum();
    let probs: Vec<f32> = probs.into_iter().map(|prob| prob / total).collect();
    for (settings, expected) in [
        ("top-k 200", Some(false)),
        ("repeat 1.5", Some(false)),
        // The penalty may have moved a token below those that top-k keeps.
        ("repeat 1.5, top-k 200", None),
        // It keeps a head of which the last recorded token is one.
        ("typical 0.9", None),
    ] {
        let settings: crate::generation::PaneSettings = settings.parse().unwrap();
        let mut text = sampled(ChainConfig::sampled([]), 1);
        let mut chain = SamplerChain::new(settings.chain.clone());
        let coins = Coins {
            seed: 1,
            position: 3,
        };
        let given = Taken::Given(TokenId(120));
        let step = chain.take(&logits_of(&probs), History::empty(), coins, given);
        set_trace(&mut text, step.unwrap().trace);
        text.config.chain = settings.chain;
        let is_cut = LikelierCut.matches(&text, 0);
        assert_eq!(is_cut, expected, "{}", text.config.chain);
    }
}

#[test]
fn a_grammar_forces_the_only_token_it_allows() {
    let probs = [0.9, 0.05, 0.0498, 0.0002];
    let text = drawn(" house", GrammarMode::Mask, probs);
    // The grammar is a setting, but no filter.
    assert_eq!(kinds(&text)[0], [Unlikely, NotFirst, Changed, Forced]);
    let text = drawn(
        " (the|house)",
        GrammarMode::Mask,
        [0.98, 0.01, 0.005, 0.005],
    );
    assert_eq!(kinds(&text), [Vec::new(), Vec::new()]);
    // A run file without the reports of its grammar.
    let mut text = drawn(" house", GrammarMode::Mask, probs);
    Arc::make_mut(&mut text.steps[0].trace).grammar = None;
    assert_eq!(Forced.matches(&text, 0), None);
}

#[test]
fn a_token_by_hand_is_not_changed_by_a_setting() {
    let text = taken(Taken::ByHand(TokenId(3)), &PROBS);
    assert_eq!(kinds(&text), [vec![NotFirst, ByHand], Vec::new()]);
    let text = taken(Taken::Given(TokenId(0)), &PROBS);
    assert_eq!(kinds(&text), [Vec::new(), Vec::new()]);
}

#[test]
fn beams_and_drafts_have_no_coin_to_replay() {
    for by in [Taken::ByBeams(TokenId(1)), Taken::ByRatio(TokenId(1))] {
        let text = taken(by, &PROBS);
        assert_eq!(kinds(&text), [vec![NotFirst], vec![Changed]], "{by:?}");
        assert_eq!(coin_of(&text, 0), None);
    }
    // Without settings, drafts change how fast a text is written, not its distribution.
    let mut text = taken(Taken::ByRatio(TokenId(1)), &PROBS);
    text.config.chain = ChainConfig::sampled([]);
    assert_eq!(Changed.matches(&text, 0), Some(false));
}

#[test]
fn the_models_own_probabilities_are_unknown_under_guidance() {
    let mut text = sampled(top_k(2), seed(0.70..0.71));
    let guidance = Guidance::usual(Against::Prompt(String::new()));
    text.config.chain.guidance = Some(guidance.clone());
    let trace = Arc::make_mut(&mut text.steps[0].trace);
    let logits = logits_of(&[0.125; 8]);
    let mixture = Mixture::of(
        &Arc::new(guidance),
        &trace.raw.head,
        TokenId(2),
        [&logits, &logits],
    );
    trace.mixture = Some(Box::new(mixture.unwrap()));
    assert_eq!(kinds(&text), [vec![NotFirst], vec![Changed]]);
}

#[test]
fn what_a_server_did_not_report_is_unknown() {
    // Its own sampler picked a token that it named.
    let text = served(&[0.6, 0.3], Some(Taken::ByServer(TokenId(1))));
    assert_eq!(kinds(&text), [vec![NotFirst], vec![Changed, LikelierCut]]);
    // It named one token only, which leaves the second open, unless it has most of the probability.
    for (prob, is_tied) in [(0.5, None), (0.6, Some(false))] {
        let text = served(&[prob], Some(Taken::ByServer(TokenId(0))));
        assert_eq!(NearlyTied.matches(&text, 0), is_tied, "{prob}");
    }
    // Our chain drew from two named tokens, but the coin falls on one that was not named.
    let text = served(&[0.45, 0.35], None);
    assert_eq!(Changed.matches(&text, 0), Some(true));
    assert_eq!(without_settings(&text, 0), Some(WhatIf::Unrecorded));
}
