//! Mixtral: a Mistral with experts.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::experts::ExpertKeys;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{Blueprint, Experts, Naming, Router};

/// Its GGUF files name the architecture "llama".
pub(super) const MIXTRAL: Family = Family {
    model_type: "mixtral",
    class: "MixtralForCausalLM",
    gguf: "",
    aliases: &[],
    defaults: &[
        ("num_local_experts", "8"),
        ("num_experts_per_tok", "2"),
        ("num_key_value_heads", "8"),
        ("rms_norm_eps", "1e-5"),
    ],
    blueprint: with_experts,
};

const KEYS: ExpertKeys = ExpertKeys {
    n_experts: Key::new("num_local_experts", "expert_count"),
    ffn_size: Key::new("intermediate_size", "feed_forward_length"),
    ..ExpertKeys::USUAL
};

/// Reads a Llama with experts.
pub(super) fn with_experts(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let defaults = Defaults {
        theta: if facts.is_gguf() {
            10_000.0
        } else {
            1_000_000.0
        },
        ..Defaults::WITH_EXPERTS
    };
    let base = Blueprint::base(facts, defaults)?.interleaved_in_gguf(facts);
    let window = if facts.is_gguf() {
        None
    } else {
        facts.window()?
    };
    let base = Blueprint {
        naming: Naming::Mixtral.or_gguf(facts),
        ..base.windowed(window, None, |_| true)
    };
    let experts = Experts {
        router: Router {
            normalizes: true,
            ..Router::SOFTMAX
        },
        ..KEYS.read(facts)?
    };
    Ok(base.with_experts(experts, None, |_| true))
}
