//! The model that is embedded in the program, and the small one that drafts for it.

use std::ops::ControlFlow;

use super::open::Gguf;
use super::weights::Source;
use super::{Compute, EngineError, LoadProgress, LoadedModel, Tokenizer};
use crate::generation::ModelOutline;

const WEIGHTS: &[u8] = include_bytes!("../../../assets/model/quartet-stories-q8_0.gguf");
const DRAFT_WEIGHTS: &[u8] = include_bytes!("../../../assets/model/quartet-draft-q4_0.gguf");
const TOKENIZER: &[u8] = include_bytes!("../../../assets/model/tokenizer.json");

/// Loads the embedded model and the one that drafts for it. Returns `None` if `progress` cancels
/// the load.
pub fn open_embedded(
    compute: &Compute,
    progress: LoadProgress<'_>,
) -> Result<Option<LoadedModel>, EngineError> {
    let Some(mut model) = gguf()?.locate()?.load(compute, progress)? else {
        return Ok(None);
    };
    let weights = Source::memory(DRAFT_WEIGHTS, "the embedded draft model");
    let tokenizer = Some(model.tokenizer.clone());
    let draft = Gguf::from_source(weights, "Quartet Draft", "embedded", tokenizer)?;
    let draft = draft
        .locate()?
        .load(compute, &mut |_| ControlFlow::Continue(()))?;
    model.own_second = draft.map(Box::new);
    Ok(Some(model))
}

/// Describes the embedded model and what it takes to load it.
pub fn inspect_embedded() -> Result<ModelOutline, EngineError> {
    Ok(gguf()?.locate()?.outline())
}

/// Builds the tokenizer of the embedded model, and returns it with the size of the vocabulary.
pub fn embedded_tokenizer() -> Result<(Tokenizer, usize), EngineError> {
    gguf()?.locate()?.into_tokenizer()
}

fn gguf() -> Result<Gguf, EngineError> {
    let path = "the embedded model";
    let tokenizer = Tokenizer::from_json(TOKENIZER, path)?;
    let weights = Source::memory(WEIGHTS, path);
    Gguf::from_source(weights, "Quartet Stories", "embedded", Some(tokenizer))
}
