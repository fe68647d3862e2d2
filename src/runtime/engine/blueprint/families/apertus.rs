//! Apertus: a Llama with a norm for each head, and a feed-forward network with xIELU instead of a
//! gate.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{Activation, Blueprint, FeedForward, HeadNorm, Naming, Xielu};

pub(super) const APERTUS: Family = Family {
    model_type: "apertus",
    class: "ApertusForCausalLM",
    gguf: "apertus",
    aliases: &[],
    defaults: &[(
        "rope_parameters",
        r#"{"rope_type": "llama3", "rope_theta": 12000000.0, "factor": 8.0,
            "original_max_position_embeddings": 8192, "low_freq_factor": 1.0,
            "high_freq_factor": 4.0}"#,
    )],
    blueprint,
};

const RAW_POSITIVE: Key = Key::gguf_without_prefix("xielu.alpha_p");
const RAW_NEGATIVE: Key = Key::gguf_without_prefix("xielu.alpha_n");
const BETA: Key = Key::gguf_without_prefix("xielu.beta");

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let defaults = Defaults {
        theta: 12_000_000.0,
        activation: Activation::Xielu(Xielu::INITIAL),
        ..Defaults::LLAMA
    };
    let base = Blueprint::base(facts, defaults)?;
    let mut biases = base.biases;
    if !facts.is_gguf() {
        biases.ffn = false;
    }
    Ok(Blueprint {
        naming: Naming::Apertus.or_gguf(facts),
        head_norm: Some(HeadNorm::EachHead),
        biases,
        feed_forward: FeedForward::Plain(facts.activation(defaults.activation)?),
        xielus: listed(facts, base.n_layers())?,
        ..base
    })
}

/// Returns the parameters that GGUF metadata list for each layer. Empty for other files.
fn listed(facts: &Facts<'_>, n_layers: usize) -> Result<Vec<Xielu>, EngineError> {
    if !facts.is_gguf() {
        return Ok(Vec::new());
    }
    let column = |key: Key| match facts.numbers(key)? {
        None => Err(facts.missing(key)),
        Some(values) if values.len() < n_layers => {
            let (name, n_values) = (facts.name(key), values.len());
            let reason = format!("{name} lists {n_values} layers instead of {n_layers}");
            Err(facts.malformed(reason))
        }
        Some(values) => Ok(values),
    };
    let positive = column(RAW_POSITIVE)?.into_iter();
    let raw = positive.zip(column(RAW_NEGATIVE)?).zip(column(BETA)?);
    let learned = raw.map(|((positive, negative), beta)| Xielu::from_raw(positive, negative, beta));
    Ok(learned.take(n_layers).collect())
}
