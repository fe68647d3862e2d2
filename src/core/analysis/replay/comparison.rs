//! How the texts of a run compare with their replays, as data and in words.

use std::fmt;

use super::{TextReplay, Unit};
use crate::analysis::contradictions::RunPlace;
use crate::generation::listed;

/// How a run compares with its replay.
#[derive(Debug, Clone, PartialEq)]
pub enum Comparison {
    /// The same tokens from the same numbers.
    Identical,
    SameTokens {
        /// The largest difference.
        gap: f32,
        /// What it is between.
        unit: Unit,
    },
    Different {
        /// The texts that diverge first.
        places: Vec<RunPlace>,
        /// The index of the step at which they diverge.
        step: usize,
    },
}

impl Comparison {
    /// Compares all texts of a run, which are at these places.
    pub fn of(texts: &[TextReplay], places: impl IntoIterator<Item = RunPlace>) -> Self {
        let step_of = |text: &TextReplay| text.first_difference.map(|found| found.step);
        let Some(step) = texts.iter().filter_map(step_of).min() else {
            return if texts.iter().all(TextReplay::is_identical) {
                Self::Identical
            } else {
                let gaps = texts.iter().map(TextReplay::largest_gap);
                let is_served = texts.iter().any(|text| text.unit == Unit::LogProbs);
                Self::SameTokens {
                    gap: gaps.fold(0.0, f32::max),
                    unit: if is_served {
                        Unit::LogProbs
                    } else {
                        Unit::Logits
                    },
                }
            };
        };
        let first = |(_, text): &(RunPlace, &TextReplay)| step_of(text) == Some(step);
        let first = places.into_iter().zip(texts).filter(first);
        Self::Different {
            places: first.map(|(place, _)| place).collect(),
            step,
        }
    }

    /// Whether all tokens are the same.
    pub const fn has_same_tokens(&self) -> bool {
        !matches!(self, Self::Different { .. })
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identical => f.write_str("Same tokens, bit-identical numbers"),
            // The numbers that are kept are the same, and others are not.
            Self::SameTokens { gap: 0.0, .. } => f.write_str("Same tokens, but not all numbers"),
            Self::SameTokens { gap, unit } => {
                let (name, gap) = (unit.name(), logit_gap(*gap));
                write!(f, "Same tokens. Largest difference of a {name} {gap}")
            }
            Self::Different { places, step } => {
                let names: Vec<String> = places.iter().map(|place| place.short()).collect();
                let verb = if names.len() == 1 {
                    "diverges"
                } else {
                    "diverge"
                };
                let (names, token) = (listed(&names), step + 1);
                write!(
                    f,
                    "Different tokens: {names} {verb} first, at token {token}"
                )
            }
        }
    }
}

/// Formats a logit difference: "0.36", "0.0004", "3e−6".
pub fn logit_gap(gap: f32) -> String {
    if gap == 0.0 {
        "0".to_owned()
    } else if gap >= 0.095 {
        format!("{gap:.2}")
    } else if gap >= 0.000_095 {
        let text = format!("{gap:.4}");
        text.trim_end_matches('0').to_owned()
    } else {
        format!("{gap:.0e}").replace('-', "−")
    }
}

#[cfg(test)]
mod tests {
    use super::{Comparison, RunPlace, Unit, logit_gap};

    #[test]
    fn gaps_are_short() {
        let gaps = [0.0, 3.2e-6, 0.0004, 0.05, 0.357, 12.0];
        let words = ["0", "3e−6", "0.0004", "0.05", "0.36", "12.00"];
        assert_eq!(gaps.map(logit_gap), words);
    }

    #[test]
    fn comparisons_name_the_panes_that_diverge_first() {
        let different = |places: &[RunPlace]| Comparison::Different {
            places: places.to_vec(),
            step: 10,
        };
        for (comparison, words) in [
            (Comparison::Identical, "Same tokens, bit-identical numbers"),
            (
                Comparison::SameTokens {
                    gap: 3e-6,
                    unit: Unit::Logits,
                },
                "Same tokens. Largest difference of a logit 3e−6",
            ),
            (
                Comparison::SameTokens {
                    gap: 0.012,
                    unit: Unit::LogProbs,
                },
                "Same tokens. Largest difference of a log-probability 0.012",
            ),
            (
                Comparison::SameTokens {
                    gap: 0.0,
                    unit: Unit::Logits,
                },
                "Same tokens, but not all numbers",
            ),
            (
                different(&[RunPlace::Pane(1), RunPlace::Pane(2)]),
                "Different tokens: B and C diverge first, at token 11",
            ),
            (
                different(&[RunPlace::Pane(0)]),
                "Different tokens: A diverges first, at token 11",
            ),
            (
                different(&[RunPlace::Pane(0), RunPlace::Turn { pane: 1, turn: 0 }]),
                "Different tokens: A and turn 1 of B diverge first, at token 11",
            ),
        ] {
            assert_eq!(comparison.to_string(), words);
        }
    }
}
