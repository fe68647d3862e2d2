//! `OLMo` 2: a Llama with its norms after each part, and one over all queries and all keys.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::Facts;
use crate::engine::blueprint::{Blueprint, HeadNorm, Naming, NormPlaces};

pub const OLMO2: Family = Family {
    model_type: "olmo2",
    class: "Olmo2ForCausalLM",
    gguf: "olmo2",
    aliases: &[],
    blueprint,
};

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    // In GGUF it shares its name with OLMo 3, which has windows and turns the layers within them by a
    // second rotation. Without both, that model would run and be wrong.
    if facts.are_gguf() && facts.window()?.is_some() {
        return Err(facts.unsupported("the windowed layers of OLMo 3".to_owned()));
    }
    let base = Blueprint::base(facts, Defaults::LLAMA)?;
    Ok(Blueprint {
        naming: Naming::TransformersWithNormsAfter.or_gguf(facts),
        norm_places: NormPlaces::After,
        head_norm: Some(HeadNorm::AllHeads),
        ..base
    })
}
