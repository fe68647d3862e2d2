//! `RecurrentGemma`, with its tokens scaled as transformers scales them.
//!
//! Vectors of tokens are multiplied by the square root of their width: in transformers rounded to 16
//! bits, as in training, in candle-transformers not. Here the table makes up for it, and because it is
//! the output head too, the norm before that takes it back.

use candle_core::{DType, Device, Result, Shape, Tensor};
use candle_nn::var_builder::SimpleBackend;
use candle_nn::{Init, VarBuilder};
use candle_transformers::models::recurrent_gemma::Model;
use half::bf16;

use super::families::Parts;
use super::networks::{Networks, Reading};
use super::shelf::Shelf;

pub fn recurrent_gemma(parts: &Parts<'_>) -> Result<Networks> {
    let scale = (parts.size("hidden_size")? as f64).sqrt();
    let weights = Rounded {
        shelf: parts.shelf.clone(),
        ratio: bf16::from_f64(scale).to_f64() / scale,
    };
    let device = parts.device.clone();
    let weights = VarBuilder::from_backend(Box::new(weights), DType::F32, device);
    // Its table of rotations is as long as its usual context, of which the window is a part.
    let config = parts.config_without(&["max_seq_len"])?;
    let model = Model::new(&config, weights.pp("model"))?;
    // After the first time its convolutions read one token each.
    Ok(Networks::forking(model, Reading::WholeOnly, Model::forward))
}

/// The weights, with the scale of tokens in them.
struct Rounded {
    shelf: Shelf,
    /// The rounded scale over the one that is not.
    ratio: f64,
}

impl Rounded {
    fn scaled(&self, name: &str, tensor: Tensor) -> Result<Tensor> {
        match name {
            "model.embed_tokens.weight" => tensor * self.ratio,
            // What is stored is how far the weights are from 1.
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
        self.scaled(name, self.shelf.get(shape, name, init, dtype, at)?)
    }

    fn get_unchecked(&self, name: &str, dtype: DType, at: &Device) -> Result<Tensor> {
        self.scaled(name, self.shelf.get_unchecked(name, dtype, at)?)
    }

    fn contains_tensor(&self, name: &str) -> bool {
        self.shelf.contains_tensor(name)
    }
}
