//! Attention masks.

use candle_core::{Device, Tensor};

use super::batch::Model;
use crate::engine::decoder::attention::LayerKind;

/// Tensors that each kind of layer needs in its own form.
#[derive(Debug)]
pub(super) struct ByKind(Vec<(LayerKind, Tensor)>);

impl ByKind {
    /// Computes the tensor of each kind.
    pub(super) fn new(
        model: &Model<'_>,
        tensor: impl Fn(LayerKind) -> candle_core::Result<Tensor>,
    ) -> candle_core::Result<Self> {
        let kinds = model.kinds.iter();
        let tensors = kinds.map(|kind| Ok((*kind, tensor(*kind)?)));
        Ok(Self(tensors.collect::<candle_core::Result<_>>()?))
    }

    /// Returns the tensor of a kind.
    pub(super) fn get(&self, kind: LayerKind) -> candle_core::Result<&Tensor> {
        let Self(tensors) = self;
        let mut tensors = tensors.iter();
        match tensors.find(|(other, _)| *other == kind) {
            Some((_, tensor)) => Ok(tensor),
            None => candle_core::bail!("nothing was prepared for {kind:?}"),
        }
    }
}

/// Sends an attention mask to the device: 0 for visible tokens, minus infinity for the others.
pub(super) fn mask(
    visible: impl Iterator<Item = bool>,
    shape: &[usize],
    device: &Device,
) -> candle_core::Result<Tensor> {
    let values = visible.map(|visible| if visible { 0.0 } else { f32::NEG_INFINITY });
    Tensor::from_vec(values.collect::<Vec<f32>>(), shape, device)
}
