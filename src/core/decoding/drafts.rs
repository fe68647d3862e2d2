//! Speculative decoding: where drafts come from, and prompt lookup, which takes them from the text
//! itself.

use serde::{Deserialize, Serialize};

use super::setting::{Field, Limits, ParamSpec, SettingError};
use super::{ChainConfig, Drafter, ModelDrafts, TokenId};

/// The most tokens that a pass may draft.
const MAX_DRAFTS: u32 = 16;

/// The longest n-gram that is looked up.
const MAX_NGRAM: u32 = 8;

/// Where drafts come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Drafts {
    Lookup(PromptLookup),
    Model(ModelDrafts),
}

impl Drafts {
    /// All of them with their usual values, in menu order.
    pub const USUAL: [Self; 4] = [
        Self::Lookup(PromptLookup::USUAL),
        Self::Model(ModelDrafts::usual(Drafter::SecondModel)),
        Self::Model(ModelDrafts::usual(Drafter::FirstLayers(2))),
        Self::Model(ModelDrafts::usual(Drafter::MtpHead)),
    ];

    /// The name, as people say it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Lookup(_) => PromptLookup::NAME,
            Self::Model(drafts) => drafts.name(),
        }
    }

    /// What it does, in two sentences.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Lookup(_) => PromptLookup::HELP,
            Self::Model(drafts) => drafts.help(),
        }
    }

    /// Author, year, title and arXiv number or link.
    pub const fn source(&self) -> &'static str {
        match self {
            Self::Lookup(_) => PromptLookup::SOURCE,
            Self::Model(drafts) => drafts.source(),
        }
    }

    /// How many tokens a pass drafts at most.
    pub const fn n_drafts(&self) -> u32 {
        match self {
            Self::Lookup(lookup) => lookup.n_drafts,
            Self::Model(drafts) => drafts.n_drafts,
        }
    }

    /// Clamps the numbers to their limits.
    #[must_use]
    pub fn limited(mut self) -> Self {
        match &mut self {
            Self::Lookup(lookup) => {
                lookup.n_drafts = lookup.n_drafts.clamp(1, MAX_DRAFTS);
                lookup.n_gram = lookup.n_gram.clamp(1, MAX_NGRAM);
            }
            Self::Model(drafts) => drafts.n_drafts = drafts.n_drafts.clamp(1, MAX_DRAFTS),
        }
        self
    }

    /// Checks every value against its limits, and that the chain writes a single text.
    pub fn validate(&self, chain: &ChainConfig) -> Result<(), SettingError> {
        if chain.selector.beam_search().is_some() {
            return Err(SettingError::DraftsWithBeams);
        }
        match self {
            Self::Lookup(lookup) => lookup.validate(),
            Self::Model(drafts) => drafts.validate(chain),
        }
    }
}

impl From<PromptLookup> for Drafts {
    fn from(lookup: PromptLookup) -> Self {
        Self::Lookup(lookup)
    }
}

impl From<ModelDrafts> for Drafts {
    fn from(drafts: ModelDrafts) -> Self {
        Self::Model(drafts)
    }
}

impl std::fmt::Display for Drafts {
    /// The words of `--pane`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Lookup(lookup) => lookup.fmt(f),
            Self::Model(drafts) => drafts.fmt(f),
        }
    }
}

/// Drafts the tokens that followed the last n-gram of the text when it occurred first, so that one
/// forward pass can verify all of them.
///
/// The chain then samples each position as always and goes on as long as it takes the drafted
/// token. Because the draft is certain, this accepts it with its probability p, as speculative
/// sampling requires (min(1, p/q) with q = 1); and because a coin depends only on the seed and the
/// position, the text is the same as without drafts.
///
/// [`PromptLookup::SOURCE`] names where it is from. Which occurrence counts follows transformers'
/// `PromptLookupCandidateGenerator`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptLookup {
    /// How many tokens a pass drafts at most, 1 to 16.
    pub n_drafts: u32,
    /// How many tokens the n-gram has at most, 1 to 8. Shorter ones are looked up if it is new.
    pub n_gram: u32,
}

impl PromptLookup {
    /// The name, as people say it.
    pub const NAME: &'static str = "Prompt lookup";

    /// What it does, in two sentences.
    pub const HELP: &'static str = "Guesses the next tokens from an earlier place in the text that \
        reads the same, and verifies all of them in one forward pass. The text stays the same; only \
        its speed changes.";

    /// Author, year, title and link.
    pub const SOURCE: &'static str = "Saxena 2023, \"Prompt Lookup Decoding\", https://github.com/apoorvumang/prompt-lookup-decoding";

    /// The initial values when it is chosen from a menu.
    pub const USUAL: Self = Self {
        n_drafts: 4,
        n_gram: 2,
    };

