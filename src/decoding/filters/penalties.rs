//! Repetition, frequency and presence penalty: make tokens less likely that have occurred.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::decoding::{Candidates, History, TokenId};

/// Which part of the history a penalty looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// How many of the last tokens count; nothing means all.
    pub last_n: Option<u32>,
    /// Whether the prompt's tokens count too.
    pub prompt_counted: bool,
}

impl Window {
    /// The last 64 tokens, the prompt's included: what llama.cpp does unless told otherwise.
    pub const LAST_64: Self = Self {
        last_n: Some(64),
        prompt_counted: true,
    };

    fn counts(self, history: History<'_>) -> BTreeMap<TokenId, u32> {
        let window = self.last_n.map_or(usize::MAX, |n| n as usize);
        let tokens = if self.prompt_counted {
            history.last(window)
        } else {
            let generated = history.generated();
            let start = generated.len().saturating_sub(window);
            generated.get(start..).unwrap_or_default()
        };
        let mut counts = BTreeMap::new();
        for token in tokens {
            *counts.entry(*token).or_insert(0) += 1;
        }
        counts
    }
}

/// Divides a positive logit by `penalty`, and multiplies another by it, once for each token that
/// occurs in the window. 1 does nothing.
///
/// Keskar et al. 2019, "CTRL: A Conditional Transformer Language Model for Controllable Generation".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RepetitionPenalty {
    /// The factor, above 0.
    pub penalty: f32,
    /// Where it looks.
    #[serde(flatten)]
    pub window: Window,
}

impl RepetitionPenalty {
    pub(crate) fn apply(self, history: History<'_>, candidates: &mut Candidates) {
        if self.is_neutral() {
            return;
        }
        let counts = self.window.counts(history);
        candidates.map_logits(|candidate| {
            if !counts.contains_key(&candidate.token) {
                candidate.logit
            } else if candidate.logit <= 0.0 {
                candidate.logit * self.penalty
            } else {
                candidate.logit / self.penalty
            }
        });
    }

    #[expect(
        clippy::float_cmp,
        reason = "exactly 1 is the one value that does nothing"
    )]
    pub(crate) fn is_neutral(self) -> bool {
        self.penalty == 1.0 || self.window.last_n == Some(0)
    }

    pub(crate) fn complaint(self) -> Option<String> {
        let possible = self.penalty.is_finite() && self.penalty > 0.0;
        (!possible).then(|| "Repetition penalty is above 0".to_owned())
    }
}

/// Subtracts `penalty` from a token's logit for each time that it occurs in the window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FrequencyPenalty {
    /// What is subtracted each time; negative values encourage.
    pub penalty: f32,
    /// Where it looks.
    #[serde(flatten)]
    pub window: Window,
}

impl FrequencyPenalty {
    pub(crate) fn apply(self, history: History<'_>, candidates: &mut Candidates) {
        if self.is_neutral() {
            return;
        }
        let counts = self.window.counts(history);
        candidates.map_logits(|candidate| {
            let count = counts.get(&candidate.token).copied().unwrap_or(0);
            candidate.logit - self.penalty * count as f32
        });
    }

    pub(crate) fn is_neutral(self) -> bool {
        self.penalty == 0.0 || self.window.last_n == Some(0)
    }

    pub(crate) fn complaint(self) -> Option<String> {
        (!self.penalty.is_finite()).then(|| "Frequency penalty is a number".to_owned())
    }
}

/// Subtracts `penalty` from the logit of each token that occurs in the window, once.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PresencePenalty {
    /// What is subtracted; negative values encourage.
    pub penalty: f32,
    /// Where it looks.
    #[serde(flatten)]
    pub window: Window,
}

impl PresencePenalty {
    pub(crate) fn apply(self, history: History<'_>, candidates: &mut Candidates) {
        if self.is_neutral() {
            return;
        }
        let counts = self.window.counts(history);
        candidates.map_logits(|candidate| {
            if counts.contains_key(&candidate.token) {
                candidate.logit - self.penalty
            } else {
                candidate.logit
            }
        });
    }

    pub(crate) fn is_neutral(self) -> bool {
        self.penalty == 0.0 || self.window.last_n == Some(0)
    }

    pub(crate) fn complaint(self) -> Option<String> {
        (!self.penalty.is_finite()).then(|| "Presence penalty is a number".to_owned())
    }
}
