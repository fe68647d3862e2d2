//! GPT-2: learned positions, layer norms, biases everywhere, and a feed-forward network without a
//! gate.

use super::Family;
use crate::engine::EngineError;
use crate::engine::blueprint::base::Defaults;
use crate::engine::blueprint::facts::{Facts, Key};
use crate::engine::blueprint::{
    Activation, Biases, Blueprint, FeedForward, Matrices, Naming, Norm, NormKind,
};

pub(super) const GPT2: Family = Family {
    model_type: "gpt2",
    class: "GPT2LMHeadModel",
    gguf: "gpt2",
    aliases: &[
        ("hidden_size", "n_embd"),
        ("num_hidden_layers", "n_layer"),
        ("num_attention_heads", "n_head"),
        ("intermediate_size", "n_inner"),
        ("max_position_embeddings", "n_positions"),
        ("hidden_act", "activation_function"),
    ],
    defaults: &[],
    blueprint,
};

const EPS: Key = Key::new("layer_norm_epsilon", "attention.layer_norm_epsilon");
const SCALED: Key = Key::config("scale_attn_weights");
const SCALED_BY_LAYER: Key = Key::config("scale_attn_by_inverse_layer_idx");

fn blueprint(facts: &Facts<'_>) -> Result<Blueprint, EngineError> {
    let defaults = Defaults {
        tied_head: true,
        ffn_ratio: Some(4),
        activation: Activation::GeluTanh,
        ..Defaults::LLAMA
    };
    if facts.flag(SCALED)? == Some(false) || facts.flag(SCALED_BY_LAYER)? == Some(true) {
        return Err(facts.unsupported("a non-standard scale of attention scores".to_owned()));
    }
    let mut base = Blueprint::base(facts, defaults)?;
    for layer in &mut base.layers {
        layer.rope = None;
    }
    Ok(Blueprint {
        naming: Naming::Gpt2.or_gguf(facts),
        ropes: Vec::new(),
        learned_positions: true,
        norm: Norm {
            kind: NormKind::Layer,
            eps: facts.number(EPS)?.unwrap_or(1e-5),
            offset: 0.0,
        },
        biases: Biases {
            qkv: true,
            attention_output: true,
            ffn: true,
        },
        matrices: if facts.is_gguf() {
            Matrices::Fused
        } else {
            Matrices::FusedTransposed
        },
        feed_forward: FeedForward::Plain(facts.activation(defaults.activation)?),
        ..base
    })
}
