//! Mamba and Mamba 2: models to which the state of a sequence is handed at each token.

use std::sync::Arc;

use candle_core::{DType, Result, Tensor};
use candle_transformers::models::{mamba, mamba2};

use super::families::Parts;
use super::networks::{Networks, Reading};

/// A model, and how far one sequence is in it.
struct StateSpaces<M, S> {
    model: Arc<M>,
    state: S,
}

/// What a state is made of is replaced at each token and never changed.
impl Clone for StateSpaces<mamba::Model, mamba::State> {
    fn clone(&self) -> Self {
        Self {
            model: Arc::clone(&self.model),
            state: mamba::State {
                hs: self.state.hs.clone(),
                prev_xs: self.state.prev_xs.clone(),
                pos: self.state.pos,
            },
        }
    }
}

impl Clone for StateSpaces<mamba2::Model, mamba2::State> {
    fn clone(&self) -> Self {
        Self {
            model: Arc::clone(&self.model),
            state: mamba2::State {
                hs: self.state.hs.clone(),
                conv_states: self.state.conv_states.clone(),
                pos: self.state.pos,
            },
        }
    }
}

pub fn mamba(parts: &Parts<'_>) -> Result<Networks> {
    let config = mamba::Config {
        d_model: parts.size("hidden_size")?,
        n_layer: parts.size("num_hidden_layers")?,
        vocab_size: parts.size("vocab_size")?,
        // The table of tokens is as long as the file says.
        pad_vocab_size_multiple: 1,
    };
    let weights = parts.shelf.builder();
    // candle-transformers has the table's name from before transformers knew these models.
    let weights = weights.rename_f(|name| name.replace("backbone.embedding.", TABLE));
    let model = Arc::new(mamba::Model::new(&config, weights.pp("backbone"))?);
    let state = mamba::State::new(1, &config, DType::F32, parts.device)?;
    Ok(Networks::forking(
        StateSpaces { model, state },
        Reading::InChunks,
        |StateSpaces { model, state }, tokens, _| {
            one_by_one(tokens, |token| model.forward(token, state))
        },
    ))
}

/// How the table of tokens begins in a file.
const TABLE: &str = "backbone.embeddings.";

pub fn mamba2(parts: &Parts<'_>) -> Result<Networks> {
    let config = mamba2::Config {
        pad_vocab_size_multiple: 1,
        ..parts.config()?
    };
    let weights = parts.shelf.builder().pp("backbone");
    let model = Arc::new(mamba2::Model::new(&config, weights)?);
    let state = mamba2::State::new(1, &config, DType::F32, parts.device)?;
    // It could read several tokens at once, but only at first, and with a state in memory for each.
    Ok(Networks::forking(
        StateSpaces { model, state },
        Reading::InChunks,
        |StateSpaces { model, state }, tokens, _| {
            one_by_one(tokens, |token| model.forward(token, state))
        },
    ))
}

/// Reads a row of tokens; gives the scores after the last one.
fn one_by_one(tokens: &Tensor, mut read: impl FnMut(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let mut scores = None;
    for token in tokens.squeeze(0)?.chunk(tokens.elem_count(), 0)? {
        scores = Some(read(&token)?);
    }
    scores.ok_or_else(|| candle_core::Error::Msg("there is no token to read".to_owned()))
}
