//! A tokenizer from GGUF metadata, for a file without a `tokenizer.json` next to it.

use candle_core::quantized::GgmlDType;
use candle_core::quantized::gguf_file::Value;
use quartet::engine::{EngineError, LoadedModel};

use crate::decoder::fixture::{N_VOCAB, open, write_gguf};

/// Returns three special tokens, then letters, digits, a space and merged tokens.
fn tokens() -> Vec<String> {
    let letters = ('a'..='z').chain('0'..='9').map(String::from);
    let special = ["<pad>", "<s>", "</s>"].map(str::to_owned);
    let merged = ["Ġ", "ab", "Ġab", "12"].map(str::to_owned);
    let mut tokens: Vec<String> = special.into_iter().chain(letters).chain(merged).collect();
    tokens.extend((tokens.len()..N_VOCAB).map(|id| format!("<unused{id}>")));
    tokens
}

fn opened(pre: &str, begin: Option<bool>) -> Result<LoadedModel, EngineError> {
    let text = |text: &str| Value::String(text.to_owned());
    let texts = |texts: &[&str]| Value::Array(texts.iter().map(|one| text(one)).collect());
    let tokens = tokens();
    let names: Vec<&str> = tokens.iter().map(String::as_str).collect();
    let kinds = (0..N_VOCAB).map(|id| Value::I32(if id < 3 { 3 } else { 1 }));
    let mut metadata = vec![
        ("tokenizer.ggml.model", text("gpt2")),
        ("tokenizer.ggml.pre", text(pre)),
        ("tokenizer.ggml.tokens", texts(&names)),
        ("tokenizer.ggml.token_type", Value::Array(kinds.collect())),
        ("tokenizer.ggml.merges", texts(&["a b", "Ġ ab", "1 2"])),
        ("tokenizer.ggml.bos_token_id", Value::U32(1)),
    ];
    if let Some(begin) = begin {
        metadata.push(("tokenizer.ggml.add_bos_token", Value::Bool(begin)));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = write_gguf(folder.path(), true, GgmlDType::F32, &metadata);
    std::fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    open(&path)
}

#[test]
fn texts_are_tokenized_as_the_metadata_says() {
    for (pre, begin, text, expected) in [
        (
            "gpt-2",
            Some(true),
            "ab ab12",
            vec!["<s>", "ab", "Ġab", "12"],
        ),
        ("gpt-2", Some(false), "ab ab12", vec!["ab", "Ġab", "12"]),
        ("gpt-2", None, "ab", vec!["ab"]),
        ("gpt-2", Some(true), "<s>ab", vec!["<s>", "ab"]),
        ("smollm", Some(false), "ab12", vec!["ab", "1", "2"]),
        ("llama-bpe", None, "ab12", vec!["<s>", "ab", "12"]),
        ("qwen2", Some(false), "ab12", vec!["ab", "1", "2"]),
    ] {
        let model = opened(pre, begin).unwrap();
        let tokens = tokens();
        let found = model.tokenizer.encode(text).unwrap();
        let found: Vec<&str> = found
            .iter()
            .map(|token| tokens[token.index()].as_str())
            .collect();
        assert_eq!(found, expected, "{pre}, begin {begin:?}");
        assert_eq!(model.end_tokens.len(), 1);
    }
}

#[test]
fn an_unknown_pre_tokenizer_is_rejected() {
    let error = opened("unheard-of", None).err().unwrap().to_string();
    assert!(error.contains("\"unheard-of\""), "{error}");
    assert!(error.contains("put the model’s tokenizer.json beside the file"));
}

#[test]
fn a_model_whose_file_names_no_pre_tokenizer_is_loaded_with_a_warning() {
    let model = opened("default", None).unwrap();
    let warning = model.load_warning.unwrap();
    assert!(warning.contains("tokenizer.ggml.pre"), "{warning}");
    assert_eq!(opened("gpt-2", None).unwrap().load_warning, None);
}
