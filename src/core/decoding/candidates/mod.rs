//! The tokens still in play at one step: never empty, and sorted only as far as requested.

mod crossing;
mod order;
mod row;
mod running_sum;

pub use crossing::Crossing;

pub(super) use self::crossing::SUM_ROUNDING;
pub(super) use self::row::BLOCK;
pub(super) use self::running_sum::RunningSum;

use self::row::Row;
use super::{DecodingError, Softmax, TokenId};

/// One token still in play, with its current logit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    pub token: TokenId,
    /// The larger, the likelier; −∞ is a probability of zero.
    pub logit: f32,
}

impl Candidate {
    /// Whether it comes after `other` in the order of candidates: by logit, then by id.
    pub fn comes_after(self, other: Self) -> bool {
        self.logit < other.logit || (self.logit <= other.logit && self.token > other.token)
    }
}

/// All tokens still in play.
///
/// They are ordered by logit, largest first, then by token id, smallest first. Only a head of that
/// order is ever sorted, and it grows by doubling on demand, because sorting a vocabulary of
/// 150,000 at each step would cost more than the rest of the step's arithmetic. The row itself
/// stays ordered by id, so that looking up a token is fast.
///
/// Every logit is a number or −∞, and at least one is a number.
#[derive(Debug, Clone)]
pub struct Candidates {
    /// The tokens of the row, ascending, or `None` while it holds the whole vocabulary.
    tokens: Option<Vec<TokenId>>,
    row: Row,
    /// Whether some tokens of the row were impossible from the start.
    masked: bool,
    /// The most likely candidates in order, as far as they have been requested.
    head: Vec<Candidate>,
    /// The softmax over the row, once it has been requested.
    softmax: Option<Softmax>,
    /// The probability dropped since the last call of `take_mass_removed`.
    mass_removed: f64,
    /// The probability of the tokens in play, measured before any cuts made since a logit last
    /// changed.
    share_left: f64,
}

impl Candidates {
    /// Creates candidates from a row of logits, one for each token of the vocabulary.
    pub fn from_logits(logits: &[f32]) -> Result<Self, DecodingError> {
        let mut candidates = Self {
            tokens: None,
            row: Row::default(),
            masked: false,
            head: Vec::new(),
            softmax: None,
            mass_removed: 0.0,
            share_left: 1.0,
        };
        candidates.refill(logits)?;
        Ok(candidates)
    }

    /// Creates candidates from these tokens, or returns `None` if no token is possible.
    pub(super) fn from_entries(mut entries: Vec<Candidate>) -> Option<Self> {
        entries.sort_unstable_by_key(|candidate| candidate.token);
        let logits: Vec<f32> = entries.iter().map(|candidate| candidate.logit).collect();
        let mut candidates = Self::from_logits(&logits).ok()?;
        candidates.tokens = Some(entries.iter().map(|candidate| candidate.token).collect());
        Some(candidates)
    }

    /// Replaces all candidates with those of a new row, reusing the memory. If the row is invalid,
    /// nothing changes.
    pub fn refill(&mut self, logits: &[f32]) -> Result<(), DecodingError> {
        if logits.is_empty() {
            return Err(DecodingError::Empty);
        }
        let n_bad = row::n_not_numbers(logits);
        if n_bad > 0 {
            return Err(DecodingError::NotNumbers { n_bad });
        }
        if !logits.iter().any(|logit| *logit > f32::NEG_INFINITY) {
            return Err(DecodingError::NothingPossible);
        }
        self.masked = logits.contains(&f32::NEG_INFINITY);
        self.row.fill(logits.iter().copied());
        self.tokens = None;
        self.forget();
        self.mass_removed = 0.0;
        self.share_left = 1.0;
        Ok(())
    }

    /// How many candidates are in play; at least one.
    pub fn n_kept(&self) -> usize {
        self.row.len()
    }

    /// Returns the most likely candidate.
    pub fn best(&mut self) -> Candidate {
        match self.head(1) {
            [best, ..] => *best,
            [] => unreachable!("candidates are never empty"),
        }
    }

    /// Iterates over all candidates, ordered by id.
    pub fn iter(&self) -> impl Iterator<Item = Candidate> {
        let logits = self.row.logits().iter().enumerate();
        logits.map(|(index, &logit)| Candidate {
            token: self.token_at(index),
            logit,
        })
    }

