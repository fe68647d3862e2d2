//! How one of the remaining candidates is picked.

mod adaptive_p;
mod beam_search;
mod gumbel;
mod gumbel_mark;
mod learning;
mod mirostat;
mod plain;
mod rule;

pub use adaptive_p::AdaptiveP;
pub use beam_search::{BeamCandidate, BeamSearch, Fate};
pub use gumbel_mark::GumbelMark;
pub use mirostat::{MirostatV1, MirostatV2};

use serde::{Deserialize, Serialize};

use self::gumbel::GumbelMax;
use self::plain::{Greedy, Multinomial};
use self::rule::{Memory, SelectorRule, Toss};
use super::candidates::Crossing;
use super::dialect::Dialect;
use super::setting::{ParamSpec, SettingError};
use super::softmax::Softmax;
use super::trace::{Draw, Picked};
use super::{Candidate, Candidates, Coins, History, Need};

/// All there is to know about a selector besides its arithmetic.
#[derive(Debug)]
pub struct SelectorSpec {
    /// The spellings that select it in a `--pane` description. Help and errors name the first.
    pub keys: &'static [&'static str],
    /// The name, as people say it.
    pub name: &'static str,
    /// Its label in the menu of draws.
    pub label: &'static str,
    /// What it does, in two sentences.
    pub help: &'static str,
    /// What it computes, in one line.
    pub formula: &'static str,
    /// Ties, limits and what it remembers, one sentence each.
    pub edges: &'static [&'static str],
    /// Author, year, title and arXiv number or link of its paper, or why there is none.
    pub source: &'static str,
    /// Its numbers.
    pub params: &'static [ParamSpec<Selector>],
    /// What it needs beyond the logits of the text.
    pub needs: &'static [Need],
    /// The coins that it tosses for each token.
    pub tosses: Tosses,
    /// Whether it cuts or reweighs the candidates before it draws.
    pub reweighs: bool,
    /// The engines that can pick tokens in this way. `None` for all of them, because it picks from
    /// the same distribution as they do.
    pub engines: Option<&'static [Dialect]>,
    /// The selector as it is chosen from a menu, at usual values.
    pub usual: Selector,
}

/// The coins that a selector tosses for each token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tosses {
    None,
    One,
    /// One for each candidate, so that no single one decides.
    OnePerCandidate,
}

impl SelectorSpec {
    /// Whether several texts grow side by side.
    pub fn compares_texts(&self) -> bool {
        self.needs.contains(&Need::SeveralTexts)
    }

    /// The help, and below it the source.
    pub fn help_with_source(&self) -> String {
        format!("{}\n\n{}", self.help, self.source)
    }
}

