//! Loads latent attention.

use super::Loader;
use crate::engine::blueprint::{LatentAttention, TensorRole};
use crate::engine::decoder::attention::AttentionLayer;
use crate::engine::decoder::backend::Form;
use crate::engine::decoder::latent::{LatentLayer, LatentProjection};
use crate::engine::decoder::norm::NormWeights;
use crate::engine::decoder::weights::{Mixer, MixerWeights};
use crate::engine::weights::LoadStop;

impl<F: Form> Loader<'_, '_, F> {
    /// Loads the latent attention of a layer.
    pub(super) fn latent(
        &mut self,
        layer: usize,
        latent: LatentAttention,
        attention: AttentionLayer<F::Vector>,
    ) -> Result<MixerWeights<F>, LoadStop> {
        let hidden = self.blueprint.hidden_size;
        let (q_width, n_heads) = (attention.shape.q_width(), attention.shape.n_heads);
        let stored_width = n_heads * (latent.unrotated_dim + latent.value_dim);
        let queries_in = match latent.query_rank {
            Some(rank) => (TensorRole::LatentQuery, rank),
            None => (TensorRole::Query, q_width),
        };
        let rank = latent.key_value_rank;
        let keys_values_in = (TensorRole::LatentKeyValue, rank + latent.rotated_dim);
        let input = self.projection(layer, &[queries_in, keys_values_in], hidden, false)?;
        let queries = match latent.query_rank {
            Some(rank) => {
                let role = (TensorRole::LatentQueryHeads, q_width);
                Some(LatentProjection {
                    norm: self.latent_norm(TensorRole::LatentQueryNorm, layer, rank)?,
                    matrix: self.projection(layer, &[role], rank, false)?,
                })
            }
            None => None,
        };
        let role = (TensorRole::LatentKeyValueHeads, stored_width);
        let keys_values = LatentProjection {
            norm: self.latent_norm(TensorRole::LatentKeyValueNorm, layer, rank)?,
            matrix: self.projection(layer, &[role], rank, false)?,
        };
        let role = (TensorRole::AttentionOutput, hidden);
        let output = self.projection(layer, &[role], n_heads * latent.value_dim, false)?;
        Ok(MixerWeights {
            mixer: Mixer::Latent(Box::new(LatentLayer {
                latent,
                attention,
                queries,
                keys_values,
            })),
            input,
            output,
        })
    }

    /// Loads the norm of a latent vector of this width.
    fn latent_norm(
        &mut self,
        role: TensorRole,
        layer: usize,
        width: usize,
    ) -> Result<NormWeights<F::Vector>, LoadStop> {
        let latent = self.blueprint.latent;
        Ok(NormWeights::Rms {
            weights: self.norm_weights(role, layer, width)?,
            eps: latent.map_or(self.blueprint.norm.eps, |latent| latent.eps),
        })
    }
}
