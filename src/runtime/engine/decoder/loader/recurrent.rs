//! Loads the layers that keep a state instead of keys and values.

use super::Loader;
use crate::engine::blueprint::{
    DeltaNet, GatedNorm, Mamba, Mamba2, Recurrence, ShortConv, TensorRole,
};
use crate::engine::decoder::backend::Form;
use crate::engine::decoder::recurrent::{
    Block, ConvolutionWeights, DeltaNetWeights, Mamba2Weights, RecurrentLayer, ScanWeights,
    ShortConvWeights, Taps,
};
use crate::engine::decoder::weights::{MambaLayer, Mixer, MixerWeights};
use crate::engine::weights::LoadStop;
use crate::kernels::exp;

impl<F: Form> Loader<'_, '_, F> {
    /// Loads the recurrence of a layer.
    pub(super) fn recurrent(
        &mut self,
        layer: usize,
        recurrence: Recurrence,
    ) -> Result<MixerWeights<F>, LoadStop> {
        let (mixer, input, output) = match recurrence {
            Recurrence::ShortConv(conv) => (
                self.mixer(layer, recurrence, |loader| {
                    Ok(Block::ShortConv(loader.short_conv(layer, conv)?))
                })?,
                vec![(TensorRole::ConvInput, 3 * conv.n_channels)],
                TensorRole::ConvOutput,
            ),
            Recurrence::DeltaNet(net) => (
                self.mixer(layer, recurrence, |loader| {
                    Ok(Block::DeltaNet(loader.delta_net(layer, net)?))
                })?,
                vec![
                    (TensorRole::LinearQueryKeyValue, net.conv_width()),
                    (TensorRole::LinearGate, net.value_width()),
                    (TensorRole::LinearBeta, net.n_value_heads),
                    (TensorRole::LinearDecay, net.n_value_heads),
                ],
                TensorRole::LinearOutput,
            ),
            Recurrence::Mamba(mamba) => (
                Mixer::Mamba(Box::new(self.mamba(layer, mamba)?)),
                vec![(TensorRole::MambaInput, recurrence.input_width())],
                TensorRole::MambaOutput,
            ),
            Recurrence::Mamba2(mamba) => (
                self.mixer(layer, recurrence, |loader| {
                    Ok(Block::Mamba2(loader.mamba2(layer, mamba)?))
                })?,
                vec![(TensorRole::MambaInput, recurrence.input_width())],
                TensorRole::MambaOutput,
            ),
        };
        let hidden = self.blueprint.hidden_size;
        let output = [(output, hidden)];
        Ok(MixerWeights {
            mixer,
            input: self.projection(layer, &input, hidden, false)?,
            output: self.projection(layer, &output, recurrence.output_width(), false)?,
        })
    }

    /// Loads a recurrence that keeps a single state.
    fn mixer(
        &mut self,
        layer: usize,
        recurrence: Recurrence,
        block: impl FnOnce(&mut Self) -> Result<Block, LoadStop>,
    ) -> Result<Mixer<F>, LoadStop> {
        Ok(Mixer::Recurrent(Box::new(RecurrentLayer {
            index: self.blueprint.recurrent_index(layer),
            input_width: recurrence.input_width(),
            output_width: recurrence.output_width(),
            n_state_values: recurrence.n_state_values(),
            block: block(self)?,
        })))
    }

    /// Loads Mamba 1, whose convolution and scan each keep a state.
    fn mamba(&mut self, layer: usize, mamba: Mamba) -> Result<MambaLayer<F>, LoadStop> {
        let n_channels = mamba.n_channels;
        let index = self.blueprint.recurrent_index(layer);
        let convolution = ConvolutionWeights {
            taps: self.taps(TensorRole::MambaTaps, layer, [n_channels, mamba.n_taps])?,
            bias: self.conv_bias(layer, n_channels, mamba.has_conv_bias)?,
        };
        let selection = [(TensorRole::MambaSelection, mamba.selection_width())];
        let steps = [(TensorRole::MambaStep, n_channels)];
        let selection = self.projection(layer, &selection, n_channels, false)?;
        let steps = self.projection(layer, &steps, mamba.step_rank, true)?;
        let rates = self.rates(TensorRole::MambaRate, layer, mamba.n_scan_values())?;
        let skip = self.parameter(TensorRole::MambaSkip, layer, n_channels)?;
        Ok(MambaLayer {
            mamba,
            convolution: RecurrentLayer {
                index,
                input_width: 2 * n_channels,
                output_width: n_channels,
                n_state_values: mamba.n_window_values(),
                block: Block::MambaConvolution(convolution),
            },
            selection,
            steps,
            scan: RecurrentLayer {
                // The states of scans follow those of all convolutions.
                index: self.blueprint.n_layers() + index,
                input_width: mamba.scan_width(),
                output_width: n_channels,
                n_state_values: mamba.n_scan_values(),
                block: Block::MambaScan(ScanWeights::new(mamba, &rates, skip)),
            },
        })
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

    fn mamba2(&mut self, layer: usize, mamba: Mamba2) -> Result<Mamba2Weights, LoadStop> {
        let (n_heads, width) = (mamba.n_heads, mamba.conv_width());
        Ok(Mamba2Weights {
            mamba,
            taps: self.taps(TensorRole::MambaTaps, layer, [width, mamba.n_taps])?,
            conv_bias: self.conv_bias(layer, width, mamba.has_conv_bias)?,
            rates: self.rates(TensorRole::MambaRate, layer, n_heads)?,
            step_bias: self.parameter(TensorRole::MambaStepBias, layer, n_heads)?,
            skip: self.parameter(TensorRole::MambaSkip, layer, n_heads)?,
            norm: match mamba.gated_norm {
                GatedNorm::AfterGate | GatedNorm::BeforeGate => {
                    self.parameter(TensorRole::MambaNorm, layer, mamba.inner_width())?
                }
                GatedNorm::None => Vec::new(),
            },
            eps: self.blueprint.norm.eps,
        })
    }

    /// Loads what is added to the outputs of a convolution: zeros if there is no bias.
    fn conv_bias(
        &mut self,
        layer: usize,
        width: usize,
        is_stored: bool,
    ) -> Result<Vec<f32>, LoadStop> {
        if is_stored {
            self.bias(TensorRole::MambaTaps, layer, width)
        } else {
            Ok(vec![0.0; width])
        }
    }

    /// Loads the rates of decay, which are negative. Safetensors store the logarithms of their
    /// sizes.
    fn rates(
        &mut self,
        role: TensorRole,
        layer: usize,
        n_rates: usize,
    ) -> Result<Vec<f32>, LoadStop> {
        let mut rates = self.parameter(role, layer, n_rates)?;
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

    /// Loads a vector that is used as it is stored. Some have two dimensions.
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
