//! The tokens still in play at one step: never empty, sorted only as far as somebody asked.

use super::{DecodingError, Softmax, TokenId};

/// How many logits share one remembered maximum.
const BLOCK: usize = 64;

/// The shortest head that is sorted.
const SHORTEST_HEAD: usize = 64;

/// One token still in play, with its score as the stages before have left it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The token.
    pub token: TokenId,
    /// Its score: the larger, the likelier. −∞ is a probability of zero.
    pub logit: f32,
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
    logits: Vec<f32>,
    /// The most likely, in order.
    head: Vec<Candidate>,
    /// The largest logit of each block; empty while it is not known.
    block_max: Vec<f32>,
    softmax: Option<Softmax>,
    /// What was cut since it was last asked for.
    mass_removed: f64,
    /// The probability of those in play, as it stood before the cuts since the last change of scores.
    share_left: f64,
}

impl Candidates {
    /// Every token of the vocabulary, from its row of logits.
    pub fn from_logits(logits: &[f32]) -> Result<Self, DecodingError> {
        if logits.is_empty() {
            return Err(DecodingError::Empty);
        }
        let n_bad = logits
            .iter()
            .map(|logit| u32::from(logit.is_nan()) + u32::from(*logit == f32::INFINITY))
            .sum::<u32>() as usize;
        if n_bad > 0 {
            return Err(DecodingError::NotNumbers { n_bad });
        }
        let mut candidates = Self {
            tokens: None,
            // Adding zero turns −0 into 0, so that equal scores have equal bits.
            logits: logits.iter().map(|logit| logit + 0.0).collect(),
            head: Vec::new(),
            block_max: Vec::new(),
            softmax: None,
            mass_removed: 0.0,
            share_left: 1.0,
        };
        if candidates.max_logit() == f32::NEG_INFINITY {
            return Err(DecodingError::NothingPossible);
        }
        Ok(candidates)
    }

    /// How many are in play; at least one.
    pub fn n_kept(&self) -> usize {
        self.logits.len()
    }

    /// The most likely one.
    pub fn best(&mut self) -> Candidate {
        match self.head(1) {
            [best, ..] => *best,
            [] => unreachable!("candidates are never empty"),
        }
    }

    /// The `n` most likely, in order; all of them where there are fewer.
    pub fn head(&mut self, n: usize) -> &[Candidate] {
        let n = n.min(self.logits.len());
        if n > self.head.len() {
            self.sort_head(n);
        }
        self.head.get(..n).unwrap_or_default()
    }

    /// The rank, counted from zero, of the first one for which `is_it` says so, asked from the most
    /// likely on.
    pub fn find_in_order(&mut self, mut is_it: impl FnMut(Candidate) -> bool) -> Option<usize> {
        let (mut n_seen, mut n_asked) = (0, SHORTEST_HEAD);
        while n_seen < self.n_kept() {
            for candidate in self.head(n_asked).iter().skip(n_seen) {
                if is_it(*candidate) {
                    return Some(n_seen);
                }
                n_seen += 1;
            }
            n_asked *= 2;
        }
        None
    }

