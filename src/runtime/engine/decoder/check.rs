//! Checks that a model's files have every tensor that its blueprint asks for, without reading the
//! matrices.

use super::backend::Form;
use super::experts::StoredExpert;
use super::weights::Weights;
use crate::engine::EngineError;
use crate::engine::blueprint::Blueprint;
use crate::engine::weights::{Checkpoint, LoadStop, StoredTensor};

/// Keeps no weights, because only their shapes are checked.
struct ShapesOnly;

impl Form for ShapesOnly {
    type Matrix = ();
    type Vector = ();
    type Expert = ();

    fn matrix(&self, _: Vec<StoredTensor>, _: Option<Vec<f32>>) -> Result<(), EngineError> {
        Ok(())
    }

    fn expert(&self, _: StoredExpert) -> Result<(), EngineError> {
        Ok(())
    }

    fn scaled(&self, (): (), _: Vec<f32>) -> Result<(), EngineError> {
        Ok(())
    }

    fn vector(&self, _: Vec<f32>) -> Result<(), EngineError> {
        Ok(())
    }
}

/// Checks the tensors and returns the size of the vocabulary. Fails like a load, except that the
/// values of matrices are not read.
pub(crate) fn check_tensors(
    blueprint: &Blueprint,
    checkpoint: &mut Checkpoint<'_>,
) -> Result<usize, LoadStop> {
    Ok(Weights::load(blueprint, checkpoint, &ShapesOnly)?
        .facts
        .n_vocab)
}
