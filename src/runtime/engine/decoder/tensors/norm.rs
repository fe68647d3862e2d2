//! Norms, in tensor operations.

use candle_core::{DType, Tensor};

use crate::engine::decoder::norm::NormWeights;

/// Applies the norm to each row in 32 bits, or returns the rows unchanged if there is none.
pub(super) fn normed(
    norm: Option<&NormWeights<Tensor>>,
    rows: &Tensor,
) -> candle_core::Result<Tensor> {
    let Some(norm) = norm else {
        return Ok(rows.clone());
    };
    let wide = rows.to_dtype(DType::F32)?;
    let normed = match norm {
        NormWeights::Rms { weights, eps } => candle_nn::ops::rms_norm(&wide, weights, *eps),
        NormWeights::Layer { weights, bias, eps } => {
            candle_nn::ops::layer_norm(&wide, weights, bias, *eps)
        }
    };
    normed?.to_dtype(rows.dtype())
}
