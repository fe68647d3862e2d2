//! Granite 4: a Granite with Mamba 2 in most layers, or in none, and with or without experts.

use super::Family;
use super::granite::scaled;
use super::granite_moe::{SHARED_SIZE, with_experts};
use super::lfm2::listed_heads;
use super::mamba2::{expanded_width, mamba2};
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{Blueprint, GatedNorm, Matrices, Naming, Recurrence};

pub(super) const GRANITE_HYBRID: Family = Family {
    model_type: "granitemoehybrid",
    class: "GraniteMoeHybridForCausalLM",
    gguf: "granitehybrid",
    aliases: &[],
    defaults: &[
        // As in transformers, a configuration that doesn't say has experts.
        ("num_local_experts", "8"),
        ("num_experts_per_tok", "2"),
        ("shared_intermediate_size", "1024"),
        ("mamba_d_conv", "4"),
        ("mamba_d_state", "256"),
        ("mamba_expand", "2"),
        ("mamba_n_groups", "1"),
        ("mamba_n_heads", "128"),
    ],
    blueprint,
};

const LAYER_TYPES: Key = Key::config("layer_types");
const POSITIONS: Key = Key::config("position_embedding_type");
const ROTATES: Key = Key::gguf("rope.scaling.finetuned");

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let heads = listed_heads(facts)?;
    let defaults = Defaults {
        n_kv_heads: heads.as_ref().and_then(|heads| heads.iter().copied().max()),
        ffn_size: facts.size(SHARED_SIZE)?,
        ..Defaults::WITH_EXPERTS
    };
    let base = Blueprint::base(facts, defaults)?.interleaved_in_gguf(facts);
    let mut base = with_experts(facts, scaled(facts, base)?)?;
    let n_layers = base.n_layers();
    let is_attention: Vec<bool> = match heads {
        Some(heads) => heads.iter().map(|n_heads| *n_heads > 0).collect(),
        None if facts.is_gguf() => vec![true; n_layers],
        None => attention_layers(facts, n_layers)?,
    };
    if is_attention.len() < n_layers {
        let n_listed = is_attention.len();
        let reason = format!("it lists {n_listed} layers instead of {n_layers}");
        return Err(facts.malformed(reason));
    }
    let rotates = rotates(facts)?;
    let mamba = if is_attention.contains(&false) {
        let inner_width = expanded_width(facts, base.hidden_size)?;
        Some(mamba2(facts, inner_width, GatedNorm::AfterGate)?)
    } else {
        None
    };
    for (layer, is_attention) in base.layers.iter_mut().zip(is_attention) {
        layer.rope = layer.rope.filter(|_| rotates);
        if !is_attention {
            layer.recurrence = mamba.map(Recurrence::Mamba2);
        }
    }
    Ok(Blueprint {
        naming: Naming::GraniteHybrid.or_gguf(facts),
        matrices: if facts.is_gguf() {
            Matrices::Separate
        } else {
            Matrices::FusedGateUp
        },
        ..base
    })
}

/// Returns which layers have attention. transformers 5 renamed both kinds.
fn attention_layers(facts: &Facts<'_>, n_layers: usize) -> Result<Vec<bool>, EngineError> {
    let Some(kinds) = facts.texts(LAYER_TYPES)? else {
        return Ok(vec![false; n_layers]);
    };
    let kinds = kinds.iter().map(|kind| match kind.as_str() {
        "attention" | "full_attention" => Ok(true),
        "mamba" | "linear_attention" => Ok(false),
        other => Err(facts.unsupported(format!("layers of type {other:?}"))),
    });
    kinds.collect()
}

/// Returns whether queries and keys are rotated.
fn rotates(facts: &Facts<'_>) -> Result<bool, EngineError> {
    if facts.is_gguf() {
        return Ok(facts.flag(ROTATES)?.unwrap_or(true));
    }
    match facts.text(POSITIONS)?.as_deref() {
        Some("rope") => Ok(true),
        None | Some("nope") => Ok(false),
        Some(other) => {
            let name = facts.name(POSITIONS);
            Err(facts.unsupported(format!("{name} {other:?} in this family")))
        }
    }
}
