//! Granite 3: a Llama with constant scales on embeddings, attention scores, residuals and logits.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{Blueprint, Scales};

pub(super) const GRANITE: Family = Family {
    model_type: "granite",
    class: "GraniteForCausalLM",
    gguf: "granite",
    aliases: &[],
    defaults: &[],
    blueprint,
};

const EMBEDDING: Key = Key::new("embedding_multiplier", "embedding_scale");
const SCORE: Key = Key::new("attention_multiplier", "attention.scale");
const RESIDUAL: Key = Key::new("residual_multiplier", "residual_scale");
/// Logits are divided by this value.
const LOGIT: Key = Key::new("logits_scaling", "logit_scale");

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let base = Blueprint::base(facts, Defaults::LLAMA)?.interleaved_in_gguf(facts);
    scaled(facts, base)
}

/// Applies the constant scales.
pub(super) fn scaled(facts: &Facts<'_>, base: Blueprint) -> Result<Blueprint, EngineError> {
    Ok(Blueprint {
        scales: Scales {
            embedding: facts.number(EMBEDDING)?,
            score: facts.number(SCORE)?.unwrap_or(1.0),
            residual: facts.number(RESIDUAL)?,
            logit: facts.number(LOGIT)?.map(f32::recip),
        },
        ..base
    })
}
