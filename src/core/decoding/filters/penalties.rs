//! Repetition, frequency and presence penalty: make tokens less likely that have already appeared.

use serde::{Deserialize, Serialize};

use super::Window;
use super::window::{Counts, reads_its_window};
use crate::decoding::dialect::Dialect;
use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::{FilterSpec, Phase, Ranking, Usage};
use crate::decoding::setting::{Limits, ParamSpec, field};
use crate::decoding::{Candidates, Field, Filter, FilterKind, StageContext};

/// Returns what the descriptions of all penalties have in common.
const fn penalty_spec(kind: FilterKind, usual: fn() -> Filter) -> FilterSpec {
    FilterSpec {
        usage: Usage::Common,
        phase: Phase::Adjust,
        ranking: Ranking::Changes,
        cuts_support: false,
        looks_back: true,
        llama_samplers: &["penalties", "e"],
        ..FilterSpec::new(kind, usual)
    }
}

/// Where the penalties that are subtracted come from, and the tools that have them.
const OPENAI: &str = "No paper: defined in the reference of OpenAI’s API, \
    https://platform.openai.com/docs/api-reference/completions/create";
const OF_OPENAI: &[Dialect] = &[Dialect::LlamaCpp, Dialect::Ollama, Dialect::OpenAi];

/// Returns the description of an amount that is subtracted from logits.
const fn subtracted(field: Field<Filter>) -> ParamSpec<Filter> {
    ParamSpec {
        range: -2.0..=2.0,
        limits: Limits::Finite,
        neutral: Some(0.0),
        usual: 0.1..=1.0,
        ..ParamSpec::new(field)
    }
}

/// Divides the positive logits of tokens in the window by `penalty`, and multiplies their other
/// logits by it, however often they appear. 1 has no effect.
///
/// Keskar et al. 2019, "CTRL: A Conditional Transformer Language Model for Controllable
/// Generation".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RepetitionPenalty {
    /// The factor, above 0.
    pub penalty: f32,
    /// The part of the text whose tokens are penalized.
    #[serde(flatten)]
    pub window: Window,
}

impl RepetitionPenalty {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &[
            "repeat",
            "repeat-penalty",
            "repetition",
            "repetition-penalty",
        ],
        chip: "repeat",
        name: "Repetition penalty",
        summary: "Penalizes repeated tokens",
        help: "Divides the positive logits of tokens that have already appeared by this factor, and \
               multiplies their other logits by it.",
        formula: "logit / penalty if logit > 0, else logit · penalty",
        edges: &[
            "A token counts once, however often it has appeared.",
            "Which of the two happens depends on the sign of the logit, although only distances between logits mean anything.",
            "In a beam search of transformers it sees log-probs, which are never above 0, so it always multiplies.",
        ],
        example: Some(|| {
            Filter::RepetitionPenalty(Self {
                penalty: 1.3,
                window: Window::ALL,
            })
        }),
        source: "Keskar et al. 2019, \"CTRL: A Conditional Transformer Language Model for Controllable \
                 Generation\", arXiv 1909.05858; on its dependence on the sign of a logit: Hollows \
                 2026, \"Gauge dependence and structured-output corruption in sign-branched \
                 repetition penalties\", arXiv 2607.09791",
        params: &[ParamSpec {
            range: 1.0..=2.0,
            limits: Limits::Above(0.0),
            neutral: Some(1.0),
            usual: 1.05..=1.3,
            ..ParamSpec::new(field!(Real, Filter::RepetitionPenalty.penalty))
        }],
        tool_keys: &[
            (&[Dialect::LlamaCpp, Dialect::Ollama], &["repeat_penalty"]),
            (&[Dialect::Transformers], &["repetition_penalty"]),
        ],
        ..penalty_spec(FilterKind::RepetitionPenalty, || {
            Filter::RepetitionPenalty(Self {
                penalty: 1.1,
                window: Window::LAST_64,
            })
        })
    };
}

impl FilterRule for RepetitionPenalty {
    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let counts = Counts::of(self.window.of(context.history), candidates);
        counts.adjust(candidates, |logit, _| {
            if logit <= 0.0 {
                logit * self.penalty
            } else {
                logit / self.penalty
            }
        });
    }

    #[expect(
        clippy::float_cmp,
        reason = "exactly 1 is the only value that has no effect"
    )]
    fn is_neutral(&self) -> bool {
        self.penalty == 1.0 || self.window.is_empty()
    }

    fn only_lowers(&self) -> bool {
        self.penalty >= 1.0
    }

    reads_its_window!();
}

/// Subtracts `penalty` from a token’s logit for each time it appears in the window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FrequencyPenalty {
    /// The amount subtracted each time; negative values encourage repetition.
    pub penalty: f32,
    /// The part of the text whose tokens are penalized.
    #[serde(flatten)]
    pub window: Window,
}

impl FrequencyPenalty {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["frequency", "frequency-penalty"],
        chip: "frequency",
        name: "Frequency penalty",
        summary: "Penalizes each repetition",
        help: "Subtracts this from a token’s logit for each time it has already appeared.",
        formula: "logit − penalty · count",
        edges: &[
            "The only one of the three penalties that grows with each repetition.",
            "Below 0 it encourages repetition.",
        ],
        source: OPENAI,
        params: &[subtracted(field!(Real, Filter::FrequencyPenalty.penalty))],
        tool_keys: &[(OF_OPENAI, &["frequency_penalty"])],
        ..penalty_spec(FilterKind::FrequencyPenalty, || {
            Filter::FrequencyPenalty(Self {
                penalty: 0.5,
                window: Window::LAST_64,
            })
        })
    };
}

