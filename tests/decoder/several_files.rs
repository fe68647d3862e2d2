//! Models split across several files: GGUF parts, and safetensors with an index.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};

use candle_core::quantized::gguf_file::{self, Content, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{DType, Device, Tensor};
use serde_json::json;

use crate::decoder::fixture::{open, weights, write_folder, write_gguf};
use crate::decoder::{assert_near, read};

const TOKENS: [u32; 5] = [1, 17, 4, 33, 49];

/// Returns a model's logits and its hash.
fn answer(path: &Path) -> (Vec<Vec<f32>>, String) {
    let mut model = open(path).unwrap();
    let sequence = model.lm.open();
    let logits = read(model.lm.as_mut(), sequence, &TOKENS);
    (logits, model.info.sha256.clone())
}

fn message(path: &Path) -> String {
    open(path).err().unwrap().to_string()
}

fn part(folder: &Path, part: usize) -> PathBuf {
    folder.join(format!("tiny-{part:05}-of-00003.gguf"))
}

/// Splits a GGUF file into three parts, as llama.cpp's gguf-split does. Returns the path of the
/// unsplit file.
fn write_parts(folder: &Path) -> PathBuf {
    let whole = write_gguf(folder, true, GgmlDType::Q8_0, &[]);
    let mut file = File::open(&whole).unwrap();
    let content = Content::read(&mut file).unwrap();
    let names: Vec<&String> = BTreeMap::from_iter(&content.tensor_infos)
        .into_keys()
        .collect();
    let n_tensors = names.len() as u32;
    for (index, names) in names.chunks(names.len().div_ceil(3)).enumerate() {
        let tensors: Vec<(&str, QTensor)> = names
            .iter()
            .map(|name| {
                (
                    name.as_str(),
                    content.tensor(&mut file, name, &Device::Cpu).unwrap(),
                )
            })
            .collect();
        let tensors: Vec<(&str, &QTensor)> = tensors
            .iter()
            .map(|(name, tensor)| (*name, tensor))
            .collect();
        let mut metadata = BTreeMap::new();
        if index == 0 {
            metadata.extend(
                content
                    .metadata
                    .iter()
                    .map(|(key, value)| (key.as_str(), value)),
            );
        }
        let split = [
            ("split.no", Value::U16(index as u16)),
            ("split.count", Value::U16(3)),
            ("split.tensors.count", Value::I32(n_tensors.cast_signed())),
        ];
        metadata.extend(split.iter().map(|(key, value)| (*key, value)));
        let metadata: Vec<_> = metadata.into_iter().collect();
        let mut part = File::create(part(folder, index + 1)).unwrap();
        gguf_file::write(&mut part, &metadata, &tensors).unwrap();
    }
    whole
}

#[test]
fn a_split_gguf_opens_from_any_part() {
    let folder = tempfile::tempdir().unwrap();
    let whole = write_parts(folder.path());
    let (expected, sha256) = answer(&whole);
    let answers = [1, 2, 3].map(|number| answer(&part(folder.path(), number)));
    for (logits, _) in &answers {
        assert_near(logits, &expected, 0.0);
    }
    // The hash covers all parts in order, whichever one was opened.
    assert!(
        answers
            .iter()
            .all(|(_, of_parts)| *of_parts == answers[0].1)
    );
    assert_ne!(answers[0].1, sha256);
    let info = open(&part(folder.path(), 3)).unwrap().info;
    assert_eq!(
        (info.name.as_str(), info.file.as_str()),
        ("tiny", "tiny-00001-of-00003.gguf")
    );
}

#[test]
fn the_error_names_each_fault_in_the_parts() {
    let folder = tempfile::tempdir().unwrap();
    write_parts(folder.path());
    let [first, second, third] = [1, 2, 3].map(|number| part(folder.path(), number));

    let renamed = folder.path().join("model.gguf");
    std::fs::copy(&second, &renamed).unwrap();
    let expected = "it is part 2 of 3 of a model, so its name must end in -00002-of-00003.gguf";
    assert!(
        message(&renamed).contains(expected),
        "{}",
        message(&renamed)
    );

    std::fs::rename(&third, folder.path().join("kept")).unwrap();
    let expected = "there is no tiny-00003-of-00003.gguf in this folder";
    assert!(message(&first).contains(expected), "{}", message(&first));

    std::fs::copy(&second, &third).unwrap();
    let expected = "it is not part 3 of 3, although its name says so";
    assert!(message(&first).contains(expected), "{}", message(&first));

    let metadata = [
        ("split.no", &Value::U16(2)),
        ("split.count", &Value::U16(3)),
    ];
    let mut file = File::create(&third).unwrap();
    gguf_file::write(&mut file, &metadata, &[]).unwrap();
    let message = message(&first);
    assert!(
        message.contains("tensors instead of the 20 that the first part lists"),
        "{message}"
    );
}

#[test]
fn an_impossible_part_number_is_rejected() {
    for (part, n_parts) in [(3, 3), (7, 2), (0, u16::MAX)] {
        let folder = tempfile::tempdir().unwrap();
        let split = [
            ("split.no", Value::U16(part)),
            ("split.count", Value::U16(n_parts)),
        ];
        let path = write_gguf(folder.path(), true, GgmlDType::F32, &split);
        let message = message(&path);
        let n_parts = usize::from(n_parts);
        assert!(
            message.contains(&format!("part {} of {n_parts}", part + 1)),
            "{message}"
        );
    }
}

/// Writes a folder whose weights are split into two files with mixed types. Returns the logits of
/// the unsplit model.
fn write_shards(folder: &Path, tied: bool) -> Vec<Vec<f32>> {
    write_folder(folder, tied, DType::F16);
    let (expected, _) = answer(folder);
    let mut shards = [HashMap::new(), HashMap::new()];
    let mut index = serde_json::Map::new();
    for (number, (name, tensor)) in weights(tied).into_iter().enumerate() {
        let file = shard(number % 2);
        // Converting half to single precision is exact.
        let tensor = tensor.to_dtype(DType::F16).unwrap();
        let tensor = if number % 3 == 0 {
            tensor.to_dtype(DType::F32).unwrap()
        } else {
            tensor
        };
        index.insert(name.clone(), json!(file));
        shards[number % 2].insert(name, tensor);
    }
    // Tensors that the decoder does not need, of unsupported types.
    let extra = Tensor::new(&[1_u8, 2, 3], &Device::Cpu).unwrap();
    shards[1].insert("model.rotary.mask".to_owned(), extra.clone());
    index.insert("model.rotary.mask".to_owned(), json!(shard(1)));
    shards[1].insert("model.of_no_index".to_owned(), extra);
    for (number, tensors) in shards.iter().enumerate() {
        candle_core::safetensors::save(tensors, folder.join(shard(number))).unwrap();
    }
    std::fs::remove_file(folder.join("model.safetensors")).unwrap();
    write_index(folder, &index.into());
    expected
}

fn shard(number: usize) -> String {
    format!("model-{:05}-of-00002.safetensors", number + 1)
}

fn write_index(folder: &Path, weight_map: &serde_json::Value) {
    let index = json!({"metadata": {"total_size": 1}, "weight_map": weight_map});
    std::fs::write(
        folder.join("model.safetensors.index.json"),
        index.to_string(),
    )
    .unwrap();
}

#[test]
fn shards_of_mixed_types_form_one_model() {
    for tied in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let expected = write_shards(folder.path(), tied);
        for path in [
            folder.path().to_owned(),
            folder.path().join("model.safetensors.index.json"),
            folder.path().join(shard(1)),
        ] {
            assert_near(&answer(&path).0, &expected, 1e-5);
        }
    }
}

