//! Tests of the words in the boxes of the loop.

use std::sync::Arc;

use super::pictures::unknown_words;
use super::{LoopBox, LoopStep, milliseconds, return_words};
use crate::decoding::{KnownPart, KnownStageNumbers, Picked};
use crate::generation::FinishReason;
use crate::generation::testing::generation;

#[test]
fn each_box_states_the_numbers_of_its_step() {
    let text = generation(&[(" a", 0.5), (" fox", 0.25)]);
    let at = |index: usize| LoopStep {
        pane: 0,
        generation: &text,
        step: &text.steps[index],
        index,
        is_upcoming: false,
        is_step_mode: false,
    };
    let words =
        |index: usize| LoopBox::ALL.map(|which| which.words(at(index)).map(|words| words.clone()));
    let [tokens, forward, logits, stages, softmax, coin, append] = words(1);
    assert_eq!(tokens, ["4 so far", "1 generated"]);
    assert_eq!(forward, ["2.00 ms", "for 4 sequences"]);
    assert_eq!(logits, ["8 logits", "one for each token"]);
    assert_eq!(stages, ["8 left", "T 0.7"]);
    assert_eq!(softmax, ["8 probabilities", "add up to 100 %"]);
    let drawn = text.steps[1].trace.draw.coin.unwrap();
    assert_eq!(coin, [format!("{drawn:.3}"), "seed 42, coin 4".to_owned()]);
    assert_eq!(append, ["‘fox’", "ID 5, token 2"]);
    assert_eq!(words(0)[1][1], "prompt: 3 tokens in 20.0 ms");
    let upcoming = LoopStep {
        is_upcoming: true,
        ..at(1)
    };
    let [token, line] = LoopBox::Append.words(upcoming);
    assert_eq!([token.as_str(), &line], ["‘fox’", "if you let it"]);
    assert_eq!(return_words(at(0)), "and again, until the end of the text");
    assert_eq!(return_words(at(1)), "the token limit ended the text");
}

#[test]
fn the_coin_box_says_what_else_picked_the_token() {
    let mut text = generation(&[(" a", 0.5)]);
    for (picked, words) in [
        (Picked::ByChain, "top token taken"),
        (Picked::ByHand, "picked by hand"),
        (Picked::Given, "the text was given"),
    ] {
        let draw = &mut std::sync::Arc::make_mut(&mut text.steps[0].trace).draw;
        (draw.coin, draw.picked) = (None, picked);
        let at = LoopStep {
            pane: 0,
            generation: &text,
            step: &text.steps[0],
            index: 0,
            is_upcoming: false,
            is_step_mode: false,
        };
        assert_eq!(LoopBox::Coin.words(at), ["No coin", words]);
    }
}

#[test]
fn a_picture_that_a_server_leaves_unknown_is_left_out() {
    use LoopBox::{Coin, Softmax, Stages};
    let mut text = generation(&[(" a", 0.5)]);
    let n_stages = text.steps[0].trace.stages.len();
    let unknown = KnownStageNumbers::default();
    let counted = KnownStageNumbers {
        n_kept: Some(2),
        ..unknown
    };
    let whole = KnownStageNumbers {
        entropy_nats: Some(0.5),
        ..counted
    };
    for (stage, final_prob, left_out) in [
        (unknown, None, &[Stages, Softmax, Coin][..]),
        (counted, None, &[Softmax, Coin]),
        (whole, None, &[]),
        (counted, Some(0.3), &[]),
        // Too little of the distribution to know the rest from.
        (counted, Some(0.0), &[Softmax, Coin]),
    ] {
        Arc::make_mut(&mut text.steps[0].trace).known = Some(Box::new(KnownPart {
            stages: vec![stage; n_stages],
            final_prob,
            ..KnownPart::default()
        }));
        let at = LoopStep {
            pane: 0,
            generation: &text,
            step: &text.steps[0],
            index: 0,
            is_upcoming: false,
            is_step_mode: false,
        };
        let missing = LoopBox::ALL.into_iter();
        let missing: Vec<LoopBox> = missing
            .filter(|which| unknown_words(at, *which).is_some())
            .collect();
        assert_eq!(missing, left_out);
    }
    Arc::make_mut(&mut text.steps[0].trace).known = None;
    let at = LoopStep {
        pane: 0,
        generation: &text,
        step: &text.steps[0],
        index: 0,
        is_upcoming: false,
        is_step_mode: false,
    };
    assert!(
        LoopBox::ALL
            .iter()
            .all(|which| unknown_words(at, *which).is_none())
    );
}

#[test]
fn only_step_mode_asks_for_the_next_step() {
    let mut text = generation(&[(" a", 0.5)]);
    text.finish = Some(FinishReason::Paused);
    for (is_step_mode, words) in [
        (true, "paused: press Step for the next token"),
        (false, "paused in step mode"),
    ] {
        let at = LoopStep {
            pane: 0,
            generation: &text,
            step: &text.steps[0],
            index: 0,
            is_upcoming: false,
            is_step_mode,
        };
        assert_eq!(return_words(at), words);
    }
}

#[test]
fn times_keep_their_significant_digits() {
    let words = [0.001_06, 0.0234, 1.5].map(milliseconds);
    assert_eq!(words, ["1.06 ms", "23.4 ms", "1,500 ms"]);
}
