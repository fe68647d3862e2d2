//! Command R7B and Command A: attention and the feed-forward network side by side, a sliding window
//! in three of four layers, and rotary embedding only in these.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{Biases, Blueprint, Norm, NormKind, NormPlaces, Scales};

pub(super) const COHERE2: Family = Family {
    model_type: "cohere2",
    class: "Cohere2ForCausalLM",
    gguf: "cohere2",
    aliases: &[],
    defaults: &[("logit_scale", "0.0625"), ("sliding_window", "4096")],
    blueprint,
};

const EPS: Key = Key::new("layer_norm_eps", "attention.layer_norm_epsilon");
const LOGIT: Key = Key::new("logit_scale", "logit_scale");

/// One of so many layers has no sliding window.
const PERIOD: usize = 4;

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let defaults = Defaults {
        tied_head: true,
        ..Defaults::LLAMA
    };
    let base = Blueprint::base(facts, defaults)?.interleaved();
    let base = base.windowed_by_period(facts, facts.window()?, PERIOD)?;
    Ok(Blueprint {
        norm: Norm {
            kind: NormKind::LayerWithoutBias,
            eps: facts.number(EPS)?.unwrap_or(1e-5),
            offset: 0.0,
        },
        norm_places: NormPlaces::Parallel,
        biases: Biases {
            ffn: false,
            ..base.biases
        },
        scales: Scales {
            logit: facts.number(LOGIT)?.filter(|scale| *scale != 0.0),
            ..base.scales
        },
        ..base.rotating_within_windows()
    })
}
