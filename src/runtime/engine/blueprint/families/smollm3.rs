//! `SmolLM3`: a Llama without rotary embedding in every fourth layer.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::Blueprint;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::{Facts, Key};

pub(super) const SMOLLM3: Family = Family {
    model_type: "smollm3",
    class: "SmolLM3ForCausalLM",
    gguf: "smollm3",
    aliases: &[],
    defaults: &[],
    blueprint,
};

/// 1 for each layer that has rotary embedding, despite the name.
const ROTATING: Key = Key::config("no_rope_layers");
const INTERVAL: Key = Key::config("no_rope_layer_interval");
const WINDOW_IN_USE: Key = Key::config("use_sliding_window");

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let defaults = Defaults {
        tied_head: true,
        theta: 2_000_000.0,
        ..Defaults::LLAMA
    };
    let mut base = Blueprint::base(facts, defaults)?.interleaved_in_gguf(facts);
    let n_layers = base.n_layers();
    let rotating = match facts.flags(ROTATING)? {
        Some(rotating) if rotating.len() < n_layers => {
            let (name, n_listed) = (facts.name(ROTATING), rotating.len());
            let reason = format!("{name} lists {n_listed} layers instead of {n_layers}");
            return Err(facts.malformed(reason));
        }
        Some(rotating) => rotating,
        None => {
            let interval = facts.size(INTERVAL)?.unwrap_or(4).max(1);
            let is_rotating = |index: usize| !(index + 1).is_multiple_of(interval);
            (0..n_layers).map(is_rotating).collect()
        }
    };
    for (layer, rotating) in base.layers.iter_mut().zip(&rotating) {
        layer.rope = rotating.then_some(0);
    }
    let in_use = facts.flag(WINDOW_IN_USE)?.unwrap_or(false);
    let window = if in_use { facts.window()? } else { None };
    let listed = facts.windowed_layers()?;
    Ok(base.windowed(window, listed.as_deref(), |index| {
        rotating.get(index) == Some(&false)
    }))
}
