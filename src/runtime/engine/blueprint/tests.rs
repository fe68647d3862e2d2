//! Tests that configurations are read in all their forms, and that impossible ones are rejected.

mod families;

use std::collections::HashMap;

use candle_core::quantized::gguf_file::{Content, Value as GgufValue, VersionedMagic};
use serde_json::{Value, json};

use super::{Blueprint, LayerPlan, RopeScaling};
use crate::decoding::TokenId;
use crate::engine::EngineError;

fn config(changes: &Value) -> Vec<u8> {
    let mut config = json!({
        "model_type": "llama", "hidden_size": 64, "intermediate_size": 96,
        "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2,
        "vocab_size": 50, "max_position_embeddings": 128, "rms_norm_eps": 1e-5,
        "rope_theta": 500.0, "eos_token_id": 2
    });
    for (key, value) in changes.as_object().unwrap() {
        config[key] = value.clone();
    }
    config.to_string().into_bytes()
}

#[track_caller]
fn blueprint(changes: &Value) -> Blueprint {
    Blueprint::from_config(&config(changes), "config.json").unwrap()
}

/// Reads GGUF metadata, with keys given without the architecture prefix.
fn from_gguf(architecture: &str, more: &[(&str, GgufValue)]) -> Result<Blueprint, EngineError> {
    let sizes = [
        ("embedding_length", 64),
        ("feed_forward_length", 96),
        ("block_count", 4),
        ("attention.head_count", 4),
        ("context_length", 128),
    ];
    let sizes = sizes.map(|(key, size)| (key, GgufValue::U32(size)));
    let mut metadata: HashMap<String, GgufValue> = sizes
        .iter()
        .chain(more)
        .map(|(key, value)| (format!("{architecture}.{key}"), value.clone()))
        .collect();
    let name = GgufValue::String(architecture.to_owned());
    metadata.insert("general.architecture".to_owned(), name);
    let content = Content {
        magic: VersionedMagic::GgufV3,
        metadata,
        tensor_infos: HashMap::new(),
        tensor_data_offset: 0,
    };
    Blueprint::from_gguf(&content, "model.gguf")
}

fn message(changes: &Value) -> String {
    let error = Blueprint::from_config(&config(changes), "config.json").unwrap_err();
    error.to_string().lines().next().unwrap().to_owned()
}

#[test]
fn both_forms_of_rope_settings_yield_the_same_blueprint() {
    let older = blueprint(&json!({}));
    let newer = blueprint(&json!({
        "rope_theta": null,
        "rope_parameters": {"rope_theta": 500.0, "rope_type": "default"}
    }));
    assert_eq!(older, newer);
    assert_eq!(older.head_dim, 16);
    assert!((newer.ropes[0].theta - 500.0).abs() < 1e-6);
}

#[test]
fn one_or_several_end_tokens_are_read() {
    for (tokens, expected) in [
        (json!([2, 9]), vec![TokenId(2), TokenId(9)]),
        (json!(2), vec![TokenId(2)]),
        (json!(null), vec![]),
    ] {
        let found = blueprint(&json!({"eos_token_id": tokens}));
        assert_eq!(found.end_tokens, expected);
    }
}

#[test]
fn a_window_applies_only_if_the_family_uses_it() {
    for (changes, expected) in [
        // Llama ignores a window in its file.
        (json!({"sliding_window": 8}), [None; 4]),
        (
            json!({"model_type": "mistral", "sliding_window": 8}),
            [Some(8); 4],
        ),
        (
            json!({"model_type": "mistral", "sliding_window": null}),
            [None; 4],
        ),
        (json!({"model_type": "mistral"}), [Some(4096); 4]),
        (
            json!({"model_type": "qwen2", "sliding_window": 8, "use_sliding_window": false}),
            [None; 4],
        ),
        (
            json!({"model_type": "qwen2", "sliding_window": 8, "use_sliding_window": true,
                   "max_window_layers": 3}),
            [None, None, None, Some(8)],
        ),
        (
            json!({"model_type": "gemma2", "sliding_window": 8}),
            [Some(8), None, Some(8), None],
        ),
        (
            json!({"model_type": "gemma3_text", "sliding_window": 8, "sliding_window_pattern": 3}),
            [Some(8), Some(8), None, Some(8)],
        ),
        (
            json!({"model_type": "gemma3_text", "sliding_window": 8, "layer_types": [
                "full_attention", "sliding_attention", "full_attention", "full_attention"]}),
            [None, Some(8), None, None],
        ),
    ] {
        let layers = blueprint(&changes).layers;
        let windows: Vec<_> = layers.iter().map(|layer| layer.window).collect();
        assert_eq!(windows, expected, "{changes}");
    }
}

