//! The recurrent states of one sequence, and the earlier ones that are kept for going back.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::generation::Checkpoints;

/// The states of a sequence's layers without attention.
///
/// A state is valid at exactly one length. So a few are kept, and going back restores the nearest;
/// the tokens after it must then be read again. States are shared until one of their owners changes
/// them.
#[derive(Debug, Default)]
pub(crate) struct RecurrentStates {
    current: Arc<States>,
    /// Earlier states, in the order of their lengths.
    kept: Vec<Kept>,
    /// A state that the current pass keeps on its way.
    marked: Option<Marked>,
}

/// The state of each layer that has read something.
#[derive(Debug, Clone, Default)]
struct States {
    layers: BTreeMap<usize, Vec<f32>>,
}

/// The states after this many tokens.
#[derive(Debug, Clone)]
struct Kept {
    n_read: usize,
    states: Arc<States>,
}

/// The states that a pass copies after this many tokens.
#[derive(Debug)]
struct Marked {
    n_read: usize,
    states: States,
}

/// The state of one layer during a pass.
pub(crate) struct LayerStates<'a> {
    pub state: &'a mut [f32],
    /// Where to copy the state after the pass has read `n_before_mark` tokens, if anywhere.
    pub marked: Option<&'a mut Vec<f32>>,
    pub n_before_mark: usize,
}

impl RecurrentStates {
    /// Copies the states for a fork, which keeps those at the fork.
    pub(crate) fn fork(&self, n_read: usize) -> Self {
        let mut fork = Self {
            current: Arc::clone(&self.current),
            kept: self.kept.clone(),
            marked: None,
        };
        fork.keep_current(n_read);
        fork
    }

    /// Prepares for a pass over `n_rows` tokens after the first `n_read`, of a text that had
    /// `n_text` tokens before.
    pub(crate) fn begin_pass(&mut self, n_read: usize, n_rows: usize, n_text: usize) {
        let n_last = self.kept.last().map_or(0, |kept| kept.n_read);
        if n_text > n_read {
            self.marked = Some(Marked {
                n_read: n_text,
                states: States::default(),
            });
        } else if n_rows > 1 || n_read >= n_last + Checkpoints::INTERVAL {
            self.keep_current(n_read);
        }
    }

    /// Keeps the states that the pass has copied.
    pub(crate) fn end_pass(&mut self) {
        if let Some(Marked { n_read, states }) = self.marked.take() {
            self.keep(Kept {
                n_read,
                states: Arc::new(states),
            });
        }
    }

    /// Restores the latest states at or before `n` tokens. Returns how many tokens they have read:
    /// `n` for a model with attention in all layers.
    pub(crate) fn restore(&mut self, n: usize) -> usize {
        self.marked = None;
        if self.current.layers.is_empty() {
            return n;
        }
        self.kept.retain(|kept| kept.n_read <= n);
        let Some(last) = self.kept.last() else {
            self.current = Arc::default();
            return 0;
        };
        self.current = Arc::clone(&last.states);
        last.n_read
    }

    /// Returns the state of a layer for a pass that begins after `n_read` tokens.
    pub(crate) fn layer_mut(
        &mut self,
        layer: usize,
        n_values: usize,
        n_read: usize,
    ) -> LayerStates<'_> {
        let marked = self.marked.as_mut();
        LayerStates {
            state: Arc::make_mut(&mut self.current).layer_mut(layer, n_values),
            n_before_mark: marked
                .as_ref()
                .map_or(0, |marked| marked.n_read.saturating_sub(n_read)),
            marked: marked.map(|marked| marked.states.layer_mut(layer, n_values)),
        }
    }

    /// Iterates over the states, with their addresses and sizes in bytes.
    pub(crate) fn held(&self) -> impl Iterator<Item = (usize, u64)> {
        let kept = self.kept.iter().map(|kept| &kept.states);
        let all = std::iter::once(&self.current).chain(kept);
        all.map(|states| (Arc::as_ptr(states).addr(), states.n_bytes() as u64))
    }

    fn keep_current(&mut self, n_read: usize) {
        if n_read > 0 && !self.current.layers.is_empty() {
            self.keep(Kept {
                n_read,
                states: Arc::clone(&self.current),
            });
        }
    }

    fn keep(&mut self, new: Kept) {
        if self.kept.last().is_none_or(|last| last.n_read < new.n_read) {
            self.kept.push(new);
        }
        while let Some(index) = self.least_useful() {
            self.kept.remove(index);
        }
    }

    /// Returns the kept states without which the gap between their neighbors is smallest, if they
    /// are closer together than needed or take too much memory. The latest always stay.
    fn least_useful(&self) -> Option<usize> {
        let before = self.kept.iter().map(|kept| kept.n_read);
        let before = std::iter::once(0).chain(before);
        let after = self.kept.iter().skip(1).map(|kept| kept.n_read);
        let gaps = before.zip(after).map(|(before, after)| after - before);
        let (gap, index) = gaps.zip(0..).min()?;
        let sizes = self.kept.iter().map(|kept| kept.states.n_bytes() as u64);
        let n_bytes: u64 = sizes.sum();
        let is_large = n_bytes > Checkpoints::N_MAX_BYTES && self.kept.len() > Checkpoints::N_MIN;
        (gap < Checkpoints::INTERVAL || is_large).then_some(index)
    }
}

impl States {
    /// Returns the state of a layer, which begins with zeros.
    fn layer_mut(&mut self, layer: usize, n_values: usize) -> &mut Vec<f32> {
        let layer = self.layers.entry(layer);
        layer.or_insert_with(|| vec![0.0; n_values])
    }

    fn n_bytes(&self) -> usize {
        let n_values: usize = self.layers.values().map(Vec::len).sum();
        n_values * size_of::<f32>()
    }
}
