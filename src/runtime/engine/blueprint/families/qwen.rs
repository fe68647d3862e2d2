//! Qwen 2, 2.5 and 3: a Llama with biases on queries, keys and values (2, 2.5) or head norms (3). The
//! text part of Qwen 3 VL is a Qwen 3: for text alone, the rotary embedding over three positions is
//! the usual one.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{Biases, Blueprint, HeadNorm};

pub(super) const QWEN2: Family = Family {
    model_type: "qwen2",
    class: "Qwen2ForCausalLM",
    gguf: "qwen2",
    aliases: &[],
    defaults: &[],
    blueprint: qwen2,
};

pub(super) const QWEN3: Family = Family {
    model_type: "qwen3",
    class: "Qwen3ForCausalLM",
    gguf: "qwen3",
    aliases: &[],
    defaults: &[],
    blueprint: qwen3,
};

pub(super) const QWEN3_VL: Family = Family {
    model_type: "qwen3_vl_text",
    class: "Qwen3VLTextModel",
    gguf: "qwen3vl",
    aliases: &[],
    defaults: &[("head_dim", "128")],
    blueprint: qwen3_vl,
};

const WINDOW_IN_USE: Key = Key::config("use_sliding_window");
const N_UNWINDOWED: Key = Key::config("max_window_layers");

fn qwen2(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let base = windowed(facts, Blueprint::base(facts, Defaults::LLAMA)?)?;
    Ok(Blueprint {
        biases: Biases {
            qkv: true,
            ..base.biases
        },
        ..base
    })
}

fn qwen3(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let base = windowed(facts, Blueprint::base(facts, Defaults::LLAMA)?)?;
    Ok(Blueprint {
        head_norm: Some(HeadNorm::EachHead),
        ..base
    })
}

fn qwen3_vl(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let defaults = Defaults {
        theta: 500_000.0,
        ..Defaults::LLAMA
    };
    Ok(Blueprint {
        head_norm: Some(HeadNorm::EachHead),
        ..Blueprint::base(facts, defaults)?
    })
}

/// Applies the sliding window if the file says that it is in use; most files don't.
pub(super) fn windowed(facts: &Facts<'_>, base: Blueprint) -> Result<Blueprint, EngineError> {
    if !facts.flag(WINDOW_IN_USE)?.unwrap_or(false) {
        return Ok(base);
    }
    let n_unwindowed = facts.size(N_UNWINDOWED)?.unwrap_or(28);
    let listed = facts.windowed_layers()?;
    Ok(base.windowed(facts.window()?, listed.as_deref(), |index| {
        index >= n_unwindowed
    }))
}
