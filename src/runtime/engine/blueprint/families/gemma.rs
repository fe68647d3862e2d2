//! Gemma, text only. Since Gemma 2, with norms before and after each sublayer, and a sliding window
//! in most layers.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::rope_facts::{RopeSetting, by_layer_type};
use crate::engine::blueprint::{
    Activation, Blueprint, Caps, FeedForward, HeadNorm, Naming, Norm, NormPlaces, Scales,
};

pub(super) const GEMMA: Family = Family {
    model_type: "gemma",
    class: "GemmaForCausalLM",
    gguf: "gemma",
    aliases: &[],
    defaults: &[],
    blueprint: gemma1,
};

pub(super) const GEMMA2: Family = Family {
    model_type: "gemma2",
    class: "Gemma2ForCausalLM",
    gguf: "gemma2",
    aliases: &[],
    defaults: &[],
    blueprint: gemma2,
};

pub(super) const GEMMA3: Family = Family {
    model_type: "gemma3_text",
    class: "Gemma3ForCausalLM",
    gguf: "gemma3",
    aliases: &[],
    // The text part of a larger model leaves out most of its sizes.
    defaults: &[
        ("vocab_size", "262208"),
        ("num_attention_heads", "8"),
        ("num_key_value_heads", "4"),
        ("head_dim", "256"),
        ("max_position_embeddings", "131072"),
    ],
    blueprint: gemma3,
};

const SCORE_CAP: Key = Key::new("attn_logit_softcapping", "attn_logit_softcapping");
const LOGIT_CAP: Key = Key::new("final_logit_softcapping", "final_logit_softcapping");
const QUERY_WIDTH: Key = Key::config("query_pre_attn_scalar");
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
    let setting = RopeSetting {
        head_dim: base.head_dim,
        n_context: base.n_context,
        theta: 1_000_000.0,
        share: 1.0,
    };
    let local_theta = facts.number(LOCAL_THETA)?.unwrap_or(10_000.0);
    base.ropes = by_layer_type(facts, setting, local_theta)?;
    base.caps = Caps {
        score: facts.number(SCORE_CAP)?,
        logit: facts.number(LOGIT_CAP)?,
    };
    base.head_norm = Some(HeadNorm::EachHead);
    Ok(gemma(facts, base, 6)?.rotating_by_layer_type())
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
    let window = facts.window()?.or(Some(4096));
    let base = base.windowed_by_period(facts, window, period)?;
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
