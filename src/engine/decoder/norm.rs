//! Norms with their weights.

use candle_core::Tensor;

/// A norm with its weights.
pub enum NormWeights {
    /// x / root mean square × w.
    Rms {
        /// w.
        weights: Tensor,
        /// Added to the mean square.
        eps: f32,
    },
    /// (x − mean) / standard deviation × w + b.
    Layer {
        /// w.
        weights: Tensor,
        /// b.
        bias: Tensor,
        /// Added to the variance.
        eps: f32,
    },
}

/// The norms around one part of a layer.
pub struct Norms {
    /// On what goes in.
    pub before: Option<NormWeights>,
    /// On what comes out.
    pub after: Option<NormWeights>,
}

impl NormWeights {
    /// Brings each row to one length.
    pub fn forward(&self, rows: &Tensor) -> candle_core::Result<Tensor> {
        match self {
            Self::Rms { weights, eps } => candle_nn::ops::rms_norm(rows, weights, *eps),
            Self::Layer { weights, bias, eps } => {
                candle_nn::ops::layer_norm(rows, weights, bias, *eps)
            }
        }
    }
}

impl Norms {
    /// What goes in.
    pub fn before(&self, rows: &Tensor) -> candle_core::Result<Tensor> {
        normed(self.before.as_ref(), rows)
    }

    /// What comes out.
    pub fn after(&self, rows: &Tensor) -> candle_core::Result<Tensor> {
        normed(self.after.as_ref(), rows)
    }
}

fn normed(norm: Option<&NormWeights>, rows: &Tensor) -> candle_core::Result<Tensor> {
    match norm {
        Some(norm) => norm.forward(rows),
        None => Ok(rows.clone()),
    }
}
