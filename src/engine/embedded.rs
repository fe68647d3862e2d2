//! The model inside the program.

use super::open::Gguf;
use super::weights::Source;
use super::{Compute, EngineError, LoadProgress, LoadedModel, Tokenizer};
use crate::generation::ModelOutline;

const WEIGHTS: &[u8] = include_bytes!("../../assets/model/quartet-stories-q8_0.gguf");
const TOKENIZER: &[u8] = include_bytes!("../../assets/model/tokenizer.json");

/// Opens the model inside the program; nothing comes back where `progress` wants no more of it.
pub fn open_embedded(
    compute: &Compute,
    progress: LoadProgress<'_>,
) -> Result<Option<LoadedModel>, EngineError> {
    gguf()?.find()?.load(compute, progress)
}

/// What the model inside the program is, and what it takes.
pub fn inspect_embedded() -> Result<ModelOutline, EngineError> {
    Ok(gguf()?.find()?.outline())
}

fn gguf() -> Result<Gguf, EngineError> {
    let path = "the model inside the program";
    let tokenizer = Tokenizer::from_json(TOKENIZER, path)?;
    let weights = Source::memory(WEIGHTS, path);
    Gguf::from_source(weights, "Quartet Stories", Some(tokenizer))
}