impl FilterRule for FrequencyPenalty {
    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let counts = Counts::of(self.window.of(context.history), candidates);
        counts.adjust(candidates, |logit, count| {
            logit - self.penalty * count as f32
        });
    }

    fn is_neutral(&self) -> bool {
        self.penalty == 0.0 || self.window.is_empty()
    }

    fn only_lowers(&self) -> bool {
        self.penalty >= 0.0
    }

    reads_its_window!();
}

/// Subtracts `penalty` from the logit of each token in the window, however often it appears.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PresencePenalty {
    /// The amount subtracted; negative values encourage repetition.
    pub penalty: f32,
    /// The part of the text whose tokens are penalized.
    #[serde(flatten)]
    pub window: Window,
}

impl PresencePenalty {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["presence", "presence-penalty"],
        chip: "presence",
        name: "Presence penalty",
        summary: "Penalizes tokens just once",
        help: "Subtracts this from the logit of every token that has already appeared, however often.",
        formula: "logit − penalty if the token has appeared",
        edges: &[
            "A token counts once, however often it has appeared.",
            "Below 0 it encourages repetition.",
        ],
        source: OPENAI,
        params: &[subtracted(field!(Real, Filter::PresencePenalty.penalty))],
        tool_keys: &[(OF_OPENAI, &["presence_penalty"])],
        ..penalty_spec(FilterKind::PresencePenalty, || {
            Filter::PresencePenalty(Self {
                penalty: 0.5,
                window: Window::LAST_64,
            })
        })
    };
}

impl FilterRule for PresencePenalty {
    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let counts = Counts::of(self.window.of(context.history), candidates);
        counts.adjust(candidates, |logit, _| logit - self.penalty);
    }

    fn is_neutral(&self) -> bool {
        self.penalty == 0.0 || self.window.is_empty()
    }

    fn only_lowers(&self) -> bool {
        self.penalty >= 0.0
    }

    reads_its_window!();
}

#[cfg(test)]
mod tests {
    use super::{FrequencyPenalty, PresencePenalty, RepetitionPenalty, Window};
    use crate::decoding::testing::{apply, check_filter_after, token_ids};
    use crate::decoding::{Candidates, Filter};

    const FIVE: [f32; 5] = [0.2; 5];

    fn repeat(penalty: f32, window: Window) -> Filter {
        Filter::RepetitionPenalty(RepetitionPenalty { penalty, window })
    }

    fn frequency(penalty: f32, window: Window) -> Filter {
        Filter::FrequencyPenalty(FrequencyPenalty { penalty, window })
    }

    fn presence(penalty: f32, window: Window) -> Filter {
        Filter::PresencePenalty(PresencePenalty { penalty, window })
    }

    #[test]
    fn a_repeated_token_is_penalized_however_often_it_appeared() {
        for (history, expected) in [
            (&[][..], &[0.2; 5]),
            (&[0], &[0.0, 0.25, 0.25, 0.25, 0.25]),
            (&[0, 1, 2], &[0.0, 0.0, 0.0, 0.5, 0.5]),
            (&[0, 1, 2, 0, 0], &[0.0, 0.0, 0.0, 0.5, 0.5]),
        ] {
            check_filter_after(&repeat(50.0, Window::ALL), history, &FIVE, expected);
        }
    }

    #[test]
    fn positive_logits_are_divided_and_negative_ones_multiplied() {
        let history = token_ids(&[0, 1]);
        let mut candidates = Candidates::from_logits(&[3.0, -3.0, 3.0]).unwrap();
        apply(&repeat(1.5, Window::ALL), &history, &mut candidates);
        let logits: Vec<f32> = candidates.iter().map(|candidate| candidate.logit).collect();
        assert_eq!(logits, [2.0, -4.5, 3.0]);
    }

    #[test]
    fn frequency_counts_repetitions_and_presence_does_not() {
        let (two, e) = ([0.5, 0.5], std::f32::consts::E);
        for (filter, history, expected) in [
            (
                frequency(1.0, Window::ALL),
                &[0][..],
                [1.0 / (1.0 + e), e / (1.0 + e)],
            ),
            (
                frequency(1.0, Window::ALL),
                &[0, 0],
                [1.0 / (1.0 + e * e), e * e / (1.0 + e * e)],
            ),
            (
                presence(1.0, Window::ALL),
                &[0, 0],
                [1.0 / (1.0 + e), e / (1.0 + e)],
            ),
            (
                presence(-1.0, Window::ALL),
                &[0, 0],
                [e / (1.0 + e), 1.0 / (1.0 + e)],
            ),
            (presence(1.0, Window::ALL), &[7], two),
        ] {
            check_filter_after(&filter, history, &two, &expected);
        }
    }

    #[test]
    fn neutral_values_and_an_empty_window_have_no_effect() {
        let none = Window {
            last_n: Some(0),
            prompt_counted: true,
        };
        for filter in [
            repeat(1.0, Window::ALL),
            repeat(2.0, none),
            frequency(0.0, Window::ALL),
            frequency(2.0, none),
            presence(0.0, Window::ALL),
            presence(2.0, none),
        ] {
            assert!(filter.is_neutral(), "{filter:?}");
            check_filter_after(&filter, &[0, 1], &FIVE, &FIVE);
        }
    }

    #[test]
    fn impossible_penalties_are_invalid() {
        for filter in [
            repeat(0.0, Window::ALL),
            repeat(f32::NAN, Window::ALL),
            frequency(f32::INFINITY, Window::ALL),
            presence(f32::NAN, Window::ALL),
        ] {
            assert!(filter.validate().is_err(), "{filter:?}");
        }
    }
}
