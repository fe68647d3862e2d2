//! Tests of what single families read, and of text parts of larger models.

use candle_core::quantized::gguf_file::Value as GgufValue;
use serde_json::{Value, json};

use super::{assert_rejected, blueprint, from_gguf};
use crate::decoding::TokenId;
use crate::engine::EngineError;
use crate::engine::blueprint::{Blueprint, KvSource, RopeScaling};

#[test]
fn olmo_3_has_the_name_of_olmo_2_in_gguf() {
    let window = |window: u32| [("attention.sliding_window", GgufValue::U32(window))];
    let windows = |entries: &[(&str, GgufValue)]| -> Vec<Option<usize>> {
        let layers = from_gguf("olmo2", entries).unwrap().layers;
        layers.iter().map(|layer| layer.window).collect()
    };
    let three_of_four = [Some(4096), Some(4096), Some(4096), None];
    assert_eq!(windows(&window(4096)), three_of_four);
    let olmo3 = from_gguf("olmo2", &window(4096)).unwrap();
    assert_eq!(olmo3.layers[0].rope, Some(1));
    assert_eq!(olmo3.layers[3].rope, Some(0));
    // 0 means no window.
    for entries in [&window(0)[..], &[]] {
        assert_eq!(windows(entries), [None; 4]);
    }
}

/// Reads the configuration of a model around a text model.
fn wrapped(outer: &Value, text: &Value) -> Result<Blueprint, EngineError> {
    let mut config = outer.clone();
    config["text_config"] = text.clone();
    Blueprint::from_config(config.to_string().as_bytes(), "config.json")
}

/// The configuration is that of google/gemma-3-4b-it, which leaves out most sizes.
#[test]
fn a_text_part_has_the_sizes_that_transformers_assumes() {
    let outer = json!({
        "architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3",
        "eos_token_id": [1, 106], "vision_config": {"model_type": "siglip_vision_model"}
    });
    let text = json!({
        "hidden_size": 2560, "intermediate_size": 10240, "model_type": "gemma3_text",
        "num_hidden_layers": 34, "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
        "sliding_window": 1024
    });
    let found = wrapped(&outer, &text).unwrap();
    assert_eq!(found.architecture, "gemma3");
    assert_eq!((found.n_heads, found.n_kv_heads), (8, 4));
    assert_eq!((found.head_dim, found.n_context), (256, 131_072));
    assert_eq!(found.n_vocab, Some(262_208));
    assert_eq!(found.tied_head, Some(true));
    assert_eq!(found.end_tokens, [TokenId(1), TokenId(106)]);
    assert_eq!(found.layers[4].window, Some(1024));
    assert_eq!(found.layers[5].window, None);
    assert_eq!(found.ropes[0].scaling, RopeScaling::Linear { factor: 8.0 });
    assert!((found.ropes[0].theta - 1e6).abs() < 1.0);
    assert!((found.ropes[1].theta - 1e4).abs() < 1.0);
}

