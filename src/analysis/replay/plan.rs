//! Which tokens must be given to reproduce a text, and which the settings decide by themselves.

use crate::decoding::{Coins, DraftRule, Drafts, Picked, Selector};
use crate::generation::{
    Continuation, EndOfText, FinishReason, Generation, PieceKind, Step, StopMatcher,
};

/// Returns the continuation of the prompt that reproduces a text.
///
/// Tokens that the recorded settings did not choose are given again: those picked by hand, and
/// those kept from a text with different settings or a different seed.
pub fn replay_of(text: &Generation) -> Continuation {
    let was_interrupted = !matches!(
        text.finish,
        Some(
            FinishReason::EndOfText
                | FinishReason::StopString { .. }
                | FinishReason::MaxTokens
                | FinishReason::ContextFull
        )
    );
    Continuation {
        by_hand: given(text).iter().map(|step| step.token).collect(),
        reads: text.is_scored(),
        pause_after: was_interrupted.then_some(text.steps.len()),
        ..Continuation::default()
    }
}

/// Returns the steps up to the last one that the settings did not choose.
pub(super) fn given(text: &Generation) -> &[Step] {
    let mut steps = text.steps.iter().enumerate();
    let last = steps.rfind(|(index, step)| !is_by_settings(text, *index, step));
    let n_given = last.map_or(0, |(index, _)| index + 1);
    let n_given = n_given.max(n_past_end(text));
    // A beam search begins after the tokens that it was given.
    let n_given = n_given.max(text.beams.n_before);
    text.steps.get(..n_given).unwrap_or_default()
}

/// Returns the number of steps up to the last one before which the text would have ended. Such a text
/// got its stop sequence or its end of text only after it had gone on.
fn n_past_end(text: &Generation) -> usize {
    let limits = &text.config.limits;
    let mut matcher = StopMatcher::new(&limits.stop_strings);
    let n_before_last = text.steps.len().saturating_sub(1);
    let mut n_past_end = 0;
    for (index, step) in text.steps.iter().enumerate().take(n_before_last) {
        let ends = match step.piece.kind {
            PieceKind::Text => matcher.push(&step.piece.bytes).is_some(),
            // Perhaps a control token that ends no text.
            PieceKind::Special => limits.end_of_text == EndOfText::Stops,
        };
        if ends {
            n_past_end = index + 2;
        }
    }
    n_past_end
}

/// Returns whether the text's settings and seed can have produced a step.
fn is_by_settings(text: &Generation, index: usize, step: &Step) -> bool {
    let draw = &step.trace.draw;
    let chain = &text.config.chain;
    // A pass of drafts ends with a token that the chain drew.
    let by_ratio = match chain.drafts {
        Some(Drafts::Model(drafts)) if drafts.rule == DraftRule::Ratio => Picked::ByRatio,
        _ => Picked::ByChain,
    };
    let by_settings = match chain.selector {
        Selector::BeamSearch(_) => Picked::ByBeams,
        _ => Picked::ByChain,
    };
    if draw.picked != by_settings && draw.picked != by_ratio {
        return false;
    }
    let guidance = step.trace.mixture.as_ref().map(|mixed| &*mixed.guidance);
    if guidance != chain.guidance.as_ref() {
        return false;
    }
    let enabled = chain.stages.iter().filter(|stage| stage.enabled);
    let reported = step.trace.stages.iter().map(|stage| &*stage.filter);
    if !reported.eq(enabled.map(|stage| &stage.filter)) {
        return false;
    }
    match (chain.selector, draw.coin) {
        (Selector::Multinomial, Some(coin)) => {
            let coins = Coins {
                seed: text.config.seed,
                position: (text.prompt.tokens.len() + index) as u64,
            };
            coins.draw().to_bits() == coin.to_bits()
        }
        (Selector::Greedy, Some(_)) => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{given, replay_of};
    use crate::decoding::filters::TopK;
    use crate::decoding::{Coins, Filter, Picked};
    use crate::generation::testing::generation;
    use crate::generation::{FinishReason, Generation};

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
            Some(FinishReason::Paused),
        ] {
            let mut text = text();
            text.finish = finish;
            assert_eq!(replay_of(&text).pause_after, Some(3));
        }
    }

    #[test]
    fn what_the_settings_did_not_choose_is_given() {
        let by_hand = |text: &mut Generation| {
            Arc::make_mut(&mut text.steps[1].trace).draw.picked = Picked::ByHand;
        };
        let other_settings = |text: &mut Generation| {
            let filter = Arc::new(Filter::TopK(TopK { k: 3 }));
            Arc::make_mut(&mut text.steps[1].trace).stages[0].filter = filter;
        };
        let other_seed = |text: &mut Generation| {
            Arc::make_mut(&mut text.steps[1].trace).draw.coin = Some(0.125);
        };
        let changes: [&dyn Fn(&mut Generation); 3] = [&by_hand, &other_settings, &other_seed];
        for change in changes {
            let mut text = text();
            change(&mut text);
            assert_eq!(given(&text).len(), 2);
            let tokens = [text.steps[0].token, text.steps[1].token];
            assert_eq!(replay_of(&text).by_hand, tokens);
        }
    }

    #[test]
    fn a_text_that_went_on_past_its_stop_sequence_is_given_as_far_as_that() {
        let mut text = text();
        for (stop, n_given) in [
            (" fox", 3),
            (" the", 2),
            (" house", 0),
            ("e f", 3),
            ("x", 3),
        ] {
            text.config.limits.stop_strings = vec![stop.to_owned()];
            assert_eq!(given(&text).len(), n_given, "{stop}");
        }
    }
}
