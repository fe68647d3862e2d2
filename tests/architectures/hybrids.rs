//! Models whose layers are not all attention and a feed-forward network: Mamba, Falcon-H1,
//! Nemotron-H, Gemma 3n and `MiniCPM3`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::ControlFlow;

use candle_core::{DType, Device, Tensor};
use quartet::engine;
use quartet::generation::{CacheShape, Implementation};
use quartet::kernels::attention::CacheType;
use serde_json::{Value, json};

use crate::architectures::TOLERANCE;
use crate::architectures::fixture::{Fixture, Form, copy, read};
use crate::architectures::reading::{Reading, greedy_text};
use crate::architectures::recurrent::is_same_with;

/// In GGUF, these models write other texts, because it can't say all that a `config.json` says.
#[test]
fn long_greedy_texts_of_folders_are_those_of_transformers() {
    for name in ["falcon_h1-norm-first", "gemma3n", "minicpm3", "nemotron_h"] {
        for form in [Form::Newer, Form::Older] {
            let fixture = Fixture::open(name, form);
            assert_eq!(fixture.greedy.len(), 200, "{name}");
            let mut model = fixture.model.borrow_mut();
            let text = greedy_text(model.lm.as_mut(), &fixture.prompt, 200);
            assert_eq!(text, fixture.greedy, "{name}, {form:?}");
        }
    }
}

#[test]
fn undoing_any_part_changes_the_text() {
    type Change = fn(&Tensor) -> candle_core::Result<Tensor>;
    let reversed: Change = |taps| taps.flip(&[2]);
    let zero: Change = Tensor::zeros_like;
    let one: Change = Tensor::ones_like;
    let halves_swapped: Change = |rows| {
        let half = rows.dim(0)? / 2;
        Tensor::cat(&[rows.narrow(0, half, half)?, rows.narrow(0, 0, half)?], 0)
    };
    // The directions to write become those to read, and vice versa.
    let directions_swapped: Change = |rows| {
        let n_rows = rows.dim(0)?;
        let part = |start| rows.narrow(0, start, 6);
        let steps = rows.narrow(0, 0, n_rows - 12)?;
        Tensor::cat(&[steps, part(n_rows - 6)?, part(n_rows - 12)?], 0)
    };
    for (name, tensor, change) in [
        ("mamba", "layers.0.mixer.conv1d.weight", reversed),
        ("mamba", "layers.0.mixer.conv1d.bias", zero),
        ("mamba", "layers.0.mixer.in_proj.weight", halves_swapped),
        ("mamba", "layers.0.mixer.x_proj.weight", directions_swapped),
        ("mamba", "layers.0.mixer.dt_proj.weight", zero),
        ("mamba", "layers.0.mixer.dt_proj.bias", zero),
        ("mamba", "layers.0.mixer.A_log", zero),
        ("mamba", "layers.0.mixer.D", one),
        ("mamba", "layers.0.norm.weight", one),
        ("mamba", "norm_f.weight", one),
        ("mamba2", "layers.0.mixer.conv1d.weight", reversed),
        ("mamba2", "layers.0.mixer.dt_bias", zero),
        ("mamba2", "layers.0.mixer.norm.weight", one),
        (
            "nemotron_h",
            "layers.1.mixer.up_proj.weight",
            halves_swapped,
        ),
        ("nemotron_h", "layers.2.mixer.q_proj.weight", halves_swapped),
        ("nemotron_h", "layers.0.mixer.norm.weight", one),
        ("falcon_h1", "layers.0.mamba.norm.weight", one),
        ("falcon_h1", "layers.0.mamba.out_proj.weight", zero),
        ("falcon_h1", "layers.0.self_attn.o_proj.weight", zero),
        ("falcon_h1", "layers.0.pre_ff_layernorm.weight", one),
        ("falcon_h1", "final_layernorm.weight", one),
        ("gemma3n", "altup_projections.1.weight", zero),
        ("gemma3n", "altup_unembed_projections.2.weight", zero),
        ("gemma3n", "layers.0.altup.prediction_coefs.weight", zero),
        ("gemma3n", "layers.0.altup.correction_coefs.weight", zero),
        ("gemma3n", "layers.0.altup.correct_output_scale", one),
        ("gemma3n", "layers.0.altup.router_norm.weight", one),
        ("gemma3n", "layers.0.laurel.linear_left.weight", zero),
        ("gemma3n", "layers.0.laurel.post_laurel_norm.weight", one),
        ("gemma3n", "layers.1.per_layer_projection.weight", zero),
        ("gemma3n", "embed_tokens_per_layer.weight", zero),
        ("minicpm3", "layers.0.self_attn.q_a_layernorm.weight", one),
        ("minicpm3", "layers.0.self_attn.kv_a_layernorm.weight", one),
        (
            "minicpm3",
            "layers.1.self_attn.kv_b_proj.weight",
            halves_swapped,
        ),
    ] {
        let prefix = match name {
            "falcon_h1" | "gemma3n" | "minicpm3" => "model",
            _ => "backbone",
        };
        let tensor = format!("{prefix}.{tensor}");
        assert!(!is_same_with(name, &tensor, change), "{name}: {tensor}");
    }
}

