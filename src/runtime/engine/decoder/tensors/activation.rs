//! The activation of the feed-forward network, in tensor operations.

use candle_core::{D, DType, Tensor};

use crate::engine::blueprint::{Activation, ClampedGate, FeedForward, Xielu};

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
        FeedForward::Clamped(clamped) => clamped_gates(clamped, input),
    }
}

/// Computes the clamped `SwiGLU` in 32 bits.
fn clamped_gates(clamped: ClampedGate, input: &Tensor) -> candle_core::Result<Tensor> {
    let limit = f64::from(clamped.limit);
    let (n_rows, width) = input.dims2()?;
    let wide = input.to_dtype(DType::F32)?;
    let (gate, up) = if clamped.alternates {
        let pairs = wide.reshape((n_rows, width / 2, 2))?;
        (pairs.narrow(2, 0, 1)?, pairs.narrow(2, 1, 1)?)
    } else {
        (
            wide.narrow(1, 0, width / 2)?,
            wide.narrow(1, width / 2, width / 2)?,
        )
    };
    let shape = (n_rows, width / 2);
    let gate = gate.contiguous()?.reshape(shape)?.minimum(limit)?;
    let up = up.contiguous()?.reshape(shape)?.clamp(-limit, limit)?;
    let share = candle_nn::ops::sigmoid(&(&gate * f64::from(ClampedGate::SLOPE))?)?;
    ((gate * share)? * (up + 1.0)?)?.to_dtype(input.dtype())
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
