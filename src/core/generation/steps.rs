//! The steps of a text, shared instead of copied.

use std::fmt;
use std::iter::{FlatMap, FusedIterator};
use std::ops::{Bound, Index, IndexMut, Range, RangeBounds};
use std::sync::Arc;
use std::{slice, vec};

use super::Step;

/// How many steps are copied at most when a text grows while a copy of it is being saved.
const N_PER_CHUNK: usize = 64;

/// The steps of a text, in order. A clone shares them, so a background thread can save a text of
/// any length without making the window wait. A change made while they are shared copies only the
/// chunk that it changes.
#[derive(Clone, Default)]
pub struct Steps {
    /// All but the last are full, and none is empty.
    chunks: Vec<Chunk>,
}

type Chunk = Arc<Vec<Step>>;

impl Steps {
    /// Returns the number of steps.
    pub fn len(&self) -> usize {
        let n_full = self.chunks.len().saturating_sub(1);
        let n_last = self.chunks.last().map_or(0, |chunk| chunk.len());
        n_full * N_PER_CHUNK + n_last
    }

    /// Returns whether there are no steps.
    pub const fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Returns the step at an index, if there is one.
    pub fn get(&self, index: usize) -> Option<&Step> {
        let chunk = self.chunks.get(index / N_PER_CHUNK)?;
        chunk.get(index % N_PER_CHUNK)
    }

    /// Returns the first step.
    pub fn first(&self) -> Option<&Step> {
        self.get(0)
    }

    /// Returns the last step.
    pub fn last(&self) -> Option<&Step> {
        self.chunks.last()?.last()
    }

    /// Iterates over all steps.
    pub fn iter(&self) -> StepsIter<'_> {
        self.range(..)
    }

    /// Iterates over the steps with these indices, as far as they exist.
    pub fn range(&self, indices: impl RangeBounds<usize>) -> StepsIter<'_> {
        let start = match indices.start_bound() {
            Bound::Included(start) => *start,
            Bound::Excluded(before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match indices.end_bound() {
            Bound::Included(last) => last.saturating_add(1),
            Bound::Excluded(end) => *end,
            Bound::Unbounded => usize::MAX,
        };
        let end = end.min(self.len());
        StepsIter {
            steps: self,
            indices: start.min(end)..end,
        }
    }

    /// Iterates over all steps, to change them.
    pub fn iter_mut(&mut self) -> StepsIterMut<'_> {
        self.chunks.iter_mut().flat_map(Arc::make_mut)
    }

    /// Adds a step at the end.
    pub fn push(&mut self, step: Step) {
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < N_PER_CHUNK => Arc::make_mut(chunk).push(step),
            _ => self.chunks.push(Arc::new(vec![step])),
        }
    }

    /// Removes the last step and returns it.
    pub fn pop(&mut self) -> Option<Step> {
        let chunk = Arc::make_mut(self.chunks.last_mut()?);
        let step = chunk.pop();
        if chunk.is_empty() {
            self.chunks.pop();
        }
        step
    }

    /// Keeps the first `n` steps.
    pub fn truncate(&mut self, n: usize) {
        if n >= self.len() {
            return;
        }
        self.chunks.truncate(n.div_ceil(N_PER_CHUNK));
        let n_last = n % N_PER_CHUNK;
        if let Some(chunk) = self.chunks.last_mut().filter(|_| n_last > 0) {
            Arc::make_mut(chunk).truncate(n_last);
        }
    }
}

/// Iterates over steps.
#[derive(Debug, Clone)]
pub struct StepsIter<'a> {
    steps: &'a Steps,
    /// The indices of the steps that come next. All of them exist.
    indices: Range<usize>,
}

/// Iterates over steps, to change them.
pub type StepsIterMut<'a> =
    FlatMap<slice::IterMut<'a, Chunk>, &'a mut Vec<Step>, fn(&'a mut Chunk) -> &'a mut Vec<Step>>;

impl<'a> Iterator for StepsIter<'a> {
    type Item = &'a Step;

    fn next(&mut self) -> Option<&'a Step> {
        self.steps.get(self.indices.next()?)
    }

    fn nth(&mut self, n: usize) -> Option<&'a Step> {
        self.steps.get(self.indices.nth(n)?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.indices.size_hint()
    }
}

impl DoubleEndedIterator for StepsIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.steps.get(self.indices.next_back()?)
    }

    fn nth_back(&mut self, n: usize) -> Option<Self::Item> {
        self.steps.get(self.indices.nth_back(n)?)
    }
}

impl ExactSizeIterator for StepsIter<'_> {}

impl FusedIterator for StepsIter<'_> {}

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl PartialEq for Steps {
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = self.chunks.iter().zip(&other.chunks);
        self.chunks.len() == other.chunks.len()
            && pairs.all(|(own, other)| Arc::ptr_eq(own, other) || own == other)
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "as with a slice, an index that does not exist is a bug"
)]
impl Index<usize> for Steps {
    type Output = Step;

