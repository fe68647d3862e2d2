//! `OLMo` 1: a Llama whose norms have no weights, and whose queries, keys and values may be clamped.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{Biases, Blueprint, Norm, NormKind};

pub(super) const OLMO: Family = Family {
    model_type: "olmo",
    class: "OlmoForCausalLM",
    gguf: "olmo",
    aliases: &[],
    defaults: &[],
    blueprint,
};

const EPS: Key = Key::gguf("attention.layer_norm_epsilon");
const LIMIT: Key = Key::new("clip_qkv", "attention.clamp_kqv");

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let base = Blueprint::base(facts, Defaults::LLAMA)?.interleaved_in_gguf(facts);
    // In GGUF, 0 means no limit.
    let limit = facts
        .number(LIMIT)?
        .filter(|limit| *limit > 0.0 || !facts.is_gguf());
    Ok(Blueprint {
        norm: Norm {
            kind: NormKind::LayerWithoutWeights,
            eps: facts.number(EPS)?.unwrap_or(1e-5),
            offset: 0.0,
        },
        biases: Biases {
            ffn: false,
            ..base.biases
        },
        qkv_limit: limit,
        ..base
    })
}
