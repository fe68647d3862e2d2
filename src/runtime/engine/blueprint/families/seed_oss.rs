//! Seed-OSS: a Llama with biases on queries, keys and values.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{Biases, Blueprint, Naming};

pub(super) const SEED_OSS: Family = Family {
    model_type: "seed_oss",
    class: "SeedOssForCausalLM",
    gguf: "seed_oss",
    aliases: &[],
    defaults: &[("attention_bias", "true"), ("head_dim", "128")],
    blueprint,
};

const OUTPUT_BIAS: Key = Key::config("attention_out_bias");

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let base = Blueprint::base(facts, Defaults::LLAMA)?;
    if facts.is_gguf() {
        return Ok(Blueprint {
            naming: Naming::GgufSeedOss,
            ..base
        });
    }
    Ok(Blueprint {
        biases: Biases {
            attention_output: facts.flag(OUTPUT_BIAS)?.unwrap_or(false),
            ..base.biases
        },
        ..base
    })
}
