//! LFM2 and LFM2.5, with and without experts: short convolutions, with attention in every few layers.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::{Defaults, N_KV_HEADS};
use crate::engine::blueprint::experts::ExpertKeys;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{
    Blueprint, Experts, HeadNorm, MAX_SIZE, Naming, Recurrence, Router, Scoring, ShortConv,
};

pub(super) const LFM2: Family = Family {
    model_type: "lfm2",
    class: "Lfm2ForCausalLM",
    gguf: "lfm2",
    aliases: &[("rms_norm_eps", "norm_eps")],
    defaults: &[],
    blueprint,
};

pub(super) const LFM2_MOE: Family = Family {
    model_type: "lfm2_moe",
    class: "Lfm2MoeForCausalLM",
    gguf: "lfm2moe",
    aliases: &[("rms_norm_eps", "norm_eps")],
    defaults: &[
        ("num_experts", "32"),
        ("num_experts_per_tok", "4"),
        ("moe_intermediate_size", "1792"),
        ("num_dense_layers", "2"),
        ("intermediate_size", "7168"),
        ("num_key_value_heads", "8"),
        ("norm_eps", "1e-5"),
        // The width of the feed-forward network is stated as it is.
        ("block_auto_adjust_ff_dim", "false"),
    ],
    blueprint: moe_blueprint,
};

const N_DENSE: Key = Key::new("num_dense_layers", "leading_dense_block_count");
const NORMALIZES: Key = Key::config("norm_topk_prob");
const SCALE: Key = Key::new("routed_scaling_factor", "expert_weights_scale");
const CHOICE_BIAS: Key = Key::config("use_expert_bias");
const SCORING: Key = Key::gguf("expert_gating_func");
/// The number of the sigmoid in GGUF.
const SIGMOID: usize = 2;
const LAYER_TYPES: Key = Key::config("layer_types");
const ATTENTION_LAYERS: Key = Key::config("full_attn_idxs");
const N_TAPS: Key = Key::new("conv_L_cache", "shortconv.l_cache");
const CONV_BIAS: Key = Key::config("conv_bias");
const FFN_SIZE: Key = Key::config("intermediate_size");
const OLDER_FFN_SIZE: Key = Key::config("block_ff_dim");
const FFN_ADJUSTED: Key = Key::config("block_auto_adjust_ff_dim");
const FFN_FACTOR: Key = Key::config("block_ffn_dim_multiplier");
const FFN_MULTIPLE: Key = Key::config("block_multiple_of");
const OLDER_TIED: Key = Key::config("tie_embedding");

fn moe_blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    if facts
        .size(SCORING)?
        .is_some_and(|scoring| scoring != SIGMOID)
    {
        let name = facts.name(SCORING);
        return Err(facts.unsupported(format!("{name} other than {SIGMOID} in this family")));
    }
    let experts = Experts {
        router: Router {
            scoring: Scoring::Sigmoid,
            normalizes: facts.flag(NORMALIZES)?.unwrap_or(true),
            eps: 1e-6,
            scale: facts.number(SCALE)?.unwrap_or(1.0),
            choice_bias: facts.flag(CHOICE_BIAS)?.unwrap_or(true),
            groups: None,
        },
        ..ExpertKeys::USUAL.read(facts)?
    };
    let n_dense = facts.size(N_DENSE)?.unwrap_or(0);
    let base = blueprint_with(facts, Defaults::WITH_EXPERTS)?;
    Ok(base.with_experts(experts, None, |layer| layer >= n_dense))
}

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    blueprint_with(facts, Defaults::LLAMA)
}

