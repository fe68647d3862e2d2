//! The part of the text that a penalty looks at, and how often each token appears in it.

use serde::{Deserialize, Serialize};

use crate::decoding::{Candidates, History, TokenId};

/// Which part of the history a filter looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// How many of the last tokens count; `None` means all of them.
    pub last_n: Option<u32>,
    /// Whether the tokens of the prompt count too.
    pub prompt_counted: bool,
}

impl Window {
    /// The last 64 tokens, including the prompt's: the default of llama.cpp.
    pub const LAST_64: Self = Self {
        last_n: Some(64),
        prompt_counted: true,
    };

    /// The whole history, including the prompt: what transformers uses.
    pub const ALL: Self = Self {
        last_n: None,
        prompt_counted: true,
    };

    /// Everything generated so far, without the prompt: what most servers use for frequency and
    /// presence penalties.
    pub const GENERATED: Self = Self {
        last_n: None,
        prompt_counted: false,
    };

    /// Returns the tokens in the window, oldest first.
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

    /// Whether it can never hold a token.
    pub const fn is_empty(self) -> bool {
        matches!(self.last_n, Some(0))
    }
}

/// The methods of a `FilterRule` that reads the part of the text in its field `window`.
macro_rules! reads_its_window {
    () => {
        fn window(&self) -> Option<Window> {
            Some(self.window)
        }

        fn window_mut(&mut self) -> Option<&mut Window> {
            Some(&mut self.window)
        }
    };
}
pub(super) use reads_its_window;

/// Up to this many candidates, searching the window is faster than sorting it.
const N_SEARCHED: usize = 64;

/// The size of the bit set that rules out most tokens before they are looked up by id.
const N_BITS: usize = 4096;

/// How often each candidate appears in a window: its id and its count, ordered by id.
pub(super) struct Counts(Vec<(TokenId, u32)>);

impl Counts {
    /// Counts the tokens that are candidates.
    pub(super) fn of(tokens: &[TokenId], candidates: &Candidates) -> Self {
        if candidates.n_kept() <= N_SEARCHED {
            return Self(counts_of_few(tokens, candidates));
        }
        let mut tokens = tokens.to_vec();
        tokens.sort_unstable();
        let counts = tokens
            .chunk_by(|a, b| a == b)
            .filter_map(|same| Some((*same.first()?, same.len() as u32)));
        Self(counts.collect())
    }

    /// Replaces the logit of each token that appears by `new_logit(logit, count)`.
    pub(super) fn adjust(&self, candidates: &mut Candidates, new_logit: impl Fn(f32, u32) -> f32) {
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

/// Counts how often each of a few candidates appears. Nearly all tokens in a long window are not
/// candidates, and skipping one costs a single bit test.
fn counts_of_few(tokens: &[TokenId], candidates: &Candidates) -> Vec<(TokenId, u32)> {
    let mut bits = [0_u64; N_BITS / 64];
    let mut counts = Vec::with_capacity(candidates.n_kept());
    for candidate in candidates.iter() {
        let bit = candidate.token.index() % N_BITS;
        if let Some(word) = bits.get_mut(bit / 64) {
            *word |= 1 << (bit % 64);
        }
        counts.push((candidate.token, 0));
    }
    for token in tokens {
        let bit = token.index() % N_BITS;
        let word = bits.get(bit / 64).copied().unwrap_or_default();
        if word >> (bit % 64) & 1 == 1
            && let Ok(index) = counts.binary_search_by_key(token, |(candidate, _)| *candidate)
            && let Some((_, count)) = counts.get_mut(index)
        {
            *count += 1;
        }
    }
    counts.retain(|(_, count)| *count > 0);
    counts
}

#[cfg(test)]
mod tests {
    use super::{Counts, Window};
    use crate::decoding::testing::token_ids;
    use crate::decoding::{Candidates, History, TokenId};

    #[test]
    fn a_window_holds_the_tokens_it_says() {
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
    fn few_candidates_are_counted_as_many_are() {
        // Ids that are equal modulo 4,096 must not be confused.
        let tokens = &token_ids(&[1, 4097, 4097, 30, 8193, 30, 5, 30]);
        let row = vec![1.0_f32; 10_000];
        let many = Candidates::from_logits(&row).unwrap();
        let few = [1, 2, 30, 4097, 9000].map(|id| many.iter().nth(id).unwrap());
        let few = Candidates::from_entries(few.to_vec()).unwrap();
        let counted = Counts::of(tokens, &few).0;
        let mut expected = Counts::of(tokens, &many).0;
        expected.retain(|(token, _)| few.logit(*token).is_some());
        assert_eq!(counted, expected);
        assert_eq!(
            counted,
            [(1, 1), (30, 3), (4097, 2)].map(|(id, n)| (TokenId(id), n))
        );
    }
}
