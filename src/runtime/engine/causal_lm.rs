//! The interface of every backend: sequences with a KV cache, and a forward pass over a flat batch.

use super::EngineError;
use crate::decoding::TokenId;
use crate::generation::CacheShape;
use crate::kernels::ThreadPool;

/// A sequence in a model's KV cache. Valid until the sequence is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SequenceId(pub u64);

/// One input token of a forward pass.
///
/// Rows of one sequence must come in the order of their positions and continue its cache.
/// Rows of different sequences may be interleaved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    pub sequence: SequenceId,
    pub token: TokenId,
    /// Whether to compute the logits that follow this token. The output head is a third of the work
    /// of a small model, so only these rows pay for it.
    pub logits_wanted: bool,
}

/// A request for logits from one of the layers before the last: what the output head makes of the
/// residual stream there.
///
/// The final norm is left out, and so are the scale and the cap of the model's logits, as in the
/// papers on early exits and in transformers' `dola_layers`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EarlyExit {
    /// The index of the row in its pass.
    pub row: usize,
    /// After how many layers. With 0, the head reads the embedding of the token.
    pub n_layers: usize,
}

/// The output of a forward pass: one row of `n_vocab` logits for each input row that asked for
/// them, in input order.
#[derive(Debug, Clone, PartialEq)]
pub struct Logits {
    values: Vec<f32>,
    n_vocab: usize,
}

impl Logits {
    /// Wraps rows of `n_vocab` logits, stored one after another.
    pub const fn new(values: Vec<f32>, n_vocab: usize) -> Self {
        Self { values, n_vocab }
    }

    /// Concatenates the rows of several passes.
    pub fn joined(parts: Vec<Self>, n_vocab: usize) -> Self {
        let values = parts.into_iter().flat_map(|part| part.values);
        Self::new(values.collect(), n_vocab)
    }

    /// Splits the rows from `n_rows` on off.
    pub(super) fn split_off(&mut self, n_rows: usize) -> Self {
        let n_values = (n_rows * self.n_vocab).min(self.values.len());
        Self::new(self.values.split_off(n_values), self.n_vocab)
    }

    /// Returns the number of rows, not of values.
    pub fn n_rows(&self) -> usize {
        self.values.len() / self.n_vocab.max(1)
    }

    /// Returns one row of logits, or `None` if `index` is out of range.
    pub fn row(&self, index: usize) -> Option<&[f32]> {
        let start = index.checked_mul(self.n_vocab)?;
        self.values.get(start..start + self.n_vocab)
    }
}

/// Where the time of all forward passes went, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ForwardTimes {
    /// Matrix products in the layers.
    pub product_secs: f64,
    /// Attention, including the norms and rotations of queries and keys.
    pub attention_secs: f64,
    /// The output head.
    pub head_secs: f64,
    pub total_secs: f64,
}

/// A causal language model: the weights, and the KV caches of its open sequences.
pub trait CausalLm: Send {
    /// Returns the size of the vocabulary, which is the length of a row of logits.
    fn n_vocab(&self) -> usize;

    /// Returns the context length: the most tokens that a sequence can hold.
    fn n_context(&self) -> usize;

    /// Opens an empty sequence.
    fn open(&mut self) -> SequenceId;

    /// Opens an empty sequence that is about to grow to `n_expected` tokens.
    ///
    /// A model that rotates long texts differently from short ones (`LongRoPE`) then starts with
    /// the right rotation and never has to read the sequence again.
    fn open_for(&mut self, _n_expected: usize) -> SequenceId {
        self.open()
    }

    /// Forks a sequence. Both share the cache up to here, and neither can change what the other has
    /// read.
    fn fork(&mut self, parent: SequenceId) -> Result<SequenceId, EngineError>;

    /// Drops all but the first `n` tokens of a sequence.
    ///
    /// The next pass may have to read some of them again, if the model has layers without attention:
    /// their state is valid at one length only.
    fn truncate(&mut self, sequence: SequenceId, n: usize) -> Result<(), EngineError>;

