//! The verdict on a replay, as data and in words.

use std::fmt;

use super::TextReplay;
use crate::generation::formatting::pane_letter;
use crate::generation::listed;

/// Whether a replay reproduced its run.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The same tokens from the same numbers.
    Identical,
    SameTokens {
        /// The largest logit difference.
        gap: f32,
    },
    Different {
        /// The panes that diverge first.
        panes: Vec<usize>,
        /// The index of the step at which they diverge.
        step: usize,
    },
}

impl Verdict {
    /// Judges all texts of a run.
    pub fn of(texts: &[TextReplay]) -> Self {
        let step_of = |text: &TextReplay| text.first_difference.map(|found| found.step);
        let Some(step) = texts.iter().filter_map(step_of).min() else {
            return if texts.iter().all(|text| text.is_identical) {
                Self::Identical
            } else {
                let gaps = texts.iter().map(TextReplay::largest_gap);
                Self::SameTokens {
                    gap: gaps.fold(0.0, f32::max),
                }
            };
        };
        let first = |(_, text): &(usize, &TextReplay)| step_of(text) == Some(step);
        let panes = texts.iter().enumerate().filter(first);
        Self::Different {
            panes: panes.map(|(pane, _)| pane).collect(),
            step,
        }
    }

    /// Whether all tokens are the same.
    pub const fn has_same_tokens(&self) -> bool {
        !matches!(self, Self::Different { .. })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identical => f.write_str("Same tokens, bit-identical numbers"),
            Self::SameTokens { gap } => {
                write!(
                    f,
                    "Same tokens. Largest logit difference {}",
                    logit_gap(*gap)
                )
            }
            Self::Different { panes, step } => {
                let letters = panes.iter().map(|pane| pane_letter(*pane));
                let letters: Vec<String> = letters.collect();
                let verb = if panes.len() == 1 {
                    "diverges"
                } else {
                    "diverge"
                };
                let (panes, token) = (listed(&letters), step + 1);
                write!(
                    f,
                    "Different tokens: {panes} {verb} first, at token {token}"
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
    use super::{Verdict, logit_gap};

    #[test]
    fn gaps_are_short() {
        let gaps = [0.0, 3.2e-6, 0.0004, 0.05, 0.357, 12.0];
        let words = ["0", "3e−6", "0.0004", "0.05", "0.36", "12.00"];
        assert_eq!(gaps.map(logit_gap), words);
    }

    #[test]
    fn verdicts_name_the_panes_that_diverge_first() {
        let verdict = |panes: &[usize]| Verdict::Different {
            panes: panes.to_vec(),
            step: 10,
        };
        for (verdict, words) in [
            (Verdict::Identical, "Same tokens, bit-identical numbers"),
            (
                Verdict::SameTokens { gap: 3e-6 },
                "Same tokens. Largest logit difference 3e−6",
            ),
            (
                verdict(&[1, 2]),
                "Different tokens: B and C diverge first, at token 11",
            ),
            (
                verdict(&[0]),
                "Different tokens: A diverges first, at token 11",
            ),
        ] {
            assert_eq!(verdict.to_string(), words);
        }
    }
}
