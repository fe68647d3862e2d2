//! The families that the decoder supports, and how each differs from a Llama.

mod apertus;
mod arcee;
mod cohere2;
mod ernie;
mod exaone4;
mod falcon_h1;
mod gemma;
mod gemma3n;
mod gemma4;
mod glm4;
mod glm4_moe;
mod gpt2;
mod gpt_oss;
mod granite;
mod granite_hybrid;
mod granite_moe;
mod hunyuan;
mod lfm2;
mod llama;
mod mamba;
mod mamba2;
mod minicpm;
mod minicpm3;
mod ministral3;
mod mixtral;
mod nemotron_h;
mod olmo;
mod olmo2;
mod phi3;
mod qwen;
mod qwen35;
mod qwen_moe;
mod seed_oss;
mod smollm3;
mod stablelm;
mod wrapper;

use candle_core::quantized::gguf_file::{Content, Value as GgufValue};
use serde_json::{Map, Value};

use super::Blueprint;
use super::facts::Facts;
use crate::engine::EngineError;
use crate::json_words::json_words;

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
    /// Keys with the value that transformers assumes if a `config.json` lacks them, as JSON.
    defaults: &'static [(&'static str, &'static str)],
    /// Builds the family's blueprint.
    blueprint: fn(&Facts<'_>) -> Result<Blueprint, EngineError>,
}

static FAMILIES: [Family; 49] = [
    llama::LLAMA,
    llama::MISTRAL,
    ministral3::MINISTRAL3,
    mixtral::MIXTRAL,
    smollm3::SMOLLM3,
    qwen::QWEN2,
    qwen::QWEN3,
    qwen::QWEN3_VL,
    qwen35::QWEN35,
    qwen35::QWEN35_MOE,
    qwen_moe::QWEN2_MOE,
    qwen_moe::QWEN3_MOE,
    qwen_moe::QWEN3_VL_MOE,
    qwen_moe::OLMOE,
    gemma::GEMMA,
    gemma::GEMMA2,
    gemma::GEMMA3,
    gemma3n::GEMMA3N,
    gemma4::GEMMA4,
    phi3::PHI3,
    granite::GRANITE,
    granite_hybrid::GRANITE_HYBRID,
    granite_moe::GRANITE_MOE,
    granite_moe::GRANITE_MOE_SHARED,
    lfm2::LFM2,
    lfm2::LFM2_MOE,
    mamba::MAMBA,
    mamba::FALCON_MAMBA,
    mamba2::MAMBA2,
    falcon_h1::FALCON_H1,
    nemotron_h::NEMOTRON_H,
    nemotron_h::NEMOTRON_H_MOE,
    olmo::OLMO,
    olmo2::OLMO2,
    olmo2::OLMO3,
    gpt2::GPT2,
    gpt_oss::GPT_OSS,
    apertus::APERTUS,
    arcee::ARCEE,
    cohere2::COHERE2,
    ernie::ERNIE,
    exaone4::EXAONE4,
    glm4::GLM4,
    glm4_moe::GLM4_MOE,
    hunyuan::HUNYUAN,
    minicpm::MINICPM,
    minicpm3::MINICPM3,
    seed_oss::SEED_OSS,
    stablelm::STABLELM,
];

/// The names of the families, for messages.
const KNOWN: &str = "Llama, Mistral, Mixtral, Ministral 3, SmolLM, Qwen 2, 3 and 3.5, Gemma 1 to 4 and 3n, \
                     Phi\u{2011}3, Granite 3 and 4, LFM2, Mamba 1 and 2, Falcon\u{2011}Mamba, Falcon\u{2011}H1, \
                     Nemotron\u{2011}H, OLMo 1 to 3, OLMoE, GPT\u{2011}2, gpt\u{2011}oss, Apertus, \
                     Arcee, Cohere 2 (Command R7B and A), ERNIE 4.5, EXAONE 4, GLM\u{2011}4 and 4.5, \
                     Hunyuan, MiniCPM 1 to 4, Seed\u{2011}OSS and StableLM";

pub(super) fn of_config(json: &[u8], path: &str) -> Result<Blueprint, EngineError> {
    let malformed =
        |reason: String| EngineError::malformed("The model’s configuration", reason, path);
    let mut values: Map<String, Value> =
        serde_json::from_slice(json).map_err(|error| malformed(json_words(&error)))?;
    let name = wrapper::take_text_part(&mut values, path)?;
    let model_type = values.get("model_type").and_then(Value::as_str);
    let classes = values.get("architectures").and_then(Value::as_array);
    let class = classes
        .and_then(|classes| classes.first())
        .and_then(Value::as_str);
    if let (None, None) = (model_type, class) {
        return Err(malformed("it does not specify an architecture".to_owned()));
    }
    match family_of_config(model_type, class) {
        Some(family) => {
            family.add_defaults(&mut values);
            let facts = Facts::from_config(&values, family.aliases, path);
            family.read(&facts, name.unwrap_or(family.model_type))
        }
        None => Err(unknown(class.or(model_type).unwrap_or_default())),
    }
}

pub(super) fn of_gguf(content: &Content, path: &str) -> Result<Blueprint, EngineError> {
    let Some(GgufValue::String(name)) = content.metadata.get("general.architecture") else {
        let reason = "it does not specify an architecture";
        return Err(EngineError::malformed("The model’s metadata", reason, path));
    };
    if name == "clip" {
        let reason = "this file contains the image encoder of a model (mmproj), which Quartet does \
                      not read; open the GGUF file of its text model instead";
        return Err(EngineError::OtherFormat {
            reason: reason.to_owned(),
            path: path.to_owned(),
        });
    }
    match family_of_gguf(name) {
        Some(family) => family.read(&Facts::from_gguf(content, name, path), name),
        None => Err(unknown(name)),
    }
}

/// Returns whether a `config.json` with this `model_type` and this first class is of one of the
/// families, or wraps a model of one.
pub(super) fn knows_config(model_type: Option<&str>, class: Option<&str>) -> bool {
    (model_type.is_some() || class.is_some())
        && (family_of_config(model_type, class).is_some() || wrapper::wraps(model_type, class))
}

/// Returns whether a `config.json` with this `model_type` is of a model around one of the families.
pub(super) fn is_wrapper(model_type: Option<&str>, class: Option<&str>) -> bool {
    wrapper::wraps(model_type, class)
}

/// Returns whether GGUF metadata with this `general.architecture` is of one of the families.
pub(super) fn knows_gguf(architecture: &str) -> bool {
    family_of_gguf(architecture).is_some()
}

fn family_of_config(model_type: Option<&str>, class: Option<&str>) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| {
        model_type.is_none_or(|model_type| model_type == family.model_type)
            && class.is_none_or(|class| class == family.class)
    })
}

fn family_of_gguf(architecture: &str) -> Option<&'static Family> {
    let mut families = FAMILIES.iter().filter(|family| !family.gguf.is_empty());
    families.find(|family| family.gguf == architecture)
}

impl Family {
    /// Adds the values that transformers assumes for keys that are missing. A null value stays.
    fn add_defaults(&self, values: &mut Map<String, Value>) {
        for (key, json) in self.defaults {
            if let Ok(value) = serde_json::from_str(json) {
                values.entry(*key).or_insert(value);
            }
        }
    }

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
        for family in &FAMILIES {
            let name = family.model_type.split("moe").next().unwrap();
            let mut parts = name.split(|c: char| c.is_ascii_digit() || c == '_');
            assert!(known.contains(parts.next().unwrap()), "{name}");
        }
    }
}