#[test]
fn a_model_without_attention_keeps_states_only() {
    // Windows of three tokens and states, in two layers: of 64 channels, in 8 heads with two groups
    // of directions for Mamba 2.
    for (name, n_values) in [
        ("mamba", 3 * 64 + 64 * 6),
        ("falcon_mamba", 3 * 64 + 64 * 6),
        ("mamba2", 3 * (64 + 2 * 2 * 6) + 64 * 6),
    ] {
        let n_state_bytes = 2 * 4 * n_values;
        for form in [Form::Newer, Form::Gguf] {
            let folder = tempfile::tempdir().unwrap();
            let (file, path) = match form {
                Form::Gguf => ("model.gguf", folder.path().join("model.gguf")),
                _ => ("model.safetensors", folder.path().to_owned()),
            };
            copy(name, &["config.json", file], folder.path());
            let outline = engine::inspect(&path).unwrap();
            assert_eq!(outline.implementation, Implementation::Quartet);
            assert_eq!(outline.memory.n_cache_bytes_per_token, 0, "{name}");
            assert_eq!(outline.memory.n_state_bytes, n_state_bytes, "{name}");
            let q8 = engine::memory_with_cache(&outline, CacheType::Q8);
            assert_eq!(q8, outline.memory, "{name}");
            let fixture = Fixture::open(name, form);
            let shape = fixture.model.borrow().lm.cache_shape();
            let CacheShape {
                n_layers,
                n_state_bytes: n_found,
                ..
            } = shape.unwrap();
            assert_eq!((n_layers, n_found), (0, n_state_bytes), "{name}");
        }
    }
}

/// On the Hub, Gemma 3n is the text part of a model that also reads images and sound.
#[test]
fn gemma_3n_is_read_as_the_hub_stores_it() {
    let mut fixture = Fixture::open("gemma3n", Form::Newer);
    let folder = tempfile::tempdir().unwrap();
    copy("gemma3n", &[], folder.path());
    let mut text: Value = serde_json::from_slice(&read("gemma3n", "config.json")).unwrap();
    text.as_object_mut().unwrap().remove("architectures");
    let config = json!({
        "architectures": ["Gemma3nForConditionalGeneration"], "model_type": "gemma3n",
        "text_config": text, "tie_word_embeddings": true,
        "audio_config": {"model_type": "gemma3n_audio"},
        "vision_config": {"model_type": "gemma3n_vision"}
    });
    std::fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    let weights = read("gemma3n", "model.safetensors");
    let weights = candle_core::safetensors::load_buffer(&weights, &Device::Cpu).unwrap();
    let renamed = weights.into_iter().map(|(name, tensor)| {
        let nested = name.strip_prefix("model.");
        let nested = nested.map(|rest| format!("model.language_model.{rest}"));
        (nested.unwrap_or(name), tensor)
    });
    let mut weights: HashMap<String, Tensor> = renamed.collect();
    let sound = Tensor::ones((8, 8), DType::F32, &Device::Cpu).unwrap();
    weights.insert("model.audio_tower.conformer.0.weight".to_owned(), sound);
    let path = folder.path().join("model.safetensors");
    candle_core::safetensors::save(&weights, path).unwrap();
    let keep_going = &mut |_| ControlFlow::Continue(());
    let opened = engine::open_path(folder.path(), &engine::Compute::on_cpu(), keep_going);
    let model = opened.unwrap().unwrap();
    assert_eq!(model.load_warning, None);
    assert_eq!(model.info.n_params, fixture.model.borrow().info.n_params);
    fixture.model = RefCell::new(model);
    assert!(Reading::Whole.difference(&fixture) < TOLERANCE);
}

#[test]
fn what_these_families_can_not_do_is_rejected_by_name() {
    for (name, key, value, expected) in [
        (
            "mamba",
            "use_bias",
            json!(true),
            "use_bias true in this family",
        ),
        (
            "mamba2",
            "use_bias",
            json!(true),
            "use_bias true in this family",
        ),
        (
            "mamba",
            "hidden_act",
            json!("gelu"),
            "recurrent layers with another activation than SiLU",
        ),
        (
            "falcon_h1",
            "attention_bias",
            json!(true),
            "attention_bias true in this family",
        ),
        (
            "nemotron_h",
            "mlp_hidden_act",
            json!("silu"),
            "mlp_hidden_act \"silu\" in this family",
        ),
        (
            "gemma3n",
            "altup_active_idx",
            json!(1),
            "another altup_active_idx than 0 in this family",
        ),
    ] {
        let message = rejection(name, key, value);
        let expected = format!("this model needs {expected}");
        assert!(message.starts_with(&expected), "{message}");
    }
}

#[test]
fn impossible_numbers_are_rejected_by_name() {
    for (name, key, value, expected) in [
        (
            "mamba2",
            "n_groups",
            json!(3),
            "8 heads can’t share 3 groups",
        ),
        (
            "mamba2",
            "num_heads",
            json!(7),
            "7 heads can’t share a width of 64",
        ),
        (
            "mamba2",
            "time_step_limit",
            json!([0.5, 0.1]),
            "time steps can’t be between 0.5 and 0.1",
        ),
        (
            "falcon_h1",
            "ssm_multipliers",
            json!([1.0]),
            "ssm_multipliers has 1 factors instead of 5",
        ),
        (
            "gemma3n",
            "activation_sparsity_pattern",
            json!([0.5]),
            "it lists the sparsity of 1 layers instead of 6",
        ),
    ] {
        let message = rejection(name, key, value);
        assert!(message.contains(expected), "{message}");
    }
}

/// Returns the error for a fixture with one changed configuration entry.
fn rejection(name: &str, key: &str, value: Value) -> String {
    let folder = tempfile::tempdir().unwrap();
    copy(name, &["model.safetensors"], folder.path());
    let mut config: Value = serde_json::from_slice(&read(name, "config.json")).unwrap();
    config[key] = value;
    std::fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    engine::inspect(folder.path()).unwrap_err().to_string()
}
