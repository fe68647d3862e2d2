//! Differences with their signs flipped, from which a test and its interval follow.

use std::ops::AddAssign;

use super::share::Interval;
use crate::decoding::SplitMix64;

/// All sign flips are tried if there are at most 2 to this power.
const MAX_EXACT: usize = 16;

/// Otherwise as many are drawn as 2 to this power.
const N_DRAWN_LOG2: usize = 14;

/// With more differences, several flip together. Any group of sign flips makes a valid test (Hartigan
/// 1969, "Using subsample values as typical values").
const MAX_BLOCKS: usize = 2048;

/// The differences whose signs one byte flips.
const BYTE: usize = 8;

const SEED: u64 = 55;

/// Differences that flip together.
#[derive(Clone, Copy, Default)]
struct Block {
    sum: f64,
    count: f64,
}

impl AddAssign for Block {
    fn add_assign(&mut self, other: Self) {
        self.sum += other.sum;
        self.count += other.count;
    }
}

/// The sign flips of differences, each as the set of differences that it flips.
///
/// The test of a true difference δ compares the sum of all dᵢ − δ with their sums after sign flips.
/// A flip makes the sum at least as large if the dᵢ − δ that it flips add up to at most 0, that is,
/// if the mean of the flipped differences is at most δ. So the one-sided p-value of δ is a share of
/// these means, and the values that the test does not reject lie between two of them.
pub(super) struct Flips {
    /// The mean of the differences that each flip flips, if it flips any.
    means: Vec<f64>,
    n_flips: usize,
}

impl Flips {
    /// Tries or draws sign flips of these differences. Each flip of those that are not 0 is tried
    /// equally often if there are at most 16 of them: the p-value of no difference is then exact.
    /// The first flip always flips nothing.
    pub(super) fn of(differences: &[f64]) -> Self {
        let (different, equal): (Vec<f64>, Vec<f64>) = differences
            .iter()
            .partition(|difference| **difference != 0.0);
        let n = differences.len();
        let n_tried = [n, different.len(), 0]
            .into_iter()
            .find(|n| *n <= MAX_EXACT);
        let n_tried = n_tried.unwrap_or_default();
        let n_flips = match n {
            ..=MAX_EXACT => 1 << n,
            _ => 1 << n_tried.max(N_DRAWN_LOG2),
        };
        let blocks = blocks(&[different, equal].concat());
        let mut random = SplitMix64::new(SEED);
        let mut flipped = vec![Block::default(); n_flips];
        for (column, blocks) in blocks.chunks(BYTE).enumerate() {
            let n_tried = n_tried.saturating_sub(column * BYTE).min(BYTE);
            let tried = u8::MAX
                .checked_shr((BYTE - n_tried) as u32)
                .unwrap_or_default();
            add_column(blocks, column, tried, &mut random, &mut flipped);
        }
        // A sum that should be 0 can miss it by rounding errors.
        let error = 1e-11 * differences.iter().map(|d| d.abs()).sum::<f64>();
        let flipped = flipped.into_iter().filter(|flipped| flipped.count > 0.0);
        let means = flipped.map(
            |Block { sum, count }| {
                if sum.abs() <= error { 0.0 } else { sum / count }
            },
        );
        Self {
            means: means.collect(),
            n_flips,
        }
    }

    /// Returns the two-sided p-value of no difference: twice the smaller one-sided one.
    pub(super) fn p_value(&self) -> f64 {
        let n_at_most = self.means.iter().filter(|mean| **mean <= 0.0).count();
        let n_at_least = self.means.iter().filter(|mean| **mean >= 0.0).count();
        let n = n_at_most.min(n_at_least) + self.n_empty();
        (2.0 * n as f64 / self.n_flips as f64).min(1.0)
    }

    /// Returns the values whose p-value is at least 0.05, or everything from −1 to 1 if there are too
    /// few differences.
    pub(super) fn interval(mut self) -> Interval {
        // A p-value of 0.05 is one of 0.025 on its side: a fortieth of all flips.
        let n = self.n_flips.div_ceil(40).saturating_sub(self.n_empty());
        let (Some(low), Some(high)) = (n.checked_sub(1), self.means.len().checked_sub(n)) else {
            return Interval {
                low: -1.0,
                high: 1.0,
            };
        };
        let mut ranked = |rank: usize| *self.means.select_nth_unstable_by(rank, f64::total_cmp).1;
        Interval {
            low: ranked(low),
            high: ranked(high),
        }
    }

    /// Returns how many flips flip nothing. They leave the sum of every dᵢ − δ as it is.
    const fn n_empty(&self) -> usize {
        self.n_flips - self.means.len()
    }
}

/// Combines differences, if there are many, into blocks of almost equal size.
fn blocks(differences: &[f64]) -> Vec<Block> {
    let mut blocks = vec![Block::default(); differences.len().min(MAX_BLOCKS)];
    for chunk in differences.chunks(MAX_BLOCKS) {
        for (block, difference) in blocks.iter_mut().zip(chunk) {
            *block += Block {
                sum: *difference,
                count: 1.0,
            };
        }
    }
    blocks
}

/// Adds to each flip's sum those of a column of up to eight blocks that it flips. The blocks whose
/// bits are set in `tried` follow the flip's index, and the others are drawn.
fn add_column(
    blocks: &[Block],
    column: usize,
    tried: u8,
    random: &mut SplitMix64,
    flipped: &mut [Block],
) {
    let sums = subset_sums(blocks);
    for (eight, flips) in flipped.chunks_mut(8).enumerate() {
        let drawn = random.bits().to_le_bytes();
        for (index, (flip, drawn)) in (eight * 8..).zip(flips.iter_mut().zip(drawn)) {
            let counted = index
                .checked_shr((BYTE * column) as u32)
                .unwrap_or_default() as u8;
            let bits = if index == 0 {
                0
            } else {
                counted & tried | drawn & !tried
            };
            *flip += sums.get(usize::from(bits)).copied().unwrap_or_default();
        }
    }
}

/// Returns the sum of each subset of up to eight blocks.
fn subset_sums(blocks: &[Block]) -> [Block; 256] {
    let mut sums = [Block::default(); 256];
    for (index, block) in blocks.iter().enumerate() {
        for (subset, sum) in sums.iter_mut().enumerate() {
            if subset >> index & 1 == 1 {
                *sum += *block;
            }
        }
    }
    sums
}
