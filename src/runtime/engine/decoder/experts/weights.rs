//! The weights of a mixture of experts.

use crate::engine::EngineError;
use crate::engine::blueprint::{Experts, FeedForward};
use crate::engine::decoder::backend::Form;
use crate::engine::decoder::norm::NormWeights;
use crate::engine::weights::StoredTensor;

/// The mixture of experts of one layer.
pub(in crate::engine::decoder) struct ExpertLayer<F: Form> {
    pub plan: Experts,
    /// The nonlinearity inside an expert.
    pub feed_forward: FeedForward,
    pub router: F::Matrix,
    /// Added to the scores for the choice only. Empty if the model has none.
    pub choice_bias: Vec<f32>,
    /// By how much the output of each expert is multiplied. Empty if the model has none.
    pub scales: Vec<f32>,
    /// Computes the gate of the expert that all tokens use.
    pub shared_gate: Option<F::Matrix>,
    /// The norms of the parts, if they don't share those of the layer.
    pub own_norms: Option<OwnNorms<F::Vector>>,
    pub experts: Vec<F::Expert>,
}

/// The norms of a layer whose experts run beside a feed-forward network. The router and the experts
/// read the residual stream, each through its own norm.
pub(in crate::engine::decoder) struct OwnNorms<V> {
    pub router: NormWeights<V>,
    pub experts: NormWeights<V>,
    pub experts_after: NormWeights<V>,
    pub dense_after: NormWeights<V>,
}

/// The matrices of an expert, where they are stored.
#[derive(Debug)]
pub(crate) struct StoredExpert {
    /// The gate and up projections.
    pub input: Vec<StoredTensor>,
    pub input_bias: Option<Vec<f32>>,
    pub down: StoredTensor,
    pub down_bias: Option<Vec<f32>>,
}

impl StoredExpert {
    /// Fails if a file was written to since it was opened.
    pub(in crate::engine::decoder) fn check_unchanged(&self) -> Result<(), EngineError> {
        let mut parts = self.input.iter().chain([&self.down]);
        parts.try_for_each(StoredTensor::check_unchanged)
    }
}
