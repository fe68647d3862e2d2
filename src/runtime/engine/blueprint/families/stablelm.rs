//! `StableLM`: a Llama with layer norms, which rotates a part of each head.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{Biases, Blueprint, Naming, Norm, NormKind, NormPlaces, TensorRole};

pub(super) const STABLELM: Family = Family {
    model_type: "stablelm",
    class: "StableLmForCausalLM",
    gguf: "stablelm",
    aliases: &[],
    defaults: &[],
    blueprint,
};

const EPS: Key = Key::new("layer_norm_eps", "attention.layer_norm_epsilon");
const QKV_BIAS: Key = Key::config("use_qkv_bias");
const HEAD_NORMS: Key = Key::config("qk_layernorm");
const PARALLEL: Key = Key::config("use_parallel_residual");

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let defaults = Defaults {
        rotary_share: 0.25,
        ..Defaults::LLAMA
    };
    let has = |role: TensorRole| facts.has_tensor(&Naming::Gguf.name(role, 0));
    if facts.flag(HEAD_NORMS)?.unwrap_or(false) || has(TensorRole::QueryNorm) {
        let feature = "norms with other weights for each head (StableLM 2 12B)";
        return Err(facts.unsupported(feature.to_owned()));
    }
    let base = Blueprint::base(facts, defaults)?;
    let (is_parallel, biases) = if facts.is_gguf() {
        (!has(TensorRole::FfnNorm), base.biases)
    } else {
        let biases = Biases {
            qkv: facts.flag(QKV_BIAS)?.unwrap_or(false),
            ..Biases::default()
        };
        (facts.flag(PARALLEL)?.unwrap_or(false), biases)
    };
    Ok(Blueprint {
        norm: Norm {
            kind: NormKind::Layer,
            eps: facts.number(EPS)?.unwrap_or(1e-5),
            offset: 0.0,
        },
        norm_places: if is_parallel {
            NormPlaces::Parallel
        } else {
            NormPlaces::Before
        },
        biases,
        ..base
    })
}
