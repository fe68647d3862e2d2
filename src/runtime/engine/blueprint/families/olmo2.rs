//! `OLMo` 2: a Llama with norms after each sublayer, and norms over all queries and over all keys.
//! `OLMo` 3 adds a sliding window to three of four layers, and scales rotary embedding only in the
//! fourth.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::rope_facts::{RopeSetting, by_layer_type};
use crate::engine::blueprint::{Blueprint, HeadNorm, Naming, NormPlaces};

pub(super) const OLMO2: Family = Family {
    model_type: "olmo2",
    class: "Olmo2ForCausalLM",
    gguf: "olmo2",
    aliases: &[],
    defaults: &[],
    blueprint: olmo2,
};

/// Its GGUF files name the architecture "olmo2", and have a sliding window.
pub(super) const OLMO3: Family = Family {
    model_type: "olmo3",
    class: "Olmo3ForCausalLM",
    gguf: "",
    aliases: &[],
    defaults: &[("sliding_window", "4096")],
    blueprint: olmo3,
};

/// The base of rotary embedding unless the file states it. As in transformers, a base that a
/// `config.json` states for all layers does not apply to those with a sliding window.
const LOCAL_THETA: f32 = 500_000.0;

const GGUF_LOCAL_THETA: Key = Key::gguf("rope.freq_base_swa");

/// One of so many layers has no sliding window.
const PERIOD: usize = 4;

fn olmo2(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    if facts.is_gguf() && facts.window()?.is_some() {
        return olmo3(facts);
    }
    Ok(with_norms(facts, Blueprint::base(facts, Defaults::LLAMA)?))
}

fn olmo3(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let defaults = Defaults {
        theta: LOCAL_THETA,
        ..Defaults::LLAMA
    };
    let mut base = Blueprint::base(facts, defaults)?;
    let setting = RopeSetting {
        head_dim: base.head_dim,
        n_context: base.n_context,
        theta: LOCAL_THETA,
        share: 1.0,
    };
    let theta = base.ropes.first().map(|rope| rope.theta);
    let local_theta = match facts.number(GGUF_LOCAL_THETA)? {
        Some(theta) => theta,
        None => theta.filter(|_| facts.is_gguf()).unwrap_or(LOCAL_THETA),
    };
    base.ropes = by_layer_type(facts, setting, local_theta)?;
    let base = base.windowed_by_period(facts, facts.window()?, PERIOD)?;
    Ok(with_norms(facts, base.rotating_by_layer_type()))
}

fn with_norms(facts: &Facts<'_>, base: Blueprint) -> Blueprint {
    Blueprint {
        naming: Naming::TransformersWithNormsAfter.or_gguf(facts),
        norm_places: NormPlaces::After,
        head_norm: Some(HeadNorm::AllHeads),
        ..base
    }
}
