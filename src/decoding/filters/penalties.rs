//! Repetition, frequency and presence penalty: make tokens less likely that have occurred.

use serde::{Deserialize, Serialize};

use crate::decoding::{Candidates, History, Rule, StageContext, TokenId};

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

    /// The whole history, the prompt included: what transformers does.
    pub const ALL: Self = Self {
        last_n: None,
        prompt_counted: true,
    };

    /// All that was generated, and nothing of the prompt: what most servers do for
    /// frequency and presence.
    pub const GENERATED: Self = Self {
        last_n: None,
        prompt_counted: false,
    };

    /// The tokens that it shows, oldest first.
    pub fn of(self, history: History<'_>) -> &[TokenId] {
        let tokens = if self.prompt_counted {
            history.tokens()
        } else {
            history.generated()
        };
        let n = self.last_n.map_or(usize::MAX, |n| n as usize);
        let start = tokens.len().saturating_sub(n);
        tokens.get(start..).unwrap_or_default()
    }

    /// How `--pane` says it: " last 32 generated only"; nothing for the last 64 tokens.
    pub(super) fn words(self) -> String {
        let last = match self.last_n {
            None => " last all".to_owned(),
            n if n == Self::LAST_64.last_n => String::new(),
            Some(n) => format!(" last {n}"),
        };
        let scope = if self.prompt_counted {
            ""
        } else {
            " generated only"
        };
        last + scope
    }

    /// How often each token occurs in it that is in play.
    fn counts(self, history: History<'_>, candidates: &Candidates) -> Counts {
        let tokens = self.of(history);
        if candidates.n_kept() <= N_SEARCHED {
            return Counts(counts_of_few(tokens, candidates));
        }
        let mut tokens = tokens.to_vec();
        tokens.sort_unstable();
        let counts = tokens.chunk_by(|a, b| a == b);
        let counts = counts.filter_map(|same| Some((*same.first()?, same.len() as u32)));
        Counts(counts.collect())
    }
}

/// For so few candidates the window is searched, which is quicker than sorting it.
const N_SEARCHED: usize = 64;

/// The tokens are told apart by so many of their ids' last values before they are looked up.
const N_SLOTS: usize = 4096;

/// How often each of a few candidates occurs. Nearly all tokens of a long window are none of them,
/// and are passed over at the cost of one look at a bit.
fn counts_of_few(tokens: &[TokenId], candidates: &Candidates) -> Vec<(TokenId, u32)> {
    let mut slots = [0_u64; N_SLOTS / 64];
    let mut counts = Vec::with_capacity(candidates.n_kept());
    for candidate in candidates.iter() {
        let slot = candidate.token.index() % N_SLOTS;
        if let Some(word) = slots.get_mut(slot / 64) {
            *word |= 1 << (slot % 64);
        }
        counts.push((candidate.token, 0));
    }
    for token in tokens {
        let slot = token.index() % N_SLOTS;
        let word = slots.get(slot / 64).copied().unwrap_or_default();
        if word >> (slot % 64) & 1 == 1
            && let Ok(at) = counts.binary_search_by_key(token, |(candidate, _)| *candidate)
            && let Some((_, count)) = counts.get_mut(at)
        {
            *count += 1;
        }
    }
    counts.retain(|(_, count)| *count > 0);
    counts
}

/// How often each token occurs, in the order of the ids.
struct Counts(Vec<(TokenId, u32)>);

impl Counts {
    fn adjust(&self, candidates: &mut Candidates, new_logit: impl Fn(f32, u32) -> f32) {
        let changes: Vec<_> = self
            .0
            .iter()
            .filter_map(|(token, count)| {
                let logit = candidates.logit(*token)?;
                Some((*token, new_logit(logit, *count)))
            })
            .collect();
        candidates.set_logits(&changes);
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

impl Rule for RepetitionPenalty {
    fn name(&self) -> &'static str {
        "Repetition penalty"
    }

    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let counts = self.window.counts(context.history, candidates);
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
        reason = "exactly 1 is the one value that does nothing"
    )]
    fn is_neutral(&self) -> bool {
        self.penalty == 1.0 || self.window.last_n == Some(0)
    }

    fn complaint(&self) -> Option<String> {
        let possible = self.penalty.is_finite() && self.penalty > 0.0;
        (!possible).then(|| "Repetition penalty is above 0".to_owned())
    }

    fn words(&self) -> String {
        format!("{self}{}", self.window.words())
    }
}

impl std::fmt::Display for RepetitionPenalty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "repeat {}", self.penalty)
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

