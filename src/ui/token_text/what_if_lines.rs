//! What a token's card says of other settings: what they would have drawn, and how sure that is.

use crate::decoding::{TokenId, WhatIf};
use crate::generation::{Generation, Step};
use crate::state::Imagined;
use crate::ui::words::{percent, token_word};

/// The two lines of a card.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WhatIfLines {
    /// What would have been drawn.
    pub(super) outcome: String,
    /// How sure that is.
    pub(super) trust: String,
}

/// Says what would have been drawn at a step of this text.
pub(super) fn what_if_lines(
    generation: &Generation,
    step: &Step,
    imagined: Imagined,
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
    let (outcome, trust) = match imagined.outcome {
        Some(WhatIf::Exact(token)) => (
            word(token) + &prob_words(imagined.prob),
            "Exact, with all before it as it is written".to_owned(),
        ),
        Some(WhatIf::Unrecorded) => (
            format!("none of the {n_recorded} most likely"),
            format!("Exact, but only {n_recorded} tokens of each step are recorded"),
        ),
        Some(WhatIf::Bounded(token)) => (
            format!("perhaps {}{}", word(token), prob_words(imagined.prob)),
            if imagined.selector.is_adaptive() {
                format!("Not sure: {} learns as it goes", imagined.selector.name())
            } else {
                format!("Not sure: it depends on more than the {n_recorded} recorded tokens")
            },
        ),
        None => (
            "can't be told".to_owned(),
            "This step has no record of what else it could be".to_owned(),
        ),
    };
    WhatIfLines {
        outcome: format!("What if: {outcome}"),
        trust,
    }
}

/// ", 12 %" or ", 12 % to 14 %"
fn prob_words(prob: Option<[f64; 2]>) -> String {
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
    use crate::state::Imagined;

    #[test]
    fn a_card_says_what_would_be_drawn_and_how_sure_that_is() {
        let generation = generation(&[(" ran", 0.4)]);
        let step = &generation.steps[0];
        let (fox, ran) = (TokenId(5), step.token);
        let learner = Selector::MirostatV2(MirostatV2 { tau: 5.0, eta: 0.1 });
        let by_coin = Selector::Multinomial;
        for (outcome, prob, selector, expected, trust) in [
            (
                Some(WhatIf::Exact(fox)),
                Some([0.311, 0.312]),
                by_coin,
                "What if: ‘fox’ instead, 31 %",
                "Exact, with all before it as it is written",
            ),
            (
                Some(WhatIf::Exact(ran)),
                Some([1.0, 1.0]),
                by_coin,
                "What if: the same token, 100 %",
                "Exact, with all before it as it is written",
            ),
            (
                Some(WhatIf::Unrecorded),
                None,
                by_coin,
                "What if: none of the 9 most likely",
                "Exact, but only 9 tokens of each step are recorded",
            ),
            (
                Some(WhatIf::Bounded(fox)),
                Some([0.12, 0.14]),
                by_coin,
                "What if: perhaps ‘fox’ instead, 12 % to 14 %",
                "Not sure: it depends on more than the 9 recorded tokens",
            ),
            (
                Some(WhatIf::Bounded(ran)),
                None,
                learner,
                "What if: perhaps the same token",
                "Not sure: Mirostat v2 learns as it goes",
            ),
            (
                None,
                None,
                by_coin,
                "What if: can't be told",
                "This step has no record of what else it could be",
            ),
        ] {
            let imagined = Imagined {
                outcome,
                prob,
                selector,
            };
            assert_eq!(
                what_if_lines(&generation, step, imagined),
                WhatIfLines {
                    outcome: expected.to_owned(),
                    trust: trust.to_owned(),
                }
            );
        }
    }
}
