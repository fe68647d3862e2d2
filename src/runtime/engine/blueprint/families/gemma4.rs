//! Gemma 4, text only: layers with a sliding window have smaller heads than the others,
//! the last layers attend to the keys and values of earlier ones, and the small models have per-layer
//! embeddings.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::{Defaults, FFN_SIZE, N_KV_HEADS};
use crate::engine::blueprint::experts::ExpertKeys;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::rope_facts::{RopeSetting, by_layer_type};
use crate::engine::blueprint::{
    Activation, Beside, Blueprint, Caps, Experts, HeadNorm, HeadSizes, KvSource, LayerInputs,
    LayerPlan, Naming, NormPlaces, Rope, Router, Scales, TensorRole,
};

pub(super) const GEMMA4: Family = Family {
    model_type: "gemma4_text",
    class: "Gemma4ForCausalLM",
    gguf: "gemma4",
    aliases: &[],
    defaults: &[
        ("vocab_size", "262144"),
        ("num_attention_heads", "8"),
        ("num_key_value_heads", "4"),
        ("head_dim", "256"),
        ("max_position_embeddings", "131072"),
        ("sliding_window", "512"),
        ("hidden_size_per_layer_input", "256"),
        ("vocab_size_per_layer_input", "262144"),
        (
            "rope_parameters",
            r#"{"sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
                "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25,
                                   "rope_theta": 1000000.0}}"#,
        ),
    ],
    blueprint,
};

const EXPERTS: Key = Key::config("enable_moe_block");
const BIDIRECTIONAL: Key = Key::config("use_bidirectional_attention");
const LOGIT_CAP: Key = Key::new("final_logit_softcapping", "final_logit_softcapping");
const LOCAL_DIM: Key = Key::gguf("attention.key_length_swa");
const GLOBAL_DIM: Key = Key::config("global_head_dim");
const N_GLOBAL_KV_HEADS: Key = Key::config("num_global_key_value_heads");
const VALUES_ARE_KEYS: Key = Key::config("attention_k_eq_v");
const N_SHARING: Key = Key::new("num_kv_shared_layers", "attention.shared_kv_layers");
const DOUBLE_WIDE: Key = Key::config("use_double_wide_mlp");
const LOCAL_THETA: Key = Key::gguf("rope.freq_base_swa");
const INPUT_WIDTH: Key = Key::new(
    "hidden_size_per_layer_input",
    "embedding_length_per_layer_input",
);
const N_INPUT_ROWS: Key = Key::config("vocab_size_per_layer_input");

/// The head size of layers without a sliding window that transformers assumes.
const USUAL_GLOBAL_DIM: usize = 512;

/// One of so many layers has no sliding window.
const PERIOD: usize = 6;

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    if facts.text(BIDIRECTIONAL)?.as_deref() == Some("all") {
        return Err(facts.unsupported("bidirectional attention".to_owned()));
    }
    let sizes = ListedSizes {
        n_kv_heads: listed(facts, N_KV_HEADS)?,
        ffn: listed(facts, FFN_SIZE)?,
    };
    let first = |sizes: &Option<Vec<usize>>| sizes.as_ref()?.first().copied();
    let defaults = Defaults {
        tied_head: true,
        activation: Activation::GeluTanh,
        n_kv_heads: first(&sizes.n_kv_heads),
        ffn_size: first(&sizes.ffn),
        ..Defaults::WITH_EXPERTS
    };
    let base = Blueprint::base(facts, defaults)?;
    let window = facts.window()?;
    let mut base = base.windowed_by_period(facts, window, PERIOD)?;
    if let Some(last) = base.layers.last_mut().filter(|_| !facts.is_gguf()) {
        last.window = None;
    }
    // GGUF states the size of global heads first, a `config.json` that of local ones.
    let local_dim = facts.size(LOCAL_DIM)?.unwrap_or(base.head_dim);
    let global_dim = if facts.is_gguf() {
        base.head_dim
    } else {
        stated_global_dim(facts, &base)?.unwrap_or(USUAL_GLOBAL_DIM)
    };
    base.head_dim = local_dim;
    base.ropes = ropes(facts, &base, global_dim)?;
    set_sizes(facts, &mut base, global_dim, &sizes)?;
    set_sources(facts, &mut base)?;
    let width = facts.size(INPUT_WIDTH)?.unwrap_or(0);
    let n_vocab = facts.size(N_INPUT_ROWS)?;
    let base = with_experts(facts, base)?;
    Ok(Blueprint {
        naming: Naming::TransformersWithNormsAfter.or_gguf(facts),
        norm_places: NormPlaces::Both,
        head_norm: Some(HeadNorm::EachHead),
        value_norm: true,
        scales: Scales {
            embedding: Some((base.hidden_size as f32).sqrt()),
            score: 1.0,
            ..base.scales
        },
        caps: Caps {
            score: None,
            logit: facts.number(LOGIT_CAP)?,
        },
        layer_inputs: (width > 0).then_some(LayerInputs { width, n_vocab }),
        layer_scales: true,
        ..base.rotating_by_layer_type()
    })
}

