//! The closed set of rules that reshape or drop candidates.

use serde::{Deserialize, Serialize};

use super::filters::{
    FrequencyPenalty, MinP, PresencePenalty, RepetitionPenalty, Temperature, TopK, TopP,
};
use super::{Candidates, Coins, History};

/// What a rule may look at beside the candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageContext<'a> {
    /// The tokens before the one that is about to be drawn.
    pub history: History<'a>,
    /// The coins of this step.
    pub coins: Coins,
    /// How many stages before this one act by chance, so that each has a coin of its own, and a
    /// stage keeps its coin wherever others are put.
    pub n_chance_before: u32,
}

/// One stage's rule: stateless, plain data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "filter", rename_all = "kebab-case")]
pub enum Filter {
    /// Makes tokens that have occurred less likely, by a factor.
    RepetitionPenalty(RepetitionPenalty),
    /// Makes tokens less likely for each time that they have occurred.
    FrequencyPenalty(FrequencyPenalty),
    /// Makes tokens less likely once they have occurred.
    PresencePenalty(PresencePenalty),
    /// Flattens or sharpens the distribution.
    Temperature(Temperature),
    /// Keeps a fixed number of the most likely.
    TopK(TopK),
    /// Keeps the fewest that hold a share of the mass.
    TopP(TopP),
    /// Keeps those not far below the best.
    MinP(MinP),
}

impl Filter {
    /// Applies the rule.
    pub fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let StageContext { history, .. } = context;
        match self {
            Self::RepetitionPenalty(filter) => filter.apply(history, candidates),
            Self::FrequencyPenalty(filter) => filter.apply(history, candidates),
            Self::PresencePenalty(filter) => filter.apply(history, candidates),
            Self::Temperature(filter) => filter.apply(candidates),
            Self::TopK(filter) => filter.apply(candidates),
            Self::TopP(filter) => filter.apply(candidates),
            Self::MinP(filter) => filter.apply(candidates),
        }
    }

    /// Whether the settings are such that nothing can ever change.
    pub fn is_neutral(&self) -> bool {
        match self {
            Self::RepetitionPenalty(filter) => filter.is_neutral(),
            Self::FrequencyPenalty(filter) => filter.is_neutral(),
            Self::PresencePenalty(filter) => filter.is_neutral(),
            Self::Temperature(filter) => filter.is_neutral(),
            Self::TopK(filter) => filter.is_neutral(),
            Self::TopP(filter) => filter.is_neutral(),
            Self::MinP(filter) => filter.is_neutral(),
        }
    }

    /// Whether it drops candidates; the others only change their probabilities.
    pub const fn cuts(&self) -> bool {
        matches!(self, Self::TopK(_) | Self::TopP(_) | Self::MinP(_))
    }

    /// Whether it tosses a coin.
    pub const fn acts_by_chance(&self) -> bool {
        false
    }

    /// The sentence to show when a value is out of range, or nothing.
    pub fn complaint(&self) -> Option<String> {
        match self {
            Self::RepetitionPenalty(filter) => filter.complaint(),
            Self::FrequencyPenalty(filter) => filter.complaint(),
            Self::PresencePenalty(filter) => filter.complaint(),
            Self::Temperature(filter) => filter.complaint(),
            Self::TopK(_) => None,
            Self::TopP(filter) => filter.complaint(),
            Self::MinP(filter) => filter.complaint(),
        }
    }

    /// The name, as it stands at the head of a stage: "Top-p".
    pub const fn name(&self) -> &'static str {
        match self {
            Self::RepetitionPenalty(_) => "Repetition penalty",
            Self::FrequencyPenalty(_) => "Frequency penalty",
            Self::PresencePenalty(_) => "Presence penalty",
            Self::Temperature(_) => "Temperature",
            Self::TopK(_) => "Top-k",
            Self::TopP(_) => "Top-p",
            Self::MinP(_) => "Min-p",
        }
    }
}

impl std::fmt::Display for Filter {
    /// The short form of a chain chip and of `--pane`: "T 0.7", "top-p 0.9".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::RepetitionPenalty(filter) => write!(f, "repeat {}", filter.penalty),
            Self::FrequencyPenalty(filter) => write!(f, "frequency {}", filter.penalty),
            Self::PresencePenalty(filter) => write!(f, "presence {}", filter.penalty),
            Self::Temperature(filter) => write!(f, "T {}", filter.temperature),
            Self::TopK(filter) => write!(f, "top-k {}", filter.k),
            Self::TopP(filter) => write!(f, "top-p {}", filter.p),
            Self::MinP(filter) => write!(f, "min-p {}", filter.p),
        }
    }
}
