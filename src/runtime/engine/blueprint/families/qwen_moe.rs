//! Qwen 2 and 3 with experts, the text part of Qwen 3 VL with experts, and `OLMoE`, which has the
//! experts of Qwen 2 without the shared one.

use super::Family;
use super::qwen::windowed;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::experts::ExpertKeys;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{
    Beside, Biases, Blueprint, Experts, HeadNorm, Naming, Router, TensorRole,
};

pub(super) const QWEN2_MOE: Family = Family {
    model_type: "qwen2_moe",
    class: "Qwen2MoeForCausalLM",
    gguf: "qwen2moe",
    aliases: &[],
    defaults: &[
        ("num_experts", "60"),
        ("num_experts_per_tok", "4"),
        ("moe_intermediate_size", "1408"),
        ("shared_expert_intermediate_size", "5632"),
        ("qkv_bias", "true"),
        ("intermediate_size", "5632"),
    ],
    blueprint: qwen2_moe,
};

pub(super) const QWEN3_MOE: Family = Family {
    model_type: "qwen3_moe",
    class: "Qwen3MoeForCausalLM",
    gguf: "qwen3moe",
    aliases: &[],
    defaults: &[
        ("num_experts_per_tok", "8"),
        ("moe_intermediate_size", "768"),
        ("num_key_value_heads", "4"),
    ],
    blueprint: qwen3_moe,
};

pub(super) const QWEN3_VL_MOE: Family = Family {
    model_type: "qwen3_vl_moe_text",
    class: "Qwen3VLMoeTextModel",
    gguf: "qwen3vlmoe",
    aliases: &[],
    defaults: &[
        ("num_experts_per_tok", "4"),
        ("moe_intermediate_size", "1408"),
        ("num_key_value_heads", "16"),
    ],
    blueprint: qwen3_vl_moe,
};

pub(super) const OLMOE: Family = Family {
    model_type: "olmoe",
    class: "OlmoeForCausalLM",
    gguf: "olmoe",
    aliases: &[("moe_intermediate_size", "intermediate_size")],
    defaults: &[
        ("num_experts", "64"),
        ("num_experts_per_tok", "8"),
        ("rms_norm_eps", "1e-5"),
    ],
    blueprint: olmoe,
};

const N_EXPERTS: Key = Key::new("num_experts", "expert_count");
const OLDER_N_EXPERTS: Key = Key::config("num_local_experts");
const SHARED_SIZE: Key = Key::new(
    "shared_expert_intermediate_size",
    "expert_shared_feed_forward_length",
);
const NORMALIZES: Key = Key::config("norm_topk_prob");
const PERIOD: Key = Key::config("decoder_sparse_step");
const DENSE_LAYERS: Key = Key::config("mlp_only_layers");
const QKV_BIAS: Key = Key::config("qkv_bias");
const LIMIT: Key = Key::config("clip_qkv");

fn qwen2_moe(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let base = windowed(facts, Blueprint::base(facts, Defaults::WITH_EXPERTS)?)?;
    let experts = Experts {
        beside: Beside::GatedSharedExpert,
        ..experts(facts, ExpertKeys::USUAL)?
    };
    // The oldest GGUF files state only the sum of four experts.
    let shared_size = match facts.size(SHARED_SIZE)? {
        Some(size) => size,
        None => base.ffn_size,
    };
    let has_bias = facts.flag(QKV_BIAS)?.unwrap_or(true);
    let base = Blueprint {
        biases: Biases {
            qkv: has_bias,
            ..base.biases
        },
        ..base
    };
    let has_experts = expert_layers(facts)?;
    Ok(base.with_experts(experts, Some(shared_size), has_experts))
}

fn qwen3_moe(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let base = windowed(facts, Blueprint::base(facts, Defaults::WITH_EXPERTS)?)?;
    let experts = qwen3_experts(facts)?;
    let base = Blueprint {
        head_norm: Some(HeadNorm::EachHead),
        ..base
    };
    let has_experts = expert_layers(facts)?;
    Ok(base.with_experts(experts, None, has_experts))
}

fn qwen3_vl_moe(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let defaults = Defaults {
        theta: 500_000.0,
        ..Defaults::WITH_EXPERTS
    };
    let mut experts = qwen3_experts(facts)?;
    // transformers ignores what the file states.
    experts.router.normalizes = true;
    experts.transposed = !facts.is_gguf();
    let base = Blueprint {
        head_norm: Some(HeadNorm::EachHead),
        ..Blueprint::base(facts, defaults)?
    };
    let has_experts = expert_layers(facts)?;
    Ok(base.with_experts(experts, None, has_experts))
}

fn qwen3_experts(facts: &Facts<'_>) -> Result<Experts, EngineError> {
    let n_experts = if facts.size(N_EXPERTS)?.is_some() {
        N_EXPERTS
    } else {
        OLDER_N_EXPERTS
    };
    let keys = ExpertKeys {
        n_experts,
        ..ExpertKeys::USUAL
    };
    experts(facts, keys)
}

fn olmoe(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let base = Blueprint::base(facts, Defaults::WITH_EXPERTS)?;
    let keys = if facts.is_gguf() {
        ExpertKeys {
            ffn_size: Key::gguf("feed_forward_length"),
            ..ExpertKeys::USUAL
        }
    } else {
        ExpertKeys::USUAL
    };
    let mut experts = experts(facts, keys)?;
    // Unlike for Qwen 3, the weights of a GGUF file's experts are used as they are.
    experts.router.normalizes &= !facts.is_gguf();
    let base = Blueprint {
        naming: Naming::Transformers.or_gguf(facts),
        head_norm: Some(HeadNorm::AllHeads),
        qkv_limit: facts.number(LIMIT)?,
        ..base
    };
    Ok(base.with_experts(experts, None, |_| true))
}

/// Reads the mixture. Of GGUF files, only those of Qwen 3 normalize the weights.
fn experts(facts: &Facts<'_>, keys: ExpertKeys) -> Result<Experts, EngineError> {
    let has_shared = facts.has_tensor(&Naming::Gguf.name(TensorRole::SharedGate, 0));
    let usual = facts.is_gguf() && !has_shared;
    Ok(Experts {
        router: Router {
            normalizes: facts.flag(NORMALIZES)?.unwrap_or(usual),
            ..Router::SOFTMAX
        },
        ..keys.read(facts)?
    })
}

/// Returns which layers have experts: all in GGUF files.
fn expert_layers(facts: &Facts<'_>) -> Result<impl Fn(usize) -> bool, EngineError> {
    let period = facts.size(PERIOD)?.unwrap_or(1).max(1);
    let dense = facts.sizes(DENSE_LAYERS)?.unwrap_or_default();
    Ok(move |layer: usize| (layer + 1).is_multiple_of(period) && !dense.contains(&layer))
}
