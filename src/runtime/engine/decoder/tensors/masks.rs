//! Attention masks.

use candle_core::{Device, Tensor};

use super::batch::Model;

/// The attention masks of some rows, for each sliding window of the model: 0 for visible tokens,
/// minus infinity for the others.
#[derive(Debug)]
pub(super) struct Masks(Vec<(Option<usize>, Tensor)>);

impl Masks {
    /// Computes the mask of each window.
    pub(super) fn new(
        model: &Model<'_>,
        mask: impl Fn(Option<usize>) -> candle_core::Result<Tensor>,
    ) -> candle_core::Result<Self> {
        let masks = model.windows.iter();
        let masks = masks.map(|window| Ok((*window, mask(*window)?)));
        Ok(Self(masks.collect::<candle_core::Result<_>>()?))
    }

    /// Returns the mask of a window.
    pub(super) fn get(&self, window: Option<usize>) -> candle_core::Result<&Tensor> {
        let Self(masks) = self;
        let mut masks = masks.iter();
        match masks.find(|(other, _)| *other == window) {
            Some((_, mask)) => Ok(mask),
            None => candle_core::bail!("no mask for a window of {window:?} tokens"),
        }
    }
}

/// Sends a mask to the device.
pub(super) fn mask(
    visible: impl Iterator<Item = bool>,
    shape: &[usize],
    device: &Device,
) -> candle_core::Result<Tensor> {
    let values = visible.map(|visible| if visible { 0.0 } else { f32::NEG_INFINITY });
    Tensor::from_vec(values.collect::<Vec<f32>>(), shape, device)
}
