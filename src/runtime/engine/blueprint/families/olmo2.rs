//! `OLMo` 2: a Llama with norms after each sublayer, and norms over all queries and over all keys.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::Facts;
use crate::engine::blueprint::{Blueprint, HeadNorm, Naming, NormPlaces};

pub(super) const OLMO2: Family = Family {
    model_type: "olmo2",
    class: "Olmo2ForCausalLM",
    gguf: "olmo2",
    aliases: &[],
    blueprint,
};

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    // OLMo 3 has the same name in GGUF, but adds sliding windows and a second rotary embedding for
    // the layers that have them. Without both, it would run but produce wrong output.
    if facts.is_gguf() && facts.window()?.is_some() {
        return Err(facts.unsupported("the sliding-window layers of OLMo 3".to_owned()));
    }
    let base = Blueprint::base(facts, Defaults::LLAMA)?;
    Ok(Blueprint {
        naming: Naming::TransformersWithNormsAfter.or_gguf(facts),
        norm_places: NormPlaces::After,
        head_norm: Some(HeadNorm::AllHeads),
        ..base
    })
}