    /// Returns the token's logit, or `None` if it was filtered out.
    pub fn logit(&self, token: TokenId) -> Option<f32> {
        self.row.logits().get(self.index_of(token)?).copied()
    }

    /// Returns the softmax over all candidates.
    pub fn softmax(&mut self) -> Softmax {
        if let Some(softmax) = self.softmax {
            return softmax;
        }
        let softmax = Softmax::of(self.row.max(), self.row.blocks());
        self.softmax = Some(softmax);
        softmax
    }

    /// Keeps the `n` most likely candidates, and at least one.
    pub fn keep_head(&mut self, n: usize) {
        let n = n.max(1);
        if n < self.n_kept() {
            let mut kept = self.head(n).to_vec();
            let mut head = std::mem::take(&mut self.head);
            head.truncate(n);
            kept.sort_unstable_by_key(|candidate| candidate.token);
            self.replace_by(&kept);
            self.head = head;
        }
    }

    /// Returns the `n`-th most likely candidate, counted from 1, or the last one if there are
    /// fewer. If `n` is [`Rules::min_keep`](super::Rules), a filter must keep the candidates down
    /// to this one.
    pub fn nth_best(&mut self, n: u32) -> Candidate {
        match self.head(n.max(1) as usize).last() {
            Some(last) => *last,
            None => unreachable!("candidates are never empty"),
        }
    }

    /// Keeps the candidates whose logit is at least `threshold`, and at least the `n` most likely
    /// ones.
    pub fn keep_at_least(&mut self, n: u32, threshold: f32) {
        let guaranteed = self.nth_best(n);
        if guaranteed.logit < threshold {
            self.keep_through(guaranteed);
        } else {
            self.keep_from(threshold);
        }
    }

    /// Keeps the most likely candidates down to `last`, which must be one of them.
    pub fn keep_through(&mut self, last: Candidate) {
        let mut head = std::mem::take(&mut self.head);
        head.retain(|candidate| !candidate.comes_after(last));
        let kept = self.gather(last.logit, |candidate| !candidate.comes_after(last));
        self.replace_by(&kept);
        self.head = head;
    }

    /// Drops the `n` most likely candidates, but never the last one.
    pub fn drop_head(&mut self, n: usize) {
        let n = n.min(self.n_kept() - 1);
        if n == 0 {
            return;
        }
        let Some(&last) = self.head(n).last() else {
            return;
        };
        let head = self.head.get(n..).unwrap_or_default().to_vec();
        let kept = self.gather(f32::NEG_INFINITY, |candidate| candidate.comes_after(last));
        self.replace_by(&kept);
        self.head = head;
    }

    /// Keeps the candidates whose logit is at least `bar`, and always the most likely one and any
    /// tied with it.
    pub fn keep_from(&mut self, bar: f32) {
        let bar = bar.min(self.row.max());
        let mut head = std::mem::take(&mut self.head);
        head.retain(|candidate| candidate.logit >= bar);
        let kept = self.gather(bar, |_| true);
        self.replace_by(&kept);
        self.head = head;
    }

    /// Keeps only `kept`, which must be candidates ordered by id. Does nothing if it is empty.
    pub fn keep_these(&mut self, kept: &[Candidate]) {
        if !kept.is_empty() {
            self.replace_by(kept);
        }
    }

    /// Keeps only this token, even if it was dropped or ruled out. If the row had impossible tokens
    /// from the start, as under a grammar, the token may be one of those, and nothing changes.
    pub fn force(&mut self, token: TokenId) {
        let logit = self.logit(token);
        if let Some(logit) = logit.filter(|logit| *logit > f32::NEG_INFINITY) {
            self.replace_by(&[Candidate { token, logit }]);
        } else if !self.masked {
            let logit = self.best().logit;
            self.tokens = Some(vec![token]);
            self.row.fill(std::iter::once(logit));
            self.forget();
            // Nothing of what was in play is left.
            self.share_left = 0.0;
            self.mass_removed = 1.0;
        }
    }

    /// Sets the logits of these tokens to −∞. Does nothing if no possible token would be left.
    pub fn rule_out(&mut self, banned: &[TokenId]) {
        let changes: Vec<_> = banned
            .iter()
            .map(|token| (*token, f32::NEG_INFINITY))
            .collect();
        let before = self.softmax();
        self.set_logits(&changes);
        self.note_removed(before);
    }

