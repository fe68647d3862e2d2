//! Loads the multi-token-prediction head.

use super::Loader;
use crate::engine::blueprint::TensorRole;
use crate::engine::decoder::backend::Form;
use crate::engine::decoder::weights::{Mixer, MtpHeadWeights};
use crate::engine::weights::LoadStop;

/// The tensors without which a file has no head: some files leave out most of its block.
const NEEDED: [TensorRole; 5] = [
    TensorRole::MtpInput,
    TensorRole::MtpTokenNorm,
    TensorRole::MtpHiddenNorm,
    TensorRole::AttentionNorm,
    TensorRole::Query,
];

impl<F: Form> Loader<'_, '_, F> {
    /// Loads the head, or returns `None` if the file has none.
    pub(in crate::engine::decoder) fn mtp_head(
        &mut self,
    ) -> Result<Option<MtpHeadWeights<F>>, LoadStop> {
        let Some(blueprint) = self.blueprint.with_mtp_block() else {
            return Ok(None);
        };
        let (naming, index) = (blueprint.naming, self.blueprint.n_layers());
        let mut loader = Loader {
            blueprint: &blueprint,
            checkpoint: &mut *self.checkpoint,
            form: self.form,
            spelling: self.spelling,
            renamed: naming.mtp_prefix(index),
            n_params: 0,
        };
        let has = |loader: &Loader<'_, '_, F>, role| {
            let name = loader.file_name(&naming.name(role, index));
            loader.checkpoint.shape(&name).is_some()
        };
        if !NEEDED.into_iter().all(|role| has(&loader, role)) {
            return Ok(None);
        }
        let hidden = blueprint.hidden_size;
        let input = [(TensorRole::MtpInput, hidden)];
        let has_final_norm = has(&loader, TensorRole::MtpFinalNorm);
        let mut head = MtpHeadWeights {
            token_norm: loader.norm(TensorRole::MtpTokenNorm, index)?,
            hidden_norm: loader.norm(TensorRole::MtpHiddenNorm, index)?,
            input: loader.projection(index, &input, 2 * hidden, false)?,
            layer: loader.layer(index)?,
            final_norm: has_final_norm
                .then(|| loader.norm(TensorRole::MtpFinalNorm, index))
                .transpose()?,
        };
        // Its keys and values are the only ones in a cache of their own.
        for weights in &mut head.layer.mixers {
            if let Mixer::Attention(attention) = &mut weights.mixer {
                attention.index = 0;
            }
        }
        Ok(Some(head))
    }
}
