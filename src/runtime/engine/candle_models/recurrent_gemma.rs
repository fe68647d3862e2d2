//! `RecurrentGemma`, with its token embeddings scaled as in transformers.
//!
//! The model multiplies embeddings by the square root of their width. transformers rounds that
//! factor to 16 bits, as in training; candle-transformers does not. The embedding table corrects
//! for the difference. Since it is also the output head, the final norm undoes the correction
//! there.

use candle_core::{DType, Device, Result, Shape, Tensor};
use candle_nn::var_builder::SimpleBackend;
use candle_nn::{Init, VarBuilder};
use candle_transformers::models::recurrent_gemma::Model;
use half::bf16;

use super::families::Parts;
use super::network::{NetworkFactory, PrefillMode};
use super::weight_store::WeightStore;

pub(super) fn recurrent_gemma(parts: &Parts<'_>) -> Result<NetworkFactory> {
    let scale = (parts.size("hidden_size")? as f64).sqrt();
    let weights = Rounded {
        store: parts.store.clone(),
        ratio: bf16::from_f64(scale).to_f64() / scale,
    };
    let device = parts.device.clone();
    let weights = VarBuilder::from_backend(Box::new(weights), DType::F32, device);
    // Without this key, the rotary table covers the default context, which is longer than the
    // window.
    let config = parts.config_without(&["max_seq_len"])?;
    let model = Model::new(&config, weights.pp("model"))?;
    // After the first pass, its convolutions are correct only for one token at a time.
    Ok(NetworkFactory::forkable(
        model,
        PrefillMode::SinglePass,
        Model::forward,
    ))
}

/// The weights, corrected for the rounded embedding scale.
struct Rounded {
    store: WeightStore,
    /// The rounded scale divided by the exact one.
    ratio: f64,
}

impl Rounded {
    fn corrected(&self, name: &str, tensor: Tensor) -> Result<Tensor> {
        match name {
            "model.embed_tokens.weight" => tensor * self.ratio,
            // The file stores w for the weight 1 + w.
            "model.final_norm.weight" => ((tensor + 1.0)? / self.ratio)? - 1.0,
            _ => Ok(tensor),
        }
    }
}

impl SimpleBackend for Rounded {
    fn get(
        &self,
        shape: Shape,
        name: &str,
        init: Init,
        dtype: DType,
        at: &Device,
    ) -> Result<Tensor> {
        self.corrected(name, self.store.get(shape, name, init, dtype, at)?)
    }

    fn get_unchecked(&self, name: &str, dtype: DType, at: &Device) -> Result<Tensor> {
        self.corrected(name, self.store.get_unchecked(name, dtype, at)?)
    }

    fn contains_tensor(&self, name: &str) -> bool {
        self.store.contains_tensor(name)
    }
}
