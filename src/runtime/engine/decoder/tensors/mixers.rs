//! What passes information between tokens: attention in tensor operations, and recurrences on the CPU,
//! where their states are.

use candle_core::{DType, Device, Tensor};

use super::Tensors;
use super::attention::TensorAttention;
use super::batch::Batch;
use super::norm::normed;
use super::tail_pool::Memory;
use crate::engine::decoder::latent::LatentLayer;
use crate::engine::decoder::recurrent::{RecurrentLayer, Workers};
use crate::engine::decoder::weights::{MambaLayer, Mixer, MixerWeights};

/// Returns the output of a mixer.
pub(super) fn mixed(
    weights: &MixerWeights<Tensors>,
    input: &Tensor,
    batch: &Batch,
    memory: &mut Memory<'_>,
) -> candle_core::Result<Tensor> {
    let projected = weights.input.forward(input)?;
    let mixed = match &weights.mixer {
        Mixer::Attention(layer) => {
            TensorAttention::new(layer).forward(&projected, batch, memory)?
        }
        Mixer::Latent(layer) => expanded(layer, &projected, batch, memory)?,
        Mixer::Recurrent(layer) => {
            let output = recurred(layer, &values(&projected)?, batch, memory);
            tensor(output, batch, &projected)?
        }
        Mixer::Mamba(layer) => selected(layer, &projected, batch, memory)?,
    };
    weights.output.forward(&mixed)
}

/// Returns the output of latent attention.
fn expanded(
    layer: &LatentLayer<Tensors>,
    projected: &Tensor,
    batch: &Batch,
    memory: &mut Memory<'_>,
) -> candle_core::Result<Tensor> {
    let (latent, shape) = (layer.latent, layer.attention.shape);
    let (n_rows, n_heads, head_dim) = (projected.dim(0)?, shape.n_heads, shape.head_dim);
    let query_width = latent.query_rank.unwrap_or(shape.q_width());
    let part = |start, width| projected.narrow(1, start, width)?.contiguous();
    let queries = match &layer.queries {
        Some(weights) => {
            let source = normed(Some(&weights.norm), &part(0, query_width)?)?;
            weights.matrix.forward(&source)?
        }
        None => part(0, query_width)?,
    };
    let weights = &layer.keys_values;
    let source = part(query_width, latent.key_value_rank)?;
    let source = normed(Some(&weights.norm), &source)?;
    let stored_dim = latent.unrotated_dim + latent.value_dim;
    let stored = weights.matrix.forward(&source)?;
    let stored = stored.reshape((n_rows, n_heads, stored_dim))?;
    let rotated = part(query_width + latent.key_value_rank, latent.rotated_dim)?;
    let rotated = rotated
        .reshape((n_rows, 1, latent.rotated_dim))?
        .broadcast_as((n_rows, n_heads, latent.rotated_dim))?;
    let queries = queries.reshape((n_rows, n_heads, head_dim))?;
    let parts = [
        queries.narrow(2, latent.unrotated_dim, latent.rotated_dim)?,
        queries.narrow(2, 0, latent.unrotated_dim)?,
    ];
    let queries = Tensor::cat(&parts, 2)?;
    let keys = Tensor::cat(&[rotated, stored.narrow(2, 0, latent.unrotated_dim)?], 2)?;
    let values = stored.narrow(2, latent.unrotated_dim, latent.value_dim)?;
    let values = values.pad_with_zeros(2, 0, head_dim - latent.value_dim)?;
    let qkv = Tensor::cat(&[queries, keys, values], 1)?;
    let qkv = qkv.reshape((n_rows, 3 * shape.q_width()))?;
    let mixed = TensorAttention::new(&layer.attention).forward(&qkv, batch, memory)?;
    let mixed = mixed.reshape((n_rows, n_heads, head_dim))?;
    let mixed = mixed.narrow(2, 0, latent.value_dim)?.contiguous()?;
    mixed.reshape((n_rows, n_heads * latent.value_dim))
}

fn recurred(
    layer: &RecurrentLayer,
    input: &[f32],
    batch: &Batch,
    memory: &mut Memory<'_>,
) -> Vec<f32> {
    let workers = Workers {
        arch: pulp::Arch::new(),
        threads: None,
    };
    layer.forward(input, &batch.places, memory.caches, workers)
}

/// Returns the output of Mamba 1.
fn selected(
    layer: &MambaLayer<Tensors>,
    projected: &Tensor,
    batch: &Batch,
    memory: &mut Memory<'_>,
) -> candle_core::Result<Tensor> {
    let input = values(projected)?;
    let convolved = recurred(&layer.convolution, &input, batch, memory);
    let source = tensor(convolved.clone(), batch, projected)?;
    let mut selection = values(&layer.selection.forward(&source)?)?;
    layer.mamba.normalize(&mut selection);
    let source = tensor(layer.mamba.step_sources(&selection), batch, projected)?;
    let steps = values(&layer.steps.forward(&source)?)?;
    let scanned = layer
        .mamba
        .scan_input(&input, &convolved, &steps, &selection);
    let output = recurred(&layer.scan, &scanned, batch, memory);
    tensor(output, batch, projected)
}

fn values(rows: &Tensor) -> candle_core::Result<Vec<f32>> {
    rows.to_dtype(DType::F32)?.flatten_all()?.to_vec1()
}

/// Returns rows on the device and in the type of `like`.
fn tensor(values: Vec<f32>, batch: &Batch, like: &Tensor) -> candle_core::Result<Tensor> {
    let n_rows = batch.places.len();
    let shape = (n_rows, values.len() / n_rows.max(1));
    let rows = Tensor::from_vec(values, shape, &Device::Cpu)?;
    rows.to_device(like.device())?.to_dtype(like.dtype())
}
