//! The texts that no pane shows, within a memory limit.
//!
//! Texts that branched off from one another share the steps before the fork.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::generation::{Generation, GenerationId, Step, Steps};
use crate::state::PaneId;

/// Kept texts, the least recently shown first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::state) struct KeptTexts {
    texts: Vec<KeptText>,
    n_bytes: usize,
    /// How many texts were dropped to stay within the memory limit.
    n_dropped: usize,
    /// Changes whenever the texts do.
    revision: u64,
}

/// A text that no pane shows.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) struct KeptText {
    /// The pane that showed it last.
    pub home: PaneId,
    /// Everything but its steps.
    head: Generation,
    /// Its steps, in order.
    runs: Vec<Run>,
}

/// The first `n_steps` steps of a run of steps that several texts share.
#[derive(Debug, Clone, PartialEq)]
struct Run {
    shared: Arc<SharedRun>,
    n_steps: usize,
}

#[derive(Debug, PartialEq)]
struct SharedRun {
    steps: Vec<Step>,
    n_bytes: usize,
}

impl KeptText {
    pub(in crate::state) const fn id(&self) -> GenerationId {
        self.head.lineage.id
    }

    /// Returns the text without its steps.
    pub(in crate::state) const fn head(&self) -> &Generation {
        &self.head
    }

    /// Returns the text as it was shown.
    pub(in crate::state) fn generation(&self) -> Generation {
        Generation {
            steps: self.steps().cloned().collect(),
            ..self.head.clone()
        }
    }

    pub(in crate::state) fn steps(&self) -> impl Iterator<Item = &Step> {
        let runs = self.runs.iter();
        runs.flat_map(|run| run.shared.steps.iter().take(run.n_steps))
    }

    /// Returns how many leading steps this text shares with `steps`.
    fn n_shared(&self, steps: &Steps) -> usize {
        let pairs = self.steps().zip(steps);
        pairs
            .take_while(|(a, b)| Arc::ptr_eq(&a.trace, &b.trace))
            .count()
    }

    /// Returns the runs of its first `n` steps.
    fn first_runs(&self, mut n: usize) -> Vec<Run> {
        let mut runs = Vec::new();
        for run in &self.runs {
            let n_steps = run.n_steps.min(n);
            n -= n_steps;
            if n_steps > 0 {
                let shared = Arc::clone(&run.shared);
                runs.push(Run { shared, n_steps });
            }
        }
        runs
    }
}

impl SharedRun {
    fn of(steps: Vec<Step>) -> Self {
        Self {
            n_bytes: steps.iter().map(n_bytes).sum(),
            steps,
        }
    }
}

fn n_bytes(step: &Step) -> usize {
    size_of::<Step>() + step.piece.bytes.len() + step.trace.n_bytes()
}

impl KeptTexts {
    /// Returns the texts, the least recently shown first.
    pub(in crate::state) fn texts(&self) -> &[KeptText] {
        &self.texts
    }

    /// Returns the memory that the texts take together, in bytes, with the turns before them. Shared
    /// steps and turns count once.
    pub(in crate::state) const fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// Returns how many texts were dropped to stay within the memory limit.
    pub(in crate::state) const fn n_dropped(&self) -> usize {
        self.n_dropped
    }

    pub(in crate::state) const fn revision(&self) -> u64 {
        self.revision
    }

    pub(in crate::state) fn get(&self, id: GenerationId) -> Option<&KeptText> {
        self.texts.iter().find(|text| text.id() == id)
    }

    /// Keeps a text that a pane showed.
    pub(in crate::state) fn keep(&mut self, home: PaneId, text: Generation, n_max_bytes: usize) {
        let shared = self
            .texts
            .iter()
            .map(|kept| (kept.n_shared(&text.steps), kept))
            .max_by_key(|(n_shared, _)| *n_shared);
        let (n_shared, mut runs) = match shared {
            Some((n_shared, kept)) => (n_shared, kept.first_runs(n_shared)),
            None => (0, Vec::new()),
        };
        let rest: Vec<Step> = text.steps.range(n_shared..).cloned().collect();
        if !rest.is_empty() {
            runs.push(Run {
                n_steps: rest.len(),
                shared: Arc::new(SharedRun::of(rest)),
            });
        }
        let head = Generation {
            steps: Steps::default(),
            ..text
        };
        self.put(KeptText { home, head, runs });
        self.limit(n_max_bytes);
    }

