//! Qwen 3.5 and 3.6, with and without experts: Gated `DeltaNet` in most layers, attention with gated heads in the others.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::experts::ExpertKeys;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{
    Beside, Blueprint, DeltaNet, Experts, HeadNorm, HeadOrder, Naming, Norm, Recurrence, Router,
};

pub(super) const QWEN35: Family = Family {
    model_type: "qwen3_5_text",
    class: "Qwen3_5ForCausalLM",
    gguf: "qwen35",
    aliases: &[],
    defaults: &[],
    blueprint,
};

pub(super) const QWEN35_MOE: Family = Family {
    model_type: "qwen3_5_moe_text",
    class: "Qwen3_5MoeForCausalLM",
    gguf: "qwen35moe",
    aliases: &[],
    defaults: &[
        ("num_experts", "256"),
        ("num_experts_per_tok", "8"),
        ("moe_intermediate_size", "512"),
        ("shared_expert_intermediate_size", "512"),
        ("head_dim", "256"),
        ("num_key_value_heads", "2"),
    ],
    blueprint: moe_blueprint,
};

const SHARED_SIZE: Key = Key::new(
    "shared_expert_intermediate_size",
    "expert_shared_feed_forward_length",
);
const LAYER_TYPES: Key = Key::config("layer_types");
const RECURRENT_LAYERS: Key = Key::gguf("attention.recurrent_layers");
const INTERVAL: Key = Key::new("full_attention_interval", "full_attention_interval");
const GATED: Key = Key::config("attn_output_gate");
const N_TAPS: Key = Key::new("linear_conv_kernel_dim", "ssm.conv_kernel");
const N_KEY_HEADS: Key = Key::new("linear_num_key_heads", "ssm.group_count");
const N_VALUE_HEADS: Key = Key::new("linear_num_value_heads", "ssm.time_step_rank");
const KEY_DIM: Key = Key::new("linear_key_head_dim", "ssm.state_size");
const VALUE_DIM: Key = Key::config("linear_value_head_dim");
const VALUE_WIDTH: Key = Key::gguf("ssm.inner_size");

fn moe_blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let keys = ExpertKeys::USUAL;
    let shared_size = match facts.size(SHARED_SIZE)? {
        Some(size) => size,
        None => facts.required_size(keys.ffn_size)?,
    };
    let experts = Experts {
        router: Router {
            normalizes: true,
            ..Router::SOFTMAX
        },
        beside: Beside::GatedSharedExpert,
        ..keys.read(facts)?
    };
    let defaults = Defaults {
        ffn_size: Some(shared_size),
        ..Defaults::WITH_EXPERTS
    };
    let base = blueprint_with(facts, defaults)?;
    Ok(base.with_experts(experts, Some(shared_size), |_| true))
}

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    blueprint_with(facts, Defaults::LLAMA)
}

fn blueprint_with(facts: &Facts<'_>, defaults: Defaults) -> Result<Blueprint, EngineError> {
    if facts.flag(GATED)? == Some(false) {
        return Err(facts.unsupported("attention without gates in this family".to_owned()));
    }
    let defaults = Defaults {
        rotary_share: if facts.is_gguf() { 1.0 } else { 0.25 },
        ..defaults
    };
    let mut base = Blueprint::base(facts, defaults)?;
    base.split_off_mtp_blocks(facts)?;
    let net = Recurrence::DeltaNet(delta_net(facts)?);
    let is_recurrent = recurrent_layers(facts, base.n_layers())?;
    for (layer, is_recurrent) in base.layers.iter_mut().zip(is_recurrent) {
        layer.recurrence = is_recurrent.then_some(net);
    }
    Ok(Blueprint {
        naming: if facts.is_gguf() {
            Naming::GgufSeedOss
        } else {
            Naming::Transformers
        },
        norm: Norm {
            offset: if facts.is_gguf() { 0.0 } else { 1.0 },
            ..base.norm
        },
        head_norm: Some(HeadNorm::EachHead),
        gated_heads: true,
        ..base
    })
}

fn delta_net(facts: &Facts<'_>) -> Result<DeltaNet, EngineError> {
    let size = |key: Key, usual: usize| match facts.size(key)? {
        Some(size) => Ok(size),
        None if facts.is_gguf() => Err(facts.missing(key)),
        None => Ok(usual),
    };
    let n_value_heads = size(N_VALUE_HEADS, 32)?;
    Ok(DeltaNet {
        n_taps: size(N_TAPS, 4)?,
        n_key_heads: size(N_KEY_HEADS, 16)?,
        n_value_heads,
        key_dim: size(KEY_DIM, 128)?,
        value_dim: if facts.is_gguf() {
            facts.required_size(VALUE_WIDTH)? / n_value_heads.max(1)
        } else {
            size(VALUE_DIM, 128)?
        },
        head_order: if facts.is_gguf() {
            HeadOrder::Tiled
        } else {
            HeadOrder::Grouped
        },
    })
}

/// Returns which layers have no attention: those that the file lists, or all but the last of each
/// interval.
fn recurrent_layers(facts: &Facts<'_>, n_layers: usize) -> Result<Vec<bool>, EngineError> {
    let listed = match facts.texts(LAYER_TYPES)? {
        Some(kinds) => {
            let kinds = kinds.iter().map(|kind| match kind.as_str() {
                "linear_attention" => Ok(true),
                "full_attention" => Ok(false),
                other => Err(facts.unsupported(format!("layers of type {other:?}"))),
            });
            Some(kinds.collect::<Result<Vec<bool>, _>>()?)
        }
        None => facts.flags(RECURRENT_LAYERS)?,
    };
    let Some(listed) = listed else {
        let interval = facts.size(INTERVAL)?.unwrap_or(4).max(1);
        let is_recurrent = |index: usize| !(index + 1).is_multiple_of(interval);
        return Ok((0..n_layers).map(is_recurrent).collect());
    };
    if listed.len() < n_layers {
        let n_listed = listed.len();
        let reason = format!("it lists {n_listed} layers instead of {n_layers}");
        return Err(facts.malformed(reason));
    }
    Ok(listed)
}
