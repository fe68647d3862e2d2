//! The closed set of filters, and what each can do.

use serde::{Deserialize, Serialize};

use super::filter_spec::{FilterSpec, Phase, Ranking};
use super::filters::{
    Dry, DynamicTemperature, EpsilonCutoff, EtaCutoff, FrequencyPenalty, GreenList, LogitBias,
    MinK, MinP, NoRepeatNgram, PLess, PresencePenalty, QuadraticSmoothing, RepetitionPenalty,
    SynthId, TailFree, Temperature, ThinkingBudget, TopA, TopH, TopK, TopNSigma, TopP, TypicalP,
    Window, Xtc,
};
use super::setting::SettingError;
use super::{Candidates, Coins, History, Rules};

/// What a filter may look at besides the candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageContext<'a> {
    /// The tokens before the one that is about to be sampled.
    pub history: History<'a>,
    /// The coins of this step.
    pub coins: Coins,
    /// How many earlier stages are random. Each random stage has its own coin, and keeps it when
    /// deterministic stages are added, moved or removed.
    pub n_chance_before: u32,
    /// How to treat the cases on which engines disagree.
    pub rules: Rules,
    /// The size of the whole vocabulary, even if earlier stages have dropped part of it.
    pub n_vocab: u32,
}

impl StageContext<'_> {
    /// Applies filters in order and calls `observe` after each, with its index. This context is the
    /// first one's. The first `n_done` have already been applied.
    pub(super) fn run<T: Filtered, F: AsRef<Filter>>(
        mut self,
        filters: impl IntoIterator<Item = F>,
        n_done: usize,
        target: &mut T,
        mut observe: impl FnMut(usize, &F, &mut T),
    ) {
        for (index, filter) in filters.into_iter().enumerate() {
            if index >= n_done {
                target.filter(filter.as_ref(), self);
            }
            observe(index, &filter, target);
            self.n_chance_before += u32::from(filter.as_ref().is_random());
        }
    }
}

/// What filters can be applied to: candidates, or a distribution of which only a head is known.
pub(super) trait Filtered {
    /// Applies a filter; a neutral one is skipped.
    fn filter(&mut self, filter: &Filter, context: StageContext<'_>);
}

impl Filtered for Candidates {
    fn filter(&mut self, filter: &Filter, context: StageContext<'_>) {
        filter.apply(context, self);
    }
}

/// The arithmetic of one filter. Everything else about it is in its [`FilterSpec`].
pub(super) trait FilterRule {
    /// Changes the logits of candidates, or drops some of them.
    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates);

    /// Whether these settings can never change anything.
    fn is_neutral(&self) -> bool;

    /// Checks what the limits of the parameters do not cover.
    fn validate(&self) -> Result<(), SettingError> {
        Ok(())
    }

    /// Whether exactly one candidate is left afterwards, whatever the model says.
    fn leaves_one(&self, _rules: Rules) -> bool {
        false
    }

    /// Whether it penalizes tokens of the text so far without ever raising a logit.
    fn only_lowers(&self) -> bool {
        false
    }

    /// Which part of the history it reads, or `None` if it reads none.
    fn window(&self) -> Option<Window> {
        None
    }

    /// The same window, mutably.
    fn window_mut(&mut self) -> Option<&mut Window> {
        None
    }

    /// The words of its chip, if these are not its key and first number.
    fn chip_words(&self) -> Option<String> {
        None
    }
}

/// Declares [`Filter`] and [`FilterKind`] from one list.
macro_rules! filters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// One stage's filter with its values: stateless, plain data.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "filter", rename_all = "kebab-case")]
        pub enum Filter {
            $($(#[$doc])* $name($name),)*
        }

        /// A filter without its values, in the order of Quartet's own chains.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FilterKind {
            $($(#[$doc])* $name,)*
        }

        impl FilterKind {
            /// All filters.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The description of this filter.
            pub const fn spec(self) -> &'static FilterSpec {
                match self {
                    $(Self::$name => &$name::SPEC,)*
                }
            }
        }

        impl Filter {
            /// Which filter it is.
            pub const fn kind(&self) -> FilterKind {
                match self {
                    $(Self::$name(_) => FilterKind::$name,)*
                }
            }

            fn rule(&self) -> &dyn FilterRule {
                match self {
                    $(Self::$name(filter) => filter,)*
                }
            }

            fn rule_mut(&mut self) -> &mut dyn FilterRule {
                match self {
                    $(Self::$name(filter) => filter,)*
                }
            }
        }
    };
}

