//! The first steps of a text, if an earlier text of the file has them already.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::generation::{Generation, Steps};

/// The first steps of an earlier text.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shares {
    /// Its index in the file, counting turns first, then panes, then branches.
    text: usize,
    pub n_steps: usize,
}

impl Shares {
    /// Finds the earlier text with which a text shares the most steps, and how many.
    pub(super) fn of(text: &Generation, earlier: &[&Generation]) -> Option<Self> {
        let n_shared = |other: &Generation| {
            let pairs = text.steps.iter().zip(&other.steps);
            pairs
                .take_while(|(a, b)| Arc::ptr_eq(&a.trace, &b.trace))
                .count()
        };
        let all = earlier.iter().enumerate().rev();
        let all = all.map(|(text, other)| Self {
            text,
            n_steps: n_shared(other),
        });
        all.max_by_key(|shares| shares.n_steps)
            .filter(|shares| shares.n_steps > 0)
    }

    /// Puts the steps before those of a text. Returns whether the earlier text has them.
    pub(super) fn restore<'a>(
        self,
        text: &mut Generation,
        earlier: impl IntoIterator<Item = &'a Generation>,
    ) -> bool {
        let shared = earlier.into_iter().nth(self.text);
        let Some(shared) = shared.filter(|other| self.n_steps <= other.steps.len()) else {
            return false;
        };
        let own = std::mem::take(&mut text.steps);
        let shared = shared.steps.range(..self.n_steps).cloned();
        text.steps = shared.chain(own).collect::<Steps>();
        true
    }
}
