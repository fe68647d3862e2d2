//! What every backend offers: sequences with a KV cache, and a forward pass over a flat batch of rows.

use super::EngineError;
use crate::decoding::TokenId;

/// A sequence that a model has read, with its KV cache. Valid until it is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SequenceId(pub u64);

/// One token to be read by one forward pass.
///
/// Rows of one sequence stand in the order of their positions and follow on what it has read.
/// Rows of different sequences may stand in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Whose token it is.
    pub sequence: SequenceId,
    /// The token.
    pub token: TokenId,
    /// Whether the scores of the token after this one are wanted. The output head is a third of the
    /// work of a small model, so only these rows pay for it.
    pub logits_wanted: bool,
}

/// The scores that a forward pass gave: one row of `n_vocab` logits for each input row that wanted
/// them, in the order of the input.
#[derive(Debug, Clone, PartialEq)]
pub struct Logits {
    values: Vec<f32>,
    n_vocab: usize,
}

impl Logits {
    /// Rows of `n_vocab` scores, one after another.
    pub const fn new(values: Vec<f32>, n_vocab: usize) -> Self {
        Self { values, n_vocab }
    }

    /// The rows of several, in their order.
    pub fn joined(parts: Vec<Self>, n_vocab: usize) -> Self {
        let values = parts.into_iter().flat_map(|part| part.values);
        Self::new(values.collect(), n_vocab)
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> usize {
        self.values.len() / self.n_vocab.max(1)
    }

    /// The row with this number.
    pub fn row(&self, index: usize) -> Option<&[f32]> {
        let start = index.checked_mul(self.n_vocab)?;
        self.values.get(start..start + self.n_vocab)
    }
}

/// Where the time of forward passes went, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ForwardTimes {
    /// Products with the layers' matrices.
    pub product_secs: f64,
    /// Attention, with what is done to queries and keys before.
    pub attention_secs: f64,
    /// The product with the output head.
    pub head_secs: f64,
    /// All of the passes.
    pub total_secs: f64,
}

/// A causal language model: the weights, and the KV caches of the sequences that it has read.
pub trait CausalLm: Send {
    /// The size of the vocabulary, which is the length of a row of logits.
    fn n_vocab(&self) -> usize;

    /// How many tokens a sequence can hold.
    fn n_context(&self) -> usize;

    /// A new sequence that has read nothing.
    fn open(&mut self) -> SequenceId;

    /// A second sequence at the same place. What was read is shared; from here the two go apart, and
    /// neither can change what the other has read.
    fn fork(&mut self, parent: SequenceId) -> Result<SequenceId, EngineError>;

    /// Forgets all but the first `n` tokens of a sequence.
    fn truncate(&mut self, sequence: SequenceId, n: usize) -> Result<(), EngineError>;

    /// Frees a sequence; one that is not open is passed over.
    fn close(&mut self, sequence: SequenceId);

    /// How many tokens a sequence has read.
    fn n_read(&self, sequence: SequenceId) -> usize;

    /// For how many tokens a sequence takes memory: more than it has read where it was cut and shares
    /// with others what was cut off.
    fn n_held(&self, sequence: SequenceId) -> usize {
        self.n_read(sequence)
    }

    /// Tells that a sequence is to hold `n` tokens, before they are read; gives whether what it has read
    /// stays. Where a model reads long texts otherwise than short ones, it may not, and is forgotten.
    fn expect(&mut self, _sequence: SequenceId, _n: usize) -> bool {
        true
    }

    /// Reads at most one chunk of what must be read again before these rows can be; gives whether
    /// nothing is left of it. Who does not ask waits for all of it in [`Self::forward`].
    fn get_ready(&mut self, _rows: &[Row]) -> Result<bool, EngineError> {
        Ok(true)
    }

    /// Reads the rows, and gives the scores that they ask for.
    ///
    /// On an error no row counts as read.
    fn forward(&mut self, rows: &[Row]) -> Result<Logits, EngineError>;

    /// Where the time of all forward passes went, as far as it is measured.
    fn times(&self) -> ForwardTimes {
        ForwardTimes::default()
    }
}
