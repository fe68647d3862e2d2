//! Models with recurrent layers write the texts that transformers writes, and every part of such a
//! layer matters.

use std::ops::ControlFlow;

use candle_core::{DType, Device, Tensor};
use quartet::decoding::TokenId;
use quartet::engine::{self, CausalLm, Row};

use crate::architectures::fixture::{Fixture, Form, copy, read};

/// How many tokens come before the texts in the fixtures.
const N_PROMPT: usize = 8;

/// Returns the text after a prompt, in which each token is the most likely one.
fn greedy_text(lm: &mut dyn CausalLm, prompt: &[u32], n_tokens: usize) -> Vec<u32> {
    let sequence = lm.open();
    let mut text = Vec::new();
    let mut next = prompt.to_vec();
    for _ in 0..n_tokens {
        let rows = next.iter().map(|token| Row {
            sequence,
            token: TokenId(*token),
            logits_wanted: true,
        });
        let logits = lm.forward(&rows.collect::<Vec<Row>>()).unwrap();
        let last = logits.row(logits.n_rows() - 1).unwrap();
        let best = (0..).zip(last).max_by(|(_, a), (_, b)| a.total_cmp(b));
        let (token, _): (u32, _) = best.unwrap();
        text.push(token);
        next = vec![token];
    }
    text
}

#[test]
fn greedy_texts_equal_those_of_transformers() {
    for (name, n_tokens) in [("granite4-h", 32), ("lfm2", 200), ("qwen3_5", 32)] {
        for form in [Form::Newer, Form::Older, Form::Gguf] {
            let fixture = Fixture::open(name, form);
            assert_eq!(fixture.greedy.len(), n_tokens, "{name}");
            let lm = &mut *fixture.model.borrow_mut().lm;
            let text = greedy_text(lm, &fixture.tokens[..N_PROMPT], n_tokens);
            assert_eq!(text, fixture.greedy, "{name}, {form:?}");
        }
    }
}

#[test]
fn blocks_that_predict_tokens_after_the_next_are_ignored_in_silence() {
    for form in [Form::Newer, Form::Gguf] {
        let model = Fixture::open("qwen3_5", form).model.into_inner();
        assert_eq!(model.load_warning, None, "{form:?}");
        assert_eq!(model.lm.n_layers(), Some(3));
    }
}

/// Returns whether a fixture writes the same text with one tensor changed.
fn is_same_with(
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
    let prompt = &expected.tokens[..N_PROMPT];
    greedy_text(&mut *model.lm, prompt, 32) == expected.greedy[..32]
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
        (
            "granite4-h",
            "\"num_local_experts\": 0",
            "\"num_local_experts\": 4",
            "a mixture of experts",
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
