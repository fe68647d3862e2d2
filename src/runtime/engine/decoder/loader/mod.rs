//! Loads the tensors of a blueprint from a checkpoint, in a backend's own representation.

mod alt_up;
mod experts;
mod latent;
mod layer_inputs;
mod mtp_head;
mod recurrent;

use super::attention::{AttentionLayer, HeadNorms, HeadShape};
use super::backend::Form;
use super::norm::{NormWeights, Norms};
use super::weights::{Layer, Mixer, MixerWeights};
use crate::engine::EngineError;
use crate::engine::blueprint::{
    Activation, Blueprint, FeedForward, HeadNorm, KvSource, LayerPlan, Matrices, Naming, NormKind,
    Rope, Rotation, Spelling, TensorRole, Xielu,
};
use crate::engine::weights::{Checkpoint, LoadStop, StoredTensor};

/// Loads the tensors of one model.
pub(super) struct Loader<'a, 'b, F> {
    blueprint: &'a Blueprint,
    checkpoint: &'a mut Checkpoint<'b>,
    form: &'a F,
    /// How this file spells the names of its tensors.
    spelling: Spelling,
    /// What the names of one layer begin with, and what the file has instead.
    renamed: Option<(String, &'static str)>,
    /// How many weights have been loaded so far.
    pub n_params: u64,
}

impl<'a, 'b, F: Form> Loader<'a, 'b, F> {
    /// Starts loading a model. Detects how the file spells the names of its tensors.
    pub(super) fn new(
        blueprint: &'a Blueprint,
        checkpoint: &'a mut Checkpoint<'b>,
        form: &'a F,
    ) -> Self {
        let has_tensor = |name: &str| checkpoint.shape(name).is_some();
        Self {
            blueprint,
            form,
            spelling: blueprint.naming.spelling(has_tensor),
            renamed: None,
            checkpoint,
            n_params: 0,
        }
    }

    /// Returns the shape of a tensor that does not belong to a layer, or `None` if it is missing or
    /// already taken.
    pub(super) fn shape(&self, role: TensorRole) -> Option<&[usize]> {
        let name = self.file_name(&self.blueprint.naming.name(role, 0));
        self.checkpoint.shape(&name)
    }

    /// Returns whether the file has an output head with other values than its embedding table.
    /// Neither must have been taken yet.
    pub(super) fn has_differing_head(&self) -> Result<bool, EngineError> {
        let name = |role| self.file_name(&self.blueprint.naming.name(role, 0));
        let (head, embedding) = (name(TensorRole::Head), name(TensorRole::Embedding));
        Ok(self.checkpoint.shape(&head).is_some() && self.checkpoint.differ(&head, &embedding)?)
    }

    /// Loads a table whose rows are as wide as the residual stream.
    pub(super) fn table(&mut self, role: TensorRole, n_rows: usize) -> Result<F::Matrix, LoadStop> {
        let shape = [n_rows, self.blueprint.hidden_size];
        let name = self.blueprint.naming.name(role, 0);
        let matrix = self.take(&name, &shape)?;
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
                let name = self.file_name(&blueprint.naming.name(role, 0));
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
        let plan = plan.unwrap_or_default();
        // In this order, so that an error names the first tensor that is missing.
        let roles = [TensorRole::AttentionNorm, TensorRole::AttentionNormAfter];
        let mixer_norms = self.norms(roles, plan.has_mixer(), layer)?;
        let mut mixers = Vec::new();
        if plan.has_attention() {
            mixers.push(self.attention(layer, plan)?);
        }
        if let Some(recurrence) = plan.recurrence {
            mixers.push(self.recurrent(layer, recurrence)?);
        }
        let roles = [TensorRole::FfnNorm, TensorRole::FfnNormAfter];
        Ok(Layer {
            index: layer,
            mixers,
            mixer_norms,
            ffn_norms: self.norms(roles, plan.has_feed_forward(), layer)?,
            dense: self.dense_network(layer)?,
            experts: self.experts(layer)?,
            gate_cutoff: self.blueprint.gate_cutoffs.get(layer).copied().flatten(),
            laurel: self.laurel(layer)?,
            alt_up: self.alt_up_layer(layer)?,
            input: self.input(layer)?,
            scale: self.scale(layer)?,
        })
    }

