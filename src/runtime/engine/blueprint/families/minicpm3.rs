//! `MiniCPM3`: multi-head latent attention, and constant scales on embeddings, residuals and logits.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::rope_facts::{self, RopeSetting};
use crate::engine::blueprint::{Blueprint, LatentAttention, Naming, Scales};

pub(super) const MINICPM3: Family = Family {
    model_type: "minicpm3",
    class: "MiniCPM3ForCausalLM",
    gguf: "minicpm3",
    aliases: &[],
    defaults: &[
        ("dim_model_base", "256"),
        ("kv_lora_rank", "256"),
        ("max_position_embeddings", "32768"),
        ("num_attention_heads", "40"),
        ("num_key_value_heads", "40"),
        ("q_lora_rank", "768"),
        ("qk_nope_head_dim", "64"),
        ("qk_rope_head_dim", "32"),
        ("rms_norm_eps", "1e-5"),
        ("scale_depth", "1.4"),
        ("scale_emb", "12"),
    ],
    blueprint,
};

const BIAS: Key = Key::config("attention_bias");
const EMBEDDING: Key = Key::config("scale_emb");
const HEAD_DIM: Key = Key::gguf("attention.key_length");
const KEY_VALUE_RANK: Key = Key::new("kv_lora_rank", "attention.kv_lora_rank");
const LOGIT: Key = Key::config("dim_model_base");
const QUERY_RANK: Key = Key::new("q_lora_rank", "attention.q_lora_rank");
const RESIDUAL: Key = Key::config("scale_depth");
const ROTATED_DIM: Key = Key::new("qk_rope_head_dim", "rope.dimension_count");
const UNROTATED_DIM: Key = Key::config("qk_nope_head_dim");
const VALUE_DIM: Key = Key::config("v_head_dim");

/// What GGUF files don't say: llama.cpp has the scales of the one model that was published.
const USUAL_SCALES: [f32; 3] = [12.0, 1.4, 256.0];

/// In transformers, the norms of the latent vectors don't have the configured epsilon.
const LATENT_EPS: f32 = 1e-6;

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    if facts.flag(BIAS)? == Some(true) {
        let name = facts.name(BIAS);
        return Err(facts.unsupported(format!("{name} true in this family")));
    }
    let defaults = Defaults {
        tied_head: true,
        ..Defaults::LLAMA
    };
    let base = Blueprint::base(facts, defaults)?;
    let rotated_dim = facts.required_size(ROTATED_DIM)?;
    let unrotated_dim = if facts.is_gguf() {
        facts.required_size(HEAD_DIM)?.saturating_sub(rotated_dim)
    } else {
        facts.required_size(UNROTATED_DIM)?
    };
    let head_dim = rotated_dim.saturating_add(unrotated_dim);
    let usual_value_dim = base.hidden_size / base.n_heads.max(1);
    let latent = LatentAttention {
        query_rank: facts.size(QUERY_RANK)?,
        key_value_rank: facts.required_size(KEY_VALUE_RANK)?,
        rotated_dim,
        unrotated_dim,
        value_dim: facts.size(VALUE_DIM)?.unwrap_or(usual_value_dim),
        eps: if facts.is_gguf() {
            base.norm.eps
        } else {
            LATENT_EPS
        },
    };
    if latent.value_dim > head_dim {
        let feature = "values that are wider than keys".to_owned();
        return Err(facts.unsupported(feature));
    }
    let setting = RopeSetting {
        head_dim: rotated_dim,
        n_context: base.n_context,
        theta: 10_000.0,
        share: 1.0,
    };
    let [embedding, residual, logit] = scales(facts)?;
    Ok(Blueprint {
        naming: Naming::Transformers.or_gguf(facts),
        head_dim,
        n_kv_heads: base.n_heads,
        ropes: vec![rope_facts::read(facts, setting)?],
        latent: Some(latent),
        scales: Scales {
            embedding: Some(embedding),
            score: (head_dim.max(1) as f32).sqrt().recip(),
            residual: Some(residual / (base.n_layers() as f32).sqrt()),
            logit: Some(logit / base.hidden_size as f32),
        },
        ..base
    })
}

fn scales(facts: &Facts<'_>) -> Result<[f32; 3], EngineError> {
    if facts.is_gguf() {
        return Ok(USUAL_SCALES);
    }
    let number = |key| facts.required_number(key);
    Ok([number(EMBEDDING)?, number(RESIDUAL)?, number(LOGIT)?])
}
