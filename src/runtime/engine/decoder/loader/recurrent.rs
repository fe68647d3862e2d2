//! Loads the layers that keep a state instead of keys and values.

use super::{Loader, Mixing};
use crate::engine::blueprint::{DeltaNet, Mamba2, Recurrence, ShortConv, TensorRole};
use crate::engine::decoder::backend::Form;
use crate::engine::decoder::recurrent::{
    Block, DeltaNetWeights, Mamba2Weights, RecurrentLayer, ShortConvWeights, Taps,
};
use crate::engine::decoder::weights::Mixer;
use crate::engine::weights::LoadStop;
use crate::kernels::exp;

impl<F: Form> Loader<'_, '_, F> {
    /// Loads a layer without attention.
    pub(super) fn recurrent(
        &mut self,
        layer: usize,
        recurrence: Recurrence,
    ) -> Result<Mixing<F>, LoadStop> {
        let (block, input, output) = match recurrence {
            Recurrence::ShortConv(conv) => (
                Block::ShortConv(self.short_conv(layer, conv)?),
                vec![(TensorRole::ConvInput, 3 * conv.n_channels)],
                TensorRole::ConvOutput,
            ),
            Recurrence::DeltaNet(net) => (
                Block::DeltaNet(self.delta_net(layer, net)?),
                vec![
                    (TensorRole::LinearQueryKeyValue, net.conv_width()),
                    (TensorRole::LinearGate, net.value_width()),
                    (TensorRole::LinearBeta, net.n_value_heads),
                    (TensorRole::LinearDecay, net.n_value_heads),
                ],
                TensorRole::LinearOutput,
            ),
            Recurrence::Mamba2(mamba) => (
                Block::Mamba2(self.mamba(layer, mamba)?),
                vec![(TensorRole::MambaInput, recurrence.input_width())],
                TensorRole::MambaOutput,
            ),
        };
        let hidden = self.blueprint.hidden_size;
        let output = [(output, hidden)];
        let mixer = RecurrentLayer {
            index: self.blueprint.index_in_kind(layer),
            recurrence,
            block,
        };
        let input = self.projection(layer, &input, hidden, false)?;
        let output = self.projection(layer, &output, recurrence.output_width(), false)?;
        Ok((Mixer::Recurrent(Box::new(mixer)), input, output))
    }

    fn short_conv(&mut self, layer: usize, conv: ShortConv) -> Result<ShortConvWeights, LoadStop> {
        let n_channels = conv.n_channels;
        Ok(ShortConvWeights {
            taps: self.taps(TensorRole::ConvTaps, layer, [n_channels, conv.n_taps])?,
            n_channels,
        })
    }

    fn delta_net(&mut self, layer: usize, net: DeltaNet) -> Result<DeltaNetWeights, LoadStop> {
        let n_heads = net.n_value_heads;
        Ok(DeltaNetWeights {
            net,
            taps: self.taps(
                TensorRole::LinearTaps,
                layer,
                [net.conv_width(), net.n_taps],
            )?,
            rates: self.rates(TensorRole::LinearRate, layer, n_heads)?,
            decay_bias: self.parameter(TensorRole::LinearDecayBias, layer, n_heads)?,
            norm: self.parameter(TensorRole::LinearNorm, layer, net.value_dim)?,
            eps: self.blueprint.norm.eps,
        })
    }

    fn mamba(&mut self, layer: usize, mamba: Mamba2) -> Result<Mamba2Weights, LoadStop> {
        let (n_heads, width) = (mamba.n_heads, mamba.conv_width());
        Ok(Mamba2Weights {
            mamba,
            taps: self.taps(TensorRole::MambaTaps, layer, [width, mamba.n_taps])?,
            conv_bias: self.bias(TensorRole::MambaTaps, layer, width)?,
            rates: self.rates(TensorRole::MambaRate, layer, n_heads)?,
            step_bias: self.parameter(TensorRole::MambaStepBias, layer, n_heads)?,
            skip: self.parameter(TensorRole::MambaSkip, layer, n_heads)?,
            norm: self.parameter(TensorRole::MambaNorm, layer, mamba.inner_width())?,
            eps: self.blueprint.norm.eps,
        })
    }

    /// Loads the rates of decay, which are negative. Safetensors store the logarithms of their
    /// sizes.
    fn rates(
        &mut self,
        role: TensorRole,
        layer: usize,
        n_heads: usize,
    ) -> Result<Vec<f32>, LoadStop> {
        let mut rates = self.parameter(role, layer, n_heads)?;
        if !self.blueprint.naming.is_gguf() {
            for rate in &mut rates {
                *rate = -exp(*rate);
            }
        }
        Ok(rates)
    }

    /// Loads a convolution of `[channels, taps]`. In safetensors, there is one more dimension of 1.
    fn taps(
        &mut self,
        role: TensorRole,
        layer: usize,
        [n_channels, n_taps]: [usize; 2],
    ) -> Result<Taps, LoadStop> {
        let name = self.blueprint.naming.name(role, layer);
        let stored = if self.blueprint.naming.is_gguf() {
            self.take(&name, &[n_channels, n_taps])?
        } else {
            self.take(&name, &[n_channels, 1, n_taps])?
        };
        Ok(Taps::from_channels(&stored.values()?, n_taps))
    }

    /// Loads a vector that is used as it is stored. GGUF files have some in two dimensions.
    fn parameter(
        &mut self,
        role: TensorRole,
        layer: usize,
        width: usize,
    ) -> Result<Vec<f32>, LoadStop> {
        let name = self.blueprint.naming.name(role, layer);
        let shape = self.checkpoint.shape(&self.file_name(&name));
        let shape =
            shape.filter(|shape| shape.len() == 2 && shape.iter().product::<usize>() == width);
        let shape = shape.map_or_else(|| vec![width], <[usize]>::to_vec);
        Ok(self.take(&name, &shape)?.values()?)
    }
}
