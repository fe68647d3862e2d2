//! Models with recurrent layers: how they are stored, and that every part of such a layer matters.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::ControlFlow;

use candle_core::{DType, Device, Tensor};
use quartet::engine;
use serde_json::{Value, json};

use crate::architectures::TOLERANCE;
use crate::architectures::fixture::{Fixture, Form, copy, read};
use crate::architectures::reading::{Reading, greedy_text};

#[test]
fn blocks_that_predict_tokens_after_the_next_are_ignored_in_silence() {
    for form in [Form::Newer, Form::Gguf] {
        let model = Fixture::open("qwen3_5", form).model.into_inner();
        assert_eq!(model.load_warning, None, "{form:?}");
        assert_eq!(model.lm.n_layers(), Some(3));
    }
}

/// On the Hub, Qwen 3.5 is the text part of a model that also reads images.
#[test]
fn qwen_3_5_is_read_as_the_hub_stores_it() {
    let mut fixture = Fixture::open("qwen3_5", Form::Newer);
    let folder = tempfile::tempdir().unwrap();
    copy("qwen3_5", &[], folder.path());
    let mut text: Value = serde_json::from_slice(&read("qwen3_5", "config.json")).unwrap();
    text.as_object_mut().unwrap().remove("architectures");
    let config = json!({
        "architectures": ["Qwen3_5ForConditionalGeneration"], "model_type": "qwen3_5",
        "text_config": text, "tie_word_embeddings": true,
        "vision_config": {"model_type": "qwen3_5"}
    });
    std::fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    let weights = read("qwen3_5", "model.safetensors");
    let weights = candle_core::safetensors::load_buffer(&weights, &Device::Cpu).unwrap();
    let renamed = weights.into_iter().map(|(name, tensor)| {
        let nested = name.strip_prefix("model.");
        let nested = nested.map(|rest| format!("model.language_model.{rest}"));
        (nested.unwrap_or(name), tensor)
    });
    let mut weights: HashMap<String, Tensor> = renamed.collect();
    let image = Tensor::ones((8, 8), DType::F32, &Device::Cpu).unwrap();
    weights.insert("model.visual.pos_embed.weight".to_owned(), image);
    let path = folder.path().join("model.safetensors");
    candle_core::safetensors::save(&weights, path).unwrap();
    let outline = engine::inspect(folder.path()).unwrap();
    let keep_going = &mut |_| ControlFlow::Continue(());
    let opened = engine::open_path(folder.path(), &engine::Compute::on_cpu(), keep_going);
    let model = opened.unwrap().unwrap();
    assert_eq!(model.load_warning, None);
    assert_eq!(model.info.n_params, fixture.model.borrow().info.n_params);
    assert_eq!(outline.n_params, model.info.n_params);
    fixture.model = RefCell::new(model);
    assert!(Reading::Whole.difference(&fixture) < TOLERANCE);
}

/// Returns whether a fixture writes the same text with one tensor changed.
pub(super) fn is_same_with(
    name: &str,
    tensor: &str,
    change: fn(&Tensor) -> candle_core::Result<Tensor>,
) -> bool {
    let expected = Fixture::open(name, Form::Newer);
    let folder = tempfile::tempdir().unwrap();
    copy(name, &["config.json"], folder.path());
    let weights = read(name, "model.safetensors");
    let mut weights = candle_core::safetensors::load_buffer(&weights, &Device::Cpu).unwrap();
    let stored = weights[tensor].to_dtype(DType::F32).unwrap();
    let changed = change(&stored).unwrap().contiguous().unwrap();
    assert_eq!(changed.shape(), stored.shape());
    weights.insert(tensor.to_owned(), changed);
    let path = folder.path().join("model.safetensors");
    candle_core::safetensors::save(&weights, path).unwrap();
    let keep_going = &mut |_| ControlFlow::Continue(());
    let opened = engine::open_path(folder.path(), &engine::Compute::on_cpu(), keep_going);
    let mut model = opened.unwrap().unwrap();
    greedy_text(model.lm.as_mut(), &expected.prompt, 32) == expected.greedy[..32]
}