impl Rule for FrequencyPenalty {
    fn name(&self) -> &'static str {
        "Frequency penalty"
    }

    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let counts = self.window.counts(context.history, candidates);
        counts.adjust(candidates, |logit, count| {
            logit - self.penalty * count as f32
        });
    }

    fn is_neutral(&self) -> bool {
        self.penalty == 0.0 || self.window.last_n == Some(0)
    }

    fn complaint(&self) -> Option<String> {
        (!self.penalty.is_finite()).then(|| "Frequency penalty is a number".to_owned())
    }

    fn words(&self) -> String {
        format!("{self}{}", self.window.words())
    }
}

impl std::fmt::Display for FrequencyPenalty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "frequency {}", self.penalty)
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

impl Rule for PresencePenalty {
    fn name(&self) -> &'static str {
        "Presence penalty"
    }

    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let counts = self.window.counts(context.history, candidates);
        counts.adjust(candidates, |logit, _| logit - self.penalty);
    }

    fn is_neutral(&self) -> bool {
        self.penalty == 0.0 || self.window.last_n == Some(0)
    }

    fn complaint(&self) -> Option<String> {
        (!self.penalty.is_finite()).then(|| "Presence penalty is a number".to_owned())
    }

    fn words(&self) -> String {
        format!("{self}{}", self.window.words())
    }
}

impl std::fmt::Display for PresencePenalty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "presence {}", self.penalty)
    }
}

#[cfg(test)]
mod tests {
    use super::{FrequencyPenalty, PresencePenalty, RepetitionPenalty, Window};
    use crate::decoding::testing::{check_filter_after, token_ids};
    use crate::decoding::{Filter, History, TokenId};

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
    fn a_window_shows_what_it_says() {
        let tokens = token_ids(&[1, 2, 3, 4, 5]);
        let history = History::new(&tokens, 2);
        let window = |last_n, prompt_counted| Window {
            last_n,
            prompt_counted,
        };
        for (window, expected) in [
            (window(None, true), &[1, 2, 3, 4, 5][..]),
            (window(Some(4), true), &[2, 3, 4, 5]),
            (window(Some(99), true), &[1, 2, 3, 4, 5]),
            (window(Some(0), true), &[]),
            (window(None, false), &[3, 4, 5]),
            (window(Some(2), false), &[4, 5]),
            (window(Some(4), false), &[3, 4, 5]),
        ] {
            assert_eq!(window.of(history), token_ids(expected), "{window:?}");
        }
        assert_eq!(Window::ALL.of(History::empty()), &[] as &[TokenId]);
    }

    #[test]
    fn a_token_that_occurred_is_less_likely_however_often_it_did() {
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
    fn a_positive_score_is_divided_and_a_negative_one_multiplied() {
        let history = token_ids(&[0, 1]);
        let mut candidates = crate::decoding::Candidates::from_logits(&[3.0, -3.0, 3.0]).unwrap();
        crate::decoding::testing::apply(&repeat(1.5, Window::ALL), &history, &mut candidates);
        let logits: Vec<f32> = candidates.iter().map(|candidate| candidate.logit).collect();
        assert_eq!(logits, [2.0, -4.5, 3.0]);
    }

    #[test]
    fn tokens_are_counted_alike_for_few_candidates_and_for_many() {
        // Ids that are equal modulo 4,096 must not be taken for one another.
        let history = token_ids(&[1, 4097, 4097, 30, 8193, 30, 5, 30]);
        let history = History::new(&history, 0);
        let row = vec![1.0_f32; 10_000];
        let many = crate::decoding::Candidates::from_logits(&row).unwrap();
        let few = [1, 2, 30, 4097, 9000].map(|id| many.iter().nth(id).unwrap());
        let few = crate::decoding::Candidates::from_entries(few.to_vec()).unwrap();
        let counted = Window::ALL.counts(history, &few).0;
        let mut expected = Window::ALL.counts(history, &many).0;
        expected.retain(|(token, _)| few.logit(*token).is_some());
        assert_eq!(counted, expected);
        assert_eq!(
            counted,
            [(1, 1), (30, 3), (4097, 2)].map(|(id, n)| (TokenId(id), n))
        );
    }

    #[test]
    fn frequency_counts_and_presence_does_not() {
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
    fn neutral_values_and_an_empty_window_change_nothing() {
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
    fn impossible_penalties_are_named() {
        for filter in [
            repeat(0.0, Window::ALL),
            repeat(f32::NAN, Window::ALL),
            frequency(f32::INFINITY, Window::ALL),
            presence(f32::NAN, Window::ALL),
        ] {
            assert!(filter.complaint().is_some(), "{filter:?}");
        }
    }
}
