//! ERNIE 4.5, without experts: a Llama that rotates neighboring dimensions.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{Biases, Blueprint};

pub(super) const ERNIE: Family = Family {
    model_type: "ernie4_5",
    class: "Ernie4_5ForCausalLM",
    gguf: "ernie4_5",
    aliases: &[],
    defaults: &[("head_dim", "128")],
    blueprint,
};

const BIAS: Key = Key::config("use_bias");

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let defaults = Defaults {
        tied_head: true,
        theta: 500_000.0,
        ..Defaults::LLAMA
    };
    let base = Blueprint::base(facts, defaults)?.interleaved();
    if facts.is_gguf() {
        return Ok(base);
    }
    let has_bias = facts.flag(BIAS)?.unwrap_or(false);
    Ok(Blueprint {
        biases: Biases {
            qkv: has_bias,
            attention_output: has_bias,
            ffn: has_bias,
        },
        ..base
    })
}
