//! The interface of the two backends: candle tensors on any device, and our own kernels on the CPU.

use super::batch::Place;
use super::cache::Cache;
use super::experts::StoredExpert;
use crate::decoding::TokenId;
use crate::engine::blueprint::Rotation;
use crate::engine::weights::StoredTensor;
use crate::engine::{EarlyExit, EngineError, ForwardTimes, Logits, PREFILL_CHUNK, Row, SequenceId};
use crate::kernels::ThreadPool;

/// How deep a pass goes, and which layers on the way give logits of their own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Depth<'a> {
    /// At most this many layers run.
    pub n_layers: usize,
    pub exits: &'a [EarlyExit],
}

impl Depth<'_> {
    /// All layers.
    pub(super) const ALL: Self = Self::first(usize::MAX);

    /// Returns whether all layers run.
    pub(super) const fn is_all(&self) -> bool {
        self.n_layers == usize::MAX
    }

    /// The first layers only.
    pub(super) const fn first(n_layers: usize) -> Self {
        Self {
            n_layers,
            exits: &[],
        }
    }
}

/// What a multi-token-prediction head reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MtpRows<'a> {
    pub tokens: &'a [TokenId],
    /// One hidden state for each token.
    pub hidden: &'a [f32],
    /// Whether a prediction is wanted, or only keys and values.
    pub logits_wanted: bool,
}

/// What a multi-token-prediction head predicts after the last of its rows. Empty if no prediction was
/// wanted.
#[derive(Debug, Default)]
pub(crate) struct MtpOutput {
    pub logits: Vec<f32>,
    /// The head's own hidden state, from which it can go on.
    pub hidden: Vec<f32>,
}

/// A model's weights on a device, and the forward pass over them.
pub(crate) trait Backend: Send {
    /// A run of the KV cache: keys and values of consecutive tokens, for all layers.
    type Run: Default + Send + Sync;

    /// Returns what the weights determine about the model.
    fn facts(&self) -> &Facts;

    /// Runs one forward pass over rows at the given places, and returns the logits that they ask
    /// for, then those of the early exits. Writes keys and values to the tails of the caches, but
    /// does not commit them.
    fn run(
        &mut self,
        rows: &[Row],
        places: &[Place],
        caches: &mut [Cache<Self::Run>],
        depth: Depth<'_>,
    ) -> Result<Logits, EngineError>;

    /// Returns whether the model has a multi-token-prediction head that the backend can run.
    fn has_mtp_head(&self) -> bool {
        false
    }

    /// Returns the hidden states of some rows of the last pass, as the output head reads them.
    fn hidden_states(&mut self, _rows: impl Iterator<Item = usize>) -> Vec<f32> {
        Vec::new()
    }

    /// Runs the multi-token-prediction head over tokens, each with the hidden state before it, and
    /// commits them to the head's own cache.
    fn run_mtp_head(
        &mut self,
        _rows: MtpRows<'_>,
        _cache: &mut Cache<Self::Run>,
    ) -> Result<MtpOutput, EngineError> {
        Err(EngineError::NoMtpHead)
    }

    /// Forks a cache.
    fn fork(&mut self, cache: &mut Cache<Self::Run>) -> Result<Cache<Self::Run>, EngineError> {
        Ok(cache.fork())
    }

    /// Reads the next chunk of a text into a cache that holds the tokens before it, and commits it.
    /// After an error, the cache may hold fewer tokens.
    fn read_chunk(
        &mut self,
        text: &[TokenId],
        is_long: bool,
        cache: &mut Cache<Self::Run>,
    ) -> Result<(), EngineError> {
        let n_before = cache.n_read();
        let chunk = text.iter().skip(n_before).take(PREFILL_CHUNK);
        let rows: Vec<Row> = chunk
            .map(|token| Row {
                sequence: SequenceId(0),
                token: *token,
                logits_wanted: false,
            })
            .collect();
        let positions = (n_before..).take(rows.len());
        let places = positions.map(|position| Place {
            cache: 0,
            position,
            is_long,
        });
        let places: Vec<Place> = places.collect();
        cache.begin_pass(rows.len(), n_before);
        match self.run(&rows, &places, std::slice::from_mut(cache), Depth::ALL) {
            Ok(_) => {
                cache.commit(rows.len());
                cache.end_pass();
                Ok(())
            }
            Err(error) => {
                cache.abandon_pass();
                Err(error)
            }
        }
    }

    /// Returns how much memory a run takes, in bytes.
    fn n_run_bytes(run: &Self::Run) -> usize;

    /// Returns how many bytes the key and value of one token take in one head of one layer, and
    /// their number format.
    fn cached_head(&self, head_dim: usize) -> (usize, String);

    /// Returns the threads that passes run on, or `None` if they belong to candle.
    fn threads(&self) -> Option<&ThreadPool> {
        None
    }

    /// Returns where the time of all passes went. Zero for a backend that does not measure it.
    fn times(&self) -> ForwardTimes {
        ForwardTimes::default()
    }
}

/// What a model's weights determine, known once they are loaded.
#[derive(Debug)]
pub(crate) struct Facts {
    /// Number of rows in the embedding table and in the output head.
    pub n_vocab: usize,
    /// Number of parameters. A table shared with the output head counts once.
    pub n_params: u64,
    /// The model's rotary embeddings, in the order in which layers refer to them.
    pub rotations: Vec<Rotation>,
}

/// The representation in which a backend keeps weights.
pub(super) trait Form {
    /// A linear map, or several maps of the same input side by side.
    type Matrix;
    /// Elementwise weights, such as those of a norm.
    type Vector;
    /// An expert: ready to compute, or ready to be read.
    type Expert;

    /// Combines matrices that share an input into one, with their outputs in the order given. The
    /// bias is added to each row of outputs.
    fn matrix(
        &self,
        parts: Vec<StoredTensor>,
        bias: Option<Vec<f32>>,
    ) -> Result<Self::Matrix, EngineError>;

    /// Keeps an expert.
    fn expert(&self, stored: StoredExpert) -> Result<Self::Expert, EngineError>;

    /// Multiplies each output of a matrix by a factor of its own.
    fn scaled(&self, matrix: Self::Matrix, factors: Vec<f32>) -> Result<Self::Matrix, EngineError>;

    /// Converts elementwise weights.
    fn vector(&self, values: Vec<f32>) -> Result<Self::Vector, EngineError>;
}
