//! A row of logits with the largest of every block, so that what lies far below is passed over.

/// How many logits share one remembered maximum.
pub(in crate::decoding) const BLOCK: usize = 64;

/// Scores, each a number or −∞ and never −0, and the largest of each block of 64.
///
/// Its memory is kept from one content to the next: at each step anew it would cost as much as the
/// arithmetic.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    logits: Vec<f32>,
    block_max: Vec<f32>,
    /// What the next change is written to.
    spare: Vec<f32>,
}

impl Row {
    /// Holds these from now on, none of which is NaN or +∞.
    pub(super) fn fill(&mut self, logits: impl Iterator<Item = f32>) {
        self.logits.clear();
        // Adding zero turns −0 into 0, so that equal scores have equal bits.
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

    pub(super) fn max(&self) -> f32 {
        largest(&self.block_max)
    }

    /// The blocks that hold something possible, in order.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &[f32]> {
        self.numbered_blocks().map(|(_, block)| block)
    }

    /// The same, each with its number among all blocks.
    pub(super) fn numbered_blocks(&self) -> impl Iterator<Item = (usize, &[f32])> {
        let blocks = self.logits.chunks(BLOCK).enumerate().zip(&self.block_max);
        blocks
            .filter(|(_, max)| **max > f32::NEG_INFINITY)
            .map(|(block, _)| block)
    }

    /// Shows each logit that is not less than `bar`, with its place, in order.
    ///
    /// A block is first gone through without a branch, because whether a logit passes a bar that lies
    /// among many is nothing that a processor can guess.
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

    /// Changes every logit that is not −∞, and says so; where nothing possible would be left, nothing
    /// changes.
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

    /// Sets the logits at these places, and gives each change as what was and what is; where nothing
    /// possible would be left, nothing changes.
    pub(super) fn set(&mut self, places: &[(usize, f32)]) -> Vec<(f32, f32)> {
        let mut replaced = Vec::with_capacity(places.len());
        for (index, logit) in places {
            if let Some(slot) = self.logits.get_mut(*index) {
                let new = as_logit(*logit);
                replaced.push((std::mem::replace(slot, new), new));
                self.renew_block_of(*index);
            }
        }
        if self.max() > f32::NEG_INFINITY {
            return replaced;
        }
        for ((index, _), (old, _)) in places.iter().zip(&replaced).rev() {
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

/// How many of these are NaN or +∞.
pub(super) fn n_not_numbers(logits: &[f32]) -> usize {
    let bad = |logit: &f32| u32::from(logit.is_nan()) + u32::from(*logit == f32::INFINITY);
    logits.iter().map(bad).sum::<u32>() as usize
}

/// A number or −∞, and never −0.
#[inline]
fn as_logit(value: f32) -> f32 {
    let value = if value > f32::MAX { f32::MAX } else { value };
    if value.is_nan() {
        f32::NEG_INFINITY
    } else {
        value + 0.0
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
    let all = lanes.iter().chain(rest);
    all.copied().fold(f32::NEG_INFINITY, larger)
}
