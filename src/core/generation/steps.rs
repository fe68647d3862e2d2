//! The steps of a text, shared instead of copied.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::Step;

/// The steps of a text, in order. A clone shares them, so a background thread can save a text of
/// any length without making the window wait. The first change made while they are shared copies
/// them.
#[derive(Debug, Clone, Default)]
pub struct Steps(Arc<Vec<Step>>);

impl Deref for Steps {
    type Target = Vec<Step>;

    fn deref(&self) -> &Vec<Step> {
        &self.0
    }
}

impl DerefMut for Steps {
    fn deref_mut(&mut self) -> &mut Vec<Step> {
        Arc::make_mut(&mut self.0)
    }
}

impl PartialEq for Steps {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl From<Vec<Step>> for Steps {
    fn from(steps: Vec<Step>) -> Self {
        Self(Arc::new(steps))
    }
}

impl FromIterator<Step> for Steps {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        steps.into_iter().collect::<Vec<Step>>().into()
    }
}

impl<'a> IntoIterator for &'a Steps {
    type Item = &'a Step;
    type IntoIter = std::slice::Iter<'a, Step>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Steps {
    type Item = Step;
    type IntoIter = std::vec::IntoIter<Step>;

    fn into_iter(self) -> Self::IntoIter {
        Arc::unwrap_or_clone(self.0).into_iter()
    }
}

#[cfg(test)]
mod tests {
    use crate::generation::testing::generation;

    #[test]
    fn a_copy_shares_its_steps_until_one_of_the_two_changes() {
        let mut text = generation(&[(" the", 0.5), (" fox", 0.25)]);
        let saved = text.clone();
        assert_eq!(saved.steps.as_ptr(), text.steps.as_ptr());
        let next = text.steps[0].clone();
        text.steps.push(next);
        assert_eq!((saved.steps.len(), text.steps.len()), (2, 3));
        assert_eq!(saved.steps[..], text.steps[..2]);
        // Nothing else holds the steps now, so another change copies nothing.
        let place = text.steps.as_ptr();
        text.steps.pop();
        assert_eq!(text.steps.as_ptr(), place);
        assert_eq!(text.steps, saved.steps);
    }
}
