//! `MiniCPM` 1, 2 and 4: a Llama with constant scales on embeddings, residuals and logits.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{Blueprint, Scales};

pub(super) const MINICPM: Family = Family {
    model_type: "minicpm",
    class: "MiniCPMForCausalLM",
    gguf: "minicpm",
    aliases: &[],
    defaults: &[
        ("scale_emb", "1"),
        ("scale_depth", "1"),
        ("dim_model_base", "1"),
    ],
    blueprint,
};

const EMBEDDING: Key = Key::new("scale_emb", "embedding_scale");
/// A `config.json` states it for a model of one layer.
const RESIDUAL: Key = Key::new("scale_depth", "residual_scale");
/// Logits are divided by this value in GGUF, and by its ratio to the hidden size in a `config.json`.
const LOGIT: Key = Key::new("dim_model_base", "logit_scale");
const N_EXPERTS: Key = Key::config("num_experts");
const SPARSE: &str = "sparse_config";

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    if facts.size(N_EXPERTS)?.unwrap_or(0) > 0 {
        return Err(facts.unsupported("a mixture of experts".to_owned()));
    }
    if !facts.is_gguf() && facts.object(SPARSE, "sparse_config.")?.exists() {
        return Err(facts.unsupported("sparse attention".to_owned()));
    }
    let defaults = Defaults {
        tied_head: true,
        ..Defaults::LLAMA
    };
    let base = Blueprint::base(facts, defaults)?.interleaved_in_gguf(facts);
    let residual = facts.required_number(RESIDUAL)?;
    let logit = facts.required_number(LOGIT)?;
    let (residual, logit) = if facts.is_gguf() {
        (residual, logit.recip())
    } else {
        let n_layers = base.n_layers() as f32;
        (residual / n_layers.sqrt(), logit / base.hidden_size as f32)
    };
    Ok(Blueprint {
        scales: Scales {
            embedding: Some(facts.required_number(EMBEDDING)?),
            residual: Some(residual),
            logit: Some(logit),
            ..base.scales
        },
        ..base
    })
}