/// Declares [`Selector`] from one list: selectors without numbers, each with the rule that picks, and
/// those that are their own rule.
macro_rules! selectors {
    (
        plain: [$($(#[$plain_doc:meta])* $plain:ident,)*]
        with_numbers: [$($(#[$doc:meta])* $name:ident,)*]
    ) => {
        /// The end of a chain: picks one candidate.
        #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "selector", rename_all = "kebab-case")]
        pub enum Selector {
            $($(#[$plain_doc])* $plain,)*
            $($(#[$doc])* $name($name),)*
        }

        impl Selector {
            /// The descriptions of all selectors, in menu order.
            pub const SPECS: [&'static SelectorSpec; N_SELECTORS] =
                [$(&$plain::SPEC,)* $(&$name::SPEC,)*];

            /// The description of this selector.
            pub const fn spec(&self) -> &'static SelectorSpec {
                match self {
                    $(Self::$plain => &$plain::SPEC,)*
                    $(Self::$name(_) => &$name::SPEC,)*
                }
            }

            fn rule(&self) -> &dyn SelectorRule {
                match self {
                    $(Self::$plain => &$plain,)*
                    $(Self::$name(rule) => rule,)*
                }
            }
        }

        const N_SELECTORS: usize = [$(stringify!($plain),)* $(stringify!($name),)*].len();
    };
}

selectors! {
    plain: [
    /// Draws each candidate with its probability, by one coin.
    Multinomial,
    /// Takes the most likely candidate, and among equals the one with the lowest id. Tosses no
    /// coin.
    Greedy,
    /// Draws each candidate with its probability, by one coin per token, so that a change of
    /// settings changes the outcome less often.
    GumbelMax,
    ]
    with_numbers: [
    /// Draws as Gumbel-max does, with numbers derived from a key and the last tokens: a watermark.
    GumbelMark,
    /// Draws from enough candidates to keep the surprise near a target, using an estimate of how
    /// fast the probabilities fall.
    MirostatV1,
    /// Draws from the candidates that are not too surprising for a target.
    MirostatV2,
    /// Draws candidates whose probability is close to a target.
    AdaptiveP,
    /// Lets several texts grow side by side and keeps those with the highest total log-prob.
    BeamSearch,
    ]
}

/// What a selector remembers from one step to the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SelectorState {
    /// The selector's own two numbers, or `None` before its first step.
    memory: Memory,
    /// The selector that learned them. Another one, or the same with other values, starts over.
    learned_by: Option<Selector>,
}

impl SelectorState {
    /// The state before the first step.
    pub const NEW: Self = Self {
        memory: None,
        learned_by: None,
    };

    /// Whether nothing has been learned.
    pub fn is_new(&self) -> bool {
        *self == Self::NEW
    }
}

impl Selector {
    /// The name, as people say it.
    pub const fn name(&self) -> &'static str {
        self.spec().name
    }

    /// Whether each token has its own coin, so that no single one decides.
    pub const fn has_coin_per_token(&self) -> bool {
        matches!(self.spec().tosses, Tosses::OnePerCandidate)
    }

    /// Whether it learns from what it picks, so that each step depends on the ones before.
    pub fn is_adaptive(&self) -> bool {
        self.spec().needs.contains(&Need::Memory)
    }

    /// The settings of a beam search, if it is one.
    pub const fn beam_search(&self) -> Option<BeamSearch> {
        match self {
            Self::BeamSearch(search) => Some(*search),
            _ => None,
        }
    }

    /// Whether it tosses no coin.
    pub const fn is_deterministic(&self) -> bool {
        matches!(self.spec().tosses, Tosses::None)
    }

    /// Whether it picks from the distribution that the stages leave, as any engine can.
    pub const fn is_plain(&self) -> bool {
        self.spec().engines.is_none()
    }

    /// Ends the sentence that describes a chain: ", keeping the surprise near 5 bits". Empty for most
    /// selectors.
    pub fn ending(&self) -> String {
        self.rule().ending()
    }

    /// Checks every value against its limits.
    pub fn validate(&self) -> Result<(), SettingError> {
        let spec = self.spec();
        let mut params = spec.params.iter();
        params.try_for_each(|param| param.validate(spec.name, self))
    }

    /// Picks a candidate, and learns from the pick.
    ///
    /// If one coin decides, the candidates lie end to end from 0 to 1, the most likely first, and
    /// the coin takes the one on which it falls: the first whose end is above the coin.
    pub fn pick(
        &self,
        coins: Coins,
        history: History<'_>,
        state: &mut SelectorState,
        candidates: &mut Candidates,
    ) -> Draw {
        if self.is_adaptive() && state.learned_by != Some(*self) {
            *state = SelectorState {
                memory: None,
                learned_by: Some(*self),
            };
        }
        let toss = Toss { coins, history };
        self.rule().pick(toss, &mut state.memory, candidates)
    }
}

impl std::fmt::Display for Selector {
    /// The words of `--pane` and of a chip: "greedy", "mirostat 5 eta 0.1".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let spec = self.spec();
        f.write_str(spec.keys.first().copied().unwrap_or_default())?;
        for param in spec.params {
            let key = if param.key.is_empty() { "" } else { " " };
            let value = param.text(self).unwrap_or_default();
            write!(f, "{key}{} {value}", param.key)?;
        }
        Ok(())
    }
}

/// How far rounding may leave the sum of all probabilities below 1.
const ROUNDING: f64 = 1e-6;

fn greedy(candidates: &mut Candidates) -> Draw {
    let best = candidates.best();
    candidates.keep_head(1);
    Draw {
        token: best.token,
        prob: 1.0,
        coin: None,
        below: 0.0,
        n_kept: 1,
        picked: Picked::ByChain,
    }
}

fn draw_by_coin(coin: f64, candidates: &mut Candidates) -> Draw {
    // Rounding can leave the sum slightly below a coin of nearly 1; then the last candidate is
    // taken.
    let crossing = candidates
        .crossing(|end| coin < end)
        .or_else(|| candidates.crossing(|end| end >= 1.0 - ROUNDING));
    let Some(Crossing {
        candidate, below, ..
    }) = crossing
    else {
        return greedy(candidates);
    };
    Draw {
        coin: Some(coin),
        below,
        ..draw_without_coin(candidate, &candidates.softmax())
    }
}

/// The record of a candidate that no single coin picked.
fn draw_without_coin(candidate: Candidate, softmax: &Softmax) -> Draw {
    Draw {
        token: candidate.token,
        prob: softmax.prob(candidate.logit),
        coin: None,
        below: 0.0,
        n_kept: softmax.n_possible as u32,
        picked: Picked::ByChain,
    }
}

/// The surprise of a probability, in bits.
fn bits(prob: f64) -> f64 {
    -prob.log2()
}

#[cfg(test)]
mod tests {
    use super::{AdaptiveP, MirostatV1, MirostatV2, Selector, SelectorState, draw_by_coin};
    use crate::decoding::testing::{check_draws, logits_of};
    use crate::decoding::{Candidates, Coins, History};

    #[test]
    fn the_coin_falls_on_a_bar_that_begins_with_the_most_likely_token() {
        // In order: token 3 from 0, token 2 from 0.4, token 1 from 0.7, token 0 from 0.9.
        for (coin, token, below) in [
            (0.0, 3, 0.0),
            (0.399, 3, 0.0),
            (0.401, 2, 0.4),
            (0.699, 2, 0.4),
            (0.701, 1, 0.7),
            (0.901, 0, 0.9),
            (1.0 - f64::EPSILON / 2.0, 0, 0.9),
        ] {
            let mut candidates =
                Candidates::from_logits(&logits_of(&[0.1, 0.2, 0.3, 0.4, 0.0])).unwrap();
            let draw = draw_by_coin(coin, &mut candidates);
            assert_eq!(draw.token.0, token, "{coin}");
            assert!((draw.below - below).abs() < 1e-6, "{coin}");
            assert_eq!(draw.coin, Some(coin));
        }
    }

    #[test]
    fn greedy_takes_the_best_and_among_equals_the_lowest_id() {
        let coins = Coins {
            seed: 1,
            position: 1,
        };
        for (probs, token) in [
            (&[1.0][..], 0),
            (&[0.1, 0.6, 0.3], 1),
            (&[0.2, 0.4, 0.4], 1),
            (&[0.0, 0.0, 1.0], 2),
        ] {
            let mut candidates = Candidates::from_logits(&logits_of(probs)).unwrap();
            let draw = Selector::Greedy.pick(
                coins,
                History::empty(),
                &mut SelectorState::default(),
                &mut candidates,
            );
            assert_eq!((draw.token.0, draw.coin, draw.prob), (token, None, 1.0));
            assert_eq!((draw.n_kept, candidates.n_kept()), (1, 1));
        }
    }

    #[test]
    fn tokens_are_drawn_as_often_as_their_probability_says() {
        let probs = [0.1, 0.05, 0.4, 0.0, 0.25, 0.2];
        for selector in [Selector::Multinomial, Selector::GumbelMax] {
            check_draws(selector, &probs, &probs);
        }
    }

    #[test]
    fn every_spec_is_complete() {
        let mut keys = std::collections::BTreeSet::new();
        for spec in Selector::SPECS {
            let usual = spec.usual;
            assert_eq!(usual.name(), spec.name);
            assert_eq!(usual.validate(), Ok(()), "{usual}");
            let has_link =
                ["arXiv ", "https://", "No paper: "].map(|link| spec.source.contains(link));
            assert!(
                !spec.label.is_empty() && has_link.contains(&true),
                "{usual}"
            );
            assert_eq!(spec.help.matches(". ").count(), 1, "{}", spec.help);
            assert!(spec.keys.iter().all(|key| keys.insert(*key)), "{usual}");
            for (index, param) in spec.params.iter().enumerate() {
                assert_eq!(param.key.is_empty(), index == 0, "{usual}");
                assert!(!param.label.is_empty(), "{usual}");
                assert!(param.help.ends_with('.'), "{usual}");
                let value = param.get(&usual).unwrap();
                assert!(param.usual.contains(&(value as f32)), "{usual}");
                assert!(param.range.contains(&(value as f32)), "{usual}");
                let mut changed = usual;
                let other = if param.is_count() { 3.0 } else { 0.25 };
                param.set(&mut changed, other);
                assert_eq!(param.get(&changed), Some(other));
            }
        }
    }

    #[test]
    fn impossible_values_are_invalid() {
        let (tau, eta) = (5.0, 0.1);
        for (selector, works) in [
            (Selector::Greedy, true),
            (Selector::MirostatV1(MirostatV1 { tau, eta }), true),
            (Selector::MirostatV1(MirostatV1 { tau: -1.0, eta }), false),
            (
                Selector::MirostatV2(MirostatV2 { tau, eta: f32::NAN }),
                false,
            ),
            (
                Selector::AdaptiveP(AdaptiveP {
                    target: 0.5,
                    decay: 0.9,
                }),
                true,
            ),
            (
                Selector::AdaptiveP(AdaptiveP {
                    target: 1.5,
                    decay: 0.9,
                }),
                false,
            ),
        ] {
            assert_eq!(selector.validate().is_ok(), works, "{selector}");
        }
    }
}
