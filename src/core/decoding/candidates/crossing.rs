//! Where the cumulative probability reaches a value, without sorting the candidates before it.

use pulp::{Simd, WithSimd};

use super::row::{BLOCK, Row};
use super::{Candidate, Candidates, RunningSum};
use crate::decoding::softmax::share_of_best;
use crate::kernels::arch;

/// Up to this many of the most likely candidates are sorted and summed; beyond that, buckets are
/// faster.
const N_WALKED: usize = 256;

/// How many buckets the candidates are sorted into by their distance, and how many span one nat.
const N_BUCKETS: u16 = 4096;
const BUCKETS_PER_NAT: f32 = 128.0;

/// The candidate at which the cumulative probability first passes a test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    pub candidate: Candidate,
    /// The cumulative probability before it.
    pub below: f64,
}

/// A range of distances within which the cumulative probability passes a test, and its candidates.
pub(in crate::decoding) struct Bucket {
    /// The sum of the probabilities at smaller distances.
    pub below: f64,
    /// The candidates in the range, in no particular order.
    pub members: Vec<Candidate>,
}

/// The relative rounding error of a 64-bit sum of many probabilities.
pub(in crate::decoding) const SUM_ROUNDING: f64 = 1e-12;

impl Candidates {
    /// Returns the first possible candidate, most likely first, at which `share` times the
    /// cumulative probability reaches `threshold`, or `None` if even the total does not.
    ///
    /// Engines add 32-bit probabilities. Short sums are computed the same way, so a sum that would
    /// equal the threshold but for rounding reaches it here too. In long sums, each engine
    /// accumulates different errors, so these are compared exactly.
    pub fn reaching(&mut self, share: f64, threshold: f32) -> Option<Crossing> {
        let softmax = self.softmax();
        let (mut sum, mut below) = (0_f32, 0.0);
        for &candidate in self.head(N_WALKED) {
            let prob = softmax.prob(candidate.logit);
            sum += (share * prob) as f32;
            if prob > 0.0 && sum >= threshold {
                return Some(Crossing { candidate, below });
            }
            below += prob;
        }
        if self.n_kept() <= N_WALKED {
            return None;
        }
        self.crossing(|sum| share * sum * (1.0 + SUM_ROUNDING) >= f64::from(threshold))
    }

    /// Returns the first possible candidate, most likely first, at which the cumulative probability
    /// is enough, or `None` if even the total is not. `enough` must be monotonic: if it is true for
    /// a sum, it is true for every larger sum.
    pub fn crossing(&mut self, enough: impl Fn(f64) -> bool) -> Option<Crossing> {
        let softmax = self.softmax();
        let head = self.head(N_WALKED);
        if let Some(crossing) = walk(head, 0.0, |logit| softmax.prob(logit), &enough) {
            return Some(crossing);
        }
        if head.len() == self.n_kept() {
            return None;
        }
        let best = softmax.max_logit;
        let Bucket { below, mut members } = self.bucket(|logit| best - logit, &enough)?;
        members.sort_unstable_by(|a, b| b.logit.total_cmp(&a.logit).then(a.token.cmp(&b.token)));
        let prob_of = softmax.quick_probs();
        walk(&members, below, &prob_of, &enough).or_else(|| last_of(&members, below, &prob_of))
    }

    /// Returns the bucket in which the probability, accumulated from the smallest distance, becomes
    /// enough, or `None` if even the total is not. Distances are in nats, 0 or more.
    pub(in crate::decoding) fn bucket(
        &mut self,
        distance: impl Fn(f32) -> f32 + Copy,
        enough: impl Fn(f64) -> bool,
    ) -> Option<Bucket> {
        let softmax = self.softmax();
        let best_prob = softmax.prob(softmax.max_logit);
        let masses = arch::widest().dispatch(BucketMasses {
            row: &self.row,
            best: softmax.max_logit,
            distance,
        });
        let mut below = 0.0;
        let mut ends = masses.iter().map(|mass| {
            let start = below;
            below += mass * best_prob;
            (start, below)
        });
        let reached = |(start, end): (f64, f64)| (end > start && enough(end)).then_some(start);
        let (number, below) = (ends.by_ref().enumerate())
            .find_map(|(number, range)| Some((number, reached(range)?)))?;
        let places = arch::widest().dispatch(BucketMembers {
            row: &self.row,
            distance,
            number: number as u32,
        });
        let members = places.into_iter().map(|(index, logit)| Candidate {
            token: self.token_at(index),
            logit,
        });
        Some(Bucket {
            below,
            members: members.collect(),
        })
    }
}

/// Sums the probability in each bucket, as a multiple of the best candidate's. It is a type rather
/// than a closure because only code inlined into `with_simd` is compiled for the CPU's instruction
/// set.
struct BucketMasses<'a, P> {
    row: &'a Row,
    best: f32,
    distance: P,
}

