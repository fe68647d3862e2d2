//! The tokens still in play at one step: never empty, sorted only as far as somebody asked.

mod crossing;
mod order;
mod row;

pub use crossing::Crossing;

pub(super) use self::row::BLOCK;

use self::row::Row;
use super::{DecodingError, Softmax, TokenId};

/// One token still in play, with its score as the stages before have left it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The token.
    pub token: TokenId,
    /// Its score: the larger, the likelier. −∞ is a probability of zero.
    pub logit: f32,
}

impl Candidate {
    /// Whether it stands after the other in the order of all candidates.
    pub fn comes_after(self, other: Self) -> bool {
        self.logit < other.logit || (self.logit <= other.logit && self.token > other.token)
    }
}

/// All tokens still in play.
///
/// Their order is by logit, largest first, then by token id, smallest first. Only a head of that
/// order is ever made, and it grows by doubling as it is asked for, because sorting a vocabulary of
/// 150,000 at each step would cost more than the rest of the step's arithmetic. The row itself
/// stays in the order of the ids, so that any token is found at once.
///
/// Every logit is a number or −∞, and at least one is a number.
#[derive(Debug, Clone)]
pub struct Candidates {
    /// Whose logits they are, ascending; nothing while they are the whole vocabulary's.
    tokens: Option<Vec<TokenId>>,
    row: Row,
    /// The most likely, in order.
    head: Vec<Candidate>,
    softmax: Option<Softmax>,
    /// What was cut since it was last asked for.
    mass_removed: f64,
    /// The probability of those in play, as it stood before the cuts since the last change of scores.
    share_left: f64,
}

impl Candidates {
    /// Every token of the vocabulary, from its row of logits.
    pub fn from_logits(logits: &[f32]) -> Result<Self, DecodingError> {
        let mut candidates = Self {
            tokens: None,
            row: Row::default(),
            head: Vec::new(),
            softmax: None,
            mass_removed: 0.0,
            share_left: 1.0,
        };
        candidates.refill(logits)?;
        Ok(candidates)
    }

    /// These tokens alone, whose logits are numbers; nothing where there is none.
    pub(super) fn from_entries(mut entries: Vec<Candidate>) -> Option<Self> {
        entries.sort_unstable_by_key(|candidate| candidate.token);
        let logits: Vec<f32> = entries.iter().map(|candidate| candidate.logit).collect();
        let mut candidates = Self::from_logits(&logits).ok()?;
        candidates.tokens = Some(entries.iter().map(|candidate| candidate.token).collect());
        Some(candidates)
    }