/// Adds the experts that run beside the feed-forward network in each layer, if the model has some.
fn with_experts(facts: &Facts<'_>, base: Blueprint) -> Result<Blueprint, EngineError> {
    const KEYS: ExpertKeys = ExpertKeys {
        n_chosen: Key::new("top_k_experts", "expert_used_count"),
        ..ExpertKeys::USUAL
    };
    let has_experts = if facts.is_gguf() {
        facts.size(KEYS.n_experts)?.unwrap_or(0) > 0
    } else {
        facts.flag(EXPERTS)?.unwrap_or(false)
    };
    if !has_experts {
        return Ok(base);
    }
    let experts = Experts {
        router: Router {
            normalizes: true,
            ..Router::SOFTMAX
        },
        beside: Beside::DenseNetwork,
        ..KEYS.read(facts)?
    };
    Ok(base.with_experts(experts, None, |_| true))
}

/// Returns the head size that a `config.json` states for layers without a sliding window: for all of
/// them, or in the newer form for each.
fn stated_global_dim(facts: &Facts<'_>, base: &Blueprint) -> Result<Option<usize>, EngineError> {
    if let Some(head_dim) = facts.size(GLOBAL_DIM)? {
        return Ok(Some(head_dim));
    }
    let first = base.layers.iter().position(|layer| layer.window.is_none());
    match first {
        Some(layer) => facts.size_in_layer(layer, "head_dim"),
        None => Ok(None),
    }
}

/// Sizes that a file lists for each layer.
struct ListedSizes {
    n_kv_heads: Option<Vec<usize>>,
    ffn: Option<Vec<usize>>,
}

pub(super) fn listed(facts: &Facts<'_>, key: Key) -> Result<Option<Vec<usize>>, EngineError> {
    if facts.is_list(key) {
        facts.sizes(key)
    } else {
        Ok(None)
    }
}

/// Returns the rotary embeddings of layers without and with a sliding window, in this order.
fn ropes(facts: &Facts<'_>, base: &Blueprint, global_dim: usize) -> Result<Vec<Rope>, EngineError> {
    let setting = RopeSetting {
        head_dim: global_dim,
        n_context: base.n_context,
        theta: 1_000_000.0,
        share: 1.0,
    };
    let local_theta = facts.number(LOCAL_THETA)?.unwrap_or(10_000.0);
    let mut ropes = by_layer_type(facts, setting, local_theta)?;
    if let Some(local) = ropes.get_mut(1) {
        local.n_dims = base.head_dim;
    }
    Ok(ropes)
}

/// Sets the sizes of heads and feed-forward networks that differ from the usual ones.
fn set_sizes(
    facts: &Facts<'_>,
    base: &mut Blueprint,
    global_dim: usize,
    listed: &ListedSizes,
) -> Result<(), EngineError> {
    let size_in = |sizes: &Option<Vec<usize>>, layer: usize| sizes.as_ref()?.get(layer).copied();
    let (n_kv_heads, head_dim) = (base.n_kv_heads, base.head_dim);
    let values_are_keys = facts.flag(VALUES_ARE_KEYS)?.unwrap_or(false);
    let n_global = facts.size(N_GLOBAL_KV_HEADS)?.filter(|_| values_are_keys);
    for (index, layer) in base.layers.iter_mut().enumerate() {
        let is_global = layer.window.is_none();
        let usual = HeadSizes {
            n_kv_heads: n_global.filter(|_| is_global).unwrap_or(n_kv_heads),
            head_dim: if is_global { global_dim } else { head_dim },
        };
        let stated = facts.size_in_layer(index, "num_key_value_heads")?;
        layer.heads = Some(HeadSizes {
            n_kv_heads: stated
                .or_else(|| size_in(&listed.n_kv_heads, index))
                .unwrap_or(usual.n_kv_heads),
            head_dim: facts
                .size_in_layer(index, "head_dim")?
                .unwrap_or(usual.head_dim),
        });
        layer.ffn_size = size_in(&listed.ffn, index);
        let lacks_values = if facts.is_gguf() {
            !facts.has_tensor(&Naming::Gguf.name(TensorRole::Value, index))
        } else {
            values_are_keys && is_global
        };
        if lacks_values {
            layer.kv_source = KvSource::SameProjection;
        }
    }
    Ok(())
}

/// Lets the last layers attend to the keys and values of the last one of their kind that has some.
pub(super) fn set_sources(facts: &Facts<'_>, base: &mut Blueprint) -> Result<(), EngineError> {
    let n_layers = base.n_layers();
    let n_sharing = facts.size(N_SHARING)?.unwrap_or(0);
    let Some(n_owners) = n_layers.checked_sub(n_sharing) else {
        let name = facts.name(N_SHARING);
        return Err(facts.malformed(format!("{name} is {n_sharing}")));
    };
    let is_wide = facts.flag(DOUBLE_WIDE)?.unwrap_or(false);
    let (owners, sharing) = base.layers.split_at_mut(n_owners);
    for layer in sharing {
        let is_same_kind =
            |owner: &LayerPlan| owner.window == layer.window && owner.heads == layer.heads;
        let Some(source) = owners.iter().rposition(is_same_kind) else {
            let name = facts.name(N_SHARING);
            let reason = format!("{name} is {n_sharing}, but no layer before has the same heads");
            return Err(facts.malformed(reason));
        };
        layer.kv_source = KvSource::OfLayer(source);
        if is_wide {
            layer.ffn_size = Some(base.ffn_size.saturating_mul(2));
        }
    }
    Ok(())
}
