//! A row of logits with the maximum of every block, so that blocks far below a threshold are
//! skipped.

/// How many logits share one stored maximum.
pub(in crate::decoding) const BLOCK: usize = 64;

/// Logits, and the maximum of each block of 64.
///
/// Its memory is reused, because allocating it at each step would cost as much as the arithmetic.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    /// Each is a number or −∞, and never −0.
    logits: Vec<f32>,
    /// One per block of `logits`.
    block_max: Vec<f32>,
    /// The buffer that the next change is written to.
    spare: Vec<f32>,
}

impl Row {
    /// Replaces the content by these logits, none of which may be NaN or +∞.
    pub(super) fn fill(&mut self, logits: impl Iterator<Item = f32>) {
        self.logits.clear();
        // Adding zero turns −0 into 0, so that equal logits have equal bits.
        self.logits.extend(logits.map(|logit| logit + 0.0));
        self.block_max.clear();
        self.block_max
            .extend(self.logits.chunks(BLOCK).map(largest));
    }

    pub(super) const fn len(&self) -> usize {
        self.logits.len()
    }

    pub(super) fn logits(&self) -> &[f32] {
        &self.logits
    }

    pub(super) fn block_max(&self) -> &[f32] {
        &self.block_max
    }

    /// Returns the maxima of `n_groups` groups of logits. A group holds every `n_groups`-th logit,
    /// which vectorizes.
    pub(super) fn group_maxima(&self, n_groups: usize) -> Vec<f32> {
        let mut maxima = vec![f32::NEG_INFINITY; n_groups];
        for logits in self.logits.chunks(n_groups) {
            for (max, logit) in maxima.iter_mut().zip(logits) {
                *max = larger(*max, *logit);
            }
        }
        maxima
    }

    pub(super) fn max(&self) -> f32 {
        largest(&self.block_max)
    }

    /// Iterates over the blocks with a possible logit, in order.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &[f32]> {
        self.numbered_blocks().map(|(_, block)| block)
    }

    /// Iterates over the blocks with a possible logit, each with its number among all blocks.
    pub(super) fn numbered_blocks(&self) -> impl Iterator<Item = (usize, &[f32])> {
        let blocks = self.logits.chunks(BLOCK).enumerate().zip(&self.block_max);
        blocks
            .filter(|(_, max)| **max > f32::NEG_INFINITY)
            .map(|(block, _)| block)
    }

    /// Calls `show` with the index and value of each logit that is at least `bar`, in order.
    ///
    /// Each block is first compacted without a branch, because the branch predictor cannot guess
    /// which of many logits pass a threshold.
    pub(super) fn for_each_from(&self, bar: f32, mut show: impl FnMut(usize, f32)) {
        let blocks = self.logits.chunks(BLOCK).zip(&self.block_max);
        for (number, (block, _)) in blocks.enumerate().filter(|(_, (_, max))| **max >= bar) {
            let mut passing = [(0, 0.0); BLOCK];
            let mut n_passing = 0;
            for (offset, logit) in block.iter().enumerate() {
                if let Some(slot) = passing.get_mut(n_passing) {
                    *slot = (offset, *logit);
                }
                n_passing += usize::from(*logit >= bar);
            }
            for (offset, logit) in passing.iter().take(n_passing) {
                show(number * BLOCK + offset, *logit);
            }
        }
    }

    /// Replaces every logit that is not −∞. Returns whether it did: if no possible logit would be
    /// left, nothing changes.
    pub(super) fn map(&mut self, new_logit: impl Fn(f32) -> f32) -> bool {
        self.spare.clear();
        for (block, max) in self.logits.chunks(BLOCK).zip(&self.block_max) {
            if *max > f32::NEG_INFINITY {
                self.spare.extend(block.iter().map(|old| {
                    let new = as_logit(new_logit(*old));
                    if *old > f32::NEG_INFINITY { new } else { *old }
                }));
            } else {
                self.spare.extend_from_slice(block);
            }
        }
        let possible = largest(&self.spare) > f32::NEG_INFINITY;
        if possible {
            std::mem::swap(&mut self.logits, &mut self.spare);
            self.block_max.clear();
            self.block_max
                .extend(self.logits.chunks(BLOCK).map(largest));
        }
        possible
    }

    /// Sets the logits at these indices. Returns the old and new value of each. If no possible
    /// logit would be left, changes nothing and returns an empty list.
    pub(super) fn set(&mut self, changes: &[(usize, f32)]) -> Vec<(f32, f32)> {
        let mut replaced = Vec::with_capacity(changes.len());
        for (index, logit) in changes {
            if let Some(slot) = self.logits.get_mut(*index) {
                let new = as_logit(*logit);
                replaced.push((std::mem::replace(slot, new), new));
                self.renew_block_of(*index);
            }
        }
        if self.max() > f32::NEG_INFINITY {
            return replaced;
        }
        for ((index, _), (old, _)) in changes.iter().zip(&replaced).rev() {
            if let Some(slot) = self.logits.get_mut(*index) {
                *slot = *old;
            }
            self.renew_block_of(*index);
        }
        Vec::new()
    }

    fn renew_block_of(&mut self, index: usize) {
        let number = index / BLOCK;
        let block = self.logits.chunks(BLOCK).nth(number);
        if let (Some(block), Some(max)) = (block, self.block_max.get_mut(number)) {
            *max = largest(block);
        }
    }
}

/// Counts the logits that are NaN or +∞.
pub(super) fn n_not_numbers(logits: &[f32]) -> usize {
    let bad = |logit: &f32| u32::from(logit.is_nan()) + u32::from(*logit == f32::INFINITY);
    logits.iter().map(bad).sum::<u32>() as usize
}

/// Turns NaN into −∞, +∞ into the largest number and −0 into 0.
#[inline]
fn as_logit(value: f32) -> f32 {
    let value = if value > f32::MAX { f32::MAX } else { value };
    if value.is_nan() {
        f32::NEG_INFINITY
    } else {
        value + 0.0
    }
}

/// Returns the largest logit. It keeps eight running maxima, so that the compiler can vectorize it.
fn largest(logits: &[f32]) -> f32 {
    let (rows, rest) = logits.as_chunks::<8>();
    let mut lanes = [f32::NEG_INFINITY; 8];
    for row in rows {
        for (lane, logit) in lanes.iter_mut().zip(row) {
            *lane = larger(*lane, *logit);
        }
    }
    let all = lanes.iter().chain(rest);
    all.copied().fold(f32::NEG_INFINITY, larger)
}

/// Returns the larger of two logits. Unlike `f32::max`, it is a single instruction.
#[inline]
const fn larger(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}
