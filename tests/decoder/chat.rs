//! How models from disk start and end texts, and how they apply chat templates.

use std::fs;
use std::path::{Path, PathBuf};

use candle_core::DType;
use candle_core::quantized::GgmlDType;
use candle_core::quantized::gguf_file::Value;
use quartet::decoding::TokenId;
use quartet::engine::{EngineError, LoadedModel};
use quartet::generation::{
    ChatMessage, ChatSettings, ChatSupport, PieceKind, PromptText, TemplateSwitch,
};
use serde_json::json;

use crate::decoder::fixture::{N_VOCAB, open, tokenizer, write_folder, write_gguf};

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
    let path = write_gguf_with(folder.path(), entries);
    fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    open(&path).unwrap()
}

/// Writes a GGUF file that describes its tokenizer, with another one in a `tokenizer.json` beside
/// it.
fn write_gguf_with(folder: &Path, entries: &[(&str, Value)]) -> PathBuf {
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
    write_gguf(folder, true, GgmlDType::F32, &metadata)
}

fn ids(model: &LoadedModel, prompt: &PromptText) -> Vec<u32> {
    let prompt = model.encode_prompt(prompt).unwrap();
    prompt.tokens.into_iter().map(|token| token.0).collect()
}

/// A `tokenizer.json` whose post-processor adds these tokens around a text.
fn tokenizer_json(begin: Option<&str>, end: Option<&str>) -> (&'static str, String) {
    let special = |name: &&str| json!({"SpecialToken": {"id": name, "type_id": 0}});
    let text = json!({"Sequence": {"id": "A", "type_id": 0}});
    let single: Vec<_> = begin
        .iter()
        .map(special)
        .chain([text.clone()])
        .chain(end.iter().map(special))
        .collect();
    let ids = [("<s>", 1), ("</s>", 2)];
    let tokens = ids.map(|(name, id)| {
        let token = json!({"id": name, "ids": [id], "tokens": [name]});
        (name.to_owned(), token)
    });
    let mut file = tokenizer(N_VOCAB);
    file["post_processor"] = json!({
        "type": "TemplateProcessing", "single": single, "pair": [text],
        "special_tokens": serde_json::Map::from_iter(tokens),
    });
    ("tokenizer.json", file.to_string())
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

/// The ids are those of transformers 5.24, for which `tokenizer.json` alone says how a text begins.
#[test]
fn a_chat_has_one_bos_token_and_ends_with_the_generation_prompt() {
    for (begins, added) in [
        (true, Some("<s>")),
        (false, Some("<s>")),
        (true, None),
        (false, None),
    ] {
        let model = folder_with(&[config(begins), tokenizer_json(added, None)]).unwrap();
        assert_eq!(model.chat_support(), ChatSupport::ready());
        let begin = if added.is_some() { vec![1] } else { Vec::new() };
        let raw = ids(&model, &PromptText::raw("w5 w9"));
        assert_eq!(raw, [begin, vec![5, 9]].concat());
        // The template writes the BOS token.
        let chat = ids(&model, &PromptText::chat("w5 w9", ""));
        assert_eq!(chat, [1, 6, 5, 9, 2, 7]);
        let warning = model.load_warning.unwrap_or_default();
        let contradiction = format!("tokenizer_config.json sets add_bos_token to {begins}, but");
        let contradicts = begins != added.is_some();
        assert_eq!(warning.contains(&contradiction), contradicts, "{warning}");
    }
    let model = folder_with(&[config(true)]).unwrap();
    let prompt = model.encode_prompt(&PromptText::chat("w5", "w8")).unwrap();
    let chat = prompt.chat.unwrap();
    assert_eq!(chat.rendered, "<s> w6 w8</s> w6 w5</s> w7");
    let system = chat.settings.system.as_deref();
    assert_eq!((prompt.text.as_str(), system), ("w5", Some("w8")));
}

/// As with `apply_chat_template` of transformers. llama.cpp adds the token, so a GGUF file gets it.
#[test]
fn the_template_of_a_folder_writes_the_whole_chat() {
    let template = TEMPLATE.replace("{{ bos_token }}", "");
    let files = [
        config(true),
        tokenizer_json(Some("<s>"), None),
        ("chat_template.jinja", template.clone()),
    ];
    let model = folder_with(&files).unwrap();
    assert_eq!(ids(&model, &PromptText::chat("w5", "")), [6, 5, 2, 7]);
    let gguf = gguf_with(&[
        ("tokenizer.chat_template", Value::String(template)),
        ("tokenizer.ggml.eos_token_id", Value::U32(2)),
    ]);
    // Its tokenizer has no pieces for the letters of words, only the special tokens.
    assert_eq!(ids(&gguf, &PromptText::chat("w5", "")), [1, 0, 2, 0]);
}

#[test]
fn an_empty_system_message_is_not_the_same_as_none() {
    let template = "{% if messages[0].role == 'system' %}w8{{ messages[0].content }}{% else %}w9\
                    {% endif %} {{ messages[-1].content }}";
    let template = ("chat_template.jinja", template.to_owned());
    let model = folder_with(&[config(false), template]).unwrap();
    for (system, expected) in [
        (None, "w9 w5"),
        (Some(""), "w8 w5"),
        (Some(" w4"), "w8 w4 w5"),
    ] {
        let settings = system.map(ChatSettings::with_system);
        let prompt = PromptText::chat_with("w5", settings.unwrap_or_default());
        let chat = model.encode_prompt(&prompt).unwrap().chat.unwrap();
        assert_eq!(
            (chat.rendered.as_str(), chat.settings.system.as_deref()),
            (expected, system)
        );
    }
}

#[test]
fn variables_reach_the_template_and_it_says_which_switches_it_reads() {
    let template = "{{ messages[0].content }}{% if enable_thinking is defined and not \
                    enable_thinking %} w8{% endif %}{{ bos_token }}";
    let template = ("chat_template.jinja", template.to_owned());
    let model = folder_with(&[config(false), template]).unwrap();
    let switches = vec![TemplateSwitch::EnableThinking];
    let expected = ChatSupport::Ready {
        switches,
        tool_calls: None,
    };
    assert_eq!(model.chat_support(), expected);
    let rendered = |kwargs: serde_json::Value| {
        let settings = ChatSettings {
            kwargs: serde_json::from_value(kwargs).unwrap(),
            ..ChatSettings::default()
        };
        let prompt = PromptText::chat_with("w5", settings.clone());
        let chat = model.encode_prompt(&prompt).unwrap().chat.unwrap();
        assert_eq!(chat.settings, settings);
        chat.rendered
    };
    let usual = rendered(json!({}));
    assert!(usual.starts_with("w5") && !usual.contains("w8"), "{usual}");
    assert_eq!(rendered(json!({"enable_thinking": true})), usual);
    let without = rendered(json!({"enable_thinking": false}));
    assert_eq!(without, usual.replacen("w5", "w5 w8", 1));
    // As in transformers, they replace a special token of the same name.
    assert_eq!(rendered(json!({"bos_token": " w4"})), "w5 w4");
    // What the chat is about can't be replaced.
    assert_eq!(rendered(json!({"messages": []})), usual);
}

/// The texts are those of transformers 5.24: `special_tokens_map.json` counts unless
/// `tokenizer_config.json` lists the added tokens.
#[test]
fn special_tokens_come_from_the_file_that_counts() {
    let template = json!("{{ bos_token }}{{ eos_token }}");
    let config = |more: serde_json::Value| {
        let mut config = json!({"bos_token": "w5", "chat_template": template});
        config
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        ("tokenizer_config.json", config.to_string())
    };
    let map = json!({"bos_token": {"content": "<s>", "lstrip": false}, "eos_token": "</s>"});
    let map = || ("special_tokens_map.json", map.to_string());
    for (files, expected) in [
        (vec![config(json!({}))], "w5"),
        (vec![config(json!({})), map()], "<s></s>"),
        (
            vec![config(json!({"added_tokens_decoder": {}})), map()],
            "w5",
        ),
    ] {
        let model = folder_with(&files).unwrap();
        let prompt = model.encode_prompt(&PromptText::chat("w9", "")).unwrap();
        assert_eq!(prompt.chat.unwrap().rendered, expected);
    }
}

#[test]
fn an_added_token_with_another_id_is_reported() {
    let decoder = json!({"1": {"content": "<s>"}, "60": {"content": "<new>"}});
    for (files, is_reported) in [
        (vec![("added_tokens.json", json!({"<s>": 1}))], false),
        (vec![("added_tokens.json", json!({"<s>": 3}))], true),
        (
            vec![(
                "tokenizer_config.json",
                json!({"added_tokens_decoder": decoder}),
            )],
            true,
        ),
    ] {
        let files: Vec<_> = files
            .into_iter()
            .map(|(name, file)| (name, file.to_string()))
            .collect();
        let warning = folder_with(&files)
            .unwrap()
            .load_warning
            .unwrap_or_default();
        let is_found =
            warning.contains("an id that tokenizer.json does not; tokenizer.json counts");
        assert_eq!(is_found, is_reported, "{warning}");
    }
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
    let config = ("tokenizer_config.json", config.to_string());
    let model = folder_with(&[config, tokenizer_json(None, Some("</s>"))]).unwrap();
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
            "the model’s chat template could not be understood on line 1: ",
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
    assert!(error.starts_with("The tokenizer’s configuration could not be understood: "));
    let model = folder_with(&[]).unwrap();
    assert_eq!(model.chat_support(), ChatSupport::Missing);
}

#[test]
fn a_gguf_file_provides_its_template_and_end_tokens() {
    let template = Value::String(TEMPLATE.to_owned());
    let model = gguf_with(&[("tokenizer.chat_template", template.clone())]);
    assert_eq!(model.chat_support(), ChatSupport::ready());
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
    assert_eq!(model.chat_support(), ChatSupport::ready());
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

/// As in llama.cpp, which reads no other file. Without a description, the other file helps.
#[test]
fn the_tokenizer_of_a_gguf_file_comes_before_the_one_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let open_with = |entries: &[(&str, Value)]| {
        let path = write_gguf_with(folder.path(), entries);
        open(&path).unwrap().vocabulary.piece(TokenId(5)).bytes
    };
    let own = " w5".as_bytes();
    let beside = "w5".as_bytes();
    assert_eq!(open_with(&[]), own);
    let unknown = ("tokenizer.ggml.model", Value::String("abacus".to_owned()));
    assert_eq!(open_with(&[unknown]), beside);
    let unnamed = ("tokenizer.ggml.model", Value::String("gpt2".to_owned()));
    assert_eq!(open_with(&[unnamed]), beside);
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

#[test]
fn earlier_messages_are_rendered_before_the_one_to_answer() {
    let template = "{% for message in messages %}[{{ message.role }} {{ message.content }}]\
                    {% endfor %}";
    let template = ("chat_template.jinja", template.to_owned());
    let model = folder_with(&[config(false), template]).unwrap();
    let settings = ChatSettings {
        system: Some("w1".to_owned()),
        history: vec![ChatMessage::user("w2"), ChatMessage::assistant("w3")],
        ..ChatSettings::default()
    };
    let prompt = PromptText::chat_with("w4", settings.clone());
    let chat = model.encode_prompt(&prompt).unwrap().chat.unwrap();
    let rendered = "[system w1][user w2][assistant w3][user w4]";
    assert_eq!(
        (chat.rendered.as_str(), &chat.settings),
        (rendered, &settings)
    );
}
