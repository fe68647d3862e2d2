//! The activation of the feed-forward network, in tensor operations.

use candle_core::{D, DType, Tensor};

use crate::engine::blueprint::{Activation, FeedForward, Xielu};

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
        Activation::Relu2 => input.relu()?.sqr(),
        Activation::Xielu(xielu) => xielu_of(xielu, input),
    }
}

/// Computes xIELU in 32 bits, since squares of large inputs exceed half precision.
fn xielu_of(xielu: Xielu, input: &Tensor) -> candle_core::Result<Tensor> {
    let wide = input.to_dtype(DType::F32)?;
    let above = wide.relu()?;
    let below = (&wide - &above)?;
    let above = (above.sqr()? * f64::from(xielu.positive))?;
    let below = ((below.exp()? - &below)?.affine(1.0, -1.0)? * f64::from(xielu.negative))?;
    let linear = (wide * f64::from(xielu.beta))?;
    (above + below)?.add(&linear)?.to_dtype(input.dtype())
}