    /// Truncates a sequence that is about to grow to `n_expected` tokens. Returns how many tokens
    /// it still holds: `n`; fewer if the model keeps a state, and the latest that is left belongs to
    /// a shorter text; or 0 if the model must read a text of that length differently.
    fn truncate_for(
        &mut self,
        sequence: SequenceId,
        n: usize,
        _n_expected: usize,
    ) -> Result<usize, EngineError> {
        self.truncate(sequence, n)?;
        Ok(n)
    }

    /// Frees a sequence. Does nothing if it is not open.
    fn close(&mut self, sequence: SequenceId);

    /// Returns how many tokens a sequence has read, or 0 if it is not open.
    fn n_read(&self, sequence: SequenceId) -> usize;

    /// Returns the number of tokens for which a sequence occupies memory. This exceeds
    /// [`Self::n_read`] after a truncation, if other sequences share the tokens that were cut off.
    fn n_held(&self, sequence: SequenceId) -> usize {
        self.n_read(sequence)
    }

    /// Returns how much memory the caches of these sequences take together, in bytes. What several
    /// of them share counts once. `None` if the backend cannot tell.
    fn n_cache_bytes(&self, _sequences: &[SequenceId]) -> Option<u64> {
        None
    }

    /// Returns the size of the keys and values of one token, and of the states of a text. `None` if
    /// the backend cannot tell.
    fn cache_shape(&self) -> Option<CacheShape> {
        None
    }

    /// Re-reads at most one chunk of the tokens that must be read again before `rows` can be read.
    /// Returns whether none are left.
    ///
    /// Without this call, [`Self::forward`] re-reads all of them before it returns.
    fn get_ready(&mut self, _rows: &[Row]) -> Result<bool, EngineError> {
        Ok(true)
    }

    /// Runs one forward pass and returns the logits that the rows ask for.
    ///
    /// On an error, every sequence is left as it was.
    fn forward(&mut self, rows: &[Row]) -> Result<Logits, EngineError>;

    /// Returns how many layers the model has, or `None` if it can't run the first ones alone.
    fn n_layers(&self) -> Option<usize> {
        None
    }

    /// Runs only the first layers, then the output head on their output.
    ///
    /// The sequences must be forks that are closed afterwards, because their caches lack the other
    /// layers.
    fn forward_first(&mut self, _rows: &[Row], _n_layers: usize) -> Result<Logits, EngineError> {
        Err(EngineError::LayersUnavailable)
    }

    /// Returns whether the model has a multi-token-prediction head that can draft.
    fn has_mtp_head(&self) -> bool {
        false
    }

    /// Keeps the hidden states of sequences that are opened from now on, from which a
    /// multi-token-prediction head drafts. It can also draft for others, but reads their texts again.
    fn keep_hidden_states(&mut self) {}

    /// Drafts with the multi-token-prediction head: returns the logits after `token`, which follows
    /// what the sequence has read and `n_drafted` tokens that were drafted since.
    fn draft_with_mtp_head(
        &mut self,
        _sequence: SequenceId,
        _token: TokenId,
        _n_drafted: usize,
    ) -> Result<Logits, EngineError> {
        Err(EngineError::NoMtpHead)
    }

    /// Returns how many layers the model has, or `None` if it can't give the logits of early ones.
    fn n_exit_layers(&self) -> Option<usize> {
        None
    }

    /// Runs one forward pass, and returns the logits that the rows ask for, and those of the early
    /// exits.
    fn forward_with_exits(
        &mut self,
        rows: &[Row],
        exits: &[EarlyExit],
    ) -> Result<(Logits, Logits), EngineError> {
        if exits.is_empty() {
            let none = Logits::new(Vec::new(), self.n_vocab());
            return Ok((self.forward(rows)?, none));
        }
        Err(EngineError::NoEarlyExits)
    }

    /// Returns the threads that passes run on, which are still awake shortly after a pass. `None` if
    /// they belong to a library, or if passes run on a GPU.
    fn threads(&self) -> Option<&ThreadPool> {
        None
    }

    /// Returns where the time of all forward passes went. Zero for backends that don't measure it.
    fn times(&self) -> ForwardTimes {
        ForwardTimes::default()
    }
}
