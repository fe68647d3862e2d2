//! How models from disk start and end texts, and how they apply chat templates.

use std::fs;

use candle_core::DType;
use candle_core::quantized::GgmlDType;
use candle_core::quantized::gguf_file::Value;
use quartet::decoding::TokenId;
use quartet::engine::{EngineError, LoadedModel};
use quartet::generation::{ChatSupport, PieceKind, PromptText};
use serde_json::json;

use crate::fixture::{N_VOCAB, open, write_folder, write_gguf};

/// A template that only uses words in the test tokenizer's vocabulary.
const TEMPLATE: &str = "{{ bos_token }}{% for message in messages %} w6 {{ message.content }} \
                        {{- eos_token }}{% endfor %}{% if add_generation_prompt %} w7{% endif %}";

fn folder_with(files: &[(&str, String)]) -> Result<LoadedModel, EngineError> {
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path(), true, DType::F32);
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    open(folder.path())
}

fn gguf_with(entries: &[(&str, Value)]) -> LoadedModel {
    let folder = tempfile::tempdir().unwrap();
    let words = |special: [&str; 4]| {
        let words = special.into_iter().map(str::to_owned);
        words
            .chain((4..N_VOCAB).map(|id| format!("▁w{id}")))
            .collect::<Vec<_>>()
    };
    let tokens = words(["<unk>", "<s>", "</s>", "<|eot_id|>"]).into_iter();
    let kinds = (0..N_VOCAB).map(|id| match id {
        0 => Value::I32(2),
        1..4 => Value::I32(3),
        _ => Value::I32(1),
    });
    let text = |text: &str| Value::String(text.to_owned());
    let mut metadata = vec![
        ("tokenizer.ggml.model", text("llama")),
        (
            "tokenizer.ggml.tokens",
            Value::Array(tokens.map(Value::String).collect()),
        ),
        ("tokenizer.ggml.token_type", Value::Array(kinds.collect())),
        ("tokenizer.ggml.bos_token_id", Value::U32(1)),
    ];
    metadata.retain(|(key, _)| entries.iter().all(|(other, _)| other != key));
    metadata.extend(entries.iter().cloned());
    let path = write_gguf(folder.path(), true, GgmlDType::F32, &metadata);
    fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    open(&path).unwrap()
}

fn ids(model: &LoadedModel, prompt: &PromptText) -> Vec<u32> {
    let prompt = model.encode_prompt(prompt).unwrap();
    prompt.tokens.into_iter().map(|token| token.0).collect()
}

fn config(begins: bool) -> (&'static str, String) {
    let config = json!({
        "add_bos_token": begins,
        "bos_token": {"content": "<s>", "special": true},
        "eos_token": "</s>",
        "chat_template": TEMPLATE,
    });
    ("tokenizer_config.json", config.to_string())
}

#[test]
fn a_chat_has_one_bos_token_and_ends_with_the_generation_prompt() {
    for begins in [true, false] {
        let model = folder_with(&[config(begins)]).unwrap();
        assert_eq!(model.chat_support(), ChatSupport::Ready);
        let begin = if begins { vec![1] } else { Vec::new() };
        let raw = ids(&model, &PromptText::raw("w5 w9"));
        assert_eq!(raw, [begin, vec![5, 9]].concat());
        // The template adds the BOS token too.
        let chat = ids(&model, &PromptText::chat("w5 w9", ""));
        assert_eq!(chat, [1, 6, 5, 9, 2, 7]);
    }
    let model = folder_with(&[config(true)]).unwrap();
    let prompt = model.encode_prompt(&PromptText::chat("w5", "w8")).unwrap();
    let chat = prompt.chat.unwrap();
    assert_eq!(chat.rendered, "<s> w6 w8</s> w6 w5</s> w7");
    assert_eq!((prompt.text.as_str(), chat.system.as_str()), ("w5", "w8"));
}

#[test]
fn a_bos_token_is_added_to_a_chat_if_the_template_has_none() {
    let template = TEMPLATE.replace("{{ bos_token }}", "");
    let model = folder_with(&[config(true), ("chat_template.jinja", template)]).unwrap();
    assert_eq!(ids(&model, &PromptText::chat("w5", "")), [1, 6, 5, 2, 7]);
}

#[test]
fn an_eos_token_is_appended_to_texts_on_request_and_never_to_chats() {
    let config = json!({
        "add_eos_token": true, "eos_token": "</s>", "bos_token": "<s>",
        "chat_template": [
            {"name": "tool_use", "template": "{{ nothing.at.all }}"},
            {"name": "default", "template": TEMPLATE},
        ],
    });
    let model = folder_with(&[("tokenizer_config.json", config.to_string())]).unwrap();
    assert_eq!(ids(&model, &PromptText::raw("w5")), [5, 2]);
    assert_eq!(ids(&model, &PromptText::chat("w5", "")), [1, 6, 5, 2, 7]);
}

