//! Gemma, text only. Since Gemma 2, with norms before and after each sublayer, and a sliding window
//! in most layers.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::rope_facts::{RopeSetting, read_scaled};
use crate::engine::blueprint::{
    Activation, Blueprint, Caps, FeedForward, HeadNorm, Naming, Norm, NormPlaces, Rope, RopeForm,
    RopeScaling, Scales,
};

pub(super) const GEMMA: Family = Family {
    model_type: "gemma",
    class: "GemmaForCausalLM",
    gguf: "gemma",
    aliases: &[],
    blueprint: gemma1,
};

pub(super) const GEMMA2: Family = Family {
    model_type: "gemma2",
    class: "Gemma2ForCausalLM",
    gguf: "gemma2",
    aliases: &[],
    blueprint: gemma2,
};

pub(super) const GEMMA3: Family = Family {
    model_type: "gemma3_text",
    class: "Gemma3ForCausalLM",
    gguf: "gemma3",
    aliases: &[],
    blueprint: gemma3,
};

const SCORE_CAP: Key = Key::new("attn_logit_softcapping", "attn_logit_softcapping");
const LOGIT_CAP: Key = Key::new("final_logit_softcapping", "final_logit_softcapping");
const QUERY_WIDTH: Key = Key::config("query_pre_attn_scalar");
const PERIOD: Key = Key::new("sliding_window_pattern", "attention.sliding_window_pattern");
const LOCAL_THETA: Key = Key::new("rope_local_base_freq", "rope.freq_base_swa");
const BIDIRECTIONAL: Key = Key::config("use_bidirectional_attention");

const DEFAULTS: Defaults = Defaults {
    tied_head: true,
    activation: Activation::GeluTanh,
    ..Defaults::LLAMA
};

/// The layer counts of the 27B models, which scale queries by the hidden size divided by the number
/// of heads instead of by the head size. Their GGUF files don't say so, so they are recognized by
/// their layer count.
const N_LAYERS_OF_27B: [usize; 2] = [46, 62];

fn gemma1(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let base = Blueprint::base(facts, DEFAULTS)?;
    Ok(Blueprint {
        // Its first files specify the exact GELU, but the model was trained with the approximation.
        feed_forward: FeedForward::Gated(Activation::GeluTanh),
        ..every_gemma(facts, base)?
    })
}

fn gemma2(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let caps = Caps {
        score: capped(facts, SCORE_CAP, 50.0)?,
        logit: capped(facts, LOGIT_CAP, 30.0)?,
    };
    let base = Blueprint::base(facts, DEFAULTS)?;
    Ok(Blueprint {
        caps,
        ..gemma(facts, base, 2)?
    })
}

fn gemma3(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let mut base = Blueprint::base(facts, DEFAULTS)?;
    base.ropes = ropes(facts, &base)?;
    base.caps = Caps {
        score: facts.number(SCORE_CAP)?,
        logit: facts.number(LOGIT_CAP)?,
    };
    base.head_norm = Some(HeadNorm::EachHead);
    let mut blueprint = gemma(facts, base, 6)?;
    for layer in &mut blueprint.layers {
        layer.rope = Some(usize::from(layer.window.is_some()));
    }
    Ok(blueprint)
}

/// Applies what all generations have in common.
fn every_gemma(facts: &Facts<'_>, base: Blueprint) -> Result<Blueprint, EngineError> {
    if facts.flag(BIDIRECTIONAL)? == Some(true) {
        return Err(facts.unsupported("bidirectional attention".to_owned()));
    }
    Ok(Blueprint {
        norm: Norm {
            offset: if facts.is_gguf() { 0.0 } else { 1.0 },
            ..base.norm
        },
        scales: Scales {
            embedding: Some((base.hidden_size as f32).sqrt()),
            ..base.scales
        },
        ..base
    })
}

/// Applies what Gemma 2 and 3 have in common. Every layer has a sliding window, except for the last
/// of each period.
fn gemma(facts: &Facts<'_>, base: Blueprint, period: usize) -> Result<Blueprint, EngineError> {
    let base = every_gemma(facts, base)?;
    let listed = windowed_layers(facts)?;
    let period = match &listed {
        Some(_) => period,
        None => facts.size(PERIOD)?.unwrap_or(period).max(1),
    };
    let window = facts.window()?.or(Some(4096));
    let base = base.windowed(window, listed.as_deref(), |index| {
        !(index + 1).is_multiple_of(period)
    });
    Ok(Blueprint {
        naming: Naming::TransformersWithNormsAfter.or_gguf(facts),
        norm_places: NormPlaces::Both,
        scales: Scales {
            score: score_scale(facts, &base)?,
            ..base.scales
        },
        ..base
    })
}

/// Returns which layers have a sliding window, if the file lists them: by type in a `config.json`,
/// as booleans in GGUF.
fn windowed_layers(facts: &Facts<'_>) -> Result<Option<Vec<bool>>, EngineError> {
    if facts.is_gguf() && facts.is_list(PERIOD) {
        facts.flags(PERIOD)
    } else {
        facts.windowed_layers()
    }
}

fn score_scale(facts: &Facts<'_>, base: &Blueprint) -> Result<f32, EngineError> {
    let width = if facts.is_gguf() {
        if N_LAYERS_OF_27B.contains(&base.n_layers()) {
            base.hidden_size as f32 / base.n_heads.max(1) as f32
        } else {
            base.head_dim as f32
        }
    } else {
        facts.number(QUERY_WIDTH)?.unwrap_or(256.0)
    };
    Ok(width.sqrt().recip())
}

/// Reads a soft cap. A null value means no cap; a missing key means the default.
fn capped(facts: &Facts<'_>, key: Key, usual: f32) -> Result<Option<f32>, EngineError> {
    match facts.number(key)? {
        None if !facts.mentions(key) => Ok(Some(usual)),
        cap => Ok(cap),
    }
}

/// Returns the rotary embeddings of the global layers and of the sliding-window layers, in this
/// order.
fn ropes(facts: &Facts<'_>, base: &Blueprint) -> Result<Vec<Rope>, EngineError> {
    let setting = RopeSetting {
        head_dim: base.head_dim,
        n_context: base.n_context,
        theta: 1_000_000.0,
    };
    let newer = facts.object("rope_parameters", "rope_parameters.")?;
    let global = newer.object("full_attention", "rope_parameters.full_attention.")?;
    let local = newer.object("sliding_attention", "rope_parameters.sliding_attention.")?;
    let global = if global.exists() {
        global
    } else {
        facts.object("rope_scaling", "rope_scaling.")?
    };
    let theta = match local.number(Key::config("rope_theta"))? {
        Some(theta) => theta,
        None => facts.number(LOCAL_THETA)?.unwrap_or(10_000.0),
    };
    Ok(vec![
        read_scaled(facts, &global, setting)?,
        Rope {
            theta,
            n_dims: base.head_dim,
            form: RopeForm::HalfSplit,
            scaling: RopeScaling::None,
        },
    ])
}