impl<P: Fn(f32) -> f32> WithSimd for BucketMasses<'_, P> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<f64> {
        let mut masses = vec![0.0; usize::from(N_BUCKETS)];
        for block in self.row.blocks() {
            let (mut shares, mut numbers) = ([0.0; BLOCK], [0; BLOCK]);
            let slots = shares.iter_mut().zip(&mut numbers);
            for ((share, number), logit) in slots.zip(block) {
                *share = share_of_best(logit - self.best);
                *number = bucket_number((self.distance)(*logit));
            }
            for (share, number) in shares.iter().zip(numbers).take(block.len()) {
                if let Some(mass) = masses.get_mut(number as usize) {
                    *mass += f64::from(*share);
                }
            }
        }
        masses
    }
}

/// Finds the possible candidates of one bucket, by index and logit.
struct BucketMembers<'a, P> {
    row: &'a Row,
    distance: P,
    number: u32,
}

impl<P: Fn(f32) -> f32> WithSimd for BucketMembers<'_, P> {
    type Output = Vec<(usize, f32)>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let mut found = Vec::new();
        let is_member = |logit: f32| bucket_number((self.distance)(logit)) == self.number;
        for (number, block) in self.row.numbered_blocks() {
            // Most blocks hold none, and are skipped without a branch per logit.
            if block
                .iter()
                .fold(false, |any, logit| any | is_member(*logit))
            {
                let members = block
                    .iter()
                    .enumerate()
                    .filter(|(_, logit)| is_member(**logit) && **logit > f32::NEG_INFINITY);
                found.extend(members.map(|(offset, logit)| (number * BLOCK + offset, *logit)));
            }
        }
        found
    }
}

/// Returns the bucket of a distance; all large distances share the last one.
#[inline(always)]
fn bucket_number(distance: f32) -> u32 {
    /// Adding 2^23 rounds to a whole number, which ends up in the lowest bits.
    const ROUNDER: f32 = 8_388_608.0;
    let last = f32::from(N_BUCKETS - 1);
    let scaled = distance * BUCKETS_PER_NAT;
    let scaled = if scaled < last { scaled } else { last };
    (scaled + ROUNDER).to_bits() - ROUNDER.to_bits()
}

fn walk(
    sorted: &[Candidate],
    below: f64,
    prob_of: impl Fn(f32) -> f64,
    enough: impl Fn(f64) -> bool,
) -> Option<Crossing> {
    let mut sum = RunningSum::from(below);
    for &candidate in sorted {
        let prob = prob_of(candidate.logit);
        let below = sum.value();
        let end = sum.add(prob);
        if prob > 0.0 && enough(end) {
            return Some(Crossing { candidate, below });
        }
    }
    None
}

/// Returns the last candidate of a bucket, in case rounding leaves the candidates' sum slightly
/// below the bucket's.
fn last_of(sorted: &[Candidate], below: f64, prob_of: impl Fn(f32) -> f64) -> Option<Crossing> {
    let (&candidate, before) = sorted.split_last()?;
    let mut sum = RunningSum::from(below);
    for next in before {
        sum.add(prob_of(next.logit));
    }
    let below = sum.value();
    Some(Crossing { candidate, below })
}

#[cfg(test)]
mod tests {
    use super::Candidates;

    #[test]
    fn buckets_find_what_a_full_sort_finds() {
        for spread in [0.5, 3.0, 12.0, 200.0] {
            let logits: Vec<f32> = (0..20_000_u32)
                .map(|i| (i.wrapping_mul(2_654_435_761) >> 20) as f32 / 4096.0 * spread)
                .collect();
            let mut sorted = Candidates::from_logits(&logits).unwrap();
            let softmax = sorted.softmax();
            let order = sorted.head(20_000).to_vec();
            for share in [0.0, 0.1, 0.5, 0.9, 0.999, 0.999_999] {
                let mut candidates = Candidates::from_logits(&logits).unwrap();
                let crossing = candidates.crossing(|sum| sum >= share).unwrap();
                let rank = order
                    .iter()
                    .position(|next| *next == crossing.candidate)
                    .unwrap();
                let before: f64 = order[..rank]
                    .iter()
                    .map(|next| softmax.prob(next.logit))
                    .sum();
                assert!((crossing.below - before).abs() < 1e-6, "{spread}, {share}");
                let reached = before + softmax.prob(crossing.candidate.logit);
                assert!(before < share + 1e-6 && reached > share - 1e-6);
            }
        }
    }

    #[test]
    fn equal_candidates_add_up_exactly() {
        for n in [1_000, 151_936, 200_000_u32] {
            let logits = vec![2.5; n as usize];
            for rank in [0, 300, n / 3, n - 1] {
                let mut candidates = Candidates::from_logits(&logits).unwrap();
                // In the middle of the range of coins that draw this token.
                let coin = (f64::from(rank) + 0.5) / f64::from(n);
                let crossing = candidates.crossing(|end| coin < end).unwrap();
                assert_eq!(crossing.candidate.token.0, rank, "of {n}");
                let below = f64::from(rank) / f64::from(n);
                assert!((crossing.below - below).abs() < 1e-15, "{rank} of {n}");
            }
        }
    }

    #[test]
    fn a_sum_that_is_never_enough_has_no_crossing() {
        let mut candidates = Candidates::from_logits(&[0.0, 1.0]).unwrap();
        assert_eq!(candidates.crossing(|sum| sum > 2.0), None);
    }
}