#[test]
fn a_text_part_that_can_not_run_is_named() {
    let outer = |model_type: &str| json!({"model_type": model_type});
    let sizes = json!({
        "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
        "num_attention_heads": 4, "max_position_embeddings": 128, "vocab_size": 50
    });
    let typed = |model_type: &str| {
        let mut text = sizes.clone();
        text["model_type"] = json!(model_type);
        text
    };
    assert!(wrapped(&outer("qwen3_vl"), &sizes).is_ok());
    assert!(wrapped(&outer("qwen3_5"), &sizes).is_ok());
    let mut with_experts = sizes.clone();
    for (key, value) in [
        ("num_experts", 4),
        ("num_experts_per_tok", 2),
        ("moe_intermediate_size", 32),
        ("num_key_value_heads", 2),
    ] {
        with_experts[key] = json!(value);
    }
    wrapped(&outer("qwen3_vl_moe"), &with_experts).unwrap();
    assert!(wrapped(&outer("mistral3"), &typed("ministral3")).is_ok());
    for (outer, text, expected) in [
        (outer("mistral3"), typed("rwkv7"), "architecture yet: rwkv7"),
        (
            outer("qwen3_omni_moe"),
            sizes.clone(),
            "yet: qwen3_omni_moe",
        ),
        (outer("qwen3_vl"), json!({}), "hidden_size is missing"),
        (outer("gemma3"), json!(3), "text_config is not an object"),
    ] {
        let message = wrapped(&outer, &text).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    let message = from_gguf("clip", &[]).unwrap_err().to_string();
    assert!(
        message.contains("the image encoder of a model"),
        "{message}"
    );
}

#[test]
fn queries_grow_with_each_multiple_of_the_original_context() {
    let rope = json!({
        "rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 100,
        "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1, "rope_theta": 1e6
    });
    let found = blueprint(&json!({"model_type": "ministral3", "rope_parameters": rope}));
    let temperature = found.temperature.unwrap();
    for (position, expected) in [(0, 1.0), (99, 1.0), (100, 1.069_314_7), (250, 1.109_861_2)] {
        let scale = temperature.query_scale(position);
        assert!((scale - expected).abs() < 1e-6, "{position}: {scale}");
    }
    let RopeScaling::Yarn(yarn) = found.ropes[0].scaling else {
        panic!("{:?}", found.ropes);
    };
    assert!((yarn.amplitude - 1.0).abs() < 1e-6);
    let entries = [("attention.temperature_scale", GgufValue::F32(0.1))];
    let error = from_gguf("llama", &entries).unwrap_err().to_string();
    assert!(error.contains("attention.temperature_scale 0.1"), "{error}");
    let error = from_gguf("mistral3", &entries).unwrap_err().to_string();
    assert!(
        error.contains("original_context_length is missing"),
        "{error}"
    );
}

#[test]
fn the_last_layers_of_gemma_4_have_no_keys_of_their_own() {
    let found = blueprint(&json!({
        "model_type": "gemma4_text", "num_hidden_layers": 12, "num_kv_shared_layers": 4,
        "use_double_wide_mlp": true, "head_dim": 16, "hidden_size_per_layer_input": 8
    }));
    let sources = found.layers.iter().map(|layer| match layer.kv_source {
        KvSource::OfLayer(source) => Some(source),
        KvSource::Projected | KvSource::SameProjection => None,
    });
    let mut expected = vec![None; 8];
    expected.extend([Some(7), Some(7), Some(7), Some(5)]);
    assert_eq!(sources.collect::<Vec<_>>(), expected);
    assert_eq!(
        (found.heads(4).head_dim, found.heads(5).head_dim),
        (16, 512)
    );
    assert_eq!((found.ffn_size_of(7), found.ffn_size_of(8)), (96, 192));
    assert_eq!(
        (found.layers[4].rope, found.layers[5].rope),
        (Some(1), Some(0))
    );
    assert_eq!((found.ropes[0].n_dims, found.ropes[1].n_dims), (512, 16));
    let scaling = RopeScaling::Proportional {
        share: 0.25,
        factor: 1.0,
    };
    assert_eq!(found.ropes[0].scaling, scaling);
    // 7 layers of 2 heads with 16 dimensions, and one with 512.
    assert_eq!(found.n_cached_values(), 2 * (7 * 16 + 512));
}

#[test]
fn global_layers_of_a_large_gemma_4_have_values_from_the_projection_of_keys() {
    let found = blueprint(&json!({
        "model_type": "gemma4_text", "num_hidden_layers": 6, "attention_k_eq_v": true,
        "num_global_key_value_heads": 1, "global_head_dim": 32, "head_dim": 16,
        "hidden_size_per_layer_input": 0
    }));
    assert_eq!(found.layers[4].kv_source, KvSource::Projected);
    assert_eq!(found.layers[5].kv_source, KvSource::SameProjection);
    assert_eq!(found.heads(4).n_kv_heads, 2);
    assert_eq!(
        (found.heads(5).n_kv_heads, found.heads(5).head_dim),
        (1, 32)
    );
    assert_eq!(found.layer_inputs, None);
}

#[test]
fn a_model_that_is_half_known_is_named() {
    assert_rejected(&[
        (
            json!({"model_type": "gemma4_text", "use_bidirectional_attention": "all"}),
            "bidirectional attention",
        ),
        (
            json!({"model_type": "gemma4_text", "num_kv_shared_layers": 5}),
            "num_kv_shared_layers is 5",
        ),
        (
            json!({"model_type": "gemma4_text", "num_kv_shared_layers": 4}),
            "no layer before has the same heads",
        ),
        (
            json!({"model_type": "gemma4_text", "per_layer_config": {"3": {"head_dim": 0.5}}}),
            "per_layer_config.3.head_dim is not a whole number",
        ),
        (
            json!({"model_type": "stablelm", "qk_layernorm": true}),
            "norms with other weights for each head",
        ),
        (
            json!({"model_type": "minicpm", "num_experts": 8}),
            "a mixture of experts",
        ),
        (
            json!({"model_type": "minicpm", "sparse_config": {"block_size": 64}}),
            "sparse attention",
        ),
        (
            json!({"model_type": "hunyuan_v1_dense", "rope_scaling": {"type": "dynamic"}}),
            "rope_scaling.alpha is missing",
        ),
    ]);
}
