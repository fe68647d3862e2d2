//! The activation of the feed-forward network, in tensor operations.

use candle_core::{D, Tensor};

use crate::engine::blueprint::{Activation, FeedForward};

/// Applies the activation. If the network is gated, the first half of each row is the gate and the
/// second half the up projection.
pub(super) fn activated(feed_forward: FeedForward, input: &Tensor) -> candle_core::Result<Tensor> {
    match feed_forward {
        FeedForward::Plain(activation) => activation_of(activation, input),
        FeedForward::Gated(activation) => {
            let width = input.dim(D::Minus1)? / 2;
            let gate = input.narrow(D::Minus1, 0, width)?;
            let up = input.narrow(D::Minus1, width, width)?;
            activation_of(activation, &gate)? * up
        }
    }
}

fn activation_of(activation: Activation, input: &Tensor) -> candle_core::Result<Tensor> {
    match activation {
        Activation::Silu => input.silu(),
        Activation::Gelu => input.gelu_erf(),
        Activation::GeluTanh => input.gelu(),
    }
}
