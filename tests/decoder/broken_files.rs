//! Broken files cause an error message, never a panic.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use candle_core::quantized::GgmlDType;
use candle_core::quantized::gguf_file::Value;
use candle_core::{DType, Device, Tensor};
use quartet::decoding::TokenId;
use quartet::engine::inspect;
use serde_json::{Value as Json, json};

use crate::decoder::fixture::{
    HEAD_DIM, N_VOCAB, config, open, tokenizer, weights, write_folder, write_gguf,
};
use crate::decoder::row;

fn message(path: &Path) -> String {
    let Err(error) = open(path) else {
        panic!("{} opened", path.display());
    };
    error.to_string()
}

fn assert_truncated(message: &str) {
    let expected = ["could not be understood", "this file is incomplete"];
    let found = expected.iter().any(|phrase| message.contains(phrase));
    assert!(found, "{message}");
}

#[test]
fn a_gguf_file_truncated_anywhere_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_gguf(folder.path(), true, GgmlDType::Q8_0, &[]);
    let whole = std::fs::read(&path).unwrap();
    // The last tensor may be followed by up to 31 bytes of padding.
    let n_needed = whole.len() - 32;
    let cuts = (0..n_needed).step_by(1 + n_needed / 150);
    for n_bytes in cuts.chain([1, 3, 4, 7, 8, 15, 23, n_needed]) {
        std::fs::write(&path, &whole[..n_bytes]).unwrap();
        assert_truncated(&message(&path));
    }
}

#[test]
fn a_safetensors_file_truncated_anywhere_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path(), true, DType::F16);
    let path = folder.path().join("model.safetensors");
    let whole = std::fs::read(&path).unwrap();
    let cuts = (0..whole.len()).step_by(1 + whole.len() / 150);
    for n_bytes in cuts.chain([1, 7, 8, 9, whole.len() - 1]) {
        std::fs::write(&path, &whole[..n_bytes]).unwrap();
        assert_truncated(&message(folder.path()));
    }
}

#[test]
fn corrupt_bytes_in_a_header_never_cause_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_gguf(folder.path(), true, GgmlDType::Q8_0, &[]);
    let whole = std::fs::read(&path).unwrap();
    let mut file = File::options().write(true).open(&path).unwrap();
    let mut write = |index: usize, value: u8| {
        file.seek(SeekFrom::Start(index as u64)).unwrap();
        file.write_all(&[value]).unwrap();
    };
    for index in (0..2000).step_by(3) {
        for value in [0x00, 0xFF] {
            write(index, value);
            // The file may still open, because not every byte matters.
            if let Err(error) = open(&path) {
                assert!(!error.to_string().is_empty());
            }
        }
        write(index, whole[index]);
    }
}

