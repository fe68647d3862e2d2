//! Norms over tensors.

use candle_core::Tensor;

use crate::engine::decoder::norm::NormWeights;

/// Brings each row to one length, where there is a norm.
pub fn normed(norm: Option<&NormWeights<Tensor>>, rows: &Tensor) -> candle_core::Result<Tensor> {
    match norm {
        None => Ok(rows.clone()),
        Some(NormWeights::Rms { weights, eps }) => candle_nn::ops::rms_norm(rows, weights, *eps),
        Some(NormWeights::Layer { weights, bias, eps }) => {
            candle_nn::ops::layer_norm(rows, weights, bias, *eps)
        }
    }
}
