//! Where chains run, and what each place offers them. Panes of the main model offer everything; what a
//! server offers depends on its kind.

use crate::decoding::Host;
use crate::decoding::Need::{
    DraftRows, Memory, SecondModel, SecondRow, SeveralTexts, TokenIds, WholeVocabulary,
};

/// A pane with a model of its own. The second model belongs to the main one.
pub const OWN_MODEL: Host = Host {
    offers: &[
        SeveralTexts,
        Memory,
        SecondRow,
        DraftRows,
        WholeVocabulary,
        TokenIds,
    ],
    refusals: &[(
        SecondModel,
        "the second model works with the main model only; use the main model in this pane",
    )],
};

/// A text whose tokens are chosen one at a time, each from its own step: step mode, and what other
/// settings would have chosen.
pub const STEPS: Host = Host {
    offers: &[
        Memory,
        SecondRow,
        DraftRows,
        SecondModel,
        WholeVocabulary,
        TokenIds,
    ],
    refusals: &[],
};

/// Many texts that share rows: futures, sweeps and blind tests. They use no drafts, which change only
/// how fast a text is written.
pub const MANY_TEXTS: Host = Host {
    offers: STEPS.offers,
    refusals: &[],
};

/// A comparison of two models. It uses no drafts either.
pub const MODEL_COMPARISON: Host = Host {
    offers: &[Memory, DraftRows, SecondModel, TokenIds],
    refusals: &[
        (
            SecondRow,
            "models are compared without guidance; switch it off in the settings",
        ),
        (
            WholeVocabulary,
            "models are compared without a grammar; remove it from the settings",
        ),
    ],
};

/// A fit, which computes how likely a text is.
pub const FIT: Host = Host {
    offers: &[SecondRow, DraftRows, SecondModel, WholeVocabulary, TokenIds],
    refusals: &[
        (
            SeveralTexts,
            "Beam search compares whole texts, so they have no likelihood under it",
        ),
        (
            Memory,
            "<what> adapts to what it has picked, so texts have no fixed likelihood under it",
        ),
    ],
};

/// The probability of an answer, which is computed token by token.
pub const EXACT_ANSWERS: Host = Host {
    offers: &[DraftRows, TokenIds],
    refusals: &[
        (
            SeveralTexts,
            "Beam search compares whole texts, so answers have no probability under it",
        ),
        (
            Memory,
            "<what> adapts to what it has picked, so answers have no fixed probability under it",
        ),
        (SecondRow, "with <what>, answers can only be drawn"),
        (SecondModel, "with <what>, answers can only be drawn"),
        (WholeVocabulary, "with <what>, answers can only be drawn"),
    ],
};

/// Logits that were given, without a model.
pub const GIVEN_LOGITS: Host = Host {
    offers: &[Memory, TokenIds],
    refusals: &[
        (SeveralTexts, "beam search needs a model"),
        (SecondRow, "guidance needs a model"),
        (DraftRows, "drafts need a model"),
        (WholeVocabulary, "<what> needs the vocabulary of a model"),
    ],
};

#[cfg(test)]
mod tests {
    use super::{FIT, GIVEN_LOGITS, MANY_TEXTS, MODEL_COMPARISON, OWN_MODEL, STEPS};
    use crate::decoding::{Against, ChainConfig, Guidance, Need, Selector};

    fn beams() -> ChainConfig {
        let mut specs = Selector::SPECS.into_iter();
        let spec = specs.find(|spec| spec.needs.contains(&Need::SeveralTexts));
        ChainConfig {
            selector: spec.unwrap().usual,
            ..ChainConfig::sampled([])
        }
    }

    fn guided_by_model() -> ChainConfig {
        ChainConfig {
            guidance: Some(Guidance::usual(Against::Model)),
            ..ChainConfig::sampled([])
        }
    }

    #[test]
    fn each_place_says_in_a_sentence_why_a_chain_cannot_run_there() {
        let single = "beam search gives a single text; choose a draw that samples for this";
        let main_only =
            "the second model works with the main model only; use the main model in this pane";
        let unguided = "models are compared without guidance; switch it off in the settings";
        let unlikely = "Beam search compares whole texts, so they have no likelihood under it";
        for (host, of_beams, of_guidance) in [
            (OWN_MODEL, None, Some(main_only)),
            (STEPS, Some(single), None),
            (MANY_TEXTS, Some(single), None),
            (MODEL_COMPARISON, Some(single), Some(unguided)),
            (FIT, Some(unlikely), None),
            (
                GIVEN_LOGITS,
                Some("beam search needs a model"),
                Some("guidance needs a model"),
            ),
        ] {
            for (chain, expected) in [(beams(), of_beams), (guided_by_model(), of_guidance)] {
                let refusal = host.check(&chain).err().map(|refusal| refusal.to_string());
                assert_eq!(refusal.as_deref(), expected, "{chain}");
            }
            let mut refused = host.refusals.iter();
            assert!(refused.all(|(need, _)| !host.offers.contains(need)));
        }
    }
}
