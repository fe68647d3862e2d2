//! Mamba 2: recurrent layers only. Also reads the sizes of Mamba 2 for families that have it in some
//! of their layers.

use super::Family;
use super::mamba::recurrent;
use crate::engine::EngineError;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{
    Blueprint, GatedNorm, MAX_LAYERS, Mamba2, Naming, Recurrence, StepLimits, TensorRole,
};

pub(super) const MAMBA2: Family = Family {
    model_type: "mamba2",
    class: "Mamba2ForCausalLM",
    gguf: "mamba2",
    aliases: &[
        ("mamba_conv_bias", "use_conv_bias"),
        ("mamba_d_conv", "conv_kernel"),
        ("mamba_d_state", "state_size"),
        ("mamba_expand", "expand"),
        ("mamba_n_groups", "n_groups"),
        ("mamba_n_heads", "num_heads"),
        ("mamba_proj_bias", "use_bias"),
        ("rms_norm_eps", "layer_norm_epsilon"),
    ],
    defaults: &[
        ("conv_kernel", "4"),
        ("expand", "2"),
        ("layer_norm_epsilon", "1e-5"),
        ("max_position_embeddings", "1048576"),
        ("n_groups", "8"),
        ("num_attention_heads", "1"),
        ("num_heads", "128"),
        ("state_size", "128"),
    ],
    blueprint,
};

const CONV_BIAS: Key = Key::config("mamba_conv_bias");
const EXPANSION: Key = Key::config("mamba_expand");
const INNER_WIDTH: Key = Key::gguf("ssm.inner_size");
const N_GROUPS: Key = Key::new("mamba_n_groups", "ssm.group_count");
const N_HEADS: Key = Key::new("mamba_n_heads", "ssm.time_step_rank");
const N_TAPS: Key = Key::new("mamba_d_conv", "ssm.conv_kernel");
const PROJECTION_BIAS: Key = Key::config("mamba_proj_bias");
const STATE_DIM: Key = Key::new("mamba_d_state", "ssm.state_size");
const STEP_LIMITS: Key = Key::config("time_step_limit");

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let base = recurrent(facts, false)?;
    let inner_width = expanded_width(facts, base.hidden_size)?;
    let mamba = mamba2(facts, inner_width, GatedNorm::AfterGate)?;
    Ok(base.with_recurrence_only(Recurrence::Mamba2(mamba)))
}

/// Returns the width of all heads together, which a `config.json` states as a multiple of the hidden
/// size.
pub(super) fn expanded_width(facts: &Facts<'_>, hidden_size: usize) -> Result<usize, EngineError> {
    if facts.is_gguf() {
        return facts.required_size(INNER_WIDTH);
    }
    Ok(facts.required_size(EXPANSION)?.saturating_mul(hidden_size))
}

/// Reads the sizes. Families with other names for them have aliases.
pub(super) fn mamba2(
    facts: &Facts<'_>,
    inner_width: usize,
    gated_norm: GatedNorm,
) -> Result<Mamba2, EngineError> {
    if facts.flag(PROJECTION_BIAS)? == Some(true) {
        let name = facts.name(PROJECTION_BIAS);
        return Err(facts.unsupported(format!("{name} true in this family")));
    }
    let n_heads = facts.required_size(N_HEADS)?;
    if !inner_width.is_multiple_of(n_heads.max(1)) {
        let reason = format!("{n_heads} heads can’t share a width of {inner_width}");
        return Err(facts.malformed(reason));
    }
    let step_limits = facts.range(STEP_LIMITS)?;
    Ok(Mamba2 {
        n_taps: facts.required_size(N_TAPS)?,
        n_heads,
        head_dim: inner_width / n_heads.max(1),
        n_groups: facts.required_size(N_GROUPS)?,
        state_dim: facts.required_size(STATE_DIM)?,
        has_conv_bias: has_conv_bias(facts)?,
        gated_norm,
        step_limits: step_limits.map_or(StepLimits::NONE, |[shortest, longest]| StepLimits {
            shortest,
            longest,
        }),
    })
}

/// Returns whether the outputs of the convolution have a bias. GGUF has no key for this.
pub(super) fn has_conv_bias(facts: &Facts<'_>) -> Result<bool, EngineError> {
    if !facts.is_gguf() {
        return Ok(facts.flag(CONV_BIAS)?.unwrap_or(true));
    }
    let name = |layer| Naming::Gguf.bias_name(TensorRole::MambaTaps, layer);
    Ok((0..MAX_LAYERS).any(|layer| facts.has_tensor(&name(layer))))
}
