//! Tests of sampling by hand.

use super::{ready, written};
use crate::analysis::xray::DrawnBy;
use crate::decoding::{ChainConfig, TokenId};
use crate::state::{AppState, ByHand, Command, HAND_TOKENS, HandPreset, Pin};

fn history(by_hand: &ByHand) -> Vec<u32> {
    by_hand.history().map(|token| token.0).collect()
}

/// A state that samples by hand with the chain of the second pane, which keeps all tokens.
fn drawing() -> AppState {
    let mut state = ready();
    state.by_hand.pane = Some(1);
    state.by_hand.load_preset(HandPreset::TwoEquals);
    state
}

#[test]
fn the_number_of_tokens_stays_within_bounds() {
    let mut by_hand = ByHand::default();
    for _ in 0..40 {
        by_hand.add();
    }
    assert_eq!(by_hand.tokens().len(), *HAND_TOKENS.end());
    for _ in 0..40 {
        by_hand.remove(0);
    }
    assert_eq!(by_hand.tokens().len(), *HAND_TOKENS.start());
    for preset in HandPreset::ALL {
        by_hand.load_preset(preset);
        assert!(
            HAND_TOKENS.contains(&by_hand.tokens().len()),
            "{}",
            preset.name()
        );
    }
}

#[test]
fn removing_a_token_removes_it_from_the_history() {
    let mut by_hand = ByHand::default();
    for id in [1, 2, 0, 2, 3] {
        by_hand.push_history(TokenId(id));
    }
    by_hand.push_history(TokenId(99));
    by_hand.set_n_prompt(3);
    by_hand.remove(2);
    assert_eq!(history(&by_hand), [1, 0, 2]);
    assert_eq!(by_hand.n_prompt(), 2);
    by_hand.forget(0);
    assert_eq!(history(&by_hand), [0, 2]);
    assert_eq!(by_hand.n_prompt(), 1);
}

#[test]
fn a_logit_stays_a_number_within_bounds() {
    let mut by_hand = ByHand::default();
    let token = &mut by_hand.tokens_mut()[0];
    for (typed, kept) in [
        (3.5, 3.5),
        (f64::NAN, 3.5),
        (99.0, 10.0),
        (f64::NEG_INFINITY, -5.0),
    ] {
        token.set_logit(typed);
        assert!((f64::from(token.logit()) - kept).abs() < 1e-6, "{typed}");
    }
}

#[test]
fn deserialized_values_are_sanitized() {
    for (json, n_tokens, history_kept, n_prompt) in [
        (r#"{"tokens": []}"#, 6, vec![], 0),
        (
            r#"{"tokens": [{"label": "a", "logit": 1e9}, {"label": "b", "logit": 0}],
                "history": [0, 7, 1], "n_prompt": 5, "coin": 3}"#,
            2,
            vec![0, 1],
            2,
        ),
    ] {
        let read: ByHand = serde_json::from_str(json).unwrap();
        let by_hand = read.sanitized();
        assert_eq!(by_hand.tokens().len(), n_tokens);
        assert_eq!(history(&by_hand), history_kept);
        assert_eq!(by_hand.n_prompt(), n_prompt);
        assert_eq!(by_hand.coin, None);
        assert!(by_hand.tokens()[0].logit() <= 10.0);
    }
}

#[test]
fn the_chain_of_the_chosen_pane_is_applied_to_any_coin() {
    let mut state = drawing();
    for (coin, token) in [(0.01, 0), (0.4, 0), (0.48, 1), (0.9999, 4)] {
        state.by_hand.coin = Some(coin);
        let drawn = state.hand_table().unwrap().bar.drawn;
        assert_eq!(drawn.token, Some(TokenId(token)), "{coin}");
        assert_eq!(drawn.by, DrawnBy::OneCoin(coin));
    }
    state.by_hand.pane = Some(0);
    let drawn = state.hand_table().unwrap().bar.drawn;
    assert_eq!(
        (drawn.token, drawn.by),
        (Some(TokenId(0)), DrawnBy::TopToken)
    );
    state.by_hand.pane = Some(77);
    assert_eq!(state.hand_pane(), 3);
}

#[test]
fn draws_are_counted_until_their_inputs_change() {
    let mut state = drawing();
    assert_eq!(state.hand_draws(), None);
    for (n, sum) in [(1, 1), (1000, 1001), (1, 1002)] {
        assert_eq!(state.apply(Command::DrawByHand(n)), []);
        assert_eq!(state.hand_draws().unwrap().n(), sum);
        // The coin on screen is the coin of the last draw.
        let bar = state.hand_table().unwrap().bar.clone();
        assert!(bar.parts.iter().any(|part| bar.is_drawn(part)));
    }
    let draws = state.hand_draws().unwrap().clone();
    assert!(draws.chi_squared.unwrap().p_value() > 0.001);

    state.by_hand.tokens_mut()[0].label = "west".to_owned();
    assert_eq!(
        state.hand_draws(),
        Some(&draws),
        "a label does not affect the draws"
    );
    state.by_hand.tokens_mut()[0].set_logit(1.0);
    assert_eq!(state.hand_draws(), None);
    state.apply(Command::DrawByHand(1));
    assert_eq!(state.hand_draws().unwrap().n(), 1);
}

#[test]
fn a_chain_that_cannot_run_says_why() {
    let mut state = drawing();
    let id = state.panes[1].id;
    let mut chain = ChainConfig::sampled([crate::decoding::Filter::TopP(
        crate::decoding::filters::TopP { p: 1.5 },
    )]);
    state.apply(Command::SetChain(id, chain.clone()));
    let error = state.hand_table().unwrap_err();
    assert!(error.starts_with("Top-p"), "{error}");
    chain.stages[0].enabled = false;
    state.apply(Command::SetChain(id, chain));
    assert!(state.hand_table().is_ok());
}

#[test]
fn by_hand_can_start_from_the_held_token() {
    let mut state = written();
    let pane = state.panes[0].id;
    state.apply(Command::Pin(Pin { pane, step: 2 }));
    let held = state.held_token().unwrap();
    assert_eq!(held.number, 3);
    state.by_hand.load_held(&held);
    assert_eq!(state.hand_pane(), 0);
    let step = &state.panes[0].generation().unwrap().steps[2];
    let labels: Vec<&str> = state
        .by_hand
        .tokens()
        .iter()
        .map(|token| token.label.as_str())
        .collect();
    assert!(labels.contains(&"house"), "{labels:?}");
    let [first, second] = [0, 1].map(|index| state.by_hand.tokens()[index].logit());
    let head = &step.trace.raw.head;
    assert!(((first - second) - (head[0].logit - head[1].logit)).abs() < 1e-5);
}
