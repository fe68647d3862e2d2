//! Arcee's AFM: a Llama whose feed-forward network has no gate, but squares a `ReLU`.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::Facts;
use crate::engine::blueprint::{Activation, Blueprint, FeedForward};

pub(super) const ARCEE: Family = Family {
    model_type: "arcee",
    class: "ArceeForCausalLM",
    gguf: "arcee",
    aliases: &[],
    defaults: &[],
    blueprint,
};

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let base = Blueprint::base(facts, Defaults::LLAMA)?.interleaved_in_gguf(facts);
    Ok(Blueprint {
        feed_forward: FeedForward::Plain(facts.activation(Activation::Relu2)?),
        ..base
    })
}
