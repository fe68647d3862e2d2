//! Mamba and Mamba 2, which take the state of the sequence as an argument for each token.

use std::sync::Arc;

use candle_core::{DType, Result, Tensor};
use candle_transformers::models::{mamba, mamba2};

use super::families::Parts;
use super::network::{NetworkFactory, PrefillMode};

/// A shared model with the state of one sequence.
struct StateSpaces<M, S> {
    model: Arc<M>,
    state: S,
}

/// A clone is independent, because the model replaces the tensors of a state and never writes to
/// them.
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

pub(super) fn mamba(parts: &Parts<'_>) -> Result<NetworkFactory> {
    let config = mamba::Config {
        d_model: parts.size("hidden_size")?,
        n_layer: parts.size("num_hidden_layers")?,
        vocab_size: parts.size("vocab_size")?,
        // Don't pad: the embedding table has exactly as many rows as the file says.
        pad_vocab_size_multiple: 1,
    };
    let weights = parts.store.builder();
    // candle-transformers uses the name from the original release; transformers uses another.
    let weights = weights.rename_f(|name| name.replace("backbone.embedding.", TABLE));
    let model = Arc::new(mamba::Model::new(&config, weights.pp("backbone"))?);
    let state = mamba::State::new(1, &config, DType::F32, parts.device)?;
    Ok(NetworkFactory::forkable(
        StateSpaces { model, state },
        PrefillMode::Chunked,
        |StateSpaces { model, state }, tokens, _| {
            one_by_one(tokens, |token| model.forward(token, state))
        },
    ))
}

/// The prefix of the embedding table in a transformers file.
const TABLE: &str = "backbone.embeddings.";

pub(super) fn mamba2(parts: &Parts<'_>) -> Result<NetworkFactory> {
    let config = mamba2::Config {
        pad_vocab_size_multiple: 1,
        ..parts.config()?
    };
    let weights = parts.store.builder().pp("backbone");
    let model = Arc::new(mamba2::Model::new(&config, weights)?);
    let state = mamba2::State::new(1, &config, DType::F32, parts.device)?;
    // Its prefill of several tokens works only at the start, and keeps a state in memory for each.
    Ok(NetworkFactory::forkable(
        StateSpaces { model, state },
        PrefillMode::Chunked,
        |StateSpaces { model, state }, tokens, _| {
            one_by_one(tokens, |token| model.forward(token, state))
        },
    ))
}

/// Reads tokens one by one. Returns the logits after the last one.
fn one_by_one(tokens: &Tensor, mut read: impl FnMut(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let mut logits = None;
    for token in tokens.squeeze(0)?.chunk(tokens.elem_count(), 0)? {
        logits = Some(read(&token)?);
    }
    logits.ok_or_else(|| candle_core::Error::Msg("there are no tokens to read".to_owned()))
}
