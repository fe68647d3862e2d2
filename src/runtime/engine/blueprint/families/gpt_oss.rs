//! gpt-oss: experts with biases and clamped gates, attention sinks, and a sliding window in every other
//! layer.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::experts::ExpertKeys;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{
    Blueprint, ClampedGate, Experts, FeedForward, Naming, Router, Scoring,
};

pub(super) const GPT_OSS: Family = Family {
    model_type: "gpt_oss",
    class: "GptOssForCausalLM",
    gguf: "gpt-oss",
    aliases: &[],
    defaults: &[
        ("attention_bias", "true"),
        ("head_dim", "64"),
        ("num_key_value_heads", "8"),
        ("num_local_experts", "128"),
        ("num_experts_per_tok", "4"),
        ("sliding_window", "128"),
        ("rms_norm_eps", "1e-5"),
        ("max_position_embeddings", "131072"),
    ],
    blueprint,
};

const LIMIT: Key = Key::config("swiglu_limit");
const SLOPE: Key = Key::config("swiglu_alpha");
/// The limit of GGUF files, which don't state it.
const USUAL_LIMIT: f32 = 7.0;
/// One of so many layers has no sliding window.
const PERIOD: usize = 2;

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    if let Some(slope) = facts.number(SLOPE)?
        && (slope - ClampedGate::SLOPE).abs() > f32::EPSILON
    {
        let name = facts.name(SLOPE);
        return Err(facts.unsupported(format!("{name} {slope} in this family")));
    }
    let keys = ExpertKeys {
        n_experts: Key::new("num_local_experts", "expert_count"),
        ffn_size: Key::new("intermediate_size", "expert_feed_forward_length"),
        ..ExpertKeys::USUAL
    };
    let experts = Experts {
        router: Router {
            scoring: Scoring::SoftmaxOfChosen,
            ..Router::SOFTMAX
        },
        biases: true,
        transposed: !facts.is_gguf(),
        ..keys.read(facts)?
    };
    let defaults = Defaults {
        theta: 150_000.0,
        ffn_size: Some(experts.ffn_size),
        ..Defaults::WITH_EXPERTS
    };
    let base = Blueprint::base(facts, defaults)?;
    let window = facts.window()?;
    let base = base.windowed_by_period(facts, window, PERIOD)?;
    let base = Blueprint {
        naming: if facts.is_gguf() {
            Naming::GgufSeedOss
        } else {
            Naming::GptOss
        },
        feed_forward: FeedForward::Clamped(ClampedGate {
            limit: facts.number(LIMIT)?.unwrap_or(USUAL_LIMIT),
            alternates: !facts.is_gguf(),
        }),
        sinks: true,
        ..base
    };
    Ok(base.with_experts(experts, None, |_| true))
}
