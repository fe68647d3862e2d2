//! Llama 2 and 3, models with the same architecture (`SmolLM`, `TinyLlama`), and Mistral.

use super::{Family, mixtral};
use crate::engine::EngineError;
use crate::engine::blueprint::Blueprint;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::experts::ExpertKeys;
use crate::engine::blueprint::facts::{Facts, Key};

pub(super) const LLAMA: Family = Family {
    model_type: "llama",
    class: "LlamaForCausalLM",
    gguf: "llama",
    aliases: &[],
    defaults: &[],
    blueprint: llama,
};

/// Its GGUF files name the architecture "llama" and don't store the window.
pub(super) const MISTRAL: Family = Family {
    model_type: "mistral",
    class: "MistralForCausalLM",
    gguf: "",
    aliases: &[],
    defaults: &[],
    blueprint: mistral,
};

fn llama(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    if facts.is_gguf() && facts.size(ExpertKeys::USUAL.n_experts)?.unwrap_or(0) > 0 {
        return mixtral::with_experts(facts);
    }
    let base = Blueprint::base(facts, Defaults::LLAMA)?;
    Ok(base.interleaved_in_gguf(facts))
}

fn mistral(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let base = Blueprint::base(facts, Defaults::LLAMA)?;
    // Older files omit the window and imply this one. A null value means no window.
    let window = if facts.mentions(Key::config("sliding_window")) {
        facts.window()?
    } else {
        Some(4096)
    };
    Ok(base.windowed(window, None, |_| true))
}
