//! Checkpoints whose weights are not those that the configuration asks for get a sentence.

use candle_core::{Device, Tensor};
use quartet::engine;

use crate::fixture::{copy, read};

/// What is said of a fixture whose tensor of that name is replaced, or taken away.
fn message(fixture: &str, tensor: &str, replacement: Option<Tensor>) -> String {
    let folder = tempfile::tempdir().unwrap();
    copy(fixture, &["config.json"], folder.path());
    let weights = read(fixture, "model.safetensors");
    let mut weights = candle_core::safetensors::load_buffer(&weights, &Device::Cpu).unwrap();
    assert!(weights.remove(tensor).is_some(), "{tensor}");
    weights.extend(replacement.map(|replacement| (tensor.to_owned(), replacement)));
    let path = folder.path().join("model.safetensors");
    candle_core::safetensors::save(&weights, path).unwrap();
    let opened = engine::open_path(folder.path(), &engine::Device::cpu(), &mut |_| ());
    opened.err().unwrap().to_string()
}

fn zeros(shape: &[usize]) -> Tensor {
    Tensor::zeros(shape, candle_core::DType::F32, &Device::Cpu).unwrap()
}

#[test]
fn a_part_that_is_missing_is_named() {
    for (fixture, tensor) in [
        ("qwen2", "model.layers.1.self_attn.k_proj.bias"),
        ("qwen3", "model.layers.0.self_attn.q_norm.weight"),
        ("phi3", "model.layers.1.mlp.gate_up_proj.weight"),
        ("gemma2", "model.layers.3.post_feedforward_layernorm.weight"),
        ("olmo2", "model.layers.0.post_attention_layernorm.weight"),
        ("gpt2", "wpe.weight"),
        ("gpt2", "h.1.ln_2.bias"),
    ] {
        let message = message(fixture, tensor, None);
        assert!(
            message.contains(&format!("there is no tensor {tensor}")),
            "{message}"
        );
    }
}

#[test]
fn a_part_of_another_shape_is_named() {
    for (fixture, tensor, shape, expected) in [
        (
            "olmo2",
            "model.layers.0.self_attn.q_norm.weight",
            vec![8],
            "has the shape [8], not [32]",
        ),
        (
            "phi3",
            "model.layers.0.self_attn.qkv_proj.weight",
            vec![48, 32],
            "has the shape [48, 32], not [64, 32]",
        ),
        (
            "gpt2",
            "h.0.attn.c_attn.weight",
            vec![96, 32],
            "has the shape [96, 32], not [32, 96]",
        ),
        (
            "gpt2",
            "wpe.weight",
            vec![63, 32],
            "has the shape [63, 32], not [64, 32]",
        ),
    ] {
        let message = message(fixture, tensor, Some(zeros(&shape)));
        assert!(message.contains(expected), "{message}");
    }
}