filters! {
    /// Ends a thought after a number of tokens, with a message and the end tag.
    ThinkingBudget,
    /// Adds a bias to the logits of chosen tokens, or bans them.
    LogitBias,
    /// Scales down the logits of tokens that have already appeared.
    RepetitionPenalty,
    /// Lowers a token's logit for each time it has already appeared.
    FrequencyPenalty,
    /// Lowers a token's logit once if it has already appeared.
    PresencePenalty,
    /// Bans tokens that would repeat an n-gram.
    NoRepeatNgram,
    /// Penalizes tokens that would extend a repetition, more strongly the longer it is.
    Dry,
    /// Flattens or sharpens the distribution.
    Temperature,
    /// Flattens the distribution more the less sure the model is.
    DynamicTemperature,
    /// Lowers logits by the square of their distance from the best.
    QuadraticSmoothing,
    /// Keeps the k most likely candidates.
    TopK,
    /// Keeps the smallest set of most likely candidates that holds a share of the probability.
    TopP,
    /// Keeps candidates whose probability is close to the best one's.
    MinP,
    /// Keeps candidates whose surprise is close to the entropy.
    TypicalP,
    /// Keeps the most likely candidates that hold a share of the entropy.
    TopH,
    /// Keeps candidates likelier than two draws are to agree.
    PLess,
    /// Keeps candidates whose logit is within n standard deviations of the best.
    TopNSigma,
    /// Keeps candidates before the steepest drop of the sorted logits.
    MinK,
    /// Drops candidates below a fixed probability.
    EpsilonCutoff,
    /// Drops candidates below a probability that falls as the entropy rises.
    EtaCutoff,
    /// Sometimes drops the most likely candidates if there are alternatives.
    Xtc,
    /// Drops candidates below a multiple of the square of the highest probability.
    TopA,
    /// Drops the tail where the sorted probabilities flatten out.
    TailFree,
    /// Makes the tokens of a secret list likelier, as a watermark.
    GreenList,
    /// Lets the candidates compete in a secret tournament, as a watermark.
    SynthId,
}

impl AsRef<Self> for Filter {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Filter {
    /// The description of this filter.
    pub const fn spec(&self) -> &'static FilterSpec {
        self.kind().spec()
    }

    /// The name at the head of its stage: "Top-p".
    pub const fn name(&self) -> &'static str {
        self.spec().name
    }

    /// What it does in a few words.
    pub fn summary(&self) -> &'static str {
        match self {
            // Without a range it is a plain temperature, and is shown as one.
            Self::DynamicTemperature(dynamic) if dynamic.is_plain() => Temperature::SPEC.summary,
            _ => self.spec().summary,
        }
    }

    /// Applies the filter; a neutral one is skipped.
    pub fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        if !self.is_neutral() {
            self.rule().apply(context, candidates);
        }
    }

    /// Whether these settings can never change anything.
    pub fn is_neutral(&self) -> bool {
        self.rule().is_neutral()
    }

    /// Whether these rules switch it off. A neutral filter is off under any rules.
    pub fn is_off(&self, rules: Rules) -> bool {
        match self {
            Self::TopP(top_p) => top_p.is_off(rules),
            Self::MinP(min_p) => min_p.is_off(rules),
            _ => self.is_neutral(),
        }
    }

    /// Sets every number to its neutral value if it has one, and empties lists of tokens.
    pub fn neutralize(&mut self) {
        let spec = self.spec();
        if spec.params.is_empty() {
            *self = (spec.usual)();
        }
        for param in spec.params {
            if let Some(neutral) = param.neutral {
                param.set(self, f64::from(neutral));
            }
        }
    }

    /// Checks every value against its limits.
    pub fn validate(&self) -> Result<(), SettingError> {
        let spec = self.spec();
        for param in spec.params {
            param.validate(spec.name, self)?;
        }
        self.rule().validate()
    }

    /// Whether it drops candidates; the others only change their probabilities.
    pub const fn cuts(&self) -> bool {
        matches!(self.spec().phase, Phase::Truncate)
    }

    /// Whether it keeps the same candidates if all logits are multiplied by the same number, as a
    /// temperature does.
    pub fn ignores_scale(&self) -> bool {
        match self {
            Self::TopK(_) | Self::TopNSigma(_) => true,
            Self::MinK(min_k) => min_k.tau <= 0.0,
            _ => false,
        }
    }

    /// Whether it tosses a coin.
    pub const fn is_random(&self) -> bool {
        self.spec().random
    }

    /// Which part of the history it reads, or `None` if it reads none.
    pub fn window(&self) -> Option<Window> {
        self.rule().window()
    }

    /// The same window, mutably.
    pub fn window_mut(&mut self) -> Option<&mut Window> {
        self.rule_mut().window_mut()
    }

    /// Whether it penalizes tokens of the text so far without ever raising a logit.
    pub fn only_lowers(&self) -> bool {
        self.rule().only_lowers()
    }

    /// Whether no candidate ever overtakes another, whatever the settings.
    pub const fn keeps_order(&self) -> bool {
        !matches!(self.spec().ranking, Ranking::Changes)
    }

    /// Whether the most likely candidate always stays the most likely one, whatever the settings.
    pub const fn preserves_top(&self) -> bool {
        matches!(self.spec().ranking, Ranking::KeepsTop)
    }

    /// Whether exactly one candidate is left afterwards, whatever the model says.
    pub fn leaves_one(&self, rules: Rules) -> bool {
        self.rule().leaves_one(rules)
    }
}

impl std::fmt::Display for Filter {
    /// The words of its chip: its key and first number, as in "T 0.7" and "top-p 0.9".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(words) = self.rule().chip_words() {
            return f.write_str(&words);
        }
        let spec = self.spec();
        f.write_str(spec.chip)?;
        match spec.params.first().and_then(|param| param.text(self)) {
            Some(number) => write!(f, " {number}"),
            None => Ok(()),
        }
    }
}
