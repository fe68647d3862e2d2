//! Faulty files of architectures that run on candle-transformers cause an error message, never a
//! panic.

use std::fs::File;
use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::Path;

use candle_core::quantized::gguf_file::{self, Value as GgufValue};
use candle_core::{DType, Device, Tensor};
use quartet::decoding::TokenId;
use quartet::engine::{self, EngineError, LoadedModel, Row};
use serde_json::{Map, Value, json};

use crate::architectures::fixture::{self, copy, read};

fn open(path: &Path) -> Result<LoadedModel, EngineError> {
    let keep_going = &mut |_| ControlFlow::Continue(());
    let opened = engine::open_path(path, &engine::Compute::on_cpu(), keep_going);
    opened.map(Option::unwrap)
}

fn config(fixture: &str, file: &str) -> Map<String, Value> {
    serde_json::from_slice(&read(fixture, file)).unwrap()
}

/// Writes a fixture's folder with a different configuration.
fn write_folder(fixture: &str, config: &Map<String, Value>, folder: &Path) {
    copy(fixture, &["model.safetensors"], folder);
    let json = serde_json::to_vec(config).unwrap();
    std::fs::write(folder.join("config.json"), json).unwrap();
}

/// Returns the error for a fixture with one changed configuration entry.
fn rejection(fixture: &str, key: &str, value: Value) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(fixture, "config.json");
    config.insert(key.to_owned(), value);
    write_folder(fixture, &config, folder.path());
    open(folder.path()).err().unwrap().to_string()
}

/// Opens a model and runs it if possible. An error must have a message.
fn open_and_run(path: &Path) {
    match open(path) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(mut model) => {
            let sequence = model.lm.open();
            for tokens in [&[3, 4, 5][..], &[6]] {
                let rows = tokens.iter().map(|token| Row {
                    sequence,
                    token: TokenId(*token),
                    logits_wanted: true,
                });
                let rows: Vec<Row> = rows.collect();
                // This may fail, because a rotary table can be too short.
                model.lm.forward(&rows).ok();
            }
        }
    }
}