    /// Puts back a text that was taken out.
    pub(in crate::state) fn put(&mut self, text: KeptText) {
        self.texts.push(text);
        self.changed();
    }

    /// Removes a text and returns it.
    pub(in crate::state) fn take(&mut self, id: GenerationId) -> Option<KeptText> {
        let index = self.texts.iter().position(|text| text.id() == id)?;
        let text = self.texts.remove(index);
        self.changed();
        Some(text)
    }

    /// Drops the texts for which `stays` returns false.
    pub(in crate::state) fn retain(&mut self, stays: impl FnMut(&KeptText) -> bool) {
        let n_before = self.texts.len();
        self.texts.retain(stays);
        if self.texts.len() != n_before {
            self.changed();
        }
    }

    /// Drops the least recently shown texts until the others fit within `n_max_bytes`.
    pub(in crate::state) fn limit(&mut self, n_max_bytes: usize) {
        while self.n_bytes > n_max_bytes && !self.texts.is_empty() {
            self.texts.remove(0);
            self.n_dropped += 1;
            self.changed();
        }
    }

    fn changed(&mut self) {
        let mut counted = BTreeSet::new();
        let runs = self.texts.iter().flat_map(|text| &text.runs);
        let new = runs.filter(|run| counted.insert(Arc::as_ptr(&run.shared)));
        let n_own: usize = new.map(|run| run.shared.n_bytes).sum();
        let mut counted = BTreeSet::new();
        let turns = self
            .texts
            .iter()
            .flat_map(|text| text.head.turns_back().skip(1));
        let new = turns.filter(|turn| counted.insert(std::ptr::from_ref::<Generation>(turn)));
        let n_before: usize = new.flat_map(|turn| turn.steps.iter().map(n_bytes)).sum();
        self.n_bytes = n_own + n_before;
        self.revision += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::KeptTexts;
    use crate::generation::testing::generation;
    use crate::generation::{Generation, GenerationId};
    use crate::state::PaneId;

    const HOME: PaneId = PaneId(1);
    const NO_LIMIT: usize = usize::MAX;

    /// A text that shares its first `n_shared` steps with another one.
    fn branch(of: &Generation, n_shared: usize, id: u64) -> Generation {
        let mut text = of.clone();
        let other = generation(&[(" fox", 0.1), (" ran", 0.2), (".", 0.3)]);
        text.steps.truncate(n_shared);
        text.steps.extend(other.steps);
        text.lineage.id = GenerationId(id);
        text
    }

    #[test]
    fn steps_before_a_fork_are_stored_once() {
        let text = generation(&[(" in", 0.6), (" a", 0.9), (" house", 0.4), (".", 0.8)]);
        let mut kept = KeptTexts::default();
        kept.keep(HOME, text.clone(), NO_LIMIT);
        let n_text = kept.n_bytes();
        let branches: Vec<Generation> = (1..=4).map(|n| branch(&text, n, n as u64)).collect();
        for text in &branches {
            kept.keep(HOME, text.clone(), NO_LIMIT);
        }
        let new_steps = generation(&[(" fox", 0.1), (" ran", 0.2), (".", 0.3)]);
        let mut alone = KeptTexts::default();
        alone.keep(HOME, new_steps, NO_LIMIT);
        assert_eq!(kept.n_bytes(), n_text + 4 * alone.n_bytes());
        // The text that the branches share steps with can be removed.
        kept.take(GenerationId(0)).unwrap();
        for text in branches {
            assert_eq!(kept.get(text.lineage.id).unwrap().generation(), text);
        }
    }

    #[test]
    fn beyond_the_limit_the_least_recently_shown_text_is_dropped() {
        let text = generation(&[(" in", 0.6), (" a", 0.9)]);
        let mut kept = KeptTexts::default();
        kept.keep(HOME, branch(&text, 0, 1), NO_LIMIT);
        let n_max_bytes = 2 * kept.n_bytes();
        for id in 2..=5 {
            kept.keep(HOME, branch(&text, 0, id), n_max_bytes);
            assert!(kept.n_bytes() <= n_max_bytes);
        }
        let ids: Vec<u64> = kept.texts().iter().map(|text| text.id().0).collect();
        assert_eq!(ids, [4, 5]);
        assert_eq!(kept.n_dropped(), 3);
    }
}
