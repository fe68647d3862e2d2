//! The what-if part of a token's card: what the current settings would have drawn, and how certain
//! that is.

use crate::decoding::{TokenId, WhatIf};
use crate::generation::formatting::{percent, token_word};
use crate::generation::{Generation, Step};
use crate::state::WhatIfToken;

/// The two lines on a card.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WhatIfLines {
    pub(super) outcome: String,
    /// How certain the outcome is, and why.
    pub(super) certainty: String,
}

/// Describes what the current settings would have drawn at a step.
pub(super) fn what_if_lines(
    generation: &Generation,
    step: &Step,
    what_if_token: WhatIfToken,
) -> WhatIfLines {
    let word = |token: TokenId| {
        if token == step.token {
            "the same token".to_owned()
        } else {
            format!(
                "‘{}’ instead",
                token_word(&generation.vocabulary.piece(token))
            )
        }
    };
    let n_recorded = step.trace.raw.head.len();
    let (outcome, certainty) = match what_if_token.outcome {
        Some(_) if step.trace.draw.is_given() => given_lines(what_if_token.prob),
        Some(WhatIf::Exact(token)) => (
            word(token) + &prob_suffix(what_if_token.prob),
            "Exact, given the text before it".to_owned(),
        ),
        Some(WhatIf::Unrecorded) => (
            format!("none of the {n_recorded} most likely tokens"),
            format!("Exact, but only the {n_recorded} most likely tokens are recorded"),
        ),
        Some(WhatIf::Bounded(token)) => (
            format!("perhaps {}{}", word(token), prob_suffix(what_if_token.prob)),
            if what_if_token.selector.is_adaptive() {
                format!(
                    "Uncertain: {} adapts as it goes",
                    what_if_token.selector.name()
                )
            } else {
                format!("Uncertain: it depends on more than the {n_recorded} recorded tokens")
            },
        ),
        None => (
            "unknown".to_owned(),
            "No alternatives were recorded for this step".to_owned(),
        ),
    };
    WhatIfLines {
        outcome: format!("What if: {outcome}"),
        certainty,
    }
}

/// What other settings would have left of a given token, and how certain that is.
fn given_lines(prob: Option<[f64; 2]>) -> (String, String) {
    let exact = "Exact, given the text before it".to_owned();
    match prob {
        Some([_, most]) if most <= 0.0 => ("these settings would cut it".to_owned(), exact),
        Some(_) => (format!("kept{}", prob_suffix(prob)), exact),
        None => (
            "unknown".to_owned(),
            "It depends on tokens that are not recorded".to_owned(),
        ),
    }
}

/// Formats a probability or its bounds: ", 12 %" or ", 12 % to 14 %".
fn prob_suffix(prob: Option<[f64; 2]>) -> String {
    let Some([least, most]) = prob.map(|bounds| bounds.map(percent)) else {
        return String::new();
    };
    if least == most {
        format!(", {least}")
    } else {
        format!(", {least} to {most}")
    }
}

#[cfg(test)]
mod tests {
    use super::{WhatIfLines, what_if_lines};
    use crate::decoding::selector::MirostatV2;
    use crate::decoding::{Selector, TokenId, WhatIf};
    use crate::generation::testing::generation;
    use crate::state::WhatIfToken;

    #[test]
    fn a_card_says_what_would_be_drawn_and_how_certain_that_is() {
        let generation = generation(&[(" ran", 0.4)]);
        let step = &generation.steps[0];
        let (fox, ran) = (TokenId(5), step.token);
        let adaptive = Selector::MirostatV2(MirostatV2 { tau: 5.0, eta: 0.1 });
        let by_coin = Selector::Multinomial;
        for (outcome, prob, selector, expected, certainty) in [
            (
                Some(WhatIf::Exact(fox)),
                Some([0.311, 0.312]),
                by_coin,
                "What if: ‘fox’ instead, 31 %",
                "Exact, given the text before it",
            ),
            (
                Some(WhatIf::Exact(ran)),
                Some([1.0, 1.0]),
                by_coin,
                "What if: the same token, 100 %",
                "Exact, given the text before it",
            ),
            (
                Some(WhatIf::Unrecorded),
                None,
                by_coin,
                "What if: none of the 9 most likely tokens",
                "Exact, but only the 9 most likely tokens are recorded",
            ),
            (
                Some(WhatIf::Bounded(fox)),
                Some([0.12, 0.14]),
                by_coin,
                "What if: perhaps ‘fox’ instead, 12 % to 14 %",
                "Uncertain: it depends on more than the 9 recorded tokens",
            ),
            (
                Some(WhatIf::Bounded(ran)),
                None,
                adaptive,
                "What if: perhaps the same token",
                "Uncertain: Mirostat v2 adapts as it goes",
            ),
            (
                None,
                None,
                by_coin,
                "What if: unknown",
                "No alternatives were recorded for this step",
            ),
        ] {
            let what_if_token = WhatIfToken {
                outcome,
                prob,
                selector,
            };
            assert_eq!(
                what_if_lines(&generation, step, what_if_token),
                WhatIfLines {
                    outcome: expected.to_owned(),
                    certainty: certainty.to_owned(),
                }
            );
        }
    }
}
