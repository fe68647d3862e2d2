//! The sequences of a model that are open, and whether rows can be read into them.

use std::collections::BTreeMap;

use super::{EngineError, Row, SequenceId};

/// The sequences that are open, each with what its model keeps of it.
#[derive(Debug)]
pub struct Sequences<S> {
    open: BTreeMap<SequenceId, S>,
    n_opened: u64,
}

/// Where rows stand.
#[derive(Debug, Default)]
pub struct Plan {
    /// Whose rows these are, and how much each has read before, in the order in which rows name them.
    pub sequences: Vec<(SequenceId, usize)>,
    /// For each row which of those is its own, and its place in it.
    pub places: Vec<(usize, usize)>,
}

/// What a model can read.
#[derive(Debug, Clone, Copy)]
pub struct Reach {
    /// The size of its vocabulary.
    pub n_vocab: usize,
    /// How many tokens a sequence can hold.
    pub n_context: usize,
}

impl<S> Sequences<S> {
    /// None.
    pub const fn new() -> Self {
        Self {
            open: BTreeMap::new(),
            n_opened: 0,
        }
    }

    /// Opens one.
    pub fn add(&mut self, sequence: S) -> SequenceId {
        self.n_opened += 1;
        let id = SequenceId(self.n_opened);
        self.open.insert(id, sequence);
        id
    }

    /// One that is open.
    pub fn get(&self, id: SequenceId) -> Result<&S, EngineError> {
        self.open.get(&id).ok_or(EngineError::SequenceUnknown(id.0))
    }

    /// One that is open, to read into.
    pub fn get_mut(&mut self, id: SequenceId) -> Result<&mut S, EngineError> {
        self.open
            .get_mut(&id)
            .ok_or(EngineError::SequenceUnknown(id.0))
    }

    /// Takes one out, if it is open.
    pub fn remove(&mut self, id: SequenceId) -> Option<S> {
        self.open.remove(&id)
    }

    /// Puts those back that were taken out.
    pub fn restore(&mut self, sequences: impl IntoIterator<Item = (SequenceId, S)>) {
        self.open.extend(sequences);
    }

    /// Where the rows stand, or why they can't be read; `n_read` says how much a sequence has read.
    pub fn plan(
        &self,
        rows: &[Row],
        reach: Reach,
        n_read: impl Fn(&S) -> usize,
    ) -> Result<Plan, EngineError> {
        let Reach { n_vocab, n_context } = reach;
        let mut plan = Plan::default();
        let mut n_after: Vec<usize> = Vec::new();
        for row in rows {
            let token = row.token.0;
            if row.token.index() >= n_vocab {
                return Err(EngineError::TokenUnknown { token, n_vocab });
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
