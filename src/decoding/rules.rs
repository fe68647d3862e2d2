//! Where engines read the same setting differently: the small print of a dialect, as data.

use serde::{Deserialize, Serialize};

/// How the filters of a chain treat the cases on which engines disagree.
///
/// The default is ours: of equals the lowest ids stay, and a bound is reached when it is met.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rules {
    /// How many candidates top-p, min-p, typical-p, XTC and the cut-offs leave at the least; 0 and 1
    /// are the same.
    pub min_keep: u32,
    /// Which candidates stay that are as likely as the k-th.
    pub top_k_ties: Ties,
    /// What top-p takes its share of.
    pub top_p_mass: Mass,
    /// What a top-p of 0 means.
    pub top_p_zero: TopPZero,
    /// What min-p does with a candidate exactly at its bar.
    pub min_p_equal: Equal,
    /// Where typical-p stops.
    pub typical: TypicalRule,
}

/// Which of several equally likely candidates stay when not all do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// Those with the lowest ids.
    #[default]
    LowestIds,
    /// All of them, so that more than k can stay.
    All,
}

/// What a share is a share of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mass {
    /// The probability of those still in play, which sums to one.
    #[default]
    Kept,
    /// The probability from before the cuts since the last stage that changed any score, which sums
    /// to less.
    BeforeCuts,
}

/// What a top-p of 0 means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TopPZero {
    /// Only the most likely candidate stays.
    #[default]
    KeepsBest,
    /// The stage does nothing.
    Off,
}

/// What happens to a candidate exactly at a bar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Equal {
    /// It stays.
    #[default]
    Kept,
    /// It is cut. A bar at the best itself, which would leave none, is off.
    Cut,
}

/// Where typical-p stops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TypicalRule {
    /// At the candidate with which the sum reaches the share.
    #[default]
    Reached,
    /// At the candidate with which the sum is above the share; and where a candidate is in play whose
    /// probability is 0, be it that 32 bits hold none so small, the most likely stay instead of the
    /// most typical. That is a fault which llama.cpp has, kept because its texts come from it.
    Passed,
    /// At the candidate with which the sum reaches the share, and all that are as typical as it stay.
    ReachedWithTies,
}
