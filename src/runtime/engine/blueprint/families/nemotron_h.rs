//! Nemotron-H and Nemotron 3: each layer is attention, Mamba 2, a feed-forward network or a mixture of
//! experts, and nothing rotates.

use super::Family;
use super::mamba2::{expanded_width, mamba2};
use crate::engine::EngineError;
use crate::engine::blueprint::base::{Defaults, FFN_SIZE, N_KV_HEADS, N_MTP_BLOCKS};
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{
    Activation, Blueprint, Experts, FeedForward, GatedNorm, LayerPlan, Mamba2, Naming, Norm,
    Recurrence, Scales, StepLimits, Sublayers, TensorRole,
};

pub(super) const NEMOTRON_H: Family = Family {
    model_type: "nemotron_h",
    class: "NemotronHForCausalLM",
    gguf: "nemotron_h",
    aliases: &[
        ("mamba_conv_bias", "use_conv_bias"),
        ("mamba_d_conv", "conv_kernel"),
        ("mamba_d_state", "ssm_state_size"),
        ("mamba_n_groups", "n_groups"),
        ("mamba_n_heads", "mamba_num_heads"),
        ("rms_norm_eps", "layer_norm_epsilon"),
    ],
    defaults: &[
        ("conv_kernel", "4"),
        ("intermediate_size", "21504"),
        ("mamba_head_dim", "64"),
        ("mamba_num_heads", "128"),
        ("max_position_embeddings", "4096"),
        ("mlp_hidden_act", "\"relu2\""),
        ("n_groups", "8"),
        ("num_attention_heads", "32"),
        ("num_key_value_heads", "8"),
        ("ssm_state_size", "128"),
        ("time_step_min", "0.001"),
        ("moe_intermediate_size", "7688"),
        ("moe_shared_expert_intermediate_size", "7688"),
        ("n_routed_experts", "8"),
        ("num_experts_per_tok", "2"),
    ],
    blueprint,
};

/// The GGUF files of the models with experts, whose folders are as those of the others.
pub(super) const NEMOTRON_H_MOE: Family = Family {
    gguf: "nemotron_h_moe",
    ..NEMOTRON_H
};

const ACTIVATION: Key = Key::config("mlp_hidden_act");
const ATTENTION_BIAS: Key = Key::config("attention_bias");
const BIAS: Key = Key::config("use_bias");
const EPS: Key = Key::new("layer_norm_epsilon", "attention.layer_norm_epsilon");
const EPS_RMS: Key = Key::new("rms_norm_eps", "attention.layer_norm_rms_epsilon");
const HEAD_DIM: Key = Key::new("head_dim", "attention.key_length");
const KINDS: Key = Key::config("layers_block_type");
const MAMBA_ACTIVATION: Key = Key::config("mamba_hidden_act");
const MAMBA_HEAD_DIM: Key = Key::config("mamba_head_dim");
const MAMBA_HEADS: Key = Key::config("mamba_n_heads");
const OLDER_HEAD_DIM: Key = Key::config("attention_head_dim");
const OLDER_KINDS: Key = Key::config("hybrid_override_pattern");
const SHORTEST_STEP: Key = Key::config("time_step_min");
const LATENT_SIZE: Key = Key::new("moe_latent_size", "moe_latent_size");
const SHARED_SIZE: Key = Key::new(
    "moe_shared_expert_intermediate_size",
    "expert_shared_feed_forward_length",
);

/// The head size and the norm's epsilon that transformers assumes.
const USUAL_HEAD_DIM: usize = 128;
const USUAL_EPS: f32 = 1e-5;

/// What a layer is.
#[derive(Clone, Copy)]
enum Kind {
    Attention,
    Experts,
    FeedForward,
    Mamba,
}

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    check(facts)?;
    let kinds = kinds(facts)?;
    let largest = |key: Key| {
        if facts.is_list(key) {
            Ok(facts.sizes(key)?.and_then(|sizes| sizes.into_iter().max()))
        } else {
            facts.size(key)
        }
    };
    let defaults = Defaults {
        activation: Activation::Relu2,
        n_kv_heads: largest(N_KV_HEADS)?,
        ffn_size: largest(FFN_SIZE)?,
        n_layers: Some(kinds.len()),
        ..Defaults::WITH_EXPERTS
    };
    let base = Blueprint::base(facts, defaults)?;
    let mamba = Recurrence::Mamba2(mamba(facts, base.hidden_size)?);
    let layers = kinds.iter().map(|kind| LayerPlan {
        recurrence: matches!(kind, Kind::Mamba).then_some(mamba),
        sublayers: match kind {
            Kind::Attention | Kind::Mamba => Sublayers::Mixer,
            Kind::Experts | Kind::FeedForward => Sublayers::FeedForward,
        },
        ..LayerPlan::default()
    });
    let head_dim = head_dim(facts)?;
    let blueprint = Blueprint {
        naming: if facts.is_gguf() {
            Naming::GgufNemotronH
        } else {
            Naming::Backbone
        },
        layers: layers.collect(),
        ropes: Vec::new(),
        head_dim,
        feed_forward: FeedForward::Plain(Activation::Relu2),
        norm: Norm {
            eps: eps(facts)?,
            ..base.norm
        },
        scales: Scales {
            score: (head_dim.max(1) as f32).sqrt().recip(),
            ..base.scales
        },
        ..base
    };
    let has_experts = |layer: usize| matches!(kinds.get(layer), Some(Kind::Experts));
    if !(0..kinds.len()).any(has_experts) {
        return Ok(blueprint);
    }
    let shared_size = facts.required_size(SHARED_SIZE)?;
    Ok(blueprint.with_experts(experts(facts)?, Some(shared_size), has_experts))
}

