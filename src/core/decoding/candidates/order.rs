//! The sorted head: as much of the order as requested, and no more.

use super::{Candidate, Candidates};

/// The shortest head that is sorted.
const SHORTEST_HEAD: usize = 64;

/// How many groups of logits, for each candidate of the head, it takes to find a bar that few
/// others reach.
const GROUPS_PER_CANDIDATE: usize = 8;

impl Candidates {
    /// Returns the `n` most likely candidates in order, or all if there are fewer.
    pub fn head(&mut self, n: usize) -> &[Candidate] {
        let n = n.min(self.n_kept());
        if n > self.head.len() {
            self.sort_head(n);
        }
        self.head.get(..n).unwrap_or_default()
    }

    /// Returns the rank, counted from zero, of the most likely candidate for which `is_it` holds.
    pub fn find_in_order(&mut self, mut is_it: impl FnMut(Candidate) -> bool) -> Option<usize> {
        let (mut n_seen, mut n_asked) = (0, SHORTEST_HEAD);
        while n_seen < self.n_kept() {
            for candidate in self.head(n_asked).iter().skip(n_seen) {
                if is_it(*candidate) {
                    return Some(n_seen);
                }
                n_seen += 1;
            }
            n_asked *= 4;
        }
        None
    }

    /// Sorts at least the `n` most likely candidates.
    ///
    /// The `n` blocks with the largest maxima hold at least `n` candidates at or above the smallest
    /// of those maxima. So nothing below it is among the `n` most likely. The same is true of any
    /// other groups, and if there are too few blocks, smaller groups set a higher bar.
    fn sort_head(&mut self, n: usize) {
        let n = n.next_power_of_two().max(SHORTEST_HEAD).min(self.n_kept());
        let n_groups = (GROUPS_PER_CANDIDATE * n).min(self.n_kept());
        let maxima = if self.row.block_max().len() < n_groups {
            self.row.group_maxima(n_groups)
        } else {
            self.row.block_max().to_vec()
        };
        let bar = nth_largest(maxima, n).max(f32::MIN);
        let mut keys = Vec::new();
        self.row
            .for_each_from(bar, |index, logit| keys.push(key(logit, index)));
        if n < keys.len() {
            keys.select_nth_unstable(n);
            keys.truncate(n);
        }
        keys.sort_unstable();
        // If fewer are possible, the impossible ones with the lowest ids come next.
        let impossible = self
            .row
            .logits()
            .iter()
            .enumerate()
            .filter(|(_, logit)| **logit == f32::NEG_INFINITY);
        let n_missing = n - keys.len();
        keys.extend(
            impossible
                .take(n_missing)
                .map(|(index, logit)| key(*logit, index)),
        );
        let head = keys.iter().map(|key| {
            let index = *key as u32 as usize;
            let logit = self.row.logits().get(index).copied();
            Candidate {
                token: self.token_at(index),
                logit: logit.unwrap_or(f32::NEG_INFINITY),
            }
        });
        self.head = head.collect();
    }
}

/// Returns the `n`-th largest value, or −∞ if there are fewer.
fn nth_largest(mut values: Vec<f32>, n: usize) -> f32 {
    if n == 0 || n > values.len() {
        return f32::NEG_INFINITY;
    }
    let (_, nth, _) = values.select_nth_unstable_by(n - 1, |a, b| b.total_cmp(a));
    *nth
}

/// Returns a sort key: larger logits first, then smaller indices.
fn key(logit: f32, index: usize) -> u64 {
    let bits = logit.to_bits();
    let ascending = if bits >> 31 == 0 {
        bits | 1 << 31
    } else {
        !bits
    };
    u64::from(!ascending) << 32 | index as u64
}
