//! GLM-4.5 to 4.7: a Llama with experts in all but the first layers, which rotates half of each head.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{Beside, Biases, Blueprint, Experts, HeadNorm, Naming, TensorRole};

pub(super) const GLM4_MOE: Family = Family {
    model_type: "glm4_moe",
    class: "Glm4MoeForCausalLM",
    gguf: "glm4moe",
    aliases: &[],
    defaults: &[
        ("num_key_value_heads", "8"),
        ("intermediate_size", "10944"),
        ("moe_intermediate_size", "1408"),
        ("n_routed_experts", "128"),
        ("num_experts_per_tok", "8"),
        ("n_shared_experts", "1"),
        ("first_k_dense_replace", "1"),
        ("rms_norm_eps", "1e-5"),
    ],
    blueprint,
};

const N_SHARED: Key = Key::new("n_shared_experts", "expert_shared_count");
const N_DENSE: Key = Key::new("first_k_dense_replace", "leading_dense_block_count");
const HEAD_NORMS: Key = Key::config("use_qk_norm");
const SCORING: Key = Key::gguf("expert_gating_func");
/// The number of the sigmoid in GGUF.
const SIGMOID: usize = 2;

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let defaults = Defaults {
        rotary_share: if facts.is_gguf() { 1.0 } else { 0.5 },
        ..Defaults::WITH_EXPERTS
    };
    let mut base = Blueprint::base(facts, defaults)?;
    base.split_off_mtp_blocks(facts)?;
    let has_head_norms = if facts.is_gguf() {
        facts.has_tensor(&Naming::Gguf.name(TensorRole::QueryNorm, 0))
    } else {
        facts.flag(HEAD_NORMS)?.unwrap_or(false)
    };
    let experts = experts(facts)?;
    let n_shared = facts.size(N_SHARED)?.unwrap_or(1);
    let n_dense = facts.size(N_DENSE)?.unwrap_or(0);
    let base = Blueprint {
        naming: if facts.is_gguf() {
            Naming::GgufSeedOss
        } else {
            Naming::Glm4Moe
        },
        head_norm: has_head_norms.then_some(HeadNorm::EachHead),
        biases: Biases {
            attention_output: false,
            ffn: false,
            ..base.biases
        },
        ..base
    };
    let shared_size = (n_shared > 0).then(|| n_shared.saturating_mul(experts.ffn_size));
    Ok(base.with_experts(experts, shared_size, |layer| layer >= n_dense))
}

fn experts(facts: &Facts<'_>) -> Result<Experts, EngineError> {
    if facts
        .size(SCORING)?
        .is_some_and(|scoring| scoring != SIGMOID)
    {
        let name = facts.name(SCORING);
        return Err(facts.unsupported(format!("{name} other than {SIGMOID} in this family")));
    }
    let has_shared = facts.size(N_SHARED)?.unwrap_or(1) > 0;
    Ok(Experts {
        beside: if has_shared {
            Beside::SharedExpert
        } else {
            Beside::Nothing
        },
        ..Experts::deepseek_v3(facts)?
    })
}
