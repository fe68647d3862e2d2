//! The closed set of rules that reshape or drop candidates.

use serde::{Deserialize, Serialize};

use super::filters::{
    Dry, DynamicTemperature, EpsilonCutoff, EtaCutoff, FrequencyPenalty, LogitBias, MinP,
    NoRepeatNgram, PresencePenalty, QuadraticSmoothing, RepetitionPenalty, TailFree, Temperature,
    TopA, TopK, TopNSigma, TopP, TypicalP, Window, Xtc,
};
use super::rules::{Ties, TopPZero};
use super::{Candidates, Coins, History, Rules};

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
    /// How cases are treated on which engines disagree.
    pub rules: Rules,
}

/// What every filter can do. Its `Display` is the short form of a chip: "top-p 0.9".
pub trait Rule: std::fmt::Display {
    /// The name, as it stands at the head of a stage: "Top-p".
    fn name(&self) -> &'static str;

    /// Applies the rule.
    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates);

    /// Whether the settings are such that nothing can ever change.
    fn is_neutral(&self) -> bool;

    /// The sentence to show when a value is out of range, or nothing.
    fn complaint(&self) -> Option<String>;

    /// Whether it drops candidates; the others only change their probabilities.
    fn cuts(&self) -> bool {
        false
    }

    /// Whether it tosses a coin.
    fn acts_by_chance(&self) -> bool {
        false
    }

    /// Every setting in words, as `--pane` reads them: "repeat 1.1 last 32".
    fn words(&self) -> String {
        self.to_string()
    }
}

/// One stage's rule: stateless, plain data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "filter", rename_all = "kebab-case")]
pub enum Filter {
    /// Makes chosen tokens likelier or less likely, or forbids them.
    LogitBias(LogitBias),
    /// Makes tokens that have occurred less likely, by a factor.
    RepetitionPenalty(RepetitionPenalty),
    /// Makes tokens less likely for each time that they have occurred.
    FrequencyPenalty(FrequencyPenalty),
    /// Makes tokens less likely once they have occurred.
    PresencePenalty(PresencePenalty),
    /// Forbids what would repeat a run of tokens.
    NoRepeatNgram(NoRepeatNgram),
    /// Makes what would lengthen a repetition less likely, the longer the less.
    Dry(Dry),
    /// Flattens or sharpens the distribution.
    Temperature(Temperature),
    /// Flattens or sharpens it more the less sure the model is.
    DynamicTemperature(DynamicTemperature),
    /// Bends the scores down by the square of their distance from the best.
    QuadraticSmoothing(QuadraticSmoothing),
    /// Keeps a fixed number of the most likely.
    TopK(TopK),
    /// Keeps the fewest that hold a share of the mass.
    TopP(TopP),
    /// Keeps those not far below the best.
    MinP(MinP),
    /// Keeps those about as surprising as one would expect.
    TypicalP(TypicalP),
    /// Keeps those whose score is not many standard deviations below the best.
    TopNSigma(TopNSigma),
    /// Cuts those below a fixed probability.
    EpsilonCutoff(EpsilonCutoff),
    /// Cuts those below a probability that falls as the model gets less sure.
    EtaCutoff(EtaCutoff),
    /// Cuts the most likely, at times, where others would do.
    Xtc(Xtc),
    /// Cuts those below the square of the best one's probability, times a factor.
    TopA(TopA),
    /// Cuts the flat tail of the sorted probabilities.
    TailFree(TailFree),
}

impl Filter {
    /// The rule with its values.
    pub fn rule(&self) -> &dyn Rule {
        match self {
            Self::LogitBias(filter) => filter,
            Self::RepetitionPenalty(filter) => filter,
            Self::FrequencyPenalty(filter) => filter,
            Self::PresencePenalty(filter) => filter,
            Self::NoRepeatNgram(filter) => filter,
            Self::Dry(filter) => filter,
            Self::Temperature(filter) => filter,
            Self::DynamicTemperature(filter) => filter,
            Self::QuadraticSmoothing(filter) => filter,
            Self::TopK(filter) => filter,
            Self::TopP(filter) => filter,
            Self::MinP(filter) => filter,
            Self::TypicalP(filter) => filter,
            Self::TopNSigma(filter) => filter,
            Self::EpsilonCutoff(filter) => filter,
            Self::EtaCutoff(filter) => filter,
            Self::Xtc(filter) => filter,
            Self::TopA(filter) => filter,
            Self::TailFree(filter) => filter,
        }
    }

