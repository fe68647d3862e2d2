//! What a chain needs beyond the logits of its own text, and why it can't run where that is missing.

use super::{ChainConfig, Filter};

/// Something that a chain needs beyond the logits of its own text, one row for each token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Several texts that grow side by side, one of which becomes the result.
    SeveralTexts,
    /// What its selector has learned from all tokens before, in the order of the text.
    Memory,
    /// A second row of logits for each token.
    SecondRow,
    /// Several rows of the text in one forward pass, which verify its drafts.
    DraftRows,
    /// A second model.
    SecondModel,
    /// The bytes of every token in the vocabulary, and the logits of all of them.
    WholeVocabulary,
    /// The ids of tokens, not only their texts.
    TokenIds,
}

impl Need {
    /// Says why a chain can't run without it. `<what>` stands for the part of the chain.
    const fn refusal(self) -> &'static str {
        match self {
            Self::SeveralTexts => "<what> gives a single text; choose a draw that samples for this",
            Self::Memory => "<what> learns from the tokens before, which are not known here",
            Self::SecondRow => "<what> needs a second row of logits, and there is only one here",
            Self::DraftRows => "<what> needs a model that verifies drafts",
            Self::SecondModel => "<what> can’t be used here",
            Self::WholeVocabulary => "<what> needs the whole vocabulary",
            Self::TokenIds => "<what> needs token ids",
        }
    }
}

impl ChainConfig {
    /// Iterates over what it needs. What comes first is named if several needs are not met.
    pub fn needs(&self) -> impl Iterator<Item = Need> {
        let selector = self.selector.spec().needs.iter().copied();
        let parts = [
            (self.guidance.is_some(), Need::SecondRow),
            (self.drafts.is_some(), Need::DraftRows),
            (self.needs_second_model(), Need::SecondModel),
            (self.grammar.is_some(), Need::WholeVocabulary),
            (self.has_unspelled_thought(), Need::WholeVocabulary),
        ];
        let needed = parts.into_iter().filter(|(is_needed, _)| *is_needed);
        let filters = self.active().flat_map(|filter| filter.spec().needs);
        selector
            .chain(needed.map(|(_, need)| need))
            .chain(filters.copied())
    }

    /// Returns whether a thinking budget has tags or a message that no model has spelled in tokens.
    fn has_unspelled_thought(&self) -> bool {
        self.active()
            .any(|filter| matches!(filter, Filter::ThinkingBudget(budget) if !budget.is_spelled()))
    }

    /// Names the part of the chain that needs this: "beam search", "bias -1".
    pub fn needing(&self, need: Need) -> String {
        match need {
            Need::SeveralTexts => "beam search".to_owned(),
            Need::Memory => self.selector.name().to_owned(),
            Need::SecondRow => "guidance".to_owned(),
            Need::DraftRows => "speculative decoding".to_owned(),
            Need::SecondModel => "the second model".to_owned(),
            Need::WholeVocabulary if self.grammar.is_none() => "a thinking budget".to_owned(),
            Need::WholeVocabulary => "a grammar".to_owned(),
            Need::TokenIds => {
                let mut filters = self.active();
                let filter = filters.find(|filter| filter.spec().needs.contains(&need));
                filter.map(ToString::to_string).unwrap_or_default()
            }
        }
    }
}

/// A place where chains run. What it does not offer, it refuses.
#[derive(Debug, Clone, Copy)]
pub struct Host {
    pub offers: &'static [Need],
    /// Its own sentences for what it does not offer, in place of the usual ones.
    pub refusals: &'static [(Need, &'static str)],
}

impl Host {
    /// Returns the first need of a chain that is not met here.
    pub fn lacks(&self, chain: &ChainConfig) -> Option<Need> {
        chain.needs().find(|need| !self.offers.contains(need))
    }

    /// Returns whether a chain can run here.
    pub fn runs(&self, chain: &ChainConfig) -> bool {
        self.lacks(chain).is_none()
    }

