//! Hunyuan, without experts: a Llama with a norm for each head, applied after rotary embedding.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::Facts;
use crate::engine::blueprint::{Blueprint, HeadNorm, Naming};

pub(super) const HUNYUAN: Family = Family {
    model_type: "hunyuan_v1_dense",
    class: "HunYuanDenseV1ForCausalLM",
    gguf: "hunyuan-dense",
    aliases: &[],
    defaults: &[],
    blueprint,
};

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let mut base = Blueprint::base(facts, Defaults::LLAMA)?;
    if !facts.is_gguf() {
        base.biases.ffn = false;
    }
    Ok(Blueprint {
        naming: Naming::Hunyuan.or_gguf(facts),
        head_norm: Some(HeadNorm::EachRotatedHead),
        ..base
    })
}