    /// The same in the memory of candidates that are no longer needed. Where the row gives no draw,
    /// they stay as they were.
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
        self.row.fill(logits.iter().copied());
        self.tokens = None;
        self.forget();
        self.mass_removed = 0.0;
        self.share_left = 1.0;
        Ok(())
    }

    /// How many are in play; at least one.
    pub fn n_kept(&self) -> usize {
        self.row.len()
    }

    /// The most likely one.
    pub fn best(&mut self) -> Candidate {
        match self.head(1) {
            [best, ..] => *best,
            [] => unreachable!("candidates are never empty"),
        }
    }

    /// All in play, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = Candidate> {
        let logits = self.row.logits().iter().enumerate();
        logits.map(|(index, &logit)| Candidate {
            token: self.token_at(index),
            logit,
        })
    }

    /// The score of a token, or nothing where it is cut.
    pub fn logit(&self, token: TokenId) -> Option<f32> {
        self.row.logits().get(self.index_of(token)?).copied()
    }

    /// The softmax over those in play.
    pub fn softmax(&mut self) -> Softmax {
        if let Some(softmax) = self.softmax {
            return softmax;
        }
        let softmax = Softmax::of(self.row.max(), self.row.blocks());
        self.softmax = Some(softmax);
        softmax
    }

    /// Keeps the `n` most likely, at least one.
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

    /// Keeps the most likely down to this one, which is in play.
    pub fn keep_through(&mut self, last: Candidate) {
        let mut head = std::mem::take(&mut self.head);
        head.retain(|candidate| !candidate.comes_after(last));
        let kept = self.gather(last.logit, |candidate| !candidate.comes_after(last));
        self.replace_by(&kept);
        self.head = head;
    }

    /// Drops the `n` most likely; the least likely one stays whatever `n` is.
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

    /// Keeps those whose logit is at least `bar`; the most likely ones stay wherever it is.
    pub fn keep_from(&mut self, bar: f32) {
        let bar = bar.min(self.row.max());
        let mut head = std::mem::take(&mut self.head);
        head.retain(|candidate| candidate.logit >= bar);
        let kept = self.gather(bar, |_| true);
        self.replace_by(&kept);
        self.head = head;
    }

    /// Keeps these, which are in play and stand in the order of their ids; where there is none,
    /// nothing changes.
    pub fn keep_these(&mut self, kept: &[Candidate]) {
        if !kept.is_empty() {
            self.replace_by(kept);
        }
    }

    /// Sets these to −∞; where nothing possible would be left, nothing changes.
    pub fn rule_out(&mut self, banned: &[TokenId]) {
        let changes: Vec<_> = banned
            .iter()
            .map(|token| (*token, f32::NEG_INFINITY))
            .collect();
        let before = self.softmax();
        self.set_logits(&changes);
        self.note_removed(before);
    }

    /// Sets those whose logit is less than `bar` to −∞; the most likely ones stay wherever it is.
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

    /// Gives every possible candidate a new logit. NaN counts as −∞, and +∞ as the largest number;
    /// where nothing possible would be left, nothing changes.
    pub fn map_logits(&mut self, new_logit: impl Fn(f32) -> f32) {
        if self.row.map(new_logit) {
            self.forget();
            self.share_left = 1.0;
        }
    }

    /// Gives these tokens a new logit, under the same rules; those that are cut stay cut.
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

    /// The probability, as it stood before each cut, of all that was cut since this was last asked.
    pub fn take_mass_removed(&mut self) -> f64 {
        std::mem::take(&mut self.mass_removed)
    }

    /// The probability of those in play, as it stood before the cuts since the last stage that changed
    /// any score.
    pub const fn share_left(&self) -> f64 {
        self.share_left
    }

    /// The blocks of logits that hold something possible, each with the index of its first.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (usize, &[f32])> {
        let blocks = self.row.numbered_blocks();
        blocks.map(|(number, block)| (number * BLOCK, block))
    }

    /// Whose logit stands at this index.
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

    /// Those from `bar` on that are to stay, in the order of their ids.
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

    /// Leaves these alone, which stand in the order of their ids.
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
    fn a_row_without_a_draw_says_what_is_wrong_with_it() {
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
    fn a_lazy_head_is_the_beginning_of_a_full_sort() {
        let logits: Vec<f32> = (0..10_000_u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) % 499) as f32 * 0.1)
            .collect();
        let mut expected: Vec<u32> = (0..10_000).collect();
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

    #[test]
    fn the_best_always_stays() {
        let mut candidates = Candidates::from_logits(&[1.0, 3.0, 2.0]).unwrap();
        candidates.keep_from(f32::INFINITY);
        candidates.keep_head(0);
        candidates.drop_head(5);
        assert_eq!(tokens(candidates.head(9)), [1]);
    }

    #[test]
    fn a_change_that_rules_out_every_token_is_not_made() {
        let mut candidates = Candidates::from_logits(&[1.0, 3.0]).unwrap();
        candidates.map_logits(|_| f32::NAN);
        candidates.set_logits(&[(TokenId(0), LOW), (TokenId(1), LOW)]);
        candidates.rule_out(&[TokenId(0), TokenId(1)]);
        candidates.keep_these(&[]);
        assert_eq!(candidates.logit(TokenId(0)), Some(1.0));
        assert_eq!(candidates.logit(TokenId(1)), Some(3.0));
    }

    #[test]
    fn overflow_ends_at_the_largest_number() {
        let mut candidates = Candidates::from_logits(&[1.0, 3.0]).unwrap();
        candidates.set_logits(&[(TokenId(0), f32::INFINITY)]);
        assert!(candidates.best().logit >= f32::MAX);
        assert!((candidates.softmax().prob(f32::MAX) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_mass_of_what_was_cut_is_known() {
        let logits = [0.1_f32, 0.2, 0.3, 0.4].map(f32::ln);
        let mut candidates = Candidates::from_logits(&logits).unwrap();
        candidates.keep_head(2);
        assert!((candidates.take_mass_removed() - 0.3).abs() < 1e-6);
        assert!(candidates.take_mass_removed() <= 0.0);
        assert_eq!(candidates.logit(TokenId(0)), None);
        assert_eq!(candidates.logit(TokenId(3)), Some(logits[3]));
    }
}
