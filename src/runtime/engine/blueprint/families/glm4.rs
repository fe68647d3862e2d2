//! GLM-4: a Llama with norms before and after each sublayer, which rotates neighboring dimensions of
//! the first half of each head.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::Facts;
use crate::engine::blueprint::{Biases, Blueprint, Matrices, Naming, NormPlaces};

pub(super) const GLM4: Family = Family {
    model_type: "glm4",
    class: "Glm4ForCausalLM",
    gguf: "glm4",
    aliases: &[],
    defaults: &[("attention_bias", "true"), ("head_dim", "128")],
    blueprint,
};

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let defaults = Defaults {
        rotary_share: 0.5,
        ..Defaults::LLAMA
    };
    let base = Blueprint::base(facts, defaults)?.interleaved();
    let biases = if facts.is_gguf() {
        base.biases
    } else {
        Biases {
            attention_output: false,
            ffn: false,
            ..base.biases
        }
    };
    Ok(Blueprint {
        naming: Naming::Glm4.or_gguf(facts),
        norm_places: NormPlaces::Both,
        biases,
        matrices: Matrices::FusedGateUp,
        ..base
    })
}
