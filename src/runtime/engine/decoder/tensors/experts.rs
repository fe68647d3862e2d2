//! Mixtures of experts, in tensor operations. All experts are on the device.

use candle_core::{DType, Tensor};

use super::Tensors;
use super::activation::activated;
use super::norm::normed;
use super::projection::Projection;
use crate::engine::EngineError;
use crate::engine::decoder::backend::Form;
use crate::engine::decoder::experts::{ExpertLayer, ExpertRows, StoredExpert, route};
use crate::engine::decoder::norm::NormWeights;

/// An expert on a device.
pub(super) struct DeviceExpert {
    /// The gate and up projections.
    input: Projection,
    down: Projection,
}

impl DeviceExpert {
    /// Loads an expert.
    pub(super) fn load(stored: StoredExpert, form: &Tensors) -> Result<Self, EngineError> {
        Ok(Self {
            input: form.matrix(stored.input, stored.input_bias)?,
            down: form.matrix(vec![stored.down], stored.down_bias)?,
        })
    }
}

/// Adds the output of a layer's experts to that of the network beside them, if it has one.
/// `values` is the input of that network, `hidden` the residual stream.
pub(super) fn with_experts(
    layer: &ExpertLayer<Tensors>,
    values: &Tensor,
    hidden: &Tensor,
    dense: Option<Tensor>,
) -> candle_core::Result<Tensor> {
    let own = layer.own_norms.as_ref();
    let dense = match (dense, &layer.shared_gate) {
        (Some(dense), Some(gate)) => {
            let gate = candle_nn::ops::sigmoid(&gate.forward(values)?)?;
            Some(dense.broadcast_mul(&gate)?)
        }
        (dense, _) => normed_if_any(own.map(|norms| &norms.dense_after), dense)?,
    };
    let (router_input, input) = match own {
        None => (values.clone(), values.clone()),
        Some(norms) => (
            normed(Some(&norms.router), hidden)?,
            normed(Some(&norms.experts), hidden)?,
        ),
    };
    let scores = layer.router.forward(&router_input)?;
    let scores: Vec<f32> = scores.to_dtype(DType::F32)?.flatten_all()?.to_vec1()?;
    let mut sum = input.zeros_like()?;
    for rows in route(&layer.plan, &scores, &layer.choice_bias) {
        sum = add_expert(layer, &rows, &input, &sum)?;
    }
    let sum = normed(own.map(|norms| &norms.experts_after), &sum)?;
    match dense {
        Some(dense) => dense + sum,
        None => Ok(sum),
    }
}

/// Adds the weighted output of one expert to the rows that use it.
fn add_expert(
    layer: &ExpertLayer<Tensors>,
    rows: &ExpertRows,
    input: &Tensor,
    sum: &Tensor,
) -> candle_core::Result<Tensor> {
    let Some(expert) = layer.experts.get(rows.expert) else {
        return Ok(sum.clone());
    };
    let indices: Vec<u32> = rows.uses.iter().map(|used| used.row as u32).collect();
    let indices = Tensor::new(indices, input.device())?;
    let inner = expert.input.forward(&input.index_select(&indices, 0)?)?;
    let output = expert
        .down
        .forward(&activated(layer.feed_forward, &inner)?)?;
    let scale = layer.scales.get(rows.expert).copied().unwrap_or(1.0);
    let weights: Vec<f32> = rows.uses.iter().map(|used| used.weight * scale).collect();
    let weights = Tensor::from_vec(weights, (rows.uses.len(), 1), input.device())?;
    let output = output.broadcast_mul(&weights.to_dtype(output.dtype())?)?;
    sum.index_add(&indices, &output, 0)
}

fn normed_if_any(
    norm: Option<&NormWeights<Tensor>>,
    rows: Option<Tensor>,
) -> candle_core::Result<Option<Tensor>> {
    rows.map(|rows| normed(norm, &rows)).transpose()
}
