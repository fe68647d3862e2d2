//! Tests with the vocabularies of well-known models, if `QUARTET_VOCABULARIES` names a folder of
//! them: GGUF files without weights, each with texts (`.inp`) and the token ids from the model's
//! authors (`.out`).

use std::fs;
use std::path::{Path, PathBuf};

use quartet::engine::{Tokenizer, open_gguf_tokenizer};

const BETWEEN_TEXTS: &str = "\n__ggml_vocab_test__\n";

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("QUARTET_VOCABULARIES")?;
    Some(PathBuf::from(folder))
}

fn ids(tokenizer: &Tokenizer, text: &str) -> Vec<u32> {
    let tokens = tokenizer.encode(text).unwrap();
    tokens.into_iter().map(|token| token.0).collect()
}

fn with_suffix(path: &Path, suffix: &str) -> String {
    fs::read_to_string(format!("{}{suffix}", path.display())).unwrap()
}

#[test]
fn each_text_has_the_token_ids_of_the_models_authors() {
    let Some(folder) = folder() else { return };
    let mut n_vocabularies = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "gguf") {
            continue;
        }
        n_vocabularies += 1;
        let tokenizer = open_gguf_tokenizer(&path).unwrap();
        let begin = ids(&tokenizer, "");
        let (texts, expected) = (with_suffix(&path, ".inp"), with_suffix(&path, ".out"));
        let texts: Vec<&str> = texts.split(BETWEEN_TEXTS).collect();
        assert_eq!(texts.len(), expected.lines().count() + 1);
        for (text, expected) in texts.iter().zip(expected.lines()) {
            let expected: Vec<u32> = expected
                .split_whitespace()
                .map(|id| id.parse().unwrap())
                .collect();
            let found = ids(&tokenizer, text);
            assert_eq!(
                found,
                [begin.as_slice(), &expected].concat(),
                "{text:?} with {}",
                path.display()
            );
        }
    }
    assert!(n_vocabularies > 0);
}

/// Runs the test cases of swift-transformers for the models whose vocabularies are in the folder.
#[test]
fn each_text_of_swift_transformers_has_the_expected_token_ids() {
    let Some(folder) = folder() else { return };
    let cases = folder.join("swift-transformers-tokenizer_tests.json");
    let cases: serde_json::Value = serde_json::from_slice(&fs::read(cases).unwrap()).unwrap();
    for (model, vocabulary) in [
        ("coreml-projects/Llama-2-7b-chat-coreml", "llama-spm"),
        ("distilgpt2", "gpt-2"),
        ("tiiuae/falcon-7b", "falcon"),
    ] {
        let path = folder.join(format!("ggml-vocab-{vocabulary}.gguf"));
        let tokenizer = open_gguf_tokenizer(&path).unwrap();
        for case in cases[model].as_array().unwrap() {
            let text = case["input"].as_str().unwrap();
            let expected: Vec<u32> =
                serde_json::from_value(case["encoded"]["input_ids"].clone()).unwrap();
            assert_eq!(ids(&tokenizer, text), expected, "{text:?} with {model}");
        }
    }
}
