//! Falcon-H1: attention and Mamba 2 side by side in every layer, and constant factors on many
//! projections.

use super::Family;
use super::mamba2::{expanded_width, mamba2};
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{
    Activation, Blueprint, FeedForward, GatedNorm, Multipliers, Naming, Recurrence, Scales,
    Sublayers, TensorRole,
};

pub(super) const FALCON_H1: Family = Family {
    model_type: "falcon_h1",
    class: "FalconH1ForCausalLM",
    gguf: "falcon-h1",
    aliases: &[],
    defaults: &[
        ("mamba_d_conv", "4"),
        ("mamba_d_ssm", "1024"),
        ("mamba_d_state", "256"),
        ("mamba_expand", "2"),
        ("mamba_n_groups", "1"),
        ("mamba_n_heads", "128"),
        ("num_key_value_heads", "8"),
        ("rms_norm_eps", "1e-5"),
    ],
    blueprint,
};

const ATTENTION_BIAS: Key = Key::config("attention_bias");
const ATTENTION_INPUT: Key = Key::config("attention_in_multiplier");
const ATTENTION_OUTPUT: Key = Key::config("attention_out_multiplier");
const EMBEDDING: Key = Key::config("embedding_multiplier");
const FFN: Key = Key::config("mlp_multipliers");
const INNER_WIDTH: Key = Key::config("mamba_d_ssm");
const KEYS: Key = Key::config("key_multiplier");
const LOGIT: Key = Key::config("lm_head_multiplier");
const MAMBA_INPUT: Key = Key::config("ssm_in_multiplier");
const MAMBA_OUTPUT: Key = Key::config("ssm_out_multiplier");
const MAMBA_PARTS: Key = Key::config("ssm_multipliers");
const NORM: Key = Key::config("mamba_rms_norm");
const NORM_FIRST: Key = Key::config("mamba_norm_before_gate");
const OUTPUT_BIAS: Key = Key::config("projectors_bias");

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    for key in [ATTENTION_BIAS, OUTPUT_BIAS] {
        if facts.flag(key)? == Some(true) {
            let name = facts.name(key);
            return Err(facts.unsupported(format!("{name} true in this family")));
        }
    }
    let mut base = Blueprint::base(facts, Defaults::LLAMA)?;
    if base.feed_forward != FeedForward::Gated(Activation::Silu) {
        let feature = "another activation than SiLU in this family".to_owned();
        return Err(facts.unsupported(feature));
    }
    let inner_width = match facts.size(INNER_WIDTH)? {
        Some(inner_width) => inner_width,
        None => expanded_width(facts, base.hidden_size)?,
    };
    let mamba = mamba2(facts, inner_width, gated_norm(facts)?)?;
    for layer in &mut base.layers {
        layer.recurrence = Some(Recurrence::Mamba2(mamba));
        layer.sublayers = Sublayers::BothMixersAndFeedForward;
    }
    if facts.is_gguf() {
        return Ok(Blueprint {
            naming: Naming::GgufFalconH1,
            ..base
        });
    }
    Ok(Blueprint {
        naming: Naming::FalconH1,
        multipliers: Some(multipliers(facts)?),
        scales: Scales {
            embedding: facts.number(EMBEDDING)?,
            logit: facts.number(LOGIT)?,
            ..base.scales
        },
        ..base
    })
}

fn gated_norm(facts: &Facts<'_>) -> Result<GatedNorm, EngineError> {
    if facts.is_gguf() {
        let has_norm = facts.has_tensor(&Naming::Gguf.name(TensorRole::MambaNorm, 0));
        return Ok(if has_norm {
            GatedNorm::AfterGate
        } else {
            GatedNorm::None
        });
    }
    Ok(if !facts.flag(NORM)?.unwrap_or(false) {
        GatedNorm::None
    } else if facts.flag(NORM_FIRST)?.unwrap_or(true) {
        GatedNorm::BeforeGate
    } else {
        GatedNorm::AfterGate
    })
}

fn multipliers(facts: &Facts<'_>) -> Result<Multipliers, EngineError> {
    let number = |key: Key| facts.number(key).map(|number| number.unwrap_or(1.0));
    let attention_input = number(ATTENTION_INPUT)?;
    let mamba_input = number(MAMBA_INPUT)?;
    let [ffn_gate, ffn_down] = listed(facts, FFN)?;
    let parts: [f32; 5] = listed(facts, MAMBA_PARTS)?;
    Ok(Multipliers {
        query: attention_input,
        key: attention_input * number(KEYS)?,
        value: attention_input,
        attention_output: number(ATTENTION_OUTPUT)?,
        mamba_input: parts.map(|part| mamba_input * part),
        mamba_output: number(MAMBA_OUTPUT)?,
        ffn_gate,
        ffn_down,
    })
}

/// Reads a list of factors, which are 1 if it is missing.
fn listed<const N: usize>(facts: &Facts<'_>, key: Key) -> Result<[f32; N], EngineError> {
    let Some(factors) = facts.numbers(key)? else {
        return Ok([1.0; N]);
    };
    <[f32; N]>::try_from(factors).map_err(|factors| {
        let name = facts.name(key);
        let n_found = factors.len();
        facts.malformed(format!("{name} has {n_found} factors instead of {N}"))
    })
}
