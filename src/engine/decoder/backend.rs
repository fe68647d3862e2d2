//! What runs the layers of a blueprint: tensors on any device, or our own kernels on the processor.

use super::batch::Place;
use super::cache::{Cache, Run};
use crate::decoding::TokenId;
use crate::engine::blueprint::Rotation;
use crate::engine::weights::StoredTensor;
use crate::engine::{EngineError, ForwardTimes, Logits, PREFILL_CHUNK, Row, SequenceId};

/// Weights on a device, and the forward pass over them.
pub trait Backend: Send {
    /// How it keeps keys and values.
    type Run: Run + Send + Sync;

    /// What is known of the weights.
    fn facts(&self) -> &Facts;

    /// Reads the rows, which stand at these places of the caches, and gives the logits that they ask for.
    /// Keys and values are written to the caches' tails and not committed.
    fn run(
        &mut self,
        rows: &[Row],
        places: &[Place],
        caches: &mut [Cache<Self::Run>],
    ) -> Result<Logits, EngineError>;

    /// Reads the next chunk of a text into a cache that holds the tokens before it.
    fn read_on(
        &mut self,
        text: &[TokenId],
        far: bool,
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
            far,
        });
        let places: Vec<Place> = places.collect();
        self.run(&rows, &places, std::slice::from_mut(cache))?;
        cache.commit(rows.len());
        Ok(())
    }

    /// Where the time of all passes went, as far as it is measured.
    fn times(&self) -> ForwardTimes {
        ForwardTimes::default()
    }
}

/// What is known of a model's weights once they are there.
#[derive(Debug)]
pub struct Facts {
    /// Rows of the embedding table and of the head.
    pub n_vocab: usize,
    /// How many weights there are; a shared table counts once.
    pub n_params: u64,
    /// How far queries and keys turn from one position to the next.
    pub rotations: Vec<Rotation>,
}

/// The form in which a backend keeps weights.
pub trait Form {
    /// One linear map, or several of the same input side by side.
    type Matrix;
    /// Weights that are added, or multiplied one by one.
    type Vector;

    /// Matrices with the same input; their outputs stand side by side in the order given. The bias is
    /// added to each row of outputs.
    fn matrix(
        &self,
        parts: Vec<StoredTensor>,
        bias: Option<Vec<f32>>,
    ) -> Result<Self::Matrix, EngineError>;

    /// A vector.
    fn vector(&self, values: Vec<f32>) -> Result<Self::Vector, EngineError>;
}
