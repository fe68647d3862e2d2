//! Checkpoints whose weights do not match their configuration cause an error message.

use std::fs::File;
use std::io::Cursor;
use std::ops::ControlFlow;

use candle_core::quantized::{GgmlDType, QTensor, gguf_file};
use candle_core::{DType, Device, Tensor};
use quartet::engine;

use crate::architectures::fixture::{copy, read};

/// Returns the error for a fixture with one tensor replaced or removed.
fn message(fixture: &str, tensor: &str, replacement: Option<Tensor>) -> String {
    let folder = tempfile::tempdir().unwrap();
    copy(fixture, &["config.json"], folder.path());
    let weights = read(fixture, "model.safetensors");
    let mut weights = candle_core::safetensors::load_buffer(&weights, &Device::Cpu).unwrap();
    assert!(weights.remove(tensor).is_some(), "{tensor}");
    weights.extend(replacement.map(|replacement| (tensor.to_owned(), replacement)));
    let path = folder.path().join("model.safetensors");
    candle_core::safetensors::save(&weights, path).unwrap();
    let keep_going = &mut |_| ControlFlow::Continue(());
    let opened = engine::open_path(folder.path(), &engine::Compute::on_cpu(), keep_going);
    opened.err().unwrap().to_string()
}

fn zeros(shape: &[usize]) -> Tensor {
    Tensor::zeros(shape, DType::F32, &Device::Cpu).unwrap()
}

#[test]
fn the_error_names_a_missing_tensor() {
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
            message.contains(&format!("tensor {tensor} is missing")),
            "{message}"
        );
    }
}

#[test]
fn the_error_names_a_misshapen_tensor() {
    for (fixture, tensor, shape, expected) in [
        (
            "olmo2",
            "model.layers.0.self_attn.q_norm.weight",
            vec![8],
            "has shape [8] instead of [32]",
        ),
        (
            "phi3",
            "model.layers.0.self_attn.qkv_proj.weight",
            vec![48, 32],
            "has shape [48, 32] instead of [64, 32]",
        ),
        (
            "gpt2",
            "h.0.attn.c_attn.weight",
            vec![96, 32],
            "has shape [96, 32] instead of [32, 96]",
        ),
        (
            "gpt2",
            "wpe.weight",
            vec![63, 32],
            "has shape [63, 32] instead of [64, 32]",
        ),
    ] {
        let message = message(fixture, tensor, Some(zeros(&shape)));
        assert!(message.contains(expected), "{message}");
    }
}

/// Returns the error for a GGUF fixture with one tensor replaced or removed.
fn gguf_message(fixture: &str, tensor: &str, replacement: Option<Tensor>) -> String {
    let folder = tempfile::tempdir().unwrap();
    copy(fixture, &["model.gguf"], folder.path());
    let path = folder.path().join("model.gguf");
    let mut file = Cursor::new(read(fixture, "model.gguf"));
    let content = gguf_file::Content::read(&mut file).unwrap();
    let names = content.tensor_infos.keys().filter(|name| *name != tensor);
    let mut tensors: Vec<(&str, QTensor)> = names
        .map(|name| {
            let tensor = content.tensor(&mut file, name, &Device::Cpu).unwrap();
            (name.as_str(), tensor)
        })
        .collect();
    assert_eq!(tensors.len() + 1, content.tensor_infos.len(), "{tensor}");
    if let Some(replacement) = replacement {
        let replacement = QTensor::quantize(&replacement, GgmlDType::F32).unwrap();
        tensors.push((tensor, replacement));
    }
    let metadata = content.metadata.iter();
    let metadata: Vec<_> = metadata
        .map(|(name, value)| (name.as_str(), value))
        .collect();
    let tensors: Vec<_> = tensors.iter().map(|(name, one)| (*name, one)).collect();
    gguf_file::write(&mut File::create(&path).unwrap(), &metadata, &tensors).unwrap();
    let keep_going = &mut |_| ControlFlow::Continue(());
    let opened = engine::open_path(&path, &engine::Compute::on_cpu(), keep_going);
    opened.err().unwrap().to_string()
}

#[test]
fn the_error_names_invalid_rotary_factors() {
    for (fixture, tensor, replacement, expected) in [
        (
            "llama-llama3",
            "rope_freqs.weight",
            Some(zeros(&[8])),
            "rope_freqs.weight contains a factor that is not positive",
        ),
        (
            "llama-llama3",
            "rope_freqs.weight",
            Some(zeros(&[7])),
            "rope_freqs.weight has shape [7] instead of [8]",
        ),
        (
            "phi3-longrope",
            "rope_factors_short.weight",
            None,
            "tensor rope_factors_short.weight is missing",
        ),
    ] {
        let message = gguf_message(fixture, tensor, replacement);
        assert!(message.contains(expected), "{message}");
    }
}
