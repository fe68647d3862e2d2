//! Loads the parts by which Gemma 3n differs: several streams, and a low-rank path beside attention.

use super::Loader;
use crate::engine::blueprint::TensorRole;
use crate::engine::decoder::backend::Form;
use crate::engine::decoder::weights::{AltUpLayer, AltUpWeights, LaurelWeights};
use crate::engine::weights::LoadStop;

impl<F: Form> Loader<'_, '_, F> {
    /// Loads what divides the residual stream into several, and what merges them.
    pub(in crate::engine::decoder) fn alt_up(
        &mut self,
    ) -> Result<Option<AltUpWeights<F>>, LoadStop> {
        let Some(alt_up) = self.blueprint.alt_up else {
            return Ok(None);
        };
        let n_others = alt_up.n_streams.saturating_sub(1);
        Ok(Some(AltUpWeights {
            n_streams: alt_up.n_streams,
            projections: self.stream_matrices(TensorRole::AltUpProjections, n_others)?,
            merging: self.stream_matrices(TensorRole::AltUpMerging, n_others)?,
        }))
    }

    /// Loads one square matrix for each stream but the first, side by side. GGUF files have them in
    /// one tensor.
    fn stream_matrices(&mut self, role: TensorRole, n: usize) -> Result<F::Matrix, LoadStop> {
        let hidden = self.blueprint.hidden_size;
        let naming = self.blueprint.naming;
        let matrices = if naming.is_gguf() {
            vec![self.take(&naming.name(role, 0), &[n, hidden, hidden])?]
        } else {
            let matrices = (0..n).map(|index| {
                let name = naming.listed_name(role, index);
                self.take(&name, &[hidden, hidden])
            });
            matrices.collect::<Result<_, _>>()?
        };
        Ok(self.form.matrix(matrices, None)?)
    }

    /// Loads what predicts and corrects the streams in a layer.
    pub(super) fn alt_up_layer(&mut self, layer: usize) -> Result<Option<AltUpLayer<F>>, LoadStop> {
        let Some(alt_up) = self.blueprint.alt_up else {
            return Ok(None);
        };
        let (hidden, n) = (self.blueprint.hidden_size, alt_up.n_streams);
        let router = [(TensorRole::AltUpRouter, n)];
        let output_scale = self.norm_weights(TensorRole::AltUpOutputScale, layer, hidden)?;
        Ok(Some(AltUpLayer {
            router_norm: self.norm(TensorRole::AltUpRouterNorm, layer)?,
            router: self.projection(layer, &router, hidden, false)?,
            prediction: self.coefficients(TensorRole::AltUpPrediction, layer, [n * n, n])?,
            correction: self.coefficients(TensorRole::AltUpCorrection, layer, [n, n])?,
            output_scale: alt_up.has_output_scale.then_some(output_scale),
        }))
    }

    /// Loads a small matrix as a vector, row by row.
    fn coefficients(
        &mut self,
        role: TensorRole,
        layer: usize,
        shape: [usize; 2],
    ) -> Result<F::Vector, LoadStop> {
        let name = self.blueprint.naming.name(role, layer);
        let values = self.take(&name, &shape)?.values()?;
        Ok(self.form.vector(values)?)
    }

    /// Loads the low-rank path beside attention.
    pub(super) fn laurel(&mut self, layer: usize) -> Result<Option<LaurelWeights<F>>, LoadStop> {
        let Some(alt_up) = self.blueprint.alt_up else {
            return Ok(None);
        };
        let hidden = self.blueprint.hidden_size;
        let name = self.blueprint.naming.name(TensorRole::LaurelLeft, layer);
        let stored = self.checkpoint.shape(&self.file_name(&name));
        let stored_rank = stored.and_then(<[usize]>::first).copied();
        let rank = alt_up.laurel_rank.or(stored_rank).unwrap_or_default();
        let left = [(TensorRole::LaurelLeft, rank)];
        let right = [(TensorRole::LaurelRight, hidden)];
        Ok(Some(LaurelWeights {
            left: self.projection(layer, &left, hidden, false)?,
            right: self.projection(layer, &right, rank, false)?,
            norm: self.norm(TensorRole::LaurelNorm, layer)?,
        }))
    }
}
