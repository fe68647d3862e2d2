//! The settings of a chain: filters in order, then one selector.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::dialect::Dialect;
use super::{Against, Drafts, Filter, GrammarRule, Guidance, Rules, Selector, SettingError};

/// A filter in a chain, which can be switched off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    #[serde(flatten)]
    pub filter: Filter,
    /// A stage that is switched off keeps its place and does nothing.
    pub enabled: bool,
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

    /// Iterates over the filters that are switched on and not neutral.
    pub fn active(&self) -> impl Iterator<Item = &Filter> {
        self.stages
            .iter()
            .filter(|stage| stage.enabled && !stage.filter.is_neutral())
            .map(|stage| &stage.filter)
    }

    /// Whether it always picks the most likely candidate left.
    pub fn is_greedy(&self) -> bool {
        let leaves_one = |filter: &Filter| filter.leaves_one(self.rules);
        self.selector == Selector::Greedy || self.active().any(leaves_one)
    }

    /// Checks the values of every stage that is switched on, and of the selector.
    pub fn validate(&self) -> Result<(), SettingError> {
        for stage in self.stages.iter().filter(|stage| stage.enabled) {
            stage.filter.validate()?;
        }
        self.selector.validate()?;
        if let Some(grammar) = &self.grammar {
            grammar.validate()?;
        }
        let guidance = self.guidance.as_ref();
        guidance.map_or(Ok(()), |guidance| guidance.validate(self))?;
        self.drafts.map_or(Ok(()), |drafts| drafts.validate(self))
    }

    /// Whether a second model drafts or guides.
    pub fn needs_second_model(&self) -> bool {
        let drafts =
            matches!(self.drafts, Some(Drafts::Model(drafts)) if drafts.n_layers.is_none());
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
            write!(f, " · guided × {}", guidance.scale)?;
        }
        match self.drafts {
            Some(drafts) => write!(f, " · {} drafts", drafts.n_drafts()),
            None => Ok(()),
        }
    }
}
