//! Loads per-layer embeddings, and the number that multiplies a layer's output.

use super::Loader;
use crate::engine::blueprint::TensorRole;
use crate::engine::decoder::backend::Form;
use crate::engine::decoder::norm::NormWeights;
use crate::engine::decoder::weights::{InputWeights, LayerInputWeights};
use crate::engine::weights::LoadStop;

impl<F: Form> Loader<'_, '_, F> {
    /// Loads what computes the per-layer embeddings. `n_vocab` is the size of the vocabulary.
    pub(in crate::engine::decoder) fn layer_inputs(
        &mut self,
        n_vocab: usize,
    ) -> Result<Option<LayerInputWeights<F>>, LoadStop> {
        let Some(inputs) = self.blueprint.layer_inputs else {
            return Ok(None);
        };
        let width = inputs.width;
        let n_values = width.saturating_mul(self.blueprint.n_layers());
        let n_rows = inputs.n_vocab.unwrap_or(n_vocab);
        let table = self.blueprint.naming.name(TensorRole::LayerInputTable, 0);
        let table = self.take(&table, &[n_rows, n_values])?;
        let projection = [(TensorRole::LayerInputProjection, n_values)];
        let hidden = self.blueprint.hidden_size;
        Ok(Some(LayerInputWeights {
            width,
            n_rows,
            table: self.form.matrix(vec![table], None)?,
            projection: self.projection(0, &projection, hidden, false)?,
            norm: NormWeights::Rms {
                weights: self.norm_weights(TensorRole::LayerInputNorm, 0, width)?,
                eps: self.blueprint.norm.eps,
            },
        }))
    }

    /// Loads what adds a layer's per-layer embedding.
    pub(super) fn input(&mut self, layer: usize) -> Result<Option<InputWeights<F>>, LoadStop> {
        let Some(inputs) = self.blueprint.layer_inputs else {
            return Ok(None);
        };
        let hidden = self.blueprint.hidden_size;
        let gate = [(TensorRole::InputGate, inputs.width)];
        let output = [(TensorRole::InputOutput, hidden)];
        Ok(Some(InputWeights {
            gate: self.projection(layer, &gate, hidden, false)?,
            output: self.projection(layer, &output, inputs.width, false)?,
            norm: self.norm(TensorRole::InputNormAfter, layer)?,
        }))
    }

    /// Loads the number that multiplies a layer's output. `None` if the model or the file has none.
    pub(super) fn scale(&mut self, layer: usize) -> Result<Option<f32>, LoadStop> {
        let name = self.blueprint.naming.name(TensorRole::LayerScale, layer);
        let is_stored = self.checkpoint.shape(&self.file_name(&name)).is_some();
        if !self.blueprint.layer_scales || !is_stored {
            return Ok(None);
        }
        Ok(self.take(&name, &[1])?.values()?.first().copied())
    }
}
