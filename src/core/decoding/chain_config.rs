//! The settings of a chain: filters in order, then one selector.

use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::dialect::Dialect;
use super::{
    Against, Drafter, Drafts, Filter, GrammarRule, Guidance, Rules, Selector, SettingError,
};

/// A filter in a chain, which can be switched off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    #[serde(flatten)]
    pub filter: Filter,
    /// A stage that is switched off keeps its place and does nothing.
    pub enabled: bool,
}

/// More stages than anyone uses. Searches over all stages run the chain once for each.
pub(super) const N_MAX_STAGES: usize = 1_000;

/// Reads the stages of a chain, up to `N_MAX_STAGES`.
pub fn stages_from<'de, D: Deserializer<'de>>(reader: D) -> Result<Vec<Stage>, D::Error> {
    let stages = Vec::<Stage>::deserialize(reader)?;
    if stages.len() > N_MAX_STAGES {
        return Err(D::Error::custom(SettingError::TooManyStages {
            n_stages: stages.len(),
        }));
    }
    Ok(stages)
}

impl From<Filter> for Stage {
    fn from(filter: Filter) -> Self {
        Self {
            filter,
            enabled: true,
        }
    }
}

/// The settings of a chain: plain data, copied into the record of each run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChainConfig {
    /// The stages, first to last.
    #[serde(deserialize_with = "stages_from")]
    pub stages: Vec<Stage>,
    /// What picks a token from the candidates that the stages leave.
    pub selector: Selector,
    /// How to treat the cases on which engines disagree.
    #[serde(default)]
    pub rules: Rules,
    /// The grammar that constrains the text, applied before the first stage or after the draw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grammar: Option<Arc<GrammarRule>>,
    /// How tokens are drafted, if decoding is speculative. It has no effect on the distribution of
    /// the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drafts: Option<Drafts>,
    /// What the logits are mixed with before the first stage, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guidance: Option<Guidance>,
    /// The engine that the chain was modeled on, or `None` for one of Quartet's own. It has no
    /// effect: what the chain does is in the other fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
}

impl ChainConfig {
    /// Returns a chain that always takes the most likely token.
    pub fn greedy() -> Self {
        Self {
            selector: Selector::Greedy,
            ..Self::sampled([])
        }
    }

    /// Returns a chain of these filters, followed by a plain draw.
    pub fn sampled(filters: impl IntoIterator<Item = Filter>) -> Self {
        Self {
            stages: filters.into_iter().map(Stage::from).collect(),
            selector: Selector::Multinomial,
            rules: Rules::default(),
            grammar: None,
            drafts: None,
            guidance: None,
            dialect: None,
        }
    }

    /// Iterates over the filters that are switched on.
    pub fn enabled(&self) -> impl Iterator<Item = &Filter> {
        let enabled = self.stages.iter().filter(|stage| stage.enabled);
        enabled.map(|stage| &stage.filter)
    }

    /// Iterates over the filters that are switched on and not neutral.
    pub fn active(&self) -> impl Iterator<Item = &Filter> {
        self.enabled().filter(|filter| !filter.is_neutral())
    }

    /// Whether it always picks the most likely candidate left.
    pub fn is_greedy(&self) -> bool {
        let leaves_one = |filter: &Filter| filter.leaves_one(self.rules);
        self.selector == Selector::Greedy || self.active().any(leaves_one)
    }

    /// Returns whether anything in it draws a coin, even if only one candidate can be left.
    pub fn needs_seed(&self) -> bool {
        !self.selector.is_deterministic() || self.tosses_coins()
    }

    /// Returns whether texts depend on their seed. Unlike [`ChainConfig::needs_seed`], it is `false` if
    /// only one candidate is ever left, as at temperature 0.
    pub fn leaves_chance(&self) -> bool {
        self.needs_seed() && (self.tosses_coins() || !self.is_greedy())
    }

    fn tosses_coins(&self) -> bool {
        self.active().any(Filter::is_random)
    }

    /// Checks the values of every stage that is switched on, and of the selector.
    pub fn validate(&self) -> Result<(), SettingError> {
        let n_stages = self.stages.len();
        if n_stages > N_MAX_STAGES {
            return Err(SettingError::TooManyStages { n_stages });
        }
        for filter in self.enabled() {
            filter.validate()?;
        }
        self.selector.validate()?;
        if let Some(grammar) = &self.grammar {
            grammar.validate()?;
        }
        let guidance = self.guidance.as_ref();
        guidance.map_or(Ok(()), |guidance| guidance.validate(self))?;
        self.drafts.map_or(Ok(()), |drafts| drafts.validate(self))
    }

    /// Returns whether the model's multi-token-prediction head drafts.
    pub fn drafts_with_mtp_head(&self) -> bool {
        matches!(self.drafts, Some(Drafts::Model(drafts)) if drafts.drafter == Drafter::MtpHead)
    }