    /// Sets the logits below `bar` to −∞. Always keeps the largest logit and any equal to it.
    pub fn rule_out_below(&mut self, bar: f32) {
        let bar = bar.min(self.row.max());
        let before = self.softmax();
        let mut head = std::mem::take(&mut self.head);
        head.retain(|candidate| candidate.logit >= bar);
        self.map_logits(|logit| {
            if logit >= bar {
                logit
            } else {
                f32::NEG_INFINITY
            }
        });
        self.head = head;
        self.note_removed(before);
    }

    /// Replaces the logit of every possible candidate. NaN counts as −∞, and +∞ as the largest
    /// number. Does nothing if no possible candidate would be left.
    pub fn map_logits(&mut self, new_logit: impl Fn(f32) -> f32) {
        if self.row.map(new_logit) {
            self.forget();
            self.share_left = 1.0;
        }
    }

    /// Replaces the logits of these tokens, as `map_logits` does. Tokens that were dropped stay
    /// dropped.
    pub fn set_logits(&mut self, changes: &[(TokenId, f32)]) {
        let before = self.softmax();
        let places = changes
            .iter()
            .filter_map(|(token, logit)| Some((self.index_of(*token)?, *logit)))
            .collect::<Vec<_>>();
        let replaced = self.row.set(&places);
        if !replaced.is_empty() {
            self.forget();
            self.share_left = 1.0;
            self.softmax = before.with_changes(self.row.max(), &replaced);
        }
    }

    /// Returns the probability that was dropped since the last call, measured before each cut.
    pub fn take_mass_removed(&mut self) -> f64 {
        std::mem::take(&mut self.mass_removed)
    }

    /// Returns the probability of the tokens in play, measured before any cuts made since a logit
    /// last changed.
    pub const fn share_left(&self) -> f64 {
        self.share_left
    }

    /// Iterates over the blocks of logits with a possible one, each with the index of its first
    /// logit.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (usize, &[f32])> {
        let blocks = self.row.numbered_blocks();
        blocks.map(|(number, block)| (number * BLOCK, block))
    }

    /// Returns the token whose logit is at this index.
    #[inline(always)]
    pub(super) fn token_at(&self, index: usize) -> TokenId {
        match &self.tokens {
            None => TokenId(index as u32),
            Some(tokens) => tokens.get(index).copied().unwrap_or(TokenId(u32::MAX)),
        }
    }

    fn index_of(&self, token: TokenId) -> Option<usize> {
        match &self.tokens {
            None => (token.index() < self.row.len()).then_some(token.index()),
            Some(tokens) => tokens.binary_search(&token).ok(),
        }
    }

    /// Returns the candidates at or above `bar` for which `stays` holds, ordered by id.
    pub(super) fn gather(&self, bar: f32, stays: impl Fn(Candidate) -> bool) -> Vec<Candidate> {
        let mut kept = Vec::new();
        self.row.for_each_from(bar, |index, logit| {
            let token = self.token_at(index);
            let candidate = Candidate { token, logit };
            if stays(candidate) {
                kept.push(candidate);
            }
        });
        kept
    }

    /// Drops all candidates except `kept`, which is ordered by id.
    fn replace_by(&mut self, kept: &[Candidate]) {
        if kept.len() == self.n_kept() {
            return;
        }
        let before = self.softmax();
        self.tokens = Some(kept.iter().map(|candidate| candidate.token).collect());
        self.row.fill(kept.iter().map(|candidate| candidate.logit));
        self.forget();
        self.share_left *= before.share_kept(self.softmax());
        self.note_removed(before);
    }

    fn note_removed(&mut self, before: Softmax) {
        let share_removed = 1.0 - before.share_kept(self.softmax());
        self.mass_removed += (1.0 - self.mass_removed) * share_removed;
    }

    fn forget(&mut self) {
        self.head.clear();
        self.softmax = None;
    }
}

#[cfg(test)]
mod tests {
    use super::{Candidate, Candidates};
    use crate::decoding::{DecodingError, TokenId};

    const LOW: f32 = f32::NEG_INFINITY;