#[test]
fn a_broken_template_does_not_affect_plain_texts() {
    let named = |names: [&str; 2]| {
        let templates = names.map(|name| json!({"name": name, "template": "x"}));
        json!({"chat_template": templates}).to_string()
    };
    for (config, sentence) in [
        (
            json!({"chat_template": "{% if %}"}).to_string(),
            "the model's chat template could not be understood on line 1: ",
        ),
        (
            named(["rag", "tool_use"]),
            "this model has several chat templates, but none is named \"default\": rag, tool_use",
        ),
    ] {
        let model = folder_with(&[("tokenizer_config.json", config)]).unwrap();
        let ChatSupport::Broken { error } = model.chat_support() else {
            panic!("{sentence}");
        };
        assert!(error.starts_with(sentence), "{error}");
        let found = model
            .encode_prompt(&PromptText::chat("w5", ""))
            .unwrap_err();
        assert_eq!(found.to_string(), error);
        assert_eq!(ids(&model, &PromptText::raw("w5")), [5]);
    }
    let broken = [("tokenizer_config.json", "{".to_owned())];
    let error = folder_with(&broken).err().unwrap().to_string();
    assert!(error.starts_with("The tokenizer's configuration could not be understood: "));
    let model = folder_with(&[]).unwrap();
    assert_eq!(model.chat_support(), ChatSupport::Missing);
}

#[test]
fn a_gguf_file_provides_its_template_and_end_tokens() {
    let template = Value::String(TEMPLATE.to_owned());
    let model = gguf_with(&[("tokenizer.chat_template", template.clone())]);
    assert_eq!(model.chat_support(), ChatSupport::Ready);
    let prompt = model.encode_prompt(&PromptText::chat("w5", "")).unwrap();
    assert_eq!(prompt.chat.unwrap().rendered, "<s> w6 w5</s> w7");
    assert_eq!(
        model.end_tokens,
        [TokenId(2), TokenId(3)],
        "one by its id, one by its name"
    );

    let names = ["other", "default"].map(|name| Value::String(name.to_owned()));
    let model = gguf_with(&[
        ("tokenizer.chat_templates", Value::Array(names.to_vec())),
        ("tokenizer.chat_template.default", template.clone()),
        (
            "tokenizer.chat_template.other",
            Value::String("other".to_owned()),
        ),
        ("tokenizer.ggml.eot_token_id", Value::U32(20)),
        ("tokenizer.ggml.eom_token_id", Value::U32(21)),
    ]);
    assert_eq!(model.chat_support(), ChatSupport::Ready);
    assert_eq!(model.end_tokens, [2, 3, 20, 21].map(TokenId));

    // The id of a special token may have any integer type.
    for id in [Value::U32(2), Value::I32(2), Value::U64(2)] {
        let template = "{{ eos_token }}{{ messages[0].content }}".to_owned();
        let model = gguf_with(&[
            ("tokenizer.chat_template", Value::String(template)),
            ("tokenizer.ggml.eos_token_id", id),
        ]);
        let prompt = model.encode_prompt(&PromptText::chat("w5", "")).unwrap();
        assert_eq!(prompt.chat.unwrap().rendered, "</s>w5");
    }

    assert_eq!(gguf_with(&[]).chat_support(), ChatSupport::Missing);
}

#[test]
fn a_token_spelled_like_an_end_tag_is_an_end_token_only_if_the_file_says_so() {
    let (control, typed) = (3, 4);
    for (kind, end, expected, piece) in [
        // As in Gemma, whose end token is another one.
        (typed, 5, vec![3, 5], PieceKind::Text),
        (typed, 2, vec![2, 3], PieceKind::Special),
        (control, 5, vec![2, 3, 5], PieceKind::Special),
    ] {
        let mut kinds = [1; N_VOCAB];
        kinds[..4].copy_from_slice(&[2, 3, kind, 3]);
        let model = gguf_with(&[
            (
                "tokenizer.ggml.token_type",
                Value::Array(kinds.map(Value::I32).to_vec()),
            ),
            ("tokenizer.ggml.eos_token_id", Value::U32(end)),
        ]);
        let ends: Vec<u32> = model.end_tokens.iter().map(|token| token.0).collect();
        assert_eq!(ends, expected, "kind {kind}, end {end}");
        let found = model.vocabulary.piece(TokenId(2));
        assert_eq!((found.bytes.as_slice(), found.kind), (&b"</s>"[..], piece));
    }
}