    /// Its numbers.
    pub const PARAMS: &'static [ParamSpec<Self>] = &[
        ParamSpec {
            label: "Drafts",
            help: "How many tokens each pass guesses at most.",
            range: 1.0..=MAX_DRAFTS as f32,
            limits: Limits::Between(1.0, MAX_DRAFTS as f32),
            usual: 4.0..=10.0,
            decimals: 0,
            ..ParamSpec::new(Field::Count {
                get: |lookup| Some(lookup.n_drafts),
                set: |lookup, n| lookup.n_drafts = n,
            })
        },
        ParamSpec {
            key: "ngram",
            label: "N-gram",
            help: "How many tokens must repeat before what followed them is guessed.",
            range: 1.0..=MAX_NGRAM as f32,
            limits: Limits::Between(1.0, MAX_NGRAM as f32),
            usual: 2.0..=3.0,
            decimals: 0,
            ..ParamSpec::new(Field::Count {
                get: |lookup| Some(lookup.n_gram),
                set: |lookup, n| lookup.n_gram = n,
            })
        },
    ];

    /// Checks every value against its limits.
    fn validate(self) -> Result<(), SettingError> {
        let mut params = Self::PARAMS.iter();
        params.try_for_each(|param| param.validate(Self::NAME, &self))
    }

    /// Drafts what may follow these tokens: what followed the longest n-gram that occurred before.
    /// Empty if none did.
    pub fn drafts<'a>(&self, tokens: &'a [TokenId]) -> &'a [TokenId] {
        let longest = (self.n_gram as usize).min(tokens.len().saturating_sub(1));
        let found = (1..=longest)
            .rev()
            .find_map(|n| {
                let (_, last) = tokens.split_at_checked(tokens.len() - n)?;
                let start = tokens.windows(n).position(|gram| gram == last)? + n;
                tokens.get(start..).filter(|rest| !rest.is_empty())
            })
            .unwrap_or_default();
        let n_drafts = found.len().min(self.n_drafts as usize);
        found.get(..n_drafts).unwrap_or_default()
    }
}

impl std::fmt::Display for PromptLookup {
    /// The words of `--pane`: "drafts 4 ngram 2".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "drafts {} ngram {}", self.n_drafts, self.n_gram)
    }
}

/// What was drafted for a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// How many tokens its forward pass drafted.
    pub n_drafts: u32,
    /// How many drafts of the pass come before it.
    pub place: u32,
    /// The drafted token, or `None` after the last draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<TokenId>,
    /// The probability that the chain left the drafted token, if the record of the step has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prob: Option<f64>,
    /// The probability with which it was drafted, if a model drafted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft_prob: Option<f64>,
    /// The coin that accepted or rejected it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coin: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::{Drafts, PromptLookup};
    use crate::decoding::selector::Selector;
    use crate::decoding::{ChainConfig, TokenId};

    fn drafts(n_drafts: u32, n_gram: u32, tokens: &[u32]) -> Vec<u32> {
        let tokens: Vec<TokenId> = tokens.iter().copied().map(TokenId).collect();
        let lookup = PromptLookup { n_drafts, n_gram };
        let drafts = lookup.drafts(&tokens).iter();
        drafts.map(|token| token.0).collect()
    }

    #[test]
    fn drafts_are_what_followed_the_longest_n_gram_that_occurred_before() {
        for (n_drafts, n_gram, tokens, expected) in [
            (3, 2, &[1, 2, 3, 4, 5, 1, 2][..], &[3, 4, 5][..]),
            (9, 2, &[1, 2, 3, 1, 2], &[3, 1, 2]),
            // The pair is new, but its last token is not.
            (2, 2, &[7, 2, 3, 4, 9, 2], &[3, 4]),
            // The longer n-gram wins, although the shorter one occurred earlier.
            (1, 2, &[2, 8, 1, 2, 9, 1, 2], &[9]),
            // Of several occurrences, the first counts.
            (1, 1, &[2, 8, 2, 9, 2], &[8]),
            (4, 3, &[5, 5, 5], &[5]),
            (4, 3, &[1, 2, 3], &[]),
            (4, 3, &[1], &[]),
            (4, 3, &[], &[]),
        ] {
            assert_eq!(drafts(n_drafts, n_gram, tokens), expected, "{tokens:?}");
        }
    }

    #[test]
    fn impossible_values_are_invalid() {
        let chain = ChainConfig::greedy();
        let lookup = |n_drafts, n_gram| Drafts::Lookup(PromptLookup { n_drafts, n_gram });
        assert_eq!(lookup(16, 8).validate(&chain), Ok(()));
        for wrong in [lookup(0, 2), lookup(17, 2), lookup(4, 0), lookup(4, 9)] {
            assert!(wrong.validate(&chain).is_err(), "{wrong}");
        }
        let beams = ChainConfig {
            selector: Selector::SPECS.last().unwrap().usual,
            ..chain
        };
        let error = Drafts::Lookup(PromptLookup::USUAL)
            .validate(&beams)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "Beam search compares whole texts, so it can’t use drafts"
        );
    }
}
