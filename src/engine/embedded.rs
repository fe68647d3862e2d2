//! The model inside the program.

use std::io::Cursor;

use super::open::{Gguf, open_gguf};
use super::{Device, EngineError, LoadedModel, Tokenizer};

const WEIGHTS: &[u8] = include_bytes!("../../assets/model/quartet-stories-q8_0.gguf");
const TOKENIZER: &[u8] = include_bytes!("../../assets/model/tokenizer.json");

/// Opens the model inside the program, on the processor. `progress` hears how far it has come,
/// between 0 and 1.
pub fn open_embedded(progress: &mut dyn FnMut(f32)) -> Result<LoadedModel, EngineError> {
    let path = "the model inside the program";
    let gguf = Gguf {
        reader: Cursor::new(WEIGHTS),
        n_bytes: WEIGHTS.len() as u64,
        path,
        name: "Quartet Stories",
        file: "embedded",
        tokenizer: Some(Tokenizer::from_json(TOKENIZER, path)?),
    };
    open_gguf(gguf, &Device::cpu(), progress)
}
