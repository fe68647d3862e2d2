//! The cases on which engines disagree about the same setting, as data.

use serde::{Deserialize, Serialize};

/// How the filters of a chain treat the cases on which engines disagree.
///
/// The default is Quartet's: among equals the lowest ids stay, and a sum that equals a threshold
/// reaches it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rules {
    /// The minimum number of candidates that top-p, min-p, typical-p, tail-free, XTC and the
    /// cutoffs leave; 0 and 1 mean the same.
    pub min_keep: u32,
    /// Which of the candidates as likely as the k-th stay.
    pub top_k_ties: Ties,
    /// What top-p measures its share against.
    pub top_p_mass: Mass,
    pub top_p_zero: TopPZero,
    /// What min-p does with a candidate exactly at its threshold.
    pub min_p_equal: Equal,
    pub typical: TypicalRule,
    /// What the stages of a beam search see, and what it adds up.
    pub beam_scores: BeamScores,
}

/// Which of several equally likely candidates stay if k falls among them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// Those with the lowest ids, so that exactly k stay.
    #[default]
    LowestIds,
    /// All of them, so that more than k can stay.
    All,
}

/// What a share of the probability is measured against.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mass {
    /// The candidates still in play, whose probabilities sum to 1.
    #[default]
    Kept,
    /// All candidates before the cuts since the last stage that changed a logit. The probabilities
    /// of those still in play sum to less than 1.
    BeforeCuts,
}

/// What a top-p of 0 means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TopPZero {
    /// Only the most likely candidate stays.
    #[default]
    KeepsBest,
    /// The stage has no effect.
    Off,
}

/// What happens to a candidate exactly at a threshold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Equal {
    /// It stays.
    #[default]
    Kept,
    /// It is dropped. A threshold at the best candidate, which would leave none, has no effect.
    Cut,
}

/// Where typical-p stops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TypicalRule {
    /// At the candidate whose probability brings the sum to p.
    #[default]
    Reached,
    /// At the candidate whose probability brings the sum above p. If a candidate in play has a
    /// probability of 0 (in 32 bits), the most likely stay instead of the most typical: a bug in
    /// llama.cpp, reproduced here because its texts depend on it.
    Passed,
    /// As `Reached`, but all candidates as typical as the last one stay too.
    ReachedWithTies,
}

/// What the stages of a beam search see, and what it adds up.
///
/// The two only differ for a stage that asks more of a logit than its distance to the others, which
/// is the repetition penalty: it divides a logit above 0, and a log-prob never is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BeamScores {
    /// The stages see logits; the log-probs after them add up.
    #[default]
    Logits,
    /// The stages see log-probs, and what they leave of them adds up, so that a token is not
    /// likelier because others were ruled out. `_beam_search` in transformers 5.24 does so.
    LogProbs,
    /// The stages see log-probs; the log-probs after them add up. This is `renormalize_logits=True`
    /// in transformers.
    Renormalized,
}

impl BeamScores {
    /// All of them, in menu order.
    pub const ALL: [Self; 3] = [Self::Logits, Self::LogProbs, Self::Renormalized];

    /// The word for it in a `--pane` description.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Logits => "logits",
            Self::LogProbs => "log-probs",
            Self::Renormalized => "renormalized",
        }
    }

    /// Its name on screen.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Logits => "Logits",
            Self::LogProbs => "Log-probs",
            Self::Renormalized => "Renormalized",
        }
    }

    /// What the stages see and what adds up, in a few sentences.
    pub const fn help(self) -> &'static str {
        match self {
            Self::Logits => {
                "The stages see the model’s logits, and the log-probs after them add up. This is \
                 Quartet’s own rule."
            }
            Self::LogProbs => {
                "The stages see log-probs, and what they leave of them adds up without being \
                 normalized again, so a token is not more likely because others were ruled out. This \
                 is the default of transformers."
            }
            Self::Renormalized => {
                "The stages see log-probs, and the log-probs after them add up. This is \
                 renormalize_logits=True in transformers."
            }
        }
    }
}
