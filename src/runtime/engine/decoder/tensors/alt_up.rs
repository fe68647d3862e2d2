//! The streams of Gemma 3n, in tensor operations: `[streams, rows, hidden]`, of which the first is the
//! residual stream that layers compute. The arithmetic between streams is in 32 bits.

use candle_core::{D, DType, Tensor};

use super::Tensors;
use super::norm::normed;
use crate::engine::decoder::weights::{AltUpLayer, AltUpWeights, LaurelWeights};

/// The smallest mean square that a stream is taken to have when it is scaled.
const MIN_SQUARE: f64 = 1e-5;

/// Computes all streams from the first.
pub(super) fn divided(
    weights: &AltUpWeights<Tensors>,
    first: &Tensor,
) -> candle_core::Result<Tensor> {
    let (n_rows, width) = first.dims2()?;
    let n_others = weights.n_streams.saturating_sub(1);
    let others = weights.projections.forward(first)?;
    let others = others.reshape((n_rows, n_others, width))?.transpose(0, 1)?;
    let others = matched(&others.contiguous()?, first)?;
    Tensor::cat(&[&first.unsqueeze(0)?, &others], 0)
}

/// Returns the mean of all streams, which are first brought to the same magnitude.
pub(super) fn merged(
    weights: &AltUpWeights<Tensors>,
    streams: &Tensor,
) -> candle_core::Result<Tensor> {
    let (n_streams, _, width) = streams.dims3()?;
    let first = streams.get(0)?;
    let mut all = vec![first.unsqueeze(0)?];
    for index in 1..n_streams {
        let projected = weights.merging.forward(&streams.get(index)?)?;
        let own = projected.narrow(1, (index - 1) * width, width)?;
        all.push(matched(&own.contiguous()?.unsqueeze(0)?, &first)?);
    }
    let all = Tensor::cat(&all, 0)?.to_dtype(DType::F32)?;
    all.mean(0)?.to_dtype(streams.dtype())
}

/// Scales streams to the magnitude of the first.
fn matched(streams: &Tensor, first: &Tensor) -> candle_core::Result<Tensor> {
    let mean_square = |rows: &Tensor| rows.sqr()?.mean_keepdim(D::Minus1);
    let wide = streams.to_dtype(DType::F32)?;
    let target = mean_square(&first.to_dtype(DType::F32)?)?.sqrt()?;
    // The larger of the two, by operations that send nothing to the device.
    let excess = mean_square(&wide)?.affine(1.0, -MIN_SQUARE)?.relu()?;
    let scale = excess.affine(1.0, MIN_SQUARE)?.sqrt()?;
    let scale = target.broadcast_div(&scale)?;
    wide.broadcast_mul(&scale)?.to_dtype(streams.dtype())
}

/// Returns what a layer predicts for all streams.
pub(super) fn predicted(
    weights: &AltUpLayer<Tensors>,
    streams: &Tensor,
) -> candle_core::Result<Tensor> {
    let (n, n_rows, _) = streams.dims3()?;
    let coefficients = weights.prediction.reshape((n * n, n))?;
    let coefficients = routes(weights, &streams.get(0)?)?.matmul(&coefficients.t()?)?;
    let by_row = streams
        .to_dtype(DType::F32)?
        .transpose(0, 1)?
        .contiguous()?;
    let change = coefficients.reshape((n_rows, n, n))?.matmul(&by_row)?;
    let predicted = (by_row + change)?.transpose(0, 1)?.contiguous()?;
    predicted.to_dtype(streams.dtype())
}

/// Corrects all streams by how much a layer's output differs from its prediction.
pub(super) fn corrected(
    weights: &AltUpLayer<Tensors>,
    predicted: &Tensor,
    output: &Tensor,
) -> candle_core::Result<Tensor> {
    let (n, n_rows, _) = predicted.dims3()?;
    let coefficients = weights.correction.reshape((n, n))?;
    let coefficients = (routes(weights, output)?.matmul(&coefficients.t()?)? + 1.0)?;
    let coefficients = coefficients.t()?.reshape((n, n_rows, 1))?;
    let wide = predicted.to_dtype(DType::F32)?;
    let change = (output.to_dtype(DType::F32)? - wide.get(0)?)?.unsqueeze(0)?;
    let corrected = (wide + change.broadcast_mul(&coefficients)?)?;
    corrected.to_dtype(predicted.dtype())
}

/// Returns how a row of the first stream is routed, in 32 bits: `[rows, streams]`.
fn routes(weights: &AltUpLayer<Tensors>, first: &Tensor) -> candle_core::Result<Tensor> {
    let width = first.dim(D::Minus1)? as f64;
    let input = (normed(Some(&weights.router_norm), first)? / width)?;
    weights.router.forward(&input)?.to_dtype(DType::F32)?.tanh()
}

/// Returns the output of the low-rank path beside attention.
pub(super) fn laurel(
    weights: &LaurelWeights<Tensors>,
    input: &Tensor,
) -> candle_core::Result<Tensor> {
    let path = weights.right.forward(&weights.left.forward(input)?)?;
    input + normed(Some(&weights.norm), &path)?
}

/// Cuts off the gates of rows that are followed by their ups, below so many standard deviations above
/// their mean.
pub(super) fn cut_off(rows: &Tensor, cutoff: f32) -> candle_core::Result<Tensor> {
    let width = rows.dim(1)? / 2;
    let gates = rows.narrow(1, 0, width)?.to_dtype(DType::F32)?;
    let mean = gates.mean_keepdim(1)?;
    let variance = gates.broadcast_sub(&mean)?.sqr()?.mean_keepdim(1)?;
    let least = (mean + (variance.sqrt()? * f64::from(cutoff))?)?;
    let gates = gates
        .broadcast_sub(&least)?
        .relu()?
        .to_dtype(rows.dtype())?;
    Tensor::cat(&[gates, rows.narrow(1, width, width)?], 1)
}