#[test]
fn undoing_any_part_of_a_recurrent_layer_changes_the_text() {
    type Change = fn(&Tensor) -> candle_core::Result<Tensor>;
    let reversed: Change = |taps| taps.flip(&[2]);
    let first_half_last: Change = |rows| {
        let half = rows.dim(0)? / 2;
        Tensor::cat(&[rows.narrow(0, half, half)?, rows.narrow(0, 0, half)?], 0)
    };
    let zero: Change = Tensor::zeros_like;
    let one: Change = Tensor::ones_like;
    // The inputs of the convolution before the gate, as in some other models.
    let gate_last: Change = |rows| {
        let width = rows.dim(0)? - 64 - 8;
        let part = |start, n_rows| rows.narrow(0, start, n_rows);
        Tensor::cat(&[part(64, width)?, part(0, 64)?, part(64 + width, 8)?], 0)
    };
    // B, C and x become C, B and x.
    let gates_swapped: Change = |rows| {
        let third = rows.dim(0)? / 3;
        let part = |index| rows.narrow(0, index * third, third);
        Tensor::cat(&[part(1)?, part(0)?, part(2)?], 0)
    };
    // Queries and gates in two blocks, as if they did not alternate head by head.
    let gates_apart: Change = |rows| {
        let (n_rows, width) = rows.dims2()?;
        let heads = rows.reshape((4, 2, n_rows / 8, width))?.transpose(0, 1)?;
        heads.contiguous()?.reshape((n_rows, width))
    };
    // Value heads that share a key head, as far apart as in GGUF.
    let values_tiled: Change = |rows| {
        let (n_rows, width) = rows.dims2()?;
        let (keys, values) = (
            rows.narrow(0, 0, n_rows / 2)?,
            rows.narrow(0, n_rows / 2, n_rows / 2)?,
        );
        let values = values.reshape((2, 2, n_rows / 8, width))?.transpose(0, 1)?;
        let values = values.contiguous()?.reshape((n_rows / 2, width))?;
        Tensor::cat(&[keys, values], 0)
    };
    let less_one: Change = |weights| weights - 1.0;
    for (name, tensor, change) in [
        ("granite4-h", "layers.0.mamba.conv1d.weight", reversed),
        ("granite4-h", "layers.0.mamba.conv1d.bias", zero),
        ("granite4-h", "layers.0.mamba.in_proj.weight", gate_last),
        ("granite4-h", "layers.0.mamba.A_log", zero),
        ("granite4-h", "layers.0.mamba.D", zero),
        ("granite4-h", "layers.0.mamba.dt_bias", zero),
        ("granite4-h", "layers.0.mamba.norm.weight", one),
        (
            "granite4-h",
            "layers.0.shared_mlp.input_linear.weight",
            first_half_last,
        ),
        ("lfm2", "layers.0.conv.conv.weight", reversed),
        ("lfm2", "layers.0.conv.in_proj.weight", gates_swapped),
        ("lfm2", "layers.1.self_attn.q_layernorm.weight", one),
        ("lfm2", "embedding_norm.weight", one),
        ("qwen3_5", "layers.0.linear_attn.conv1d.weight", reversed),
        ("qwen3_5", "layers.0.linear_attn.A_log", first_half_last),
        ("qwen3_5", "layers.0.linear_attn.dt_bias", zero),
        ("qwen3_5", "layers.0.linear_attn.in_proj_b.weight", zero),
        ("qwen3_5", "layers.0.linear_attn.in_proj_a.weight", zero),
        (
            "qwen3_5",
            "layers.0.linear_attn.in_proj_z.weight",
            first_half_last,
        ),
        ("qwen3_5", "layers.0.linear_attn.norm.weight", one),
        (
            "qwen3_5",
            "layers.0.linear_attn.in_proj_qkv.weight",
            values_tiled,
        ),
        ("qwen3_5", "layers.1.self_attn.q_proj.weight", gates_apart),
        ("qwen3_5", "layers.1.self_attn.q_norm.weight", less_one),
        ("qwen3_5", "layers.0.input_layernorm.weight", less_one),
    ] {
        let tensor = format!("model.{tensor}");
        assert!(!is_same_with(name, &tensor, change), "{name}: {tensor}");
    }
}

#[test]
fn what_these_families_can_not_do_is_rejected_by_name() {
    for (name, value, other, expected) in [
        (
            "lfm2",
            "\"conv_bias\": false",
            "\"conv_bias\": true",
            "conv_bias true in this family",
        ),
        (
            "granite4-h",
            "\"mamba_proj_bias\": false",
            "\"mamba_proj_bias\": true",
            "mamba_proj_bias true in this family",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        copy(name, &["model.safetensors"], folder.path());
        let config = String::from_utf8(read(name, "config.json")).unwrap();
        assert!(config.contains(value), "{value}");
        let config = config.replace(value, other);
        std::fs::write(folder.path().join("config.json"), config).unwrap();
        let message = engine::inspect(folder.path()).unwrap_err().to_string();
        let expected = format!("this model needs {expected}");
        assert!(message.starts_with(&expected), "{message}");
    }
}