#[test]
fn a_partial_rotary_factor_that_rounds_to_zero_is_rejected() {
    // As in transformers, the share in the rotary settings counts before one at the top level.
    let rope = json!({ "rope_type": "default", "partial_rotary_factor": 1e-9 });
    let message = rejection("phi", "rope_parameters", rope);
    let expected = "partial_rotary_factor is 0.000000001";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn configurations_that_candle_transformers_gets_wrong_are_rejected() {
    let stretched = json!({ "rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0 });
    for (fixture, key, value, expected) in [
        (
            "helium",
            "rope_parameters",
            stretched,
            "needs rotary scaling \"yarn\" for this family",
        ),
        (
            "gpt_bigcode",
            "activation_function",
            json!("gelu"),
            "needs activation_function \"gelu\" for this family",
        ),
        (
            "recurrent_gemma",
            "block_types",
            json!([]),
            "it lists no layer types, or its convolutions have width 0",
        ),
    ] {
        let message = rejection(fixture, key, value);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn the_error_names_missing_unknown_and_misshapen_tensors() {
    let zeros = |shape: &[usize]| Tensor::zeros(shape, DType::F32, &Device::Cpu).unwrap();
    for (fixture, tensor, replacement, expected) in [
        (
            "phi",
            "model.layers.1.mlp.fc1.bias",
            None,
            "cannot find tensor model.layers.1.mlp.fc1.bias",
        ),
        (
            "starcoder2",
            "model.layers.0.self_attn.k_proj.bias",
            Some(zeros(&[8])),
            "model.layers.0.self_attn.k_proj.bias has shape [8] instead of [16]",
        ),
        (
            "helium",
            "model.layers.0.self_attn.k_norm.weight",
            Some(zeros(&[32])),
            "tensor model.layers.0.self_attn.k_norm.weight is unknown in this model family",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        copy(fixture, &["config.json"], folder.path());
        let weights = read(fixture, "model.safetensors");
        let mut weights = candle_core::safetensors::load_buffer(&weights, &Device::Cpu).unwrap();
        weights.remove(tensor);
        weights.extend(replacement.map(|replacement| (tensor.to_owned(), replacement)));
        let path = folder.path().join("model.safetensors");
        candle_core::safetensors::save(&weights, path).unwrap();
        let message = open(folder.path()).err().unwrap().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn no_number_in_a_configuration_causes_a_panic() {
    let large = [json!(1 << 28), json!(u64::MAX), json!(1e30)];
    let others = [[json!(0), json!(3), json!(-1)], large].concat();
    for fixture in fixture::names("borrowed") {
        let folder = tempfile::tempdir().unwrap();
        let original = config(&fixture, "config.older.json");
        let numbers = original.iter().filter(|(_, value)| value.is_number());
        for ((key, _), other) in numbers.flat_map(|entry| others.iter().map(move |o| (entry, o))) {
            let mut config = original.clone();
            config.insert(key.clone(), other.clone());
            write_folder(&fixture, &config, folder.path());
            open_and_run(folder.path());
        }
    }
}

#[test]
fn no_value_in_the_metadata_causes_a_panic() {
    for fixture in ["apertus", "glm4", "ministral3", "phi"] {
        let bytes = read(fixture, "model.gguf");
        let content = gguf_file::Content::read(&mut Cursor::new(&bytes)).unwrap();
        let keys = content.metadata.keys();
        let keys: Vec<&String> = keys.filter(|key| !key.starts_with("general.")).collect();
        for key in keys {
            for other in [
                GgufValue::U32(0),
                GgufValue::U32(1),
                GgufValue::U32(3),
                GgufValue::U32(u32::MAX),
                GgufValue::F32(-1.0),
                GgufValue::F32(f32::NAN),
                GgufValue::String("other".to_owned()),
            ] {
                let folder = tempfile::tempdir().unwrap();
                copy(fixture, &[], folder.path());
                let path = folder.path().join("model.gguf");
                write_gguf(&path, &bytes, &content, key, &other);
                open_and_run(&path);
            }
        }
    }
}

#[test]
fn metadata_that_candle_transformers_would_ignore_is_rejected() {
    for (key, value, expected) in [
        (
            "general.architecture",
            GgufValue::String("helium".to_owned()),
            "this model needs a GGUF reader for helium (its safetensors files work)",
        ),
        (
            "phi2.rope.dimension_count",
            GgufValue::U32(0),
            "The model’s metadata could not be understood: phi2.rope.dimension_count is 0",
        ),
        (
            "phi2.rope.scaling.factor",
            GgufValue::F32(4.0),
            "this model needs the rotary scaling factor 4 for this family",
        ),
        (
            "phi2.rope.scale_linear",
            GgufValue::F32(2.0),
            "this model needs the rotary scaling factor 2 for this family",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        copy("phi", &[], folder.path());
        let path = folder.path().join("model.gguf");
        let bytes = read("phi", "model.gguf");
        let content = gguf_file::Content::read(&mut Cursor::new(&bytes)).unwrap();
        write_gguf(&path, &bytes, &content, key, &value);
        let message = open(&path).err().unwrap().to_string();
        assert!(message.starts_with(expected), "{message}");
    }
}

/// Writes the file with one metadata entry changed or added.
fn write_gguf(
    path: &Path,
    bytes: &[u8],
    content: &gguf_file::Content,
    key: &str,
    value: &GgufValue,
) {
    let metadata = content.metadata.iter();
    let entries: Vec<_> = metadata
        .map(|(name, other)| (name.as_str(), other))
        .filter(|(name, _)| *name != key)
        .chain([(key, value)])
        .collect();
    let names = content.tensor_infos.keys();
    let load = |name| content.tensor(&mut Cursor::new(bytes), name, &Device::Cpu);
    let loaded: Vec<_> = names
        .map(|name| (name.as_str(), load(name).unwrap()))
        .collect();
    let tensors: Vec<_> = loaded.iter().map(|(name, one)| (*name, one)).collect();
    let mut file = File::create(path).unwrap();
    gguf_file::write(&mut file, &entries, &tensors).unwrap();
}