fn experts(facts: &Facts<'_>) -> Result<Experts, EngineError> {
    if let Some(size) = facts.size(LATENT_SIZE)?.filter(|size| *size > 0) {
        let name = facts.name(LATENT_SIZE);
        return Err(facts.unsupported(format!("{name} {size} in this family")));
    }
    Experts::deepseek_v3(facts)
}

/// Rejects what this family could have, but its models don't.
fn check(facts: &Facts<'_>) -> Result<(), EngineError> {
    for (key, usual) in [(ACTIVATION, "relu2"), (MAMBA_ACTIVATION, "silu")] {
        if let Some(other) = facts.text(key)?.filter(|name| name != usual) {
            let name = facts.name(key);
            return Err(facts.unsupported(format!("{name} {other:?} in this family")));
        }
    }
    for key in [ATTENTION_BIAS, BIAS] {
        if facts.flag(key)? == Some(true) {
            let name = facts.name(key);
            return Err(facts.unsupported(format!("{name} true in this family")));
        }
    }
    Ok(())
}

fn mamba(facts: &Facts<'_>, hidden_size: usize) -> Result<Mamba2, EngineError> {
    if facts.is_gguf() {
        let inner_width = expanded_width(facts, hidden_size)?;
        return mamba2(facts, inner_width, GatedNorm::AfterGate);
    }
    let n_heads = facts.required_size(MAMBA_HEADS)?;
    let inner_width = n_heads.saturating_mul(facts.required_size(MAMBA_HEAD_DIM)?);
    Ok(Mamba2 {
        // transformers ignores the limits that the file states.
        step_limits: StepLimits {
            shortest: facts.required_number(SHORTEST_STEP)?,
            ..StepLimits::NONE
        },
        ..mamba2(facts, inner_width, GatedNorm::AfterGate)?
    })
}

fn head_dim(facts: &Facts<'_>) -> Result<usize, EngineError> {
    let stated = match facts.size(HEAD_DIM)? {
        Some(head_dim) => Some(head_dim),
        None => facts.size(OLDER_HEAD_DIM)?,
    };
    Ok(stated.unwrap_or(USUAL_HEAD_DIM))
}

fn eps(facts: &Facts<'_>) -> Result<f32, EngineError> {
    let stated = match facts.number(EPS_RMS)? {
        Some(eps) => Some(eps),
        None => facts.number(EPS)?,
    };
    Ok(stated.unwrap_or(USUAL_EPS))
}

/// Returns what each layer is. A GGUF file says so by the layers' numbers of key-value heads and
/// widths of feed-forward networks.
fn kinds(facts: &Facts<'_>) -> Result<Vec<Kind>, EngineError> {
    if facts.is_gguf() {
        let heads = facts.sizes(N_KV_HEADS)?;
        let heads = heads.ok_or_else(|| facts.missing(N_KV_HEADS))?;
        let widths = facts.sizes(FFN_SIZE)?;
        let widths = widths.ok_or_else(|| facts.missing(FFN_SIZE))?;
        if heads.len() != widths.len() {
            let (heads, widths) = (facts.name(N_KV_HEADS), facts.name(FFN_SIZE));
            let reason = format!("{heads} and {widths} list different numbers of layers");
            return Err(facts.malformed(reason));
        }
        // The blocks that predict tokens after the next one come last.
        let n_blocks = facts.size(N_MTP_BLOCKS)?.unwrap_or(0);
        let n_layers = heads.len().saturating_sub(n_blocks);
        let layers = heads.into_iter().zip(widths).take(n_layers).enumerate();
        return Ok(layers
            .map(|(layer, (n_heads, width))| match (n_heads, width) {
                (0, 0) => Kind::Mamba,
                (_, 0) => Kind::Attention,
                _ if facts.has_tensor(&Naming::GgufNemotronH.name(TensorRole::Router, layer)) => {
                    Kind::Experts
                }
                _ => Kind::FeedForward,
            })
            .collect());
    }
    let names = match facts.texts(KINDS)? {
        Some(names) => names,
        None => match facts.text(OLDER_KINDS)? {
            Some(letters) => letters.chars().map(String::from).collect(),
            None => return Err(facts.missing(KINDS)),
        },
    };
    let kinds = names.iter().map(|name| match name.as_str() {
        "attention" | "full_attention" | "*" => Ok(Kind::Attention),
        "mlp" | "-" => Ok(Kind::FeedForward),
        "mamba" | "linear_attention" | "M" => Ok(Kind::Mamba),
        "moe" | "E" => Ok(Kind::Experts),
        other => Err(facts.unsupported(format!("layers of type {other:?}"))),
    });
    kinds.collect()
}
