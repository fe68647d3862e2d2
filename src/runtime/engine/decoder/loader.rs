//! Loads the tensors of a blueprint from a checkpoint, in a backend's own representation.

use super::attention::{AttentionLayer, HeadNorms};
use super::backend::Form;
use super::norm::{NormWeights, Norms};
use super::recurrent::{
    Block, DeltaNetWeights, Mamba2Weights, RecurrentLayer, ShortConvWeights, Taps,
};
use super::weights::{Layer, Mixer};
use crate::engine::EngineError;
use crate::engine::blueprint::{
    Blueprint, DeltaNet, FeedForward, HeadNorm, LayerPlan, Mamba2, Matrices, NormKind, Recurrence,
    Rope, Rotation, ShortConv, TensorRole,
};
use crate::engine::weights::{Checkpoint, LoadStop, StoredTensor};
use crate::kernels::exp;

/// What mixes tokens in a layer, with the projections before and after it.
type Mixing<F> = (
    Mixer<<F as Form>::Vector>,
    <F as Form>::Matrix,
    <F as Form>::Matrix,
);

/// Loads the tensors of one model.
pub(super) struct Loader<'a, 'b, F> {
    blueprint: &'a Blueprint,
    checkpoint: &'a mut Checkpoint<'b>,
    form: &'a F,
    /// The prefix that this file leaves out of all tensor names. Empty if it leaves out none.
    omitted: &'static str,
    /// How many weights have been loaded so far.
    pub n_params: u64,
}

impl<'a, 'b, F: Form> Loader<'a, 'b, F> {
    /// Starts loading a model. Detects whether the file's tensor names lack the optional prefix.
    pub(super) fn new(
        blueprint: &'a Blueprint,
        checkpoint: &'a mut Checkpoint<'b>,
        form: &'a F,
    ) -> Self {
        let prefix = blueprint.naming.optional_prefix();
        let name = blueprint.naming.name(TensorRole::Embedding, 0);
        let short = name.strip_prefix(prefix).unwrap_or(&name);
        let is_short = checkpoint.shape(&name).is_none() && checkpoint.shape(short).is_some();
        Self {
            blueprint,
            form,
            omitted: if is_short { prefix } else { "" },
            checkpoint,
            n_params: 0,
        }
    }

    /// Returns the shape of a tensor that does not belong to a layer, or `None` if it is missing or
    /// already taken.
    pub(super) fn shape(&self, role: TensorRole) -> Option<&[usize]> {
        let name = self.file_name(self.blueprint.naming.name(role, 0));
        self.checkpoint.shape(&name)
    }

    /// Returns whether the file has an output head with other values than its embedding table.
    /// Neither must have been taken yet.
    pub(super) fn has_differing_head(&self) -> Result<bool, EngineError> {
        let name = |role| self.file_name(self.blueprint.naming.name(role, 0));
        let (head, embedding) = (name(TensorRole::Head), name(TensorRole::Embedding));
        Ok(self.checkpoint.shape(&head).is_some() && self.checkpoint.differ(&head, &embedding)?)
    }

    /// Loads a table whose rows are as wide as the residual stream.
    pub(super) fn table(&mut self, role: TensorRole, n_rows: usize) -> Result<F::Matrix, LoadStop> {
        let shape = [n_rows, self.blueprint.hidden_size];
        let name = self.blueprint.naming.name(role, 0);
        let matrix = self.take(name, &shape)?;
        Ok(self.form.matrix(vec![matrix], None)?)
    }

    /// Loads the norm before the output head.
    pub(super) fn final_norm(&mut self) -> Result<NormWeights<F::Vector>, LoadStop> {
        self.norm(TensorRole::FinalNorm, 0)
    }

    /// Computes the model's rotations, with the scaling factors that are stored as tensors.
    pub(super) fn rotations(&mut self) -> Result<Vec<Rotation>, LoadStop> {
        let blueprint = self.blueprint;
        let rotation = |rope: &Rope| {
            rope.rotation(|role| {
                let name = self.file_name(blueprint.naming.name(role, 0));
                let factors = self.checkpoint.take(&name, &[rope.n_dims / 2])?;
                let factors = factors.values()?;
                if factors.iter().all(|factor| *factor > 0.0) {
                    return Ok(factors);
                }
                let reason = format!("{name} contains a factor that is not positive");
                Err(self.checkpoint.malformed(reason).into())
            })
        };
        blueprint.ropes.iter().map(rotation).collect()
    }