fn blueprint_with(facts: &Facts<'_>, defaults: Defaults) -> Result<Blueprint, EngineError> {
    if facts.flag(CONV_BIAS)? == Some(true) {
        return Err(facts.unsupported("conv_bias true in this family".to_owned()));
    }
    let heads = listed_heads(facts)?;
    let defaults = Defaults {
        tied_head: true,
        ffn_ratio: Some(1),
        theta: 1_000_000.0,
        n_kv_heads: heads.as_ref().and_then(|heads| heads.iter().copied().max()),
        ..defaults
    };
    let mut base = Blueprint::base(facts, defaults)?;
    let is_attention = match heads {
        Some(heads) => heads.iter().map(|n_heads| *n_heads > 0).collect(),
        None => attention_layers(facts, base.n_layers())?,
    };
    let n_layers = base.n_layers();
    if is_attention.len() < n_layers {
        let n_listed = is_attention.len();
        let reason = format!("it lists {n_listed} layers instead of {n_layers}");
        return Err(facts.malformed(reason));
    }
    let conv = Recurrence::ShortConv(ShortConv {
        n_channels: base.hidden_size,
        n_taps: facts.size(N_TAPS)?.unwrap_or(3),
    });
    for (layer, is_attention) in base.layers.iter_mut().zip(is_attention) {
        layer.recurrence = (!is_attention).then_some(conv);
    }
    Ok(Blueprint {
        naming: if facts.is_gguf() {
            Naming::GgufLfm2
        } else {
            Naming::Lfm2
        },
        head_norm: Some(HeadNorm::EachHead),
        tied_head: match facts.flag(OLDER_TIED)? {
            Some(is_tied) => Some(is_tied),
            None => base.tied_head,
        },
        ffn_size: if facts.is_gguf() {
            base.ffn_size
        } else {
            ffn_size(facts)?
        },
        ..base
    })
}

/// Returns the number of key-value heads in each layer of a GGUF file, 0 for one without attention,
/// or `None` if the file has one number for all.
pub(super) fn listed_heads(facts: &Facts<'_>) -> Result<Option<Vec<usize>>, EngineError> {
    if !facts.is_list(N_KV_HEADS) {
        return Ok(None);
    }
    let heads = facts.sizes(N_KV_HEADS)?.unwrap_or_default();
    let largest = heads.iter().copied().max().unwrap_or_default();
    if heads.iter().any(|n_heads| ![0, largest].contains(n_heads)) {
        let name = facts.name(N_KV_HEADS);
        return Err(facts.unsupported(format!("different numbers of heads in {name}")));
    }
    Ok(Some(heads))
}

/// Returns which layers have attention. The first files list only their indices.
fn attention_layers(facts: &Facts<'_>, n_layers: usize) -> Result<Vec<bool>, EngineError> {
    if let Some(kinds) = facts.texts(LAYER_TYPES)? {
        let kinds = kinds.iter().map(|kind| match kind.as_str() {
            "full_attention" => Ok(true),
            "conv" => Ok(false),
            other => Err(facts.unsupported(format!("layers of type {other:?}"))),
        });
        return kinds.collect();
    }
    let indices = facts.sizes(ATTENTION_LAYERS)?;
    let has_attention = |index: usize| {
        let indices = indices.as_ref();
        indices.is_none_or(|indices| indices.contains(&index))
    };
    Ok((0..n_layers).map(has_attention).collect())
}

/// Returns the inner width of the feed-forward network: two thirds of the configured width, scaled,
/// and rounded up to a multiple.
#[expect(
    clippy::cast_sign_loss,
    reason = "a negative factor becomes 0 here, which is rejected later"
)]
fn ffn_size(facts: &Facts<'_>) -> Result<usize, EngineError> {
    let size = match facts.size(OLDER_FFN_SIZE)? {
        Some(size) => size,
        None => facts.size(FFN_SIZE)?.unwrap_or(12_288),
    };
    if facts.flag(FFN_ADJUSTED)? == Some(false) || size > MAX_SIZE {
        return Ok(size);
    }
    let factor = facts.number(FFN_FACTOR)?.unwrap_or(1.0);
    let scaled = (f64::from(factor) * (2 * size / 3) as f64) as usize;
    let multiple = facts.size(FFN_MULTIPLE)?.unwrap_or(256);
    Ok(scaled
        .min(MAX_SIZE)
        .next_multiple_of(multiple.clamp(1, MAX_SIZE)))
}
