//! Granite 4: a Granite with Mamba 2 in most layers, or in none.

use super::Family;
use super::granite::scaled;
use super::lfm2::listed_heads;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{Blueprint, Mamba2, Matrices, Naming, Recurrence};

pub(super) const GRANITE_HYBRID: Family = Family {
    model_type: "granitemoehybrid",
    class: "GraniteMoeHybridForCausalLM",
    gguf: "granitehybrid",
    aliases: &[("intermediate_size", "shared_intermediate_size")],
    defaults: &[],
    blueprint,
};

const N_EXPERTS: Key = Key::config("num_local_experts");
const LAYER_TYPES: Key = Key::config("layer_types");
const POSITIONS: Key = Key::config("position_embedding_type");
const ROTATES: Key = Key::gguf("rope.scaling.finetuned");
const N_TAPS: Key = Key::new("mamba_d_conv", "ssm.conv_kernel");
const N_HEADS: Key = Key::new("mamba_n_heads", "ssm.time_step_rank");
const N_GROUPS: Key = Key::new("mamba_n_groups", "ssm.group_count");
const STATE_DIM: Key = Key::new("mamba_d_state", "ssm.state_size");
const EXPANSION: Key = Key::config("mamba_expand");
const INNER_WIDTH: Key = Key::gguf("ssm.inner_size");
const CONV_BIAS: Key = Key::config("mamba_conv_bias");
const PROJECTION_BIAS: Key = Key::config("mamba_proj_bias");
const STEP_LIMITS: Key = Key::config("time_step_limit");

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    // As in transformers, a configuration that doesn't say has experts.
    let usual_experts = if facts.is_gguf() { 0 } else { 8 };
    if facts.size(N_EXPERTS)?.unwrap_or(usual_experts) > 0 {
        return Err(facts.unsupported("a mixture of experts".to_owned()));
    }
    let heads = listed_heads(facts)?;
    let defaults = Defaults {
        n_kv_heads: heads.as_ref().and_then(|heads| heads.iter().copied().max()),
        ..Defaults::LLAMA
    };
    let base = Blueprint::base(facts, defaults)?.interleaved_in_gguf(facts);
    let mut base = scaled(facts, base)?;
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
    for (layer, is_attention) in base.layers.iter_mut().zip(is_attention) {
        layer.rope = layer.rope.filter(|_| rotates);
        if !is_attention {
            layer.recurrence = Some(Recurrence::Mamba2(mamba(facts, base.hidden_size)?));
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

fn mamba(facts: &Facts<'_>, hidden_size: usize) -> Result<Mamba2, EngineError> {
    for (key, usual) in [(CONV_BIAS, true), (PROJECTION_BIAS, false)] {
        if facts.flag(key)?.is_some_and(|flag| flag != usual) {
            let name = facts.name(key);
            return Err(facts.unsupported(format!("{name} {} in this family", !usual)));
        }
    }
    // An infinite limit is stored as something else than a number.
    if let Ok(Some(limits)) = facts.numbers(STEP_LIMITS) {
        let name = facts.name(STEP_LIMITS);
        return Err(facts.unsupported(format!("{name} {limits:?} in this family")));
    }
    let size = |key: Key, usual: usize| match facts.size(key)? {
        Some(size) => Ok(size),
        None if facts.is_gguf() => Err(facts.missing(key)),
        None => Ok(usual),
    };
    let n_heads = size(N_HEADS, 128)?;
    let inner_width = if facts.is_gguf() {
        facts.required_size(INNER_WIDTH)?
    } else {
        size(EXPANSION, 2)?.saturating_mul(hidden_size)
    };
    if !inner_width.is_multiple_of(n_heads.max(1)) {
        let reason = format!("{n_heads} heads can’t share a width of {inner_width}");
        return Err(facts.malformed(reason));
    }
    Ok(Mamba2 {
        n_taps: size(N_TAPS, 4)?,
        n_heads,
        head_dim: inner_width / n_heads.max(1),
        n_groups: size(N_GROUPS, 1)?,
        state_dim: size(STATE_DIM, 256)?,
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
