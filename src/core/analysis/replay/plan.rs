//! Which tokens must be given to reproduce a text, and which the settings decide by themselves.

use crate::analysis::contradictions::is_by_settings;
use crate::decoding::TokenId;
use crate::generation::{Continuation, FinishReason, Generation, Step};

/// Returns the continuation of the prompt that reproduces a text.
///
/// Only tokens that are marked as given are given again, and those that earlier settings chose. A
/// token that is marked as chosen by the settings has to be chosen again.
pub fn replay_of(text: &Generation) -> Continuation {
    Continuation {
        repeated: repeated(text),
        reads: text.is_scored(),
        pause_after: was_interrupted(text).then_some(text.steps.len()),
        ..Continuation::default()
    }
}

/// Returns whether something other than the text's settings ended it.
pub(super) const fn was_interrupted(text: &Generation) -> bool {
    !matches!(
        text.finish,
        Some(
            FinishReason::EndOfText
                | FinishReason::StopString { .. }
                | FinishReason::MaxTokens
                | FinishReason::ContextFull
        )
    )
}

/// Returns the tokens that are given again, up to the last of them, and `None` for those that are
/// chosen again.
fn repeated(text: &Generation) -> Vec<Option<TokenId>> {
    // A beam search begins after the tokens that it was given.
    let n_before = text.n_under_earlier().max(text.beams.n_before);
    let given = |(index, step): (usize, &Step)| {
        let is_chosen = index >= n_before && is_by_settings(&step.trace.draw);
        (!is_chosen).then_some(step.token)
    };
    let mut repeated: Vec<Option<TokenId>> = text.steps.iter().enumerate().map(given).collect();
    let last = repeated.iter().rposition(Option::is_some);
    repeated.truncate(last.map_or(0, |last| last + 1));
    repeated
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::replay_of;
    use crate::decoding::filters::TopK;
    use crate::decoding::{Coins, Filter, Picked, TokenId};
    use crate::generation::testing::generation;
    use crate::generation::{EarlierSettings, FinishReason, Generation};

    /// A text whose coins are those of its seed.
    fn text() -> Generation {
        let mut text = generation(&[(" the", 0.5), (" fox", 0.2), (" house", 0.1)]);
        let n_prompt = text.prompt.tokens.len();
        for (index, step) in text.steps.iter_mut().enumerate() {
            let coins = Coins {
                seed: 42,
                position: (n_prompt + index) as u64,
            };
            Arc::make_mut(&mut step.trace).draw.coin = Some(coins.draw());
        }
        text
    }

    #[test]
    fn a_plain_text_is_reproduced_by_its_settings_alone() {
        let text = text();
        assert_eq!(replay_of(&text), crate::generation::Continuation::default());
    }

    #[test]
    fn an_interrupted_text_is_reproduced_as_far_as_it_got() {
        for finish in [
            None,
            Some(FinishReason::Cancelled),
            Some(FinishReason::Interrupted),
            Some(FinishReason::Paused),
        ] {
            let mut text = text();
            text.finish = finish;
            assert_eq!(replay_of(&text).pause_after, Some(3));
        }
    }

    #[test]
    fn only_what_is_marked_as_given_is_given() {
        type Change<'a> = (&'a dyn Fn(&mut Generation), &'a [Option<TokenId>]);
        let by_hand = |text: &mut Generation| {
            Arc::make_mut(&mut text.steps[1].trace).draw.picked = Picked::ByHand;
        };
        let earlier_settings = |text: &mut Generation| {
            text.earlier.push(EarlierSettings {
                n_steps: 2,
                config: text.config.clone(),
            });
        };
        let other_stage = |text: &mut Generation| {
            let filter = Arc::new(Filter::TopK(TopK { k: 3 }));
            Arc::make_mut(&mut text.steps[1].trace).stages[0].filter = filter;
        };
        let other_seed = |text: &mut Generation| {
            Arc::make_mut(&mut text.steps[1].trace).draw.coin = Some(0.125);
        };
        let tokens = [0, 1].map(|index| Some(text().steps[index].token));
        let changes: [Change<'_>; 4] = [
            // The first token is chosen again.
            (&by_hand, &[None, tokens[1]]),
            (&earlier_settings, &tokens),
            (&other_stage, &[]),
            (&other_seed, &[]),
        ];
        for (change, repeated) in changes {
            let mut text = text();
            change(&mut text);
            assert_eq!(replay_of(&text).repeated, repeated);
        }
    }
}
