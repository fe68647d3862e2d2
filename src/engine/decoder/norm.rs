//! Norms with their weights, in the form of a backend.

/// A norm with its weights.
#[derive(Debug)]
pub enum NormWeights<V> {
    /// x / root mean square × w.
    Rms {
        /// w.
        weights: V,
        /// Added to the mean square.
        eps: f32,
    },
    /// (x − mean) / standard deviation × w + b.
    Layer {
        /// w.
        weights: V,
        /// b.
        bias: V,
        /// Added to the variance.
        eps: f32,
    },
}

/// The norms around one part of a layer.
#[derive(Debug)]
pub struct Norms<V> {
    /// On what goes in.
    pub before: Option<NormWeights<V>>,
    /// On what comes out.
    pub after: Option<NormWeights<V>>,
}
