//! Norms with their weights, in a backend's own representation.

/// A norm with its weights. `V` is the backend's vector type.
#[derive(Debug)]
pub(super) enum NormWeights<V> {
    /// x / root mean square × w.
    Rms {
        weights: V,
        /// Added to the mean square.
        eps: f32,
    },
    /// (x − mean) / standard deviation × w + b.
    Layer {
        weights: V,
        bias: V,
        /// Added to the variance.
        eps: f32,
    },
}

impl NormWeights<Vec<f32>> {
    /// Returns how many values are normalized together.
    pub(super) const fn width(&self) -> usize {
        let (Self::Rms { weights, .. } | Self::Layer { weights, .. }) = self;
        weights.len()
    }
}

/// The norms around one sublayer: attention or the feed-forward network.
#[derive(Debug)]
pub(super) struct Norms<V> {
    /// Applied to the sublayer's input.
    pub before: Option<NormWeights<V>>,
    /// Applied to the sublayer's output, before it is added to the residual stream.
    pub after: Option<NormWeights<V>>,
}