#[test]
fn the_error_names_each_fault_in_a_gguf_file() {
    let text = |text: &str| Value::String(text.to_owned());
    for (key, value, expected) in [
        (
            "general.architecture",
            text("rwkv7"),
            "does not support this architecture yet: rwkv7. It supports Llama",
        ),
        (
            "general.alignment",
            Value::U32(0),
            "general.alignment must be a power of two",
        ),
        (
            "llama.block_count",
            Value::U32(3),
            "tensor blk.2.attn_norm.weight is missing",
        ),
        (
            "llama.block_count",
            Value::U32(u32::MAX),
            "the number of layers is 4294967295",
        ),
        (
            "llama.feed_forward_length",
            Value::U32(64),
            "blk.0.ffn_gate.weight has shape [96, 64] instead of [64, 64]",
        ),
        (
            "llama.feed_forward_length",
            Value::U32(0),
            "the feed-forward size is 0",
        ),
        (
            "llama.attention.head_count",
            text("four"),
            "head_count is not a whole number",
        ),
        (
            "llama.rope.scaling.type",
            text("spiral"),
            "the rotary scaling \"spiral\" (llama.rope.scaling.type",
        ),
        (
            "llama.expert_count",
            Value::U32(8),
            "llama.expert_used_count is missing",
        ),
        (
            "llama.rope.dimension_count",
            Value::U32(9),
            "rotary embedding can’t cover 9 of a head’s 16 dimensions",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = write_gguf(folder.path(), true, GgmlDType::F32, &[(key, value)]);
        let message = message(&path);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn the_error_names_each_fault_in_a_folder() {
    let write = |folder: &Path, name: &str, content: &Json| {
        std::fs::write(folder.join(name), content.to_string()).unwrap();
    };
    let changed = |key: &str, value: Json| {
        let mut config = config(true);
        config[key] = value;
        config
    };
    for (file, content, expected) in [
        (
            "config.json",
            json!(null),
            "The model’s configuration could not be understood",
        ),
        (
            "config.json",
            changed("num_hidden_layers", json!(9)),
            "tensor model.layers.2",
        ),
        (
            "config.json",
            changed("vocab_size", json!(60)),
            "has shape [50, 64] instead of [60, 64]",
        ),
        (
            "config.json",
            changed("tie_word_embeddings", json!(false)),
            "tensor lm_head.weight is missing",
        ),
        (
            "config.json",
            changed("architectures", json!(["MambaForCausalLM"])),
            "does not support this architecture yet: MambaForCausalLM. It supports Llama",
        ),
        (
            "tokenizer.json",
            json!({}),
            "The tokenizer could not be understood",
        ),
        (
            "tokenizer.json",
            tokenizer(57),
            "the tokenizer has 57 tokens, but the model has 50",
        ),
        (
            "model.safetensors",
            json!("text"),
            "The model’s weights could not be",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        write_folder(folder.path(), true, DType::F32);
        write(folder.path(), file, &content);
        let message = message(folder.path());
        assert!(message.contains(expected), "{message}");
    }
}

/// Examples are the image token of the text-only Gemma 3 and tokens that fine-tunes add.
#[test]
fn tokens_without_an_embedding_only_affect_texts_that_contain_them() {
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path(), true, DType::F32);
    let mut tokenizer = tokenizer(N_VOCAB + 5);
    let mut added = tokenizer["added_tokens"][0].clone();
    added["id"] = json!(N_VOCAB + 5);
    added["content"] = json!("<|im_end|>");
    tokenizer["added_tokens"]
        .as_array_mut()
        .unwrap()
        .push(added);
    std::fs::write(folder.path().join("tokenizer.json"), tokenizer.to_string()).unwrap();

    let mut model = open(folder.path()).unwrap();
    assert_eq!(model.tokenizer.n_tokens(), N_VOCAB + 6);
    assert_eq!(model.vocabulary.n_tokens(), N_VOCAB);
    assert_eq!(model.end_tokens, [2, 3, 5].map(TokenId));
    let sequence = model.lm.open();
    for (text, ids, expected) in [
        ("w7 w8", [7, 8], None),
        (
            "w7 <|im_end|>",
            [7, 55],
            Some("token 55 is not in the model’s vocabulary of 50 tokens"),
        ),
    ] {
        let tokens = model.tokenizer.encode(text).unwrap();
        assert_eq!(tokens, ids.map(TokenId));
        let rows = ids.map(|id| row(sequence, id));
        let error = model.lm.forward(&rows).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), expected);
    }
}

#[test]
fn unreadable_generation_settings_are_reported_and_ignored() {
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path(), true, DType::F32);
    let load_warning = open(folder.path()).unwrap().load_warning.unwrap();
    assert!(load_warning.ends_with("generation_config.json counts"));
    let settings = folder.path().join("generation_config.json");
    std::fs::write(settings, r#"{ "eos_token_id": "two" }"#).unwrap();
    let expected = "The model’s generation settings could not be understood: ";
    let load_warning = open(folder.path()).unwrap().load_warning;
    assert!(load_warning.unwrap().starts_with(expected));
    let load_warning = inspect(folder.path()).unwrap().load_warning;
    assert!(load_warning.unwrap().ends_with("generation_config.json"));
}

#[test]
fn a_tensor_that_the_model_does_not_use_is_named() {
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path(), true, DType::F32);
    let with = |names: &[&str]| {
        let ones = Tensor::ones(HEAD_DIM, DType::F32, &Device::Cpu).unwrap();
        let more = names.iter().map(|name| ((*name).to_owned(), ones.clone()));
        let all: HashMap<String, Tensor> = weights(true).into_iter().chain(more).collect();
        candle_core::safetensors::save(&all, folder.path().join("model.safetensors")).unwrap();
        open(folder.path()).unwrap().load_warning
    };
    let [first, second] = [0, 1].map(|n| format!("model.layers.{n}.self_attn.q_norm.weight"));
    let warning = with(&[&first]).unwrap();
    assert!(warning.contains(&format!("The tensor {first} is ignored")));
    let warning = with(&[&second, &first]).unwrap();
    assert!(warning.contains(&format!("2 tensors, such as {first}, are ignored")));
    assert_eq!(with(&["vision_tower.norm.weight"]), with(&[]));
}

#[test]
fn the_error_names_a_missing_file() {
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        let folder = tempfile::tempdir().unwrap();
        write_folder(folder.path(), true, DType::F32);
        std::fs::remove_file(folder.path().join(name)).unwrap();
        let message = message(folder.path());
        assert!(
            message.contains(&format!("there is no {name} in this folder")),
            "{message}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let path = write_gguf(folder.path(), true, GgmlDType::F32, &[]);
    std::fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    assert!(message(&path).contains("put the model’s tokenizer.json beside the file"));
    assert!(message(&folder.path().join("nothing.gguf")).contains("The model could not be read"));
}

#[test]
fn any_file_in_a_folder_opens_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path(), false, DType::F32);
    for name in ["config.json", "model.safetensors"] {
        assert_eq!(
            open(&folder.path().join(name)).unwrap().info.quantization,
            "F32"
        );
    }
}