    fn index(&self, index: usize) -> &Step {
        &self.chunks[index / N_PER_CHUNK][index % N_PER_CHUNK]
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "as with a slice, an index that does not exist is a bug"
)]
impl IndexMut<usize> for Steps {
    fn index_mut(&mut self, index: usize) -> &mut Step {
        &mut Arc::make_mut(&mut self.chunks[index / N_PER_CHUNK])[index % N_PER_CHUNK]
    }
}

impl From<Vec<Step>> for Steps {
    fn from(steps: Vec<Step>) -> Self {
        steps.into_iter().collect()
    }
}

impl FromIterator<Step> for Steps {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        let mut collected = Self::default();
        collected.extend(steps);
        collected
    }
}

impl Extend<Step> for Steps {
    fn extend<I: IntoIterator<Item = Step>>(&mut self, steps: I) {
        for step in steps {
            self.push(step);
        }
    }
}

impl<'a> IntoIterator for &'a Steps {
    type Item = &'a Step;
    type IntoIter = StepsIter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Steps {
    type Item = &'a mut Step;
    type IntoIter = StepsIterMut<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl IntoIterator for Steps {
    type Item = Step;
    type IntoIter = FlatMap<vec::IntoIter<Chunk>, Vec<Step>, fn(Chunk) -> Vec<Step>>;

    fn into_iter(self) -> Self::IntoIter {
        self.chunks.into_iter().flat_map(Arc::unwrap_or_clone)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::{N_PER_CHUNK, Step, Steps};
    use crate::decoding::TokenId;
    use crate::generation::testing::generation;

    /// As many steps, whose tokens are their indices.
    fn numbered(n: u32) -> Vec<Step> {
        let step = &generation(&[(" fox", 0.5)]).steps[0];
        let numbered = (0..n).map(|index| Step {
            token: TokenId(index),
            ..step.clone()
        });
        numbered.collect()
    }

    #[test]
    fn a_copy_shares_its_steps_and_the_next_step_copies_only_the_last_chunk() {
        let mut text: Steps = numbered(197).into();
        let saved = text.clone();
        assert!(
            text.chunks
                .iter()
                .zip(&saved.chunks)
                .all(|(own, other)| Arc::ptr_eq(own, other))
        );
        let next = text[0].clone();
        text.push(next.clone());
        assert_eq!((saved.len(), text.len()), (197, 198));
        let shared: Vec<bool> = text
            .chunks
            .iter()
            .zip(&saved.chunks)
            .map(|(own, other)| Arc::ptr_eq(own, other))
            .collect();
        assert_eq!(shared, [true, true, true, false]);
        assert!(saved.iter().eq(text.range(..197)));
        // Nothing else holds the last chunk now, so another step copies nothing.
        let place = text.chunks[3].as_ptr();
        text.pop();
        assert_eq!(text.chunks[3].as_ptr(), place);
        assert_eq!(text, saved);
        // A full chunk is never copied.
        let mut full: Steps = numbered(N_PER_CHUNK as u32).into();
        let saved = full.clone();
        full.push(next);
        assert!(Arc::ptr_eq(&full.chunks[0], &saved.chunks[0]));
    }

    proptest! {
        #[test]
        fn steps_behave_like_a_list(
            n_steps in 0..200_u32,
            changes in prop::collection::vec((0..4_u8, 0..220_usize), 0..30),
        ) {
            let mut list = numbered(n_steps);
            let mut steps: Steps = list.clone().into();
            let mut saved = Vec::new();
            for (change, n) in changes {
                match change {
                    0 => {
                        let more = numbered(n as u32);
                        list.extend(more.clone());
                        steps.extend(more);
                    }
                    1 => {
                        list.truncate(n);
                        steps.truncate(n);
                    }
                    2 => prop_assert_eq!(steps.pop(), list.pop()),
                    _ => saved.push((steps.clone(), list.clone())),
                }
                prop_assert_eq!(steps.len(), list.len());
                prop_assert_eq!(steps.is_empty(), list.is_empty());
                prop_assert_eq!(steps.last(), list.last());
                prop_assert_eq!(steps.get(n), list.get(n));
                prop_assert!(steps.iter().eq(&list));
                prop_assert!(steps.iter().rev().eq(list.iter().rev()));
                prop_assert!(steps.iter().skip(n).eq(list.iter().skip(n)));
                prop_assert_eq!(steps.range(n..).len(), list.len().saturating_sub(n));
                prop_assert_eq!(&steps, &Steps::from(list.clone()));
            }
            for (steps, list) in saved {
                prop_assert!(steps.into_iter().eq(list));
            }
        }
    }
}