    /// Loads the weights of one layer.
    pub(super) fn layer(&mut self, layer: usize) -> Result<Layer<F>, LoadStop> {
        let plan = self.blueprint.layers.get(layer).copied();
        let norms = [
            [TensorRole::AttentionNorm, TensorRole::AttentionNormAfter],
            [TensorRole::FfnNorm, TensorRole::FfnNormAfter],
        ];
        let [mixer_norms, ffn_norms] = norms.map(|roles| self.norms(roles, layer));
        let biases = self.blueprint.biases;
        let (hidden, ffn) = (self.blueprint.hidden_size, self.blueprint.ffn_size);
        let down = [(TensorRole::FfnDown, hidden)];
        let (mixer, mixer_in, mixer_out) = match plan.and_then(|plan| plan.recurrence) {
            Some(recurrence) => self.recurrent(layer, recurrence)?,
            None => self.attention(layer, plan)?,
        };
        Ok(Layer {
            mixer,
            mixer_norms: mixer_norms?,
            mixer_in,
            mixer_out,
            ffn_norms: ffn_norms?,
            ffn_in: self.projection(layer, &self.ffn_roles(), hidden, biases.ffn)?,
            ffn_down: self.projection(layer, &down, ffn, biases.ffn)?,
        })
    }

    fn attention(&mut self, layer: usize, plan: Option<LayerPlan>) -> Result<Mixing<F>, LoadStop> {
        let attention = AttentionLayer {
            index: self.blueprint.index_in_kind(layer),
            window: plan.and_then(|plan| plan.window),
            rope: plan.and_then(|plan| plan.rope),
            norms: self.head_norms(layer)?,
        };
        let biases = self.blueprint.biases;
        let hidden = self.blueprint.hidden_size;
        let output = [(TensorRole::AttentionOutput, hidden)];
        let q_width = self.blueprint.q_width();
        let qkv = self.projection(layer, &self.qkv_roles(), hidden, biases.qkv)?;
        let output = self.projection(layer, &output, q_width, biases.attention_output)?;
        Ok((Mixer::Attention(attention), qkv, output))
    }

    fn recurrent(&mut self, layer: usize, recurrence: Recurrence) -> Result<Mixing<F>, LoadStop> {
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
            self.take(name, &[n_channels, n_taps])?
        } else {
            self.take(name, &[n_channels, 1, n_taps])?
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
        let name = self.blueprint.naming.parameter_name(role, layer);
        let shape = self.checkpoint.shape(&name);
        let shape =
            shape.filter(|shape| shape.len() == 2 && shape.iter().product::<usize>() == width);
        let shape = shape.map_or_else(|| vec![width], <[usize]>::to_vec);
        Ok(self.take(name, &shape)?.values()?)
    }

    /// Returns the matrices applied to attention's input, each with its number of outputs.
    fn qkv_roles(&self) -> Vec<(TensorRole, usize)> {
        let kv_width = self.blueprint.kv_width();
        let q_width = if self.blueprint.gated_heads {
            2 * self.blueprint.q_width()
        } else {
            self.blueprint.q_width()
        };
        match self.blueprint.matrices {
            Matrices::Separate | Matrices::FusedGateUp => vec![
                (TensorRole::Query, q_width),
                (TensorRole::Key, kv_width),
                (TensorRole::Value, kv_width),
            ],
            Matrices::Fused | Matrices::FusedTransposed => {
                vec![(TensorRole::QueryKeyValue, q_width + 2 * kv_width)]
            }
        }
    }

    /// Returns the matrices applied to the feed-forward input, each with its number of outputs.
    fn ffn_roles(&self) -> Vec<(TensorRole, usize)> {
        let ffn = self.blueprint.ffn_size;
        match (self.blueprint.feed_forward, self.blueprint.matrices) {
            (FeedForward::Plain(_), _) => vec![(TensorRole::FfnUp, ffn)],
            (FeedForward::Gated(_), Matrices::Separate) => {
                vec![(TensorRole::FfnGate, ffn), (TensorRole::FfnUp, ffn)]
            }
            (
                FeedForward::Gated(_),
                Matrices::Fused | Matrices::FusedGateUp | Matrices::FusedTransposed,
            ) => vec![(TensorRole::FfnGateUp, 2 * ffn)],
        }
    }