    /// All in play, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = Candidate> {
        self.logits
            .iter()
            .enumerate()
            .map(|(index, &logit)| Candidate {
                token: self.token_at(index),
                logit,
            })
    }

    /// The score of a token, or nothing where it is cut.
    pub fn logit(&self, token: TokenId) -> Option<f32> {
        self.logits.get(self.index_of(token)?).copied()
    }

    /// The softmax over those in play.
    pub fn softmax(&mut self) -> Softmax {
        if let Some(softmax) = self.softmax {
            return softmax;
        }
        let softmax = Softmax::of(self.max_logit(), &self.logits);
        self.softmax = Some(softmax);
        softmax
    }

    /// Keeps the `n` most likely, at least one.
    pub fn keep_head(&mut self, n: usize) {
        let n = n.max(1);
        let Some(&last) = self.head(n).last() else {
            return;
        };
        if n < self.n_kept() {
            let mut head = std::mem::take(&mut self.head);
            head.truncate(n);
            self.cut(|candidate| {
                candidate.logit > last.logit
                    || (candidate.logit >= last.logit && candidate.token <= last.token)
            });
            self.head = head;
        }
    }

    /// Drops the `n` most likely; the least likely one stays whatever `n` is.
    pub fn drop_head(&mut self, n: usize) {
        let n = n.min(self.n_kept() - 1);
        if n == 0 {
            return;
        }
        let dropped = self.head(n).to_vec();
        let Some(&last) = dropped.last() else { return };
        let head = self.head.get(n..).unwrap_or_default().to_vec();
        self.cut(|candidate| {
            candidate.logit < last.logit
                || (candidate.logit <= last.logit && candidate.token > last.token)
        });
        self.head = head;
    }

    /// Keeps those whose logit is at least `bar`; the most likely ones stay wherever it is.
    pub fn keep_from(&mut self, bar: f32) {
        let bar = bar.min(self.max_logit());
        let mut head = std::mem::take(&mut self.head);
        head.retain(|candidate| candidate.logit >= bar);
        self.cut(|candidate| candidate.logit >= bar);
        self.head = head;
    }

    /// Keeps these, which are in play and stand in the order of their ids; where there is none,
    /// nothing changes.
    pub fn keep_these(&mut self, kept: &[Candidate]) {
        let mut kept = kept.iter().peekable();
        self.cut(|candidate| kept.next_if(|next| next.token == candidate.token).is_some());
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
        let bar = bar.min(self.max_logit());
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

    /// Gives every candidate a new logit. NaN counts as −∞, and +∞ as the largest number; where
    /// nothing possible would be left, nothing changes.
    pub fn map_logits(&mut self, mut new_logit: impl FnMut(f32) -> f32) {
        let new_logits: Vec<f32> = self
            .logits
            .iter()
            .map(|logit| as_logit(new_logit(*logit)))
            .collect();
        if largest(&new_logits) > f32::NEG_INFINITY {
            self.logits = new_logits;
            self.forget();
            self.share_left = 1.0;
        }
    }

    /// Gives these tokens a new logit, under the same rules; those that are cut stay cut.
    pub fn set_logits(&mut self, changes: &[(TokenId, f32)]) {
        let replaced: Vec<_> = changes
            .iter()
            .filter_map(|(token, logit)| {
                let index = self.index_of(*token)?;
                let slot = self.logits.get_mut(index)?;
                Some((*token, std::mem::replace(slot, as_logit(*logit))))
            })
            .collect();
        if replaced.is_empty() {
            return;
        }
        self.forget();
        self.share_left = 1.0;
        if self.max_logit() == f32::NEG_INFINITY {
            self.set_logits(&replaced);
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

    fn token_at(&self, index: usize) -> TokenId {
        match &self.tokens {
            None => TokenId(index as u32),
            Some(tokens) => tokens.get(index).copied().unwrap_or(TokenId(u32::MAX)),
        }
    }

    fn index_of(&self, token: TokenId) -> Option<usize> {
        match &self.tokens {
            None => (token.index() < self.logits.len()).then_some(token.index()),
            Some(tokens) => tokens.binary_search(&token).ok(),
        }
    }

    fn max_logit(&mut self) -> f32 {
        if self.block_max.is_empty() {
            self.block_max = self.logits.chunks(BLOCK).map(largest).collect();
        }
        largest(&self.block_max)
    }

    fn cut(&mut self, mut keep: impl FnMut(Candidate) -> bool) {
        let kept: Vec<Candidate> = self.iter().filter(|candidate| keep(*candidate)).collect();
        if kept.len() == self.n_kept() || kept.is_empty() {
            return;
        }
        let before = self.softmax();
        self.tokens = Some(kept.iter().map(|candidate| candidate.token).collect());
        self.logits = kept.iter().map(|candidate| candidate.logit).collect();
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
        self.block_max.clear();
        self.softmax = None;
    }

    /// Sorts at least the `n` most likely.
    ///
    /// The `n` blocks with the largest maxima hold at least `n` candidates not below the smallest of
    /// those maxima, so nothing below it is among the `n` most likely, and no other block holds any.
    fn sort_head(&mut self, n: usize) {
        let n = n.next_power_of_two().max(SHORTEST_HEAD).min(self.n_kept());
        self.max_logit();
        let bar = nth_largest(&self.block_max, n).max(f32::MIN);
        let mut keys = self.keys_from(bar);
        if keys.len() < n {
            // Not as many are possible; of the impossible ones those with the lowest ids come next.
            keys = self.keys_from(f32::NEG_INFINITY);
        }
        if n < keys.len() {
            keys.select_nth_unstable(n);
            keys.truncate(n);
        }
        keys.sort_unstable();
        let head = keys.iter().map(|key| {
            let index = *key as u32 as usize;
            Candidate {
                token: self.token_at(index),
                logit: self.logits.get(index).copied().unwrap_or(f32::NEG_INFINITY),
            }
        });
        self.head = head.collect();
    }

    fn keys_from(&self, bar: f32) -> Vec<u64> {
        let mut keys = Vec::new();
        let blocks = self.logits.chunks(BLOCK).zip(&self.block_max);
        for (start, (block, _)) in (0..)
            .step_by(BLOCK)
            .zip(blocks)
            .filter(|(_, (_, max))| **max >= bar)
        {
            let within = block.iter().zip(start..);
            keys.extend(
                within
                    .filter(|(logit, _)| **logit >= bar)
                    .map(|(logit, index)| key(*logit, index)),
            );
        }
        keys
    }
}

/// A number or −∞, and never −0.
fn as_logit(value: f32) -> f32 {
    if value.is_nan() {
        f32::NEG_INFINITY
    } else {
        value.min(f32::MAX) + 0.0
    }
}

/// The largest of some logits. Eight maxima run side by side, so that the compiler can compare them
/// together.
fn largest(logits: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    let (rows, rest) = logits.as_chunks::<8>();
    let mut lanes = [f32::NEG_INFINITY; 8];
    for row in rows {
        for (lane, logit) in lanes.iter_mut().zip(row) {
            *lane = larger(*lane, *logit);
        }
    }
    lanes
        .iter()
        .chain(rest)
        .copied()
        .fold(f32::NEG_INFINITY, larger)
}

/// The `n`-th largest value, or −∞ where there are not as many.
fn nth_largest(values: &[f32], n: usize) -> f32 {
    let mut values = values.to_vec();
    if n == 0 || n > values.len() {
        return f32::NEG_INFINITY;
    }
    let (_, nth, _) = values.select_nth_unstable_by(n - 1, |a, b| b.total_cmp(a));
    *nth
}

/// A number that grows as the order goes down: larger logits first, then smaller indices.
fn key(logit: f32, index: usize) -> u64 {
    let bits = logit.to_bits();
    let ascending = if bits >> 31 == 0 {
        bits | 1 << 31
    } else {
        !bits
    };
    u64::from(!ascending) << 32 | index as u64
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
