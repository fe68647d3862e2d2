//! Models with mixtures of experts: that one row gives the same bits as many, that every part of a
//! mixture matters, and what a mixture costs.

use std::path::Path;

use quartet::decoding::TokenId;
use quartet::engine::{self, CausalLm, Row};
use serde_json::{Value, json};

use crate::architectures::TOLERANCE;
use crate::architectures::fixture::{Fixture, Form, copy, open_folder, read};
use crate::architectures::reading::{self, Reading, greedy_text};
use crate::architectures::recurrent::is_same_with;

/// The fixtures of `make_experts.py`.
pub(crate) const FAMILIES: [&str; 15] = [
    "gemma4-experts",
    "glm4_moe",
    "glm4_moe-groups",
    "gpt_oss",
    "gpt_oss-mxfp4",
    "granite4-experts",
    "granitemoe",
    "lfm2_moe",
    "mixtral",
    "nemotron_h-experts",
    "olmoe",
    "qwen2_moe",
    "qwen3_5_moe",
    "qwen3_moe",
    "qwen3_vl_moe",
];

fn bits(rows: &[Vec<f32>]) -> Vec<u32> {
    rows.iter().flatten().map(|logit| logit.to_bits()).collect()
}

/// Reads a text in chunks of `n_tokens`, each in one pass with rows of another text.
fn read_beside(lm: &mut dyn CausalLm, tokens: &[u32], n_tokens: usize) -> Vec<Vec<f32>> {
    let (own, other) = (lm.open(), lm.open());
    let mut found = Vec::new();
    for chunk in tokens.chunks(n_tokens) {
        let rows = chunk.iter().flat_map(|token| {
            [(other, 63 - token, false), (own, *token, true)].map(|(sequence, id, wanted)| Row {
                sequence,
                token: TokenId(id),
                logits_wanted: wanted,
            })
        });
        let logits = lm.forward(&rows.collect::<Vec<Row>>()).unwrap();
        found.extend((0..logits.n_rows()).map(|row| logits.row(row).unwrap().to_vec()));
    }
    found
}

#[test]
fn a_row_gives_the_same_bits_alone_and_among_others() {
    for name in FAMILIES {
        for form in [Form::Newer, Form::Gguf] {
            let fixture = Fixture::open(name, form);
            let mut model = fixture.model.borrow_mut();
            let lm = model.lm.as_mut();
            let whole = lm.open();
            let (_, expected) = reading::read(lm, whole, &fixture.tokens);
            let expected = bits(&expected);
            let single = lm.open();
            let alone = fixture.tokens.iter().flat_map(|token| {
                let (_, rows) = reading::read(lm, single, &[*token]);
                rows
            });
            let alone: Vec<Vec<f32>> = alone.collect();
            assert!(bits(&alone) == expected, "{name}, {form:?}, one by one");
            let batched = read_beside(lm, &fixture.tokens, 5);
            assert!(
                bits(&batched) == expected,
                "{name}, {form:?}, beside another"
            );
            let (before, after) = fixture.tokens.split_at(17);
            let parent = lm.open();
            let (_, mut forked) = reading::read(lm, parent, before);
            let child = lm.fork(parent).unwrap();
            reading::read(lm, parent, &[5, 6, 7]);
            forked.extend(reading::read(lm, child, after).1);
            assert!(bits(&forked) == expected, "{name}, {form:?}, from a fork");
        }
    }
}

/// Copies a fixture to a folder, with other values in its configuration.
fn copy_with(name: &str, values: &Value, folder: &Path) {
    copy(name, &["model.safetensors"], folder);
    let mut config: Value = serde_json::from_slice(&read(name, "config.json")).unwrap();
    let config_values = config.as_object_mut().unwrap();
    config_values.extend(values.as_object().unwrap().clone());
    std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
}

/// Returns the configuration of a fixture's text part with another value.
fn with_text(name: &str, key: &str, value: impl Into<Value>) -> Value {
    let mut config: Value = serde_json::from_slice(&read(name, "config.json")).unwrap();
    config["text_config"][key] = value.into();
    config["text_config"].take()
}

