//! Mamba and Falcon-Mamba: recurrent layers only, whose channels each choose their own time steps.

use super::Family;
use super::mamba2::has_conv_bias;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{
    Activation, Blueprint, FeedForward, LayerPlan, Mamba, Naming, Recurrence, Sublayers,
};

pub(super) const MAMBA: Family = Family {
    model_type: "mamba",
    class: "MambaForCausalLM",
    gguf: "mamba",
    aliases: ALIASES,
    defaults: DEFAULTS,
    blueprint,
};

/// Its GGUF files have Mamba's name.
pub(super) const FALCON_MAMBA: Family = Family {
    model_type: "falcon_mamba",
    class: "FalconMambaForCausalLM",
    gguf: "",
    aliases: ALIASES,
    defaults: DEFAULTS,
    blueprint: falcon_mamba,
};

const ALIASES: &[(&str, &str)] = &[
    ("mamba_conv_bias", "use_conv_bias"),
    ("rms_norm_eps", "layer_norm_epsilon"),
];

const DEFAULTS: &[(&str, &str)] = &[
    ("conv_kernel", "4"),
    ("expand", "2"),
    ("layer_norm_epsilon", "1e-5"),
    ("max_position_embeddings", "1048576"),
    ("mixer_rms_eps", "1e-6"),
    ("num_attention_heads", "1"),
    ("state_size", "16"),
];

const BIAS: Key = Key::config("use_bias");
const EXPANSION: Key = Key::config("expand");
const INNER_WIDTH: Key = Key::new("intermediate_size", "ssm.inner_size");
const IS_NORMALIZED: Key = Key::gguf("ssm.dt_b_c_rms");
const N_TAPS: Key = Key::new("conv_kernel", "ssm.conv_kernel");
const SELECTION_EPS: Key = Key::config("mixer_rms_eps");
const STATE_DIM: Key = Key::new("state_size", "ssm.state_size");
const STEP_RANK: Key = Key::new("time_step_rank", "ssm.time_step_rank");

/// The hidden size is so many times the rank of time steps if a `config.json` leaves that open.
const RANK_RATIO: usize = 16;

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let base = recurrent(facts, true)?;
    let is_normalized = facts.flag(IS_NORMALIZED)?.unwrap_or(false);
    let selection_eps = is_normalized.then_some(base.norm.eps);
    let mamba = mamba(facts, base.hidden_size, selection_eps)?;
    Ok(base.with_recurrence_only(Recurrence::Mamba(mamba)))
}

fn falcon_mamba(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let base = recurrent(facts, true)?;
    let selection_eps = facts.required_number(SELECTION_EPS)?;
    let mamba = mamba(facts, base.hidden_size, Some(selection_eps))?;
    Ok(base.with_recurrence_only(Recurrence::Mamba(mamba)))
}

fn mamba(
    facts: &Facts<'_>,
    hidden_size: usize,
    selection_eps: Option<f32>,
) -> Result<Mamba, EngineError> {
    if facts.flag(BIAS)? == Some(true) {
        let name = facts.name(BIAS);
        return Err(facts.unsupported(format!("{name} true in this family")));
    }
    if selection_eps.is_some_and(|eps| eps < 0.0) {
        let name = facts.name(SELECTION_EPS);
        return Err(facts.malformed(format!("{name} is negative")));
    }
    let n_channels = match facts.size(INNER_WIDTH)? {
        Some(n_channels) => n_channels,
        None => facts.required_size(EXPANSION)?.saturating_mul(hidden_size),
    };
    Ok(Mamba {
        n_taps: facts.required_size(N_TAPS)?,
        n_channels,
        state_dim: facts.required_size(STATE_DIM)?,
        step_rank: step_rank(facts, hidden_size)?,
        has_conv_bias: has_conv_bias(facts)?,
        selection_eps,
    })
}

/// Returns the width from which time steps are projected. Some files say "auto" instead.
fn step_rank(facts: &Facts<'_>, hidden_size: usize) -> Result<usize, EngineError> {
    let is_open = match facts.text(STEP_RANK) {
        Ok(text) => text.is_none_or(|text| text == "auto"),
        Err(_) => false,
    };
    if is_open && !facts.is_gguf() {
        return Ok(hidden_size.div_ceil(RANK_RATIO));
    }
    facts.required_size(STEP_RANK)
}

/// Reads what models without attention and feed-forward networks have in common.
pub(super) fn recurrent(facts: &Facts<'_>, tied_head: bool) -> Result<Blueprint, EngineError> {
    let defaults = Defaults {
        tied_head,
        ffn_size: Some(0),
        n_kv_heads: Some(0),
        ..Defaults::LLAMA
    };
    let base = Blueprint::base(facts, defaults)?;
    if base.feed_forward != FeedForward::Gated(Activation::Silu) {
        let feature = "recurrent layers with another activation than SiLU".to_owned();
        return Err(facts.unsupported(feature));
    }
    Ok(Blueprint {
        naming: Naming::Backbone.or_gguf(facts),
        ..base
    })
}

impl Blueprint {
    /// Makes every layer nothing but this recurrence.
    pub(super) fn with_recurrence_only(self, recurrence: Recurrence) -> Self {
        let layer = LayerPlan {
            recurrence: Some(recurrence),
            sublayers: Sublayers::Mixer,
            ..LayerPlan::default()
        };
        Self {
            n_heads: 0,
            head_dim: 0,
            layers: vec![layer; self.n_layers()],
            ropes: Vec::new(),
            ..self
        }
    }
}