    fn tokens(candidates: &[Candidate]) -> Vec<u32> {
        candidates
            .iter()
            .map(|candidate| candidate.token.0)
            .collect()
    }

    #[test]
    fn an_invalid_row_is_an_error_that_says_why() {
        for (logits, expected) in [
            (&[][..], DecodingError::Empty),
            (&[1.0, f32::NAN], DecodingError::NotNumbers { n_bad: 1 }),
            (
                &[f32::INFINITY, f32::NAN],
                DecodingError::NotNumbers { n_bad: 2 },
            ),
            (&[LOW, LOW], DecodingError::NothingPossible),
        ] {
            assert_eq!(Candidates::from_logits(logits).unwrap_err(), expected);
        }
    }

    #[test]
    fn order_is_by_logit_then_by_id() {
        for (logits, expected) in [
            (&[1.0][..], &[0][..]),
            (&[1.0, 3.0, 2.0], &[1, 2, 0]),
            (&[1.0, 2.0, 2.0, 1.0], &[1, 2, 0, 3]),
            (&[0.0, -0.0, 0.0], &[0, 1, 2]),
            (&[LOW, -5.0, LOW], &[1, 0, 2]),
        ] {
            let mut candidates = Candidates::from_logits(logits).unwrap();
            assert_eq!(tokens(candidates.head(9)), expected);
            assert_eq!(candidates.best().token.0, expected[0]);
        }
    }

    #[test]
    fn a_lazy_head_is_a_prefix_of_a_full_sort() {
        // The bar is found among strided groups of the smaller row, and blocks of the larger one.
        for n_vocab in [10_000, 40_000] {
            let logits: Vec<f32> = (0..n_vocab)
                .map(|i: u32| (i.wrapping_mul(2_654_435_761) % 499) as f32 * 0.1)
                .collect();
            let mut expected: Vec<u32> = (0..n_vocab).collect();
            expected.sort_by(|a, b| {
                logits[*b as usize]
                    .total_cmp(&logits[*a as usize])
                    .then(a.cmp(b))
            });
            let mut candidates = Candidates::from_logits(&logits).unwrap();
            for n in [1, 2, 63, 64, 65, 500, 9_999, 10_000] {
                assert_eq!(tokens(candidates.head(n)), expected[..n], "head of {n}");
            }
            candidates.keep_head(777);
            candidates.drop_head(100);
            assert_eq!(tokens(candidates.head(1000)), expected[100..777]);
        }
    }

    #[test]
    fn the_best_always_stays() {
        let mut candidates = Candidates::from_logits(&[1.0, 3.0, 2.0]).unwrap();
        candidates.keep_from(f32::INFINITY);
        candidates.keep_head(0);
        candidates.drop_head(5);
        assert_eq!(tokens(candidates.head(9)), [1]);
    }

    #[test]
    fn a_change_that_would_rule_out_every_token_is_ignored() {
        let mut candidates = Candidates::from_logits(&[1.0, 3.0]).unwrap();
        candidates.map_logits(|_| f32::NAN);
        candidates.set_logits(&[(TokenId(0), LOW), (TokenId(1), LOW)]);
        candidates.rule_out(&[TokenId(0), TokenId(1)]);
        candidates.keep_these(&[]);
        assert_eq!(candidates.logit(TokenId(0)), Some(1.0));
        assert_eq!(candidates.logit(TokenId(1)), Some(3.0));
    }

    #[test]
    fn an_overflow_is_clamped_to_the_largest_number() {
        let mut candidates = Candidates::from_logits(&[1.0, 3.0]).unwrap();
        candidates.set_logits(&[(TokenId(0), f32::INFINITY)]);
        assert!(candidates.best().logit >= f32::MAX);
        assert!((candidates.softmax().prob(f32::MAX) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_mass_of_dropped_candidates_is_known() {
        let logits = [0.1_f32, 0.2, 0.3, 0.4].map(f32::ln);
        let mut candidates = Candidates::from_logits(&logits).unwrap();
        candidates.keep_head(2);
        assert!((candidates.take_mass_removed() - 0.3).abs() < 1e-6);
        assert!(candidates.take_mass_removed() <= 0.0);
        assert_eq!(candidates.logit(TokenId(0)), None);
        assert_eq!(candidates.logit(TokenId(3)), Some(logits[3]));
    }
}