    /// Applies the rule; one whose settings can change nothing is passed over.
    pub fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        if !self.is_neutral() {
            self.rule().apply(context, candidates);
        }
    }

    /// Whether the settings are such that nothing can ever change.
    pub fn is_neutral(&self) -> bool {
        self.rule().is_neutral()
    }

    /// The sentence to show when a value is out of range, or nothing.
    pub fn complaint(&self) -> Option<String> {
        self.rule().complaint()
    }

    /// The name, as it stands at the head of a stage: "Top-p".
    pub fn name(&self) -> &'static str {
        self.rule().name()
    }

    /// Whether it drops candidates; the others only change their probabilities.
    pub fn cuts(&self) -> bool {
        self.rule().cuts()
    }

    /// Where it looks back; nothing for one that does not look at the text.
    pub fn window(&self) -> Option<Window> {
        match self {
            Self::RepetitionPenalty(filter) => Some(filter.window),
            Self::FrequencyPenalty(filter) => Some(filter.window),
            Self::PresencePenalty(filter) => Some(filter.window),
            Self::NoRepeatNgram(filter) => Some(filter.window),
            Self::Dry(filter) => Some(filter.window),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub const fn window_mut(&mut self) -> Option<&mut Window> {
        match self {
            Self::RepetitionPenalty(filter) => Some(&mut filter.window),
            Self::FrequencyPenalty(filter) => Some(&mut filter.window),
            Self::PresencePenalty(filter) => Some(&mut filter.window),
            Self::NoRepeatNgram(filter) => Some(&mut filter.window),
            Self::Dry(filter) => Some(&mut filter.window),
            _ => None,
        }
    }

    /// Whether it looks back, and no score is higher after it.
    pub const fn only_lowers(&self) -> bool {
        match self {
            Self::RepetitionPenalty(filter) => filter.penalty >= 1.0,
            Self::FrequencyPenalty(filter) => filter.penalty >= 0.0,
            Self::PresencePenalty(filter) => filter.penalty >= 0.0,
            Self::NoRepeatNgram(_) => true,
            Self::Dry(filter) => filter.multiplier >= 0.0,
            _ => false,
        }
    }

    /// Whether a candidate never passes one that was before it: all but the filters that look at
    /// single tokens.
    pub const fn keeps_order(&self) -> bool {
        !matches!(
            self,
            Self::LogitBias(_)
                | Self::RepetitionPenalty(_)
                | Self::FrequencyPenalty(_)
                | Self::PresencePenalty(_)
                | Self::NoRepeatNgram(_)
                | Self::Dry(_)
        )
    }

    /// Whether one candidate is left after it, whatever the model says.
    pub fn leaves_one(&self, rules: Rules) -> bool {
        match self {
            Self::Temperature(heat) => heat.temperature <= 0.0,
            Self::DynamicTemperature(heat) => heat.temperature <= 0.0 && heat.range <= 0.0,
            Self::TopK(top_k) => top_k.k == 1 && rules.top_k_ties == Ties::LowestIds,
            Self::TopP(top_p) => {
                top_p.p <= 0.0 && rules.top_p_zero == TopPZero::KeepsBest && rules.min_keep <= 1
            }
            _ => false,
        }
    }

    /// Whether the most likely candidate is the same after it as before it, whatever the settings.
    ///
    /// Quadratic smoothing is not among these: it can make two near scores equal, and of equals the
    /// lower id comes first.
    pub const fn keeps_the_best(&self) -> bool {
        matches!(
            self,
            Self::Temperature(_)
                | Self::DynamicTemperature(_)
                | Self::TopK(_)
                | Self::TopP(_)
                | Self::MinP(_)
                | Self::TopNSigma(_)
                | Self::EpsilonCutoff(_)
                | Self::EtaCutoff(_)
                | Self::TopA(_)
                | Self::TailFree(_)
        )
    }
}

impl std::fmt::Display for Filter {
    /// The short form of a chain chip and of `--pane`: "T 0.7", "top-p 0.9".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.rule().fmt(f)
    }
}
