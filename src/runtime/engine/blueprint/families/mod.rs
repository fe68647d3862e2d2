//! The families that the decoder supports, and how each differs from a Llama.

mod gemma;
mod gpt2;
mod granite;
mod granite_hybrid;
mod lfm2;
mod llama;
mod olmo2;
mod phi3;
mod qwen;
mod qwen35;
mod smollm3;

use candle_core::quantized::gguf_file::{Content, Value as GgufValue};
use serde_json::{Map, Value};

use super::Blueprint;
use super::facts::Facts;
use crate::engine::EngineError;

/// A model family.
struct Family {
    /// The `model_type` in a `config.json`.
    model_type: &'static str,
    /// The first of the `architectures` in a `config.json`.
    class: &'static str,
    /// The `general.architecture` in GGUF metadata. Empty if its GGUF files use another family's
    /// name.
    gguf: &'static str,
    /// Pairs of Llama's key and the key in this family's `config.json`.
    aliases: &'static [(&'static str, &'static str)],
    /// Builds the family's blueprint.
    blueprint: fn(&Facts<'_>) -> Result<Blueprint, EngineError>,
}

const FAMILIES: [Family; 15] = [
    llama::LLAMA,
    llama::MISTRAL,
    smollm3::SMOLLM3,
    qwen::QWEN2,
    qwen::QWEN3,
    qwen35::QWEN35,
    gemma::GEMMA,
    gemma::GEMMA2,
    gemma::GEMMA3,
    phi3::PHI3,
    granite::GRANITE,
    granite_hybrid::GRANITE_HYBRID,
    lfm2::LFM2,
    olmo2::OLMO2,
    gpt2::GPT2,
];

/// The names of the families, for messages.
const KNOWN: &str = "Llama, Mistral, SmolLM, Qwen 2, 3 and 3.5, Gemma 1 to 3, Phi\u{2011}3, Granite 3 and 4, \
                     LFM2, OLMo 2 and GPT\u{2011}2";

pub(super) fn of_config(json: &[u8], path: &str) -> Result<Blueprint, EngineError> {
    let malformed =
        |reason: String| EngineError::malformed("The model's configuration", reason, path);
    let values: Map<String, Value> =
        serde_json::from_slice(json).map_err(|error| malformed(error.to_string()))?;
    let model_type = values.get("model_type").and_then(Value::as_str);
    let classes = values.get("architectures").and_then(Value::as_array);
    let class = classes
        .and_then(|classes| classes.first())
        .and_then(Value::as_str);
    if let (None, None) = (model_type, class) {
        return Err(malformed("it does not specify an architecture".to_owned()));
    }
    let family = FAMILIES.iter().find(|family| {
        model_type.is_none_or(|model_type| model_type == family.model_type)
            && class.is_none_or(|class| class == family.class)
    });
    match family {
        Some(family) => {
            let facts = Facts::from_config(&values, family.aliases, path);
            family.read(&facts, family.model_type)
        }
        None => Err(unknown(class.or(model_type).unwrap_or_default())),
    }
}

pub(super) fn of_gguf(content: &Content, path: &str) -> Result<Blueprint, EngineError> {
    let Some(GgufValue::String(name)) = content.metadata.get("general.architecture") else {
        let reason = "it does not specify an architecture";
        return Err(EngineError::malformed("The model's metadata", reason, path));
    };
    let family = FAMILIES.iter().find(|family| family.gguf == name);
    match family {
        Some(family) if !name.is_empty() => {
            family.read(&Facts::from_gguf(content, name, path), name)
        }
        _ => Err(unknown(name)),
    }
}

impl Family {
    fn read(&self, facts: &Facts<'_>, architecture: &str) -> Result<Blueprint, EngineError> {
        let blueprint = (self.blueprint)(facts)?;
        blueprint.check_unread(facts)?;
        Ok(Blueprint {
            architecture: architecture.to_owned(),
            ..blueprint
        })
    }
}

fn unknown(architecture: &str) -> EngineError {
    EngineError::UnsupportedArchitecture {
        architecture: architecture.to_owned(),
        known: KNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::{FAMILIES, KNOWN};

    #[test]
    fn the_message_lists_every_family() {
        let known = KNOWN.to_lowercase().replace(['\u{2011}', ' ', '-'], "");
        for family in FAMILIES {
            let model_type = family.model_type.trim_end_matches("_text");
            let name = model_type.trim_end_matches("moehybrid");
            let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
            assert!(known.contains(stem), "{name}");
        }
    }
}