    fn attention(&mut self, layer: usize, plan: LayerPlan) -> Result<MixerWeights<F>, LoadStop> {
        let (biases, hidden) = (self.blueprint.biases, self.blueprint.hidden_size);
        let shape = HeadShape::new(self.blueprint, layer);
        let kv_source = self.blueprint.kv_source(layer);
        let owner = match kv_source {
            KvSource::OfLayer(source) => source,
            KvSource::Projected | KvSource::SameProjection => layer,
        };
        let attention = AttentionLayer {
            index: self.blueprint.attention_index(owner),
            kv_source,
            shape,
            window: plan.window,
            rope: plan.rope,
            norms: self.head_norms(layer, shape)?,
            sinks: self.sinks(layer)?,
        };
        if let Some(latent) = self.blueprint.latent {
            return self.latent(layer, latent, attention);
        }
        let output = [(TensorRole::AttentionOutput, hidden)];
        Ok(MixerWeights {
            mixer: Mixer::Attention(attention),
            input: self.qkv(layer, shape)?,
            output: self.projection(layer, &output, shape.q_width(), biases.attention_output)?,
        })
    }

    /// Loads the attention sinks of a layer, one for each head.
    fn sinks(&mut self, layer: usize) -> Result<Option<F::Vector>, LoadStop> {
        if !self.blueprint.sinks {
            return Ok(None);
        }
        let name = self.blueprint.naming.name(TensorRole::Sinks, layer);
        let values = self.take(&name, &[self.blueprint.n_heads])?.values()?;
        Ok(Some(self.form.vector(values)?))
    }

    /// Loads the projections of queries and, if the layer has its own, of keys and values.
    fn qkv(&mut self, layer: usize, shape: HeadShape) -> Result<F::Matrix, LoadStop> {
        let (hidden, has_bias) = (self.blueprint.hidden_size, self.blueprint.biases.qkv);
        let kv_source = self.blueprint.kv_source(layer);
        if let KvSource::OfLayer(_) = kv_source {
            // Some files store keys and values of these layers, which no implementation uses.
            for role in [TensorRole::Key, TensorRole::Value, TensorRole::KeyNorm] {
                let name = self.blueprint.naming.name(role, layer);
                let stored = self.checkpoint.shape(&self.file_name(&name));
                if let Some(stored) = stored.map(<[usize]>::to_vec) {
                    self.checkpoint.take(&self.file_name(&name), &stored)?;
                }
            }
        }
        let mut roles = self.qkv_roles(shape);
        roles.truncate(match kv_source {
            KvSource::Projected => roles.len(),
            KvSource::SameProjection => 2,
            KvSource::OfLayer(_) => 1,
        });
        self.projection(layer, &roles, hidden, has_bias)
    }

