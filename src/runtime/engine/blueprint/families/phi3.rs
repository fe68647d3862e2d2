//! Phi-3 and Phi-4-mini: a Llama with fused matrices and `LongRoPE`.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::Facts;
use crate::engine::blueprint::{Blueprint, Matrices};

pub(super) const PHI3: Family = Family {
    model_type: "phi3",
    class: "Phi3ForCausalLM",
    gguf: "phi3",
    aliases: &[],
    defaults: &[],
    blueprint,
};

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let base = Blueprint::base(facts, Defaults::LLAMA)?;
    let base = base.windowed(facts.window()?, None, |_| true);
    Ok(Blueprint {
        matrices: Matrices::Fused,
        ..base
    })
}