#[test]
fn undoing_any_part_of_a_mixture_changes_the_text() {
    let plain = json!({"rope_type": "default", "rope_theta": 10000.0});
    for (name, values) in [
        ("gemma4-experts", json!({"top_k_experts": 1})),
        ("glm4_moe", json!({"norm_topk_prob": false})),
        ("glm4_moe", json!({"routed_scaling_factor": 1.0})),
        ("glm4_moe", json!({"num_experts_per_tok": 1})),
        (
            "glm4_moe",
            json!({"partial_rotary_factor": 1.0, "rope_parameters": plain}),
        ),
        ("glm4_moe-groups", json!({"n_group": 1, "topk_group": 1})),
        ("gpt_oss", json!({"num_experts_per_tok": 1})),
        ("gpt_oss", json!({"rope_parameters": plain})),
        ("gpt_oss", json!({"sliding_window": 64})),
        ("gpt_oss", json!({"swiglu_limit": 100.0})),
        ("granite4-experts", json!({"num_experts_per_tok": 1})),
        ("granitemoe", json!({"num_experts_per_tok": 1})),
        ("lfm2_moe", json!({"norm_topk_prob": false})),
        ("lfm2_moe", json!({"routed_scaling_factor": 2.0})),
        ("lfm2_moe", json!({"num_experts_per_tok": 1})),
        ("mixtral", json!({"num_experts_per_tok": 1})),
        ("nemotron_h-experts", json!({"norm_topk_prob": false})),
        ("nemotron_h-experts", json!({"routed_scaling_factor": 1.0})),
        ("nemotron_h-experts", json!({"num_experts_per_tok": 1})),
        ("nemotron_h-experts", json!({"n_group": 3, "topk_group": 1})),
        ("olmoe", json!({"norm_topk_prob": true})),
        ("qwen2_moe", json!({"norm_topk_prob": true})),
        ("qwen3_5_moe", json!({"num_experts_per_tok": 1})),
        ("qwen3_moe", json!({"norm_topk_prob": false})),
        (
            "qwen3_vl_moe",
            json!({"text_config": with_text("qwen3_vl_moe", "num_experts_per_tok", 1)}),
        ),
    ] {
        let expected = Fixture::open(name, Form::Newer);
        let folder = tempfile::tempdir().unwrap();
        copy_with(name, &values, folder.path());
        let mut model = open_folder(folder.path());
        let text = greedy_text(model.lm.as_mut(), &expected.prompt, expected.greedy.len());
        assert_ne!(text, expected.greedy, "{name}: {values}");
    }
}

#[test]
fn blocks_that_predict_tokens_after_the_next_are_ignored_in_silence() {
    for name in ["glm4_moe", "qwen3_5_moe"] {
        for form in [Form::Newer, Form::Gguf] {
            let model = Fixture::open(name, form).model.into_inner();
            assert_eq!(model.load_warning, None, "{name}, {form:?}");
            assert_eq!(model.lm.n_layers(), Some(2), "{name}, {form:?}");
        }
    }
}

