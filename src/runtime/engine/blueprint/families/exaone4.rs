//! EXAONE 4: a Llama with norms after each sublayer, and a norm for each head. The larger model has a
//! sliding window in three of four layers, and rotary embedding only in these.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::Facts;
use crate::engine::blueprint::{Blueprint, HeadNorm, Naming, NormPlaces};

pub(super) const EXAONE4: Family = Family {
    model_type: "exaone4",
    class: "Exaone4ForCausalLM",
    gguf: "exaone4",
    aliases: &[],
    defaults: &[("sliding_window", "4096")],
    blueprint,
};

/// One of so many layers has no sliding window.
const PERIOD: usize = 4;

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let base = Blueprint::base(facts, Defaults::LLAMA)?;
    let base = match facts.window()? {
        None => base,
        Some(window) => base
            .windowed_by_period(facts, Some(window), PERIOD)?
            .rotating_within_windows(),
    };
    Ok(Blueprint {
        naming: Naming::TransformersWithNormsAfter.or_gguf(facts),
        norm_places: NormPlaces::After,
        head_norm: Some(HeadNorm::EachHead),
        ..base
    })
}