    /// Returns the matrices applied to attention's input, each with its number of outputs.
    fn qkv_roles(&self, shape: HeadShape) -> Vec<(TensorRole, usize)> {
        let kv_width = shape.kv_width();
        let q_width = if shape.is_gated {
            2 * shape.q_width()
        } else {
            shape.q_width()
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
    fn ffn_roles(&self, ffn: usize) -> Vec<(TensorRole, usize)> {
        match (self.blueprint.feed_forward, self.blueprint.matrices) {
            (FeedForward::Plain(_), _) => vec![(TensorRole::FfnUp, ffn)],
            (FeedForward::Gated(_) | FeedForward::Clamped(_), Matrices::Separate) => {
                vec![(TensorRole::FfnGate, ffn), (TensorRole::FfnUp, ffn)]
            }
            (
                FeedForward::Gated(_) | FeedForward::Clamped(_),
                Matrices::Fused | Matrices::FusedGateUp | Matrices::FusedTransposed,
            ) => vec![(TensorRole::FfnGateUp, 2 * ffn)],
        }
    }

    /// Returns the nonlinearity of a layer, with the parameters that its activation has learned.
    fn feed_forward(&mut self, layer: usize) -> Result<FeedForward, LoadStop> {
        let FeedForward::Plain(Activation::Xielu(initial)) = self.blueprint.feed_forward else {
            return Ok(self.blueprint.feed_forward);
        };
        if let Some(listed) = self.blueprint.xielus.get(layer) {
            return Ok(FeedForward::Plain(Activation::Xielu(*listed)));
        }
        let raw_positive = self.activation_parameter("alpha_p", layer)?;
        let raw_negative = self.activation_parameter("alpha_n", layer)?;
        let beta = self.activation_parameter("beta", layer)?;
        // Takes part only in the gradient.
        self.activation_parameter("eps", layer)?;
        let missing = |parameter: &str| {
            let name = Naming::activation_parameter(parameter, layer);
            format!("tensor {name} is missing")
        };
        match (raw_positive, raw_negative) {
            (Some(positive), Some(negative)) => {
                let xielu = Xielu::from_raw(positive, negative, beta.unwrap_or(initial.beta));
                Ok(FeedForward::Plain(Activation::Xielu(xielu)))
            }
            (None, _) => Err(self.checkpoint.malformed(missing("alpha_p")).into()),
            (_, None) => Err(self.checkpoint.malformed(missing("alpha_n")).into()),
        }
    }

    /// Takes a number that an activation function has learned, or returns `None` if it is missing.
    fn activation_parameter(
        &mut self,
        parameter: &str,
        layer: usize,
    ) -> Result<Option<f32>, LoadStop> {
        let name = Naming::activation_parameter(parameter, layer);
        let shape = self.checkpoint.shape(&self.file_name(&name));
        // Some are stored without a dimension.
        let Some(shape) = shape.map(|shape| vec![1; shape.len().min(1)]) else {
            return Ok(None);
        };
        Ok(self.take(&name, &shape)?.values()?.first().copied())
    }

    /// Loads the norms around a sublayer, if the layer has it.
    fn norms(
        &mut self,
        roles: [TensorRole; 2],
        has_sublayer: bool,
        layer: usize,
    ) -> Result<Norms<F::Vector>, LoadStop> {
        let [before, after] = roles;
        if !has_sublayer {
            return Ok(Norms {
                before: None,
                after: None,
            });
        }
        let places = self.blueprint.norm_places;
        let has_before = match before {
            TensorRole::FfnNorm => places.before_feed_forward(),
            _ => places.before_attention(),
        };
        let mut norm = |role, exists: bool| exists.then(|| self.norm(role, layer)).transpose();
        Ok(Norms {
            before: norm(before, has_before)?,
            after: norm(after, places.after())?,
        })
    }

    fn norm(&mut self, role: TensorRole, layer: usize) -> Result<NormWeights<F::Vector>, LoadStop> {
        let hidden = self.blueprint.hidden_size;
        let eps = self.blueprint.norm.eps;
        let kind = self.blueprint.norm.kind;
        let weights = match kind {
            NormKind::LayerWithoutWeights => self.form.vector(vec![1.0; hidden])?,
            _ => self.norm_weights(role, layer, hidden)?,
        };
        let bias = match kind {
            NormKind::Rms => return Ok(NormWeights::Rms { weights, eps }),
            NormKind::Layer => self.bias(role, layer, hidden)?,
            NormKind::LayerWithoutBias | NormKind::LayerWithoutWeights => vec![0.0; hidden],
        };
        Ok(NormWeights::Layer {
            weights,
            bias: self.form.vector(bias)?,
            eps,
        })
    }

    fn head_norms(
        &mut self,
        layer: usize,
        shape: HeadShape,
    ) -> Result<Option<HeadNorms<F::Vector>>, LoadStop> {
        let head_dim = shape.head_dim;
        let (n_query, n_key) = match self.blueprint.head_norm {
            None => return Ok(None),
            Some(HeadNorm::EachHead | HeadNorm::EachRotatedHead) => (head_dim, head_dim),
            Some(HeadNorm::AllHeads) => (shape.q_width(), shape.kv_width()),
        };
        let has_keys = !matches!(self.blueprint.kv_source(layer), KvSource::OfLayer(_));
        let has_value_norm = has_keys && self.blueprint.value_norm;
        Ok(Some(HeadNorms {
            queries: self.norm_weights(TensorRole::QueryNorm, layer, n_query)?,
            keys: has_keys
                .then(|| self.norm_weights(TensorRole::KeyNorm, layer, n_key))
                .transpose()?,
            values: has_value_norm
                .then(|| self.form.vector(vec![1.0; head_dim]))
                .transpose()?,
            eps: self.blueprint.norm.eps,
            follow_rotation: self.blueprint.head_norm == Some(HeadNorm::EachRotatedHead),
        }))
    }

    fn norm_weights(
        &mut self,
        role: TensorRole,
        layer: usize,
        width: usize,
    ) -> Result<F::Vector, LoadStop> {
        let name = self.blueprint.naming.name(role, layer);
        let mut weights = self.take(&name, &[width])?.values()?;
        for weight in &mut weights {
            *weight += self.blueprint.norm.offset;
        }
        Ok(self.form.vector(weights)?)
    }

    fn bias(&mut self, role: TensorRole, layer: usize, width: usize) -> Result<Vec<f32>, LoadStop> {
        let name = self.blueprint.naming.bias_name(role, layer);
        Ok(self.take(&name, &[width])?.values()?)
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
                    self.take(&name, &[n_rows, width])?
                }
                Matrices::FusedTransposed => self.take(&name, &[width, n_rows])?.transposed(),
            });
            if has_bias {
                bias.extend(self.bias(role, layer, n_rows)?);
            }
        }
        let matrix = self.form.matrix(matrices, has_bias.then_some(bias))?;
        match self.factors(roles) {
            Some(factors) => Ok(self.form.scaled(matrix, factors)?),
            None => Ok(matrix),
        }
    }

    /// Returns the factors of the outputs of matrices, each with its number of outputs. `None` if
    /// the model has no factors.
    fn factors(&self, roles: &[(TensorRole, usize)]) -> Option<Vec<f32>> {
        let multipliers = self.blueprint.multipliers?;
        let mut factors = Vec::new();
        for &(role, n_rows) in roles {
            let factor = match role {
                TensorRole::Query => multipliers.query,
                TensorRole::Key => multipliers.key,
                TensorRole::Value => multipliers.value,
                TensorRole::AttentionOutput => multipliers.attention_output,
                TensorRole::MambaInput => {
                    let mut recurrences = self.blueprint.layers.iter();
                    let recurrence = recurrences.find_map(|plan| plan.recurrence)?;
                    let parts = recurrence.input_parts().into_iter();
                    for (width, factor) in parts.zip(multipliers.mamba_input) {
                        factors.extend(std::iter::repeat_n(factor, width));
                    }
                    continue;
                }
                TensorRole::MambaOutput => multipliers.mamba_output,
                TensorRole::FfnGate => multipliers.ffn_gate,
                TensorRole::FfnDown => multipliers.ffn_down,
                _ => 1.0,
            };
            factors.extend(std::iter::repeat_n(factor, n_rows));
        }
        Some(factors)
    }

    fn take(&mut self, name: &str, shape: &[usize]) -> Result<StoredTensor, LoadStop> {
        let tensor = self.checkpoint.take(&self.file_name(name), shape)?;
        self.n_params += tensor.n_values() as u64;
        Ok(tensor)
    }

    /// Returns a tensor's name as this file spells it.
    fn file_name(&self, name: &str) -> String {
        if let Some((usual, instead)) = &self.renamed
            && let Some(rest) = name.strip_prefix(usual)
        {
            return format!("{instead}{rest}");
        }
        self.spelling.of(name)
    }
}