    /// Whether a second model drafts or guides.
    pub fn needs_second_model(&self) -> bool {
        let drafts = matches!(self.drafts, Some(Drafts::Model(drafts)) if drafts.drafter == Drafter::SecondModel);
        drafts || self.is_guided_by_model()
    }

    /// Whether a second model guides.
    pub fn is_guided_by_model(&self) -> bool {
        let guidance = self.guidance.as_ref();
        guidance.is_some_and(|guidance| guidance.against == Against::Model)
    }
}

impl std::fmt::Display for ChainConfig {
    /// The chain in one line of chips: "T 0.7 › top-p 0.9".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts: Vec<String> = self.active().map(Filter::to_string).collect();
        parts.splice(0..0, self.grammar.iter().map(ToString::to_string));
        match (self.selector, parts.is_empty()) {
            (Selector::Greedy, _) => parts.push("top token".to_owned()),
            (Selector::Multinomial, true) => parts.push("T 1".to_owned()),
            (Selector::Multinomial, false) => {}
            (Selector::BeamSearch(search), _) => parts.push(format!("{} beams", search.width)),
            (selector, _) => parts.push(selector.to_string()),
        }
        f.write_str(&parts.join(" › "))?;
        if let Some(guidance) = &self.guidance {
            write!(f, " · guided {}", guidance.strength())?;
        }
        match self.drafts {
            Some(drafts) => write!(f, " · {} drafts", drafts.n_drafts()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ChainConfig, N_MAX_STAGES};
    use crate::decoding::dialect::Dialect;
    use crate::decoding::filters::{DynamicTemperature, Temperature, TopK, TopP};
    use crate::decoding::rules::{Ties, TopPZero};
    use crate::decoding::{Filter, Selector, Stage};

    #[test]
    fn a_chain_reads_as_its_chips() {
        let off = Stage {
            filter: Filter::TopK(TopK { k: 40 }),
            enabled: false,
        };
        let mut muted = ChainConfig::sampled([]);
        muted.stages.push(off);
        for (config, expected, greedy) in [
            (ChainConfig::greedy(), "top token", true),
            (ChainConfig::sampled([]), "T 1", false),
            (muted, "T 1", false),
            (
                ChainConfig::sampled([
                    Filter::Temperature(Temperature { temperature: 0.7 }),
                    Filter::TopP(TopP { p: 0.9 }),
                ]),
                "T 0.7 › top-p 0.9",
                false,
            ),
            (
                ChainConfig::sampled([Filter::Temperature(Temperature { temperature: 0.0 })]),
                "T 0",
                true,
            ),
        ] {
            assert_eq!(config.to_string(), expected);
            assert_eq!(config.is_greedy(), greedy, "{config}");
        }
        assert_eq!(ChainConfig::greedy().selector, Selector::Greedy);
    }

    #[test]
    fn a_top_k_of_1_is_greedy_unless_ties_stay() {
        let mut chain = ChainConfig::sampled([Filter::TopK(TopK { k: 1 })]);
        assert!(chain.is_greedy());
        chain.rules.top_k_ties = Ties::All;
        assert!(!chain.is_greedy());
    }

    #[test]
    fn a_top_p_of_0_and_llama_cpp_s_temperature_of_0_are_greedy() {
        let mut chain = ChainConfig::sampled([Filter::TopP(TopP { p: 0.0 })]);
        assert!(chain.is_greedy());
        chain.rules.min_keep = 2;
        assert!(!chain.is_greedy());
        chain.rules.min_keep = 0;
        chain.rules.top_p_zero = TopPZero::Off;
        assert!(!chain.is_greedy());

        let mut chain = Dialect::LlamaCpp.chain();
        assert!(!chain.is_greedy());
        for (range, greedy) in [(0.0, true), (0.5, false)] {
            let heat = DynamicTemperature {
                temperature: 0.0,
                range,
                exponent: 1.0,
            };
            let stage = chain.stages.last_mut().unwrap();
            stage.filter = Filter::DynamicTemperature(heat);
            assert_eq!(chain.is_greedy(), greedy, "range {range}");
        }
    }

    #[test]
    fn a_chain_has_a_plausible_number_of_stages() {
        let stage = Stage::from(Filter::TopK(TopK { k: 40 }));
        for (n_stages, is_valid) in [(N_MAX_STAGES, true), (N_MAX_STAGES + 1, false)] {
            let chain = ChainConfig {
                stages: vec![stage.clone(); n_stages],
                ..ChainConfig::greedy()
            };
            assert_eq!(chain.validate().is_ok(), is_valid);
            let json = serde_json::to_string(&chain).unwrap();
            let read = serde_json::from_str::<ChainConfig>(&json);
            assert_eq!(read.is_ok(), is_valid);
        }
    }
}
