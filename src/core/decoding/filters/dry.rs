//! DRY, "don't repeat yourself": the longer a repetition gets, the less likely its next token.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Window;
use super::window::reads_its_window;
use crate::decoding::dialect::Dialect;
use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::{FilterSpec, Phase, Ranking};
use crate::decoding::setting::{Limits, ParamSpec, field};
use crate::decoding::{Candidates, Filter, FilterKind, Need, StageContext, TokenId};

/// Subtracts `multiplier · base^(length - allowed_length)` from the logit of each token that would
/// extend a repetition of at least `allowed_length` tokens: one that, earlier in the window,
/// followed the same tokens that now end it. A `multiplier` of 0 has no effect.
///
/// No repetition reaches across a breaker, and a breaker of one token is never penalized itself.
///
/// p-e-w 2024, "DRY: A modern repetition penalty that reliably prevents looping".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dry {
    /// The penalty for the shortest repetition that is penalized.
    pub multiplier: f32,
    /// The factor by which the penalty grows with each further token; 1 or more.
    pub base: f32,
    /// The length from which a repetition is penalized, in tokens.
    pub allowed_length: u32,
    /// The part of the text in which repetitions count.
    #[serde(flatten)]
    pub window: Window,
    /// Token sequences that end a repetition.
    pub breakers: Vec<Vec<TokenId>>,
}

impl Default for Dry {
    /// The values that its author recommends, over the last 64 tokens.
    fn default() -> Self {
        Self {
            multiplier: 0.8,
            base: 1.75,
            allowed_length: 2,
            window: Window::LAST_64,
            breakers: Vec::new(),
        }
    }
}

impl Dry {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["dry"],
        chip: "dry",
        name: "DRY",
        summary: "Penalizes long repetitions",
        help: "Penalizes tokens that would extend a repetition, more strongly the longer it is.",
        formula: "logit − multiplier · base^(length − allowed)",
        edges: &[
            "The length is that of the longest repetition that the token would extend. A shorter one than allowed costs nothing.",
            "No repetition reaches across a sequence breaker, and a breaker of one token is never penalized itself.",
        ],
        source: "p-e-w 2024, \"DRY: A modern repetition penalty that reliably prevents \
                 looping\", https://github.com/oobabooga/text-generation-webui/pull/5677",
        phase: Phase::Adjust,
        ranking: Ranking::Changes,
        cuts_support: false,
        looks_back: true,
        params: &[
            ParamSpec {
                range: 0.0..=2.0,
                limits: Limits::Finite,
                neutral: Some(0.0),
                usual: 0.8..=0.8,
                ..ParamSpec::new(field!(Real, Filter::Dry.multiplier))
            },
            ParamSpec {
                key: "base",
                label: "Base",
                help: "The factor by which the penalty grows with each further token of a repetition, \
                       so at 1 it stays constant.",
                range: 1.0..=4.0,
                limits: Limits::AtLeast(1.0),
                usual: 1.75..=1.75,
                ..ParamSpec::new(field!(Real, Filter::Dry.base))
            },
            ParamSpec {
                key: "allowed",
                label: "Allowed length",
                unit: "tokens",
                help: "Repetitions shorter than this are not penalized.",
                range: 1.0..=10.0,
                limits: Limits::AtLeast(0.0),
                usual: 2.0..=2.0,
                decimals: 0,
                ..ParamSpec::new(field!(Count, Filter::Dry.allowed_length))
            },
        ],
        tool_keys: &[(
            &[Dialect::LlamaCpp],
            &["dry_multiplier", "dry_base", "dry_allowed_length"],
        )],
        llama_samplers: &["dry", "d"],
        needs: &[Need::TokenIds],
        ..FilterSpec::new(FilterKind::Dry, || {
            Filter::Dry(Self {
                window: Window::ALL,
                ..Self::default()
            })
        })
    };
}

impl FilterRule for Dry {
    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let newest_first: Vec<TokenId> = self
            .window
            .of(context.history)
            .iter()
            .rev()
            .copied()
            .collect();
        if newest_first.len() <= self.allowed_length as usize {
            return;
        }
        let longest = self.n_since_breaker(&newest_first);
        if longest < self.allowed_length as usize {
            return;
        }
        let mut lengths = BTreeMap::new();
        for (length, next) in matches_with_start(&newest_first)
            .into_iter()
            .zip(&newest_first)
        {
            let length = length.min(longest) as u32;
            if length >= self.allowed_length {
                let longest = lengths.entry(*next).or_insert(length);
                *longest = length.max(*longest);
            }
        }
        let penalized: Vec<_> = lengths
            .into_iter()
            .filter(|(token, _)| !self.breakers.iter().any(|breaker| breaker == &[*token]))
            .filter_map(|(token, length)| {
                let logit = candidates.logit(token)?;
                Some((token, logit - self.penalty(length)))
            })
            .collect();
        candidates.set_logits(&penalized);
    }

    fn is_neutral(&self) -> bool {
        self.multiplier == 0.0 || self.base < 1.0 || self.window.is_empty()
    }

    fn only_lowers(&self) -> bool {
        self.multiplier >= 0.0
    }

    reads_its_window!();
}

