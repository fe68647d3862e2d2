//! Granite 3 with experts, which may be beside one that all tokens use.

use super::Family;
use super::granite::scaled;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::experts::ExpertKeys;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{Beside, Blueprint, Experts, Matrices, Naming, Router, Scoring};

pub(super) const GRANITE_MOE: Family = Family {
    model_type: "granitemoe",
    class: "GraniteMoeForCausalLM",
    gguf: "granitemoe",
    aliases: &[],
    defaults: &[("num_local_experts", "8"), ("num_experts_per_tok", "2")],
    blueprint,
};

/// Its GGUF files name the architecture "granitemoe".
pub(super) const GRANITE_MOE_SHARED: Family = Family {
    model_type: "granitemoeshared",
    class: "GraniteMoeSharedForCausalLM",
    gguf: "",
    aliases: &[],
    defaults: &[("num_local_experts", "8"), ("num_experts_per_tok", "2")],
    blueprint,
};

/// The inner width of the expert that all tokens use. Missing or 0 if there is none.
pub(super) const SHARED_SIZE: Key = Key::new(
    "shared_intermediate_size",
    "expert_shared_feed_forward_length",
);
const N_EXPERTS: Key = Key::new("num_local_experts", "expert_count");

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let base = Blueprint::base(facts, Defaults::WITH_EXPERTS)?.interleaved_in_gguf(facts);
    let base = Blueprint {
        naming: Naming::GraniteHybrid.or_gguf(facts),
        matrices: if facts.is_gguf() {
            Matrices::Separate
        } else {
            Matrices::FusedGateUp
        },
        ..scaled(facts, base)?
    };
    with_experts(facts, base)
}

/// Gives all layers experts, if the model has some.
pub(super) fn with_experts(facts: &Facts<'_>, base: Blueprint) -> Result<Blueprint, EngineError> {
    if facts.size(N_EXPERTS)?.unwrap_or(0) == 0 {
        return Ok(base);
    }
    let keys = ExpertKeys {
        n_experts: N_EXPERTS,
        ffn_size: Key::new("intermediate_size", "feed_forward_length"),
        ..ExpertKeys::USUAL
    };
    let shared_size = facts.size(SHARED_SIZE)?.filter(|size| *size > 0);
    let experts = Experts {
        router: Router {
            scoring: Scoring::SoftmaxOfChosen,
            ..Router::SOFTMAX
        },
        beside: if shared_size.is_some() {
            Beside::SharedExpert
        } else {
            Beside::Nothing
        },
        ..keys.read(facts)?
    };
    Ok(base.with_experts(experts, shared_size, |_| true))
}