#[test]
fn each_family_chooses_which_layers_rotate() {
    let ropes = |changes: &Value| -> Vec<Option<usize>> {
        let rope = |layer: &LayerPlan| layer.rope;
        blueprint(changes).layers.iter().map(rope).collect()
    };
    let every_fourth = [Some(0), Some(0), Some(0), None];
    assert_eq!(ropes(&json!({"model_type": "smollm3"})), every_fourth);
    let listed = json!({"model_type": "smollm3", "no_rope_layers": [0, 1, 1, 0]});
    assert_eq!(ropes(&listed), [None, Some(0), Some(0), None]);
    let local = json!({"model_type": "gemma3_text", "sliding_window_pattern": 2});
    assert_eq!(ropes(&local), [Some(1), Some(0), Some(1), Some(0)]);
}

#[test]
fn rotary_scaling_extends_the_context() {
    let scaling = json!({"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128});
    let found = blueprint(&json!({"rope_scaling": scaling}));
    assert_eq!(found.n_context, 512);
    let RopeScaling::Yarn(yarn) = &found.ropes[0].scaling else {
        panic!("{:?}", found.ropes);
    };
    assert!((yarn.amplitude - 1.138_629_4).abs() < 1e-6);
}

/// The values are those of transformers 5.24.
#[test]
fn a_rotation_that_is_stated_twice_is_that_of_transformers() {
    let newer = json!({"rope_type": "linear", "factor": 4.0, "rope_theta": 700.0});
    let older = json!({"rope_type": "linear", "factor": 2.0});
    for (changes, theta, factor) in [
        (
            json!({"rope_parameters": newer, "rope_scaling": older}),
            500.0,
            2.0,
        ),
        (
            json!({"rope_parameters": newer, "rope_scaling": {}}),
            700.0,
            4.0,
        ),
        (
            json!({"rope_parameters": newer, "rope_scaling": null}),
            700.0,
            4.0,
        ),
        (json!({"rope_scaling": older}), 500.0, 2.0),
    ] {
        let rope = blueprint(&changes).ropes.remove(0);
        assert_eq!(rope.scaling, RopeScaling::Linear { factor }, "{changes}");
        assert!((rope.theta - theta).abs() < f32::EPSILON, "{changes}");
    }
    let llama3 = json!({"rope_type": "llama3", "factor": 2.0, "low_freq_factor": 1.0,
                        "high_freq_factor": 4.0, "original_max_position_embeddings": 32});
    let found = blueprint(&json!({"rope_scaling": llama3, "original_max_position_embeddings": 16}));
    let RopeScaling::Llama3 { n_original, .. } = found.ropes[0].scaling else {
        panic!("{:?}", found.ropes);
    };
    assert_eq!(n_original, 32);
}

/// A number of a configuration is kept exactly, rounded to the floats that models compute with, or
/// refused.
#[test]
fn a_number_that_can_not_be_kept_is_refused() {
    assert_rejected(&[
        (
            json!({"vocab_size": 50.0}),
            "vocab_size is not a whole number",
        ),
        (
            json!({"vocab_size": -1}),
            "vocab_size is not a whole number",
        ),
        (
            json!({"vocab_size": 1e300}),
            "vocab_size is not a whole number",
        ),
        (
            json!({"vocab_size": 9_007_199_254_740_993_u64}),
            "the vocabulary size is 9007199254740993",
        ),
        (
            json!({"num_hidden_layers": u64::MAX}),
            "the number of layers is 18446744073709551615",
        ),
        (
            json!({"rms_norm_eps": 1e39}),
            "rms_norm_eps is not a number up to 3.4e38",
        ),
        (
            json!({"rope_theta": -1e39}),
            "rope_theta is not a number up to 3.4e38",
        ),
        (
            json!({"eos_token_id": 4_294_967_298_u64}),
            "eos_token_id contains 4294967298",
        ),
        (
            json!({"eos_token_id": [2, 4_294_967_296_u64]}),
            "eos_token_id contains 4294967296",
        ),
        (
            json!({"eos_token_id": 2.0}),
            "eos_token_id is not a whole number",
        ),
        (
            json!({"eos_token_id": -1}),
            "eos_token_id is not a whole number",
        ),
        (
            json!({"max_position_embeddings": 1.5}),
            "is not a whole number",
        ),
    ]);
    // JSON has neither infinities nor NaN, and no float holds 1e400.
    for number in ["1e400", "-1e400", "NaN", "Infinity", "0x10", "01"] {
        let text = String::from_utf8(config(&json!({}))).unwrap();
        let text = text.replace("500.0", number);
        let error = Blueprint::from_config(text.as_bytes(), "config.json").unwrap_err();
        assert!(
            error.to_string().contains("could not be understood"),
            "{error}"
        );
    }
}

#[test]
fn a_gguf_file_with_a_factor_but_no_kind_is_scaled_linearly() {
    let kind = |kind: &str| ("rope.scaling.type", GgufValue::String(kind.to_owned()));
    let factor = |factor: f32| ("rope.scaling.factor", GgufValue::F32(factor));
    let older = |factor: f32| ("rope.scale_linear", GgufValue::F32(factor));
    let linear = |factor: f32| RopeScaling::Linear { factor };
    for (entries, expected) in [
        (vec![], RopeScaling::None),
        (vec![factor(4.0)], linear(4.0)),
        (vec![older(2.0)], linear(2.0)),
        (vec![factor(4.0), older(2.0)], linear(4.0)),
        (vec![factor(0.0)], RopeScaling::None),
        (vec![kind("linear"), older(2.0)], linear(2.0)),
        (vec![kind("linear")], RopeScaling::None),
        (vec![kind("none"), factor(4.0)], RopeScaling::None),
    ] {
        let found = from_gguf("llama", &entries).unwrap();
        assert_eq!(found.ropes[0].scaling, expected, "{entries:?}");
    }
}

/// Checks that each change is rejected with a message that contains the given text.
#[track_caller]
fn assert_rejected(cases: &[(Value, &str)]) {
    for (changes, expected) in cases {
        let message = message(changes);
        assert!(message.contains(expected), "{changes}: {message}");
    }
}

#[test]
fn an_unsupported_family_is_named() {
    assert_rejected(&[
        (
            json!({"model_type": null}),
            "it does not specify an architecture",
        ),
        (
            json!({"model_type": "rwkv7", "hidden_size": null}),
            "does not support this architecture yet: rwkv7. It supports Llama, Mistral,",
        ),
        (
            json!({"architectures": ["LlamaForSequenceClassification"]}),
            "this architecture yet: LlamaForSequenceClassification",
        ),
    ]);
}

#[test]
fn an_impossible_size_is_named() {
    assert_rejected(&[
        (json!({"hidden_size": null}), "hidden_size is missing"),
        (json!({"model_type": "gpt2"}), "n_embd is missing"),
        (
            json!({"hidden_size": -1}),
            "hidden_size is not a whole number",
        ),
        (
            json!({"hidden_size": 0, "head_dim": 8}),
            "the hidden size is 0",
        ),
        (
            json!({"num_attention_heads": 0}),
            "the number of heads is 0",
        ),
        (json!({"num_key_value_heads": 3}), "4 heads can’t share 3"),
        (
            json!({"num_key_value_heads": 0}),
            "the number of key-value heads is 0",
        ),
        (json!({"head_dim": 15}), "the head size 15 is odd"),
        (
            json!({"num_hidden_layers": 1_u64 << 40}),
            "the number of layers is",
        ),
    ]);
}

#[test]
fn an_unsupported_layer_setting_is_named() {
    assert_rejected(&[
        (
            json!({"model_type": "mistral", "sliding_window": 0}),
            "the sliding window is 0",
        ),
        (
            json!({"hidden_act": "tanh"}),
            "the activation \"tanh\" (hidden_act",
        ),
        (
            json!({"hidden_act": "xielu"}),
            "the activation \"xielu\" (hidden_act",
        ),
        (
            json!({"model_type": "smollm3", "no_rope_layers": [1]}),
            "no_rope_layers lists 1 layers instead of 4",
        ),
        (
            json!({"model_type": "gemma2", "final_logit_softcapping": 0.0}),
            "the cap on logits is 0",
        ),
        (
            json!({"model_type": "gemma3_text", "layer_types": ["chunked_attention"]}),
            "layers of type \"chunked_attention\"",
        ),
        (
            json!({"model_type": "granite", "logits_scaling": 0.0}),
            "the scale of logits is inf",
        ),
    ]);
}

#[test]
fn a_value_that_the_family_does_not_read_is_named() {
    for (changes, expected) in [
        (json!({"logit_scale": 0.0625}), "logit_scale 0.0625"),
        (json!({"logits_scaling": 8.0}), "logits_scaling 8"),
        (
            json!({"residual_multiplier": 0.22}),
            "residual_multiplier 0.22",
        ),
        (
            json!({"final_logit_softcapping": 30.0}),
            "final_logit_softcapping 30",
        ),
        (json!({"clip_qkv": 8.0}), "clip_qkv 8"),
        (
            json!({"attention_multiplier": 0.5}),
            "attention_multiplier 0.5",
        ),
    ] {
        let expected = format!("this model needs {expected} in this family");
        assert!(
            message(&changes).starts_with(&expected),
            "{}",
            message(&changes)
        );
    }
    // These have no effect: the scale of attention scores is 1/√16 already.
    let neutral = json!({
        "logits_scaling": 1.0, "clip_qkv": null, "final_logit_softcapping": null,
        "attention_multiplier": 0.25
    });
    assert_eq!(blueprint(&neutral), blueprint(&json!({})));
    let error = from_gguf("llama", &[("logit_scale", GgufValue::F32(0.5))]).unwrap_err();
    assert!(
        error.to_string().contains("llama.logit_scale 0.5"),
        "{error}"
    );
}

#[test]
fn an_impossible_rotation_is_named() {
    assert_rejected(&[
        (json!({"rope_theta": 0.0}), "the rotary base is 0"),
        (json!({"rope_theta": "wide"}), "rope_theta is not a number"),
        (
            json!({"rope_scaling": {"type": "dynamic", "factor": 2.0}}),
            "the rotary scaling \"dynamic\" (rope_scaling.type",
        ),
        (
            json!({"rope_parameters": {"rope_type": "spiral"}}),
            "the rotary scaling \"spiral\" (rope_parameters.rope_type",
        ),
        (
            json!({"rope_scaling": "linear"}),
            "rope_scaling is not an object",
        ),
        (
            json!({"rope_scaling": {"type": "linear"}}),
            "rope_scaling.factor is missing",
        ),
        (
            json!({"rope_scaling": {"type": "linear", "factor": -2.0}}),
            "the factor of rotary scaling is -2",
        ),
        (
            json!({"rope_scaling": {"rope_type": "llama3", "factor": 8.0,
                   "low_freq_factor": 4.0, "high_freq_factor": 4.0}}),
            "rope_scaling.high_freq_factor (4) must be greater than rope_scaling.low_freq_factor (4)",
        ),
        (
            json!({"model_type": "phi3", "rope_scaling": {"type": "longrope",
                   "short_factor": [1.0, 2.0], "long_factor": [1.0, 2.0]}}),
            "rope_scaling.short_factor has 2 factors instead of 8",
        ),
        (
            json!({"model_type": "phi3", "partial_rotary_factor": 0.25,
                   "rope_scaling": {"type": "longrope",
                   "short_factor": [1.0, 2.0], "long_factor": [1.0, 0.0]}}),
            "rope_scaling.long_factor contains a factor that is not positive",
        ),
        (
            json!({"model_type": "phi3", "partial_rotary_factor": 3.0}),
            "rotary embedding can’t cover 48 of a head’s 16 dimensions",
        ),
    ]);
}