    /// Fails with the reason if a chain can't run here.
    pub fn check(&self, chain: &ChainConfig) -> Result<(), Refusal> {
        let Some(need) = self.lacks(chain) else {
            return Ok(());
        };
        let own = self.refusals.iter().find(|(other, _)| *other == need);
        let sentence = own.map_or_else(|| need.refusal(), |(_, sentence)| *sentence);
        Err(Refusal {
            need,
            sentence: sentence.replace("<what>", &chain.needing(need)),
        })
    }
}

/// Why a chain can't run where it was asked to. The message is one sentence that can be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct Refusal {
    /// The need that is not met.
    pub need: Need,
    sentence: String,
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Host, Need};
    use crate::decoding::filters::{LogitBias, ThinkingBudget};
    use crate::decoding::{
        Against, ChainConfig, Drafts, Filter, GrammarKind, GrammarRule, Guidance, Selector, TokenId,
    };

    /// Each part of a chain that needs something, and what it needs.
    fn needing() -> Vec<(ChainConfig, Vec<Need>)> {
        let plain = || ChainConfig::sampled([]);
        let guided = |against| ChainConfig {
            guidance: Some(Guidance::usual(against)),
            ..plain()
        };
        let drafting = |drafts| ChainConfig {
            drafts: Some(drafts),
            ..plain()
        };
        let selected = |name: &str| {
            let mut specs = Selector::SPECS.into_iter();
            ChainConfig {
                selector: specs.find(|spec| spec.name == name).unwrap().usual,
                ..plain()
            }
        };
        let bias = LogitBias {
            biases: Vec::new(),
            banned: vec![TokenId(5)],
        };
        let json = ChainConfig {
            grammar: Some(Arc::new(GrammarRule::new(GrammarKind::Json, ""))),
            ..plain()
        };
        vec![
            (plain(), vec![]),
            (ChainConfig::greedy(), vec![]),
            (selected("Beam search"), vec![Need::SeveralTexts]),
            (selected("Mirostat v2"), vec![Need::Memory]),
            (
                guided(Against::Prompt("x".to_owned())),
                vec![Need::SecondRow],
            ),
            (
                guided(Against::Model),
                vec![Need::SecondRow, Need::SecondModel],
            ),
            (drafting(Drafts::USUAL[0]), vec![Need::DraftRows]),
            (
                drafting(Drafts::USUAL[1]),
                vec![Need::DraftRows, Need::SecondModel],
            ),
            (json, vec![Need::WholeVocabulary]),
            (
                ChainConfig::sampled([Filter::LogitBias(bias)]),
                vec![Need::TokenIds],
            ),
            // No model has spelled its tags.
            (
                ChainConfig::sampled([Filter::ThinkingBudget(ThinkingBudget::default())]),
                vec![Need::WholeVocabulary, Need::TokenIds],
            ),
        ]
    }

    #[test]
    fn a_chain_says_what_it_needs() {
        for (chain, needs) in needing() {
            assert_eq!(chain.needs().collect::<Vec<_>>(), needs, "{chain}");
        }
    }

    #[test]
    fn a_host_that_offers_nothing_runs_only_what_needs_nothing() {
        let bare = Host {
            offers: &[],
            refusals: &[(Need::SecondRow, "no <what> here")],
        };
        for (chain, needs) in needing() {
            let refusal = bare.check(&chain).err();
            assert_eq!(
                refusal.as_ref().map(|refusal| refusal.need),
                needs.first().copied()
            );
            let Some(refusal) = refusal else {
                continue;
            };
            let sentence = refusal.to_string();
            assert!(
                sentence.contains(&chain.needing(refusal.need)),
                "{sentence}"
            );
            assert!(!sentence.contains('<'), "{sentence}");
            let is_own = sentence == "no guidance here";
            assert_eq!(is_own, refusal.need == Need::SecondRow, "{sentence}");
        }
    }
}
