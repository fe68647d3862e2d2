//! DRY, "don't repeat yourself": the longer a repetition gets, the less likely its next token.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Window;
use crate::decoding::{Candidates, Rule, StageContext, TokenId};

/// Takes `multiplier · base^(length - allowed_length)` from the logit of each token that would
/// lengthen a repetition of at least `allowed_length` tokens: one that followed, earlier in the
/// window, the very tokens that stand at its end now. A `multiplier` of 0 does nothing.
///
/// A breaker ends what counts as one repetition; a breaker of one token is never penalised itself.
///
/// p-e-w 2024, "DRY: A modern repetition penalty that reliably prevents looping".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dry {
    /// How strong it is; 0.8 is usual.
    pub multiplier: f32,
    /// How fast it grows with the length; 1.75 is usual.
    pub base: f32,
    /// How long a repetition may be without penalty; 2 is usual.
    pub allowed_length: u32,
    /// Where it looks.
    #[serde(flatten)]
    pub window: Window,
    /// The runs of tokens over which no repetition reaches.
    pub breakers: Vec<Vec<TokenId>>,
}

impl Default for Dry {
    /// The usual values, with the multiplier that its author recommends.
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

impl Rule for Dry {
    fn name(&self) -> &'static str {
        "DRY"
    }

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
        let penalised: Vec<_> = lengths
            .into_iter()
            .filter(|(token, _)| !self.breakers.iter().any(|breaker| breaker == &[*token]))
            .filter_map(|(token, length)| {
                let logit = candidates.logit(token)?;
                Some((token, logit - self.penalty(length)))
            })
            .collect();
        candidates.set_logits(&penalised);
    }

    fn is_neutral(&self) -> bool {
        self.multiplier == 0.0 || self.base < 1.0 || self.window.last_n == Some(0)
    }

    fn complaint(&self) -> Option<String> {
        if !self.multiplier.is_finite() {
            return Some("The strength of DRY is a number".to_owned());
        }
        let possible = self.base.is_finite() && self.base >= 1.0;
        (!possible).then(|| "The base of DRY is 1 or more".to_owned())
    }

    fn words(&self) -> String {
        let Self {
            base,
            allowed_length,
            ..
        } = self;
        let window = self.window.words();
        let mut words = format!("{self} base {base} allowed {allowed_length}{window}");
        if !self.breakers.is_empty() {
            words += " breakers";
        }
        for breaker in &self.breakers {
            let ids: Vec<String> = breaker.iter().map(ToString::to_string).collect();
            words = words + " " + &ids.join("+");
        }
        words
    }
}

impl Dry {
    fn penalty(&self, length: u32) -> f32 {
        let mut exponent = (length - self.allowed_length) as f32;
        if self.base > 1.000_001 {
            // The power must not pass the largest 32-bit number.
            exponent = exponent.min((f32::MAX.ln() / self.base.ln()).floor());
        }
        self.multiplier * self.base.powf(exponent)
    }

    /// How many tokens stand after the end of the last breaker.
    fn n_since_breaker(&self, newest_first: &[TokenId]) -> usize {
        for end in 0..newest_first.len() {
            let since = newest_first.get(..=end).unwrap_or_default();
            let ends_here = |breaker: &&Vec<TokenId>| {
                !breaker.is_empty() && breaker.len() <= since.len() && {
                    let written = since.iter().rev().take(breaker.len());
                    written.eq(breaker.iter())
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

impl std::fmt::Display for Dry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "dry {}", self.multiplier)
    }
}

/// For each place but the first, how many tokens from there on are the same as from the start on.
///
/// Gusfield 1997, "Algorithms on Strings, Trees, and Sequences", the Z algorithm: the part that is
/// known to match is not compared again.
fn matches_with_start(tokens: &[TokenId]) -> Vec<usize> {
    let mut lengths: Vec<usize> = Vec::with_capacity(tokens.len());
    let (mut start, mut end) = (0, 0);
    for at in 1..tokens.len() {
        let known = if at < end {
            // `lengths` begins with the place 1.
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
    fn what_lengthens_a_repetition_is_less_likely() {
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
    fn a_breaker_limits_a_repetition_and_is_not_penalised_itself() {
        let five = [0.2; 5];
        let history = [0, 1, 2, 0, 1];
        // The tokens after the breaker still count: one, and one is allowed.
        let penalised = [0.241_818, 0.241_818, 0.032_727, 0.241_818, 0.241_818];
        for (filter, expected) in [
            (dry(2.0, 1, &[&[0]]), penalised),
            (dry(2.0, 2, &[&[0]]), five),
            (dry(2.0, 2, &[&[2]]), five),
            (dry(2.0, 2, &[&[2, 0]]), five),
            (dry(2.0, 2, &[&[2, 4]]), penalised),
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
    fn matches_are_those_of_the_definition() {
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