impl Dry {
    fn penalty(&self, length: u32) -> f32 {
        let mut exponent = (length - self.allowed_length) as f32;
        if self.base > 1.000_001 {
            // Keep the power below the largest f32.
            exponent = exponent.min((f32::MAX.ln() / self.base.ln()).floor());
        }
        self.multiplier * self.base.powf(exponent)
    }

    /// Returns how many tokens follow the last breaker.
    fn n_since_breaker(&self, newest_first: &[TokenId]) -> usize {
        for end in 0..newest_first.len() {
            let since = newest_first.get(..=end).unwrap_or_default();
            let ends_here = |breaker: &&Vec<TokenId>| {
                !breaker.is_empty() && breaker.len() <= since.len() && {
                    let newest = since.iter().rev().take(breaker.len());
                    newest.eq(breaker.iter())
                }
            };
            let longest = self.breakers.iter().filter(ends_here).map(Vec::len).max();
            if let Some(n_tokens) = longest {
                return end + 1 - n_tokens;
            }
        }
        newest_first.len()
    }
}

/// Returns, for each position but the first, the length of the longest common prefix of all tokens
/// and the tokens from there on.
///
/// Gusfield 1997, "Algorithms on Strings, Trees, and Sequences", the Z algorithm: tokens that are
/// known to match are not compared again.
fn matches_with_start(tokens: &[TokenId]) -> Vec<usize> {
    let mut lengths: Vec<usize> = Vec::with_capacity(tokens.len());
    let (mut start, mut end) = (0, 0);
    for at in 1..tokens.len() {
        let known = if at < end {
            // `lengths` begins with position 1.
            lengths
                .get((at - start).wrapping_sub(1))
                .copied()
                .unwrap_or(0)
        } else {
            0
        };
        let mut length = known.min(end.saturating_sub(at));
        while let (Some(a), Some(b)) = (tokens.get(length), tokens.get(at + length)) {
            if a != b {
                break;
            }
            length += 1;
        }
        if at + length > end {
            (start, end) = (at, at + length);
        }
        lengths.push(length);
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::{Dry, matches_with_start};
    use crate::decoding::Filter;
    use crate::decoding::filters::Window;
    use crate::decoding::testing::{check_filter_after, token_ids};

    fn dry(multiplier: f32, allowed_length: u32, breakers: &[&[u32]]) -> Filter {
        Filter::Dry(Dry {
            multiplier,
            base: 1.1,
            allowed_length,
            window: Window::ALL,
            breakers: breakers.iter().map(|breaker| token_ids(breaker)).collect(),
        })
    }

    #[test]
    fn a_token_that_extends_a_repetition_is_penalized() {
        let (four, five) = ([0.25; 4], [0.2; 5]);
        for (filter, history, probs, expected) in [
            (dry(1.0, 2, &[]), &[0, 1][..], &four[..], &four[..]),
            (
                dry(1.0, 2, &[]),
                &[0, 1, 2, 0, 1],
                &four,
                &[0.296_923, 0.296_923, 0.109_232, 0.296_923],
            ),
            (dry(1.0, 2, &[&[3]]), &[0, 1, 3, 4, 0, 1], &five, &five),
            (
                dry(2.0, 2, &[]),
                &[0, 1, 2, 0, 1],
                &five,
                &[0.241_818, 0.241_818, 0.032_727, 0.241_818, 0.241_818],
            ),
            (dry(1.0, 4, &[]), &[0, 1, 2, 3, 4, 0, 1], &five, &five),
        ] {
            check_filter_after(&filter, history, probs, expected);
        }
    }

    #[test]
    fn a_breaker_limits_a_repetition_and_is_not_penalized_itself() {
        let five = [0.2; 5];
        let history = [0, 1, 2, 0, 1];
        // One token follows the breaker, and repetitions of one are penalized here.
        let penalized = [0.241_818, 0.241_818, 0.032_727, 0.241_818, 0.241_818];
        for (filter, expected) in [
            (dry(2.0, 1, &[&[0]]), penalized),
            (dry(2.0, 2, &[&[0]]), five),
            (dry(2.0, 2, &[&[2]]), five),
            (dry(2.0, 2, &[&[2, 0]]), five),
            (dry(2.0, 2, &[&[2, 4]]), penalized),
        ] {
            check_filter_after(&filter, &history, &five, &expected);
        }
    }

    #[test]
    fn an_endless_repetition_has_a_finite_penalty() {
        let history = vec![0; 2000];
        check_filter_after(&dry(1.0, 2, &[]), &history, &[0.5, 0.5], &[0.0, 1.0]);
    }

    #[test]
    fn match_lengths_follow_their_definition() {
        let tokens: Vec<_> = (0..200_u32).map(|i| (i * i / 3 + i / 7) % 3).collect();
        let tokens = token_ids(&tokens);
        let by_definition: Vec<usize> = (1..tokens.len())
            .map(|at| {
                let pairs = tokens.iter().zip(&tokens[at..]);
                pairs.take_while(|(a, b)| a == b).count()
            })
            .collect();
        assert_eq!(matches_with_start(&tokens), by_definition);
    }
}