    fn norms(
        &mut self,
        roles: [TensorRole; 2],
        layer: usize,
    ) -> Result<Norms<F::Vector>, LoadStop> {
        let [before, after] = roles;
        let places = self.blueprint.norm_places;
        let mut norm = |role, exists: bool| exists.then(|| self.norm(role, layer)).transpose();
        Ok(Norms {
            before: norm(before, places.before())?,
            after: norm(after, places.after())?,
        })
    }

    fn norm(&mut self, role: TensorRole, layer: usize) -> Result<NormWeights<F::Vector>, LoadStop> {
        let hidden = self.blueprint.hidden_size;
        let eps = self.blueprint.norm.eps;
        let weights = self.norm_weights(role, layer, hidden)?;
        Ok(match self.blueprint.norm.kind {
            NormKind::Rms => NormWeights::Rms { weights, eps },
            NormKind::Layer => NormWeights::Layer {
                weights,
                bias: self.form.vector(self.bias(role, layer, hidden)?)?,
                eps,
            },
        })
    }

    fn head_norms(&mut self, layer: usize) -> Result<Option<HeadNorms<F::Vector>>, LoadStop> {
        let head_dim = self.blueprint.head_dim;
        let (n_query, n_key) = match self.blueprint.head_norm {
            None => return Ok(None),
            Some(HeadNorm::EachHead) => (head_dim, head_dim),
            Some(HeadNorm::AllHeads) => (self.blueprint.q_width(), self.blueprint.kv_width()),
        };
        Ok(Some(HeadNorms {
            queries: self.norm_weights(TensorRole::QueryNorm, layer, n_query)?,
            keys: self.norm_weights(TensorRole::KeyNorm, layer, n_key)?,
            eps: self.blueprint.norm.eps,
        }))
    }

    fn norm_weights(
        &mut self,
        role: TensorRole,
        layer: usize,
        width: usize,
    ) -> Result<F::Vector, LoadStop> {
        let name = self.blueprint.naming.name(role, layer);
        let mut weights = self.take(name, &[width])?.values()?;
        for weight in &mut weights {
            *weight += self.blueprint.norm.offset;
        }
        Ok(self.form.vector(weights)?)
    }

    fn bias(&mut self, role: TensorRole, layer: usize, width: usize) -> Result<Vec<f32>, LoadStop> {
        let name = self.blueprint.naming.bias_name(role, layer);
        Ok(self.take(name, &[width])?.values()?)
    }

    /// Loads matrices that share an input of the given width, and their biases. Each role comes
    /// with its number of outputs.
    fn projection(
        &mut self,
        layer: usize,
        roles: &[(TensorRole, usize)],
        width: usize,
        has_bias: bool,
    ) -> Result<F::Matrix, LoadStop> {
        let mut matrices = Vec::new();
        let mut bias = Vec::new();
        for &(role, n_rows) in roles {
            let name = self.blueprint.naming.name(role, layer);
            matrices.push(match self.blueprint.matrices {
                Matrices::Separate | Matrices::Fused | Matrices::FusedGateUp => {
                    self.take(name, &[n_rows, width])?
                }
                Matrices::FusedTransposed => self.take(name, &[width, n_rows])?.transposed(),
            });
            if has_bias {
                bias.extend(self.bias(role, layer, n_rows)?);
            }
        }
        Ok(self.form.matrix(matrices, has_bias.then_some(bias))?)
    }

    fn take(&mut self, name: String, shape: &[usize]) -> Result<StoredTensor, LoadStop> {
        let tensor = self.checkpoint.take(&self.file_name(name), shape)?;
        self.n_params += tensor.n_values() as u64;
        Ok(tensor)
    }

    /// Returns a tensor's name as this file spells it.
    fn file_name(&self, name: String) -> String {
        match name.strip_prefix(self.omitted) {
            Some(short) => short.to_owned(),
            None => name,
        }
    }
}
