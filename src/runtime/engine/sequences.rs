//! The open sequences of a model, and the check that rows can be added to them.

use std::collections::BTreeMap;

use super::{EngineError, Row, SequenceId};

/// The open sequences of a model. `S` is what the model stores for each.
#[derive(Debug)]
pub(super) struct Sequences<S> {
    open: BTreeMap<SequenceId, S>,
    /// How many sequences have ever been opened. Ids are never reused.
    n_opened: u64,
}

/// The sequence and position of each row in a forward pass.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The sequences in the order in which the rows first mention them, each with its length before
    /// the pass.
    pub sequences: Vec<(SequenceId, usize)>,
    /// For each row, the index of its sequence in `sequences`, and its position.
    pub places: Vec<(usize, usize)>,
}

/// The limits within which a model accepts rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowLimits {
    pub n_vocab: usize,
    /// The most tokens that a sequence can hold.
    pub n_context: usize,
}

impl<S> Sequences<S> {
    /// Creates an empty collection.
    pub(super) const fn new() -> Self {
        Self {
            open: BTreeMap::new(),
            n_opened: 0,
        }
    }

    /// Opens a sequence and returns its new id.
    pub(super) fn add(&mut self, sequence: S) -> SequenceId {
        self.n_opened += 1;
        let id = SequenceId(self.n_opened);
        self.open.insert(id, sequence);
        id
    }

    /// Returns an open sequence.
    pub(super) fn get(&self, id: SequenceId) -> Result<&S, EngineError> {
        self.open.get(&id).ok_or(EngineError::UnknownSequence(id.0))
    }

    /// Returns an open sequence for modification.
    pub(super) fn get_mut(&mut self, id: SequenceId) -> Result<&mut S, EngineError> {
        self.open
            .get_mut(&id)
            .ok_or(EngineError::UnknownSequence(id.0))
    }

    /// Removes a sequence. Returns `None` if it is not open.
    pub(super) fn remove(&mut self, id: SequenceId) -> Option<S> {
        self.open.remove(&id)
    }

    /// Puts back sequences that were removed.
    pub(super) fn restore(&mut self, sequences: impl IntoIterator<Item = (SequenceId, S)>) {
        self.open.extend(sequences);
    }

    /// Assigns a sequence and a position to each row. Fails if a token is unknown, a sequence is
    /// not open, or its context is full. `n_read` returns the length of a sequence.
    pub(super) fn plan(
        &self,
        rows: &[Row],
        limits: RowLimits,
        n_read: impl Fn(&S) -> usize,
    ) -> Result<Plan, EngineError> {
        let RowLimits { n_vocab, n_context } = limits;
        let mut plan = Plan::default();
        let mut n_after: Vec<usize> = Vec::new();
        for row in rows {
            let token = row.token.0;
            if row.token.index() >= n_vocab {
                return Err(EngineError::UnknownToken { token, n_vocab });
            }
            let known = plan
                .sequences
                .iter()
                .position(|(id, _)| *id == row.sequence);
            let index = known.unwrap_or(plan.sequences.len());
            if known.is_none() {
                let n_before = n_read(self.get(row.sequence)?);
                plan.sequences.push((row.sequence, n_before));
                n_after.push(n_before);
            }
            if let Some(position) = n_after.get_mut(index) {
                if *position >= n_context {
                    return Err(EngineError::ContextFull { n_max: n_context });
                }
                plan.places.push((index, *position));
                *position += 1;
            }
        }
        Ok(plan)
    }
}