/// transformers 5.24 opens it too: it reads all tensors of the files that the index names.
#[test]
fn an_index_may_list_tensors_that_no_file_has() {
    let folder = tempfile::tempdir().unwrap();
    let expected = write_shards(folder.path(), false);
    for weight_map in [
        json!({"model.norm.weight": shard(1), "mtp.fc.weight": shard(0)}),
        json!({"a": shard(0), "b": shard(1)}),
    ] {
        write_index(folder.path(), &weight_map);
        assert_near(&answer(folder.path()).0, &expected, 1e-5);
    }
}

#[test]
fn a_weights_file_with_another_name_opens_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path(), true, DType::F32);
    let (expected, _) = answer(folder.path());
    let moved = folder.path().join("other.safetensors");
    std::fs::rename(folder.path().join("model.safetensors"), &moved).unwrap();
    assert_near(&answer(&moved).0, &expected, 0.0);
    assert!(message(folder.path()).contains("there is no model.safetensors in this folder"));
}

#[test]
fn the_error_names_each_fault_in_the_shards() {
    let folder = tempfile::tempdir().unwrap();
    write_shards(folder.path(), true);
    let norm = "model.norm.weight";
    for (weight_map, expected) in [
        (
            json!({norm: "../secret.safetensors"}),
            "it places tensor model.norm.weight outside its folder",
        ),
        (
            json!({norm: "/etc/passwd"}),
            "outside its folder, in \"/etc/passwd\"",
        ),
        (json!({norm: "a\\b"}), "outside its folder"),
        (
            json!({norm: "gone.safetensors"}),
            "there is no gone.safetensors in this folder",
        ),
        // The files say what they contain, not the index.
        (
            json!({norm: shard(0)}),
            "tensor model.layers.0.input_layernorm.weight is missing",
        ),
        (
            json!({norm: shard(1)}),
            "tensor model.embed_tokens.weight is missing",
        ),
        (
            json!({norm: 7}),
            "The index of the weights could not be understood",
        ),
        (
            json!("text"),
            "The index of the weights could not be understood",
        ),
        (json!({}), "is missing"),
    ] {
        write_index(folder.path(), &weight_map);
        let message = message(folder.path());
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn the_error_names_weights_of_unsupported_types() {
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path(), true, DType::F32);
    let tensors: HashMap<String, Tensor> = weights(true)
        .into_iter()
        .map(|(name, tensor)| {
            let dtype = if name.contains("up_proj") {
                DType::I64
            } else {
                DType::F32
            };
            (name, tensor.to_dtype(dtype).unwrap())
        })
        .collect();
    candle_core::safetensors::save(&tensors, folder.path().join("model.safetensors")).unwrap();
    let message = message(folder.path());
    let expected = "model.layers.0.mlp.up_proj.weight is stored as I64, which Quartet does not support; \
                    use the model’s BF16 or F16 weights, or a GGUF version of it";
    assert!(message.contains(expected), "{message}");
}