#[test]
fn the_outline_says_what_a_token_uses() {
    for (form, file) in [
        (Form::Newer, "model.safetensors"),
        (Form::Gguf, "model.gguf"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        copy("qwen3_moe", &["config.json", file], folder.path());
        let path = match form {
            Form::Gguf => folder.path().join(file),
            Form::Newer | Form::Older => folder.path().to_owned(),
        };
        let outline = engine::inspect(&path).unwrap();
        let experts = outline.experts.unwrap();
        assert_eq!((experts.n_experts, experts.n_chosen), (6, 2));
        // 2 layers of 6 experts with 3 matrices of 16 by 32.
        let n_in_experts = 2 * 6 * 3 * 16 * 32;
        assert_eq!(experts.n_bytes, 2 * n_in_experts);
        assert_eq!(
            experts.n_active_params,
            outline.n_params - n_in_experts / 6 * 4
        );
        let words = outline.with_costs("Large".to_owned());
        assert!(
            words.starts_with("Large. Experts: a token uses 2 of 6 in a layer"),
            "{words}"
        );
    }
}

#[test]
fn impossible_mixtures_are_named() {
    for (name, values, expected) in [
        (
            "mixtral",
            json!({"num_experts_per_tok": 7}),
            "a router can’t choose 7 of 6 experts",
        ),
        (
            "mixtral",
            json!({"num_local_experts": 9}),
            "tensor model.layers.0.block_sparse_moe.gate.weight has shape [6, 32] instead of [9, 32]",
        ),
        (
            "glm4_moe",
            json!({"n_group": 4}),
            "6 experts can’t form 4 groups",
        ),
        (
            "nemotron_h-experts",
            json!({"moe_latent_size": 16}),
            "this model needs moe_latent_size 16 in this family",
        ),
        (
            "gpt_oss",
            json!({"swiglu_alpha": 1.5}),
            "this model needs swiglu_alpha 1.5 in this family",
        ),
        (
            "gpt_oss-mxfp4",
            json!({"intermediate_size": 64}),
            "gate_up_proj has shape [6, 64, 32] instead of [6, 128, 32]",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        copy_with(name, &values, folder.path());
        let error = engine::inspect_with_tokenizer(folder.path()).unwrap_err();
        let message = error.to_string();
        assert!(message.contains(expected), "{name}: {message}");
    }
}

/// On the Hub, Qwen 3.5 with experts is the text part of a model that also reads images, and stacks
/// the matrices of its experts.
#[test]
fn qwen_3_5_with_experts_is_read_as_the_hub_stores_it() {
    use candle_core::{Device, Tensor};
    let mut fixture = Fixture::open("qwen3_5_moe", Form::Newer);
    let folder = tempfile::tempdir().unwrap();
    copy("qwen3_5_moe", &[], folder.path());
    let mut text: Value = serde_json::from_slice(&read("qwen3_5_moe", "config.json")).unwrap();
    text.as_object_mut().unwrap().remove("architectures");
    let config = json!({
        "architectures": ["Qwen3_5MoeForConditionalGeneration"], "model_type": "qwen3_5_moe",
        "text_config": text, "tie_word_embeddings": false
    });
    std::fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    let weights = read("qwen3_5_moe", "model.safetensors");
    let mut weights = candle_core::safetensors::load_buffer(&weights, &Device::Cpu).unwrap();
    for layer in 0..2 {
        let prefix = format!("model.layers.{layer}.mlp.experts");
        let mut take = |expert: usize, part: &str| {
            let name = format!("{prefix}.{expert}.{part}.weight");
            weights.remove(&name).unwrap()
        };
        let inputs = (0..6).map(|expert| {
            let parts = ["gate_proj", "up_proj"].map(|part| take(expert, part));
            Tensor::cat(&parts, 0).unwrap()
        });
        let inputs: Vec<Tensor> = inputs.collect();
        let downs: Vec<Tensor> = (0..6).map(|expert| take(expert, "down_proj")).collect();
        for (part, matrices) in [("gate_up_proj", inputs), ("down_proj", downs)] {
            let stacked = Tensor::stack(&matrices, 0).unwrap();
            weights.insert(format!("{prefix}.{part}"), stacked);
        }
    }
    let renamed = weights.into_iter().map(|(name, tensor)| {
        let nested = name.strip_prefix("model.");
        let nested = nested.map(|rest| format!("model.language_model.{rest}"));
        (nested.unwrap_or(name), tensor)
    });
    let weights: std::collections::HashMap<String, Tensor> = renamed.collect();
    let path = folder.path().join("model.safetensors");
    candle_core::safetensors::save(&weights, path).unwrap();
    fixture.model = std::cell::RefCell::new(open_folder(folder.path()));
    assert!(Reading::Whole.difference(&fixture) < TOLERANCE);
}

/// Some tools stack the matrices as most families do.
#[test]
fn experts_of_qwen_3_vl_are_read_in_either_order() {
    use candle_core::Device;
    let mut fixture = Fixture::open("qwen3_vl_moe", Form::Newer);
    let folder = tempfile::tempdir().unwrap();
    copy("qwen3_vl_moe", &["config.json"], folder.path());
    let weights = read("qwen3_vl_moe", "model.safetensors");
    let weights = candle_core::safetensors::load_buffer(&weights, &Device::Cpu).unwrap();
    let turned = |name: &str, matrices: candle_core::Tensor| {
        if name.contains(".experts.") {
            matrices.transpose(1, 2).unwrap().contiguous().unwrap()
        } else {
            matrices
        }
    };
    let weights = weights
        .into_iter()
        .map(|(name, matrices)| (name.clone(), turned(&name, matrices)));
    let weights: std::collections::HashMap<String, candle_core::Tensor> = weights.collect();
    let path = folder.path().join("model.safetensors");
    candle_core::safetensors::save(&weights, path).unwrap();
    fixture.model = std::cell::RefCell::new(open_folder(folder.path()));
    assert!(Reading::Whole.difference(&fixture) < TOLERANCE);
}

#[test]
fn undoing_any_part_of_experts_without_gates_changes_the_text() {
    for tensor in [
        "mixer.gate.e_score_correction_bias",
        "mixer.shared_experts.down_proj.weight",
        "mixer.shared_experts.up_proj.weight",
    ] {
        let tensor = format!("backbone.layers.1.{tensor}");
        let change = candle_core::Tensor::zeros_like;
        assert!(
            !is_same_with("nemotron_h-experts", &tensor, change),
            "{tensor}"
        );
    }
}
