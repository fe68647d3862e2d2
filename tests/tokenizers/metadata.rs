//! Compares tokenizers built from small synthetic vocabularies with the reference implementations
//! (`make_vocabularies.py`), and tries invalid metadata.

use std::fs::File;
use std::path::Path;

use candle_core::quantized::gguf_file::{self, Value};
use quartet::decoding::TokenId;
use quartet::engine::{EngineError, Tokenizer, open_gguf_tokenizer};
use quartet::generation::PieceKind;
use serde_json::Value as Json;

/// Metadata by key; a later value replaces an earlier one.
#[derive(Clone)]
struct Metadata(Vec<(String, Value)>);

impl Metadata {
    fn new(kind: &str, vocabulary: &Json) -> Self {
        let texts = |name: &str| list(&vocabulary[name], |entry| text(entry.as_str().unwrap()));
        let mut this = Self(Vec::new())
            .with("model", Value::String(kind.to_owned()))
            .with("tokens", texts("tokens"))
            .with(
                "token_type",
                list(&vocabulary["token_type"], |kind| {
                    Value::I32(kind.as_i64().unwrap() as i32)
                }),
            );
        if vocabulary["merges"].is_array() {
            this = this.with("merges", texts("merges"));
        }
        if vocabulary["scores"].is_array() {
            let score = |score: &Json| Value::F32(score.as_f64().unwrap() as f32);
            this = this.with("scores", list(&vocabulary["scores"], score));
        }
        if let Some(prefix) = vocabulary["add_space_prefix"].as_bool() {
            this = this.with("add_space_prefix", Value::Bool(prefix));
        }
        this
    }

    fn with(mut self, key: &str, value: Value) -> Self {
        let key = format!("tokenizer.ggml.{key}");
        self.0.retain(|(other, _)| *other != key);
        self.0.push((key, value));
        self
    }

    fn open(&self) -> Result<Tokenizer, EngineError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vocabulary.gguf");
        let entries: Vec<(&str, &Value)> =
            self.0.iter().map(|(key, v)| (key.as_str(), v)).collect();
        gguf_file::write(&mut File::create(&path).unwrap(), &entries, &[]).unwrap();
        open_gguf_tokenizer(&path)
    }
}

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

fn list(values: &Json, entry: impl Fn(&Json) -> Value) -> Value {
    Value::Array(values.as_array().unwrap().iter().map(entry).collect())
}

fn fixture() -> Json {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tokenizers/vocabularies.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn byte_level() -> Metadata {
    let metadata = Metadata::new("gpt2", &fixture()["byte_level"]);
    metadata.with("pre", text("gpt-2"))
}

fn sentence_piece(index: usize) -> Metadata {
    let metadata = Metadata::new("llama", &fixture()["sentence_piece"][index]);
    metadata.with("add_bos_token", Value::Bool(false))
}

fn ids(tokenizer: &Tokenizer, text: &str) -> Vec<u32> {
    let tokens = tokenizer.encode(text).unwrap();
    tokens.into_iter().map(|token| token.0).collect()
}

fn check(tokenizer: &Tokenizer, cases: &Json, name: &str) {
    for case in cases.as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        let expected: Vec<u32> = serde_json::from_value(case["ids"].clone()).unwrap();
        assert_eq!(ids(tokenizer, text), expected, "{text:?}, {name}");
    }
}

#[test]
fn each_pre_tokenizer_produces_the_reference_tokens() {
    for (name, cases) in fixture()["byte_level"]["cases"].as_object().unwrap() {
        let metadata = byte_level()
            .with("pre", text(name))
            .with("add_bos_token", Value::Bool(false));
        check(&metadata.open().unwrap(), cases, name);
    }
}

/// The pre-tokenizer names that llama.cpp writes; some are synonyms.
#[test]
fn every_known_pre_tokenizer_is_lossless() {
    for name in [
        "a.x-4.0 bailingmoe bailingmoe2 bloom chatglm-bpe codeshell command-r dbrx deepseek-coder",
        "deepseek-llm deepseek-r1-qwen deepseek-v3 exaone exaone4 falcon falcon-h1 falcon3 gigachat",
        "glm4 gpt-2 gpt-4o gpt3-finnish granite-docling grok-2 hunyuan hunyuan-dense jais joyai-llm",
        "kanana2 kormo lfm2 llada-moe llama-bpe llama-v3 llama3 llama4 megrez mellum mellum2",
        "midm-2.0 minerva-7b minimax-m2 modern-bert mpt olmo phi-2 pixtral poro-chat qwen2 qwen35",
        "refact seed-coder smaug-bpe smollm solar-open stablelm2 starcoder tekken trillion",
    ]
    .into_iter()
    .flat_map(str::split_whitespace)
    {
        let metadata = byte_level()
            .with("pre", text(name))
            .with("add_bos_token", Value::Bool(false));
        let tokenizer = metadata.open().unwrap();
        let vocabulary = tokenizer.vocabulary(tokenizer.n_tokens());
        let original = "It's 2024: 你好, ÉTÉ 🦊!!\r\n\t  x1234 (a|b) \n\n";
        let tokens = tokenizer.encode(original).unwrap();
        let bytes = tokens.iter().flat_map(|token| vocabulary.piece(*token).bytes);
        let decoded = String::from_utf8(bytes.collect()).unwrap();
        assert_eq!(decoded, original, "{name}");
    }
}

#[test]
fn scores_and_byte_fallback_produce_the_reference_tokens() {
    for index in 0..2 {
        let tokenizer = sentence_piece(index).open().unwrap();
        check(
            &tokenizer,
            &fixture()["sentence_piece"][index]["cases"],
            "SentencePiece",
        );
    }
}

#[test]
fn a_special_token_in_a_text_is_one_token_and_restarts_the_text() {
    let tokenizer = sentence_piece(0).open().unwrap();
    let special = |name: &str| vec![tokenizer.token(name).unwrap().0];
    let expected = [
        ids(&tokenizer, "The fox"),
        special("<|end|>"),
        ids(&tokenizer, "fox "),
        special("<think>"),
        special("</s>"),
    ];
    let found = ids(&tokenizer, "The fox<|end|>fox <think></s>");
    assert_eq!(found, expected.concat());
}

/// Files of Gemma 3 list the tokens that start and end a turn as normal tokens.
#[test]
fn a_turn_marker_that_is_listed_as_a_normal_token_is_special() {
    let mut vocabulary = fixture()["sentence_piece"][0].clone();
    vocabulary["tokens"][4] = "<start_of_turn>".into();
    for id in [3, 4] {
        vocabulary["token_type"][id] = 1.into();
    }
    let metadata = Metadata::new("llama", &vocabulary).with("add_bos_token", Value::Bool(false));
    let tokenizer = metadata.open().unwrap();
    let found = ids(&tokenizer, "<start_of_turn>fox<|end|>");
    let expected = [&[4][..], &ids(&tokenizer, "fox"), &[3]].concat();
    assert_eq!(found, expected);
    let vocabulary = tokenizer.vocabulary(tokenizer.n_tokens());
    for id in [3, 4] {
        assert_eq!(vocabulary.piece(TokenId(id)).kind, PieceKind::Special);
    }
}

/// The bytes of a text's tokens, without special tokens, are the bytes of the text.
#[test]
fn tokens_decode_to_the_bytes_of_their_text() {
    let fixture = fixture();
    let mut vocabularies = vec![(byte_level().open().unwrap(), "")];
    vocabularies.extend([(sentence_piece(0).open().unwrap(), " ")]);
    vocabularies.extend([(sentence_piece(1).open().unwrap(), "")]);
    for (tokenizer, prefix) in vocabularies {
        let vocabulary = tokenizer.vocabulary(tokenizer.n_tokens());
        for case in fixture["sentence_piece"][0]["cases"].as_array().unwrap() {
            let text = case["text"].as_str().unwrap();
            let tokens = tokenizer.encode(text).unwrap();
            let bytes: Vec<u8> = tokens
                .into_iter()
                .flat_map(|token| vocabulary.piece(token).bytes)
                .collect();
            let prefix = if text.is_empty() { "" } else { prefix };
            assert_eq!(bytes, format!("{prefix}{text}").as_bytes(), "{text:?}");
        }
    }
}

#[test]
fn a_partial_character_is_an_ordinary_token() {
    let tokenizer = sentence_piece(0).open().unwrap();
    let vocabulary = tokenizer.vocabulary(tokenizer.n_tokens() + 1);
    let half = vocabulary.piece(tokenizer.token("<0xF0>").unwrap());
    assert_eq!(
        (half.bytes.as_slice(), half.kind),
        ([0xF0].as_slice(), PieceKind::Text)
    );
    let surplus = vocabulary.piece(TokenId(tokenizer.n_tokens() as u32));
    assert_eq!(surplus.kind, PieceKind::Special);
}

#[test]
fn bos_and_eos_tokens_are_added_as_the_metadata_says() {
    let flags = |metadata: Metadata, begin: Option<bool>, end: Option<bool>| {
        let mut metadata = metadata
            .with("bos_token_id", Value::U32(1))
            .with("eos_token_id", Value::U32(2));
        for (key, flag) in [("add_bos_token", begin), ("add_eos_token", end)] {
            metadata.0.retain(|(other, _)| !other.ends_with(key));
            if let Some(flag) = flag {
                metadata = metadata.with(key, Value::Bool(flag));
            }
        }
        ids(&metadata.open().unwrap(), "")
    };
    let (yes, no) = (Some(true), Some(false));
    for (metadata, begin, end, expected) in [
        (sentence_piece(0), None, None, vec![1]),
        (sentence_piece(0), no, no, vec![]),
        (sentence_piece(0), yes, yes, vec![1, 2]),
        (byte_level(), None, None, vec![]),
        (byte_level(), yes, no, vec![1]),
        (byte_level(), no, yes, vec![2]),
        (
            byte_level().with("pre", text("llama-bpe")),
            None,
            None,
            vec![1],
        ),
        (byte_level().with("pre", text("tekken")), no, None, vec![]),
    ] {
        assert_eq!(flags(metadata, begin, end), expected, "{begin:?}, {end:?}");
    }
}

#[test]
fn a_file_that_does_not_name_its_pre_tokenizer_opens_with_a_warning() {
    let named = byte_level().open().unwrap();
    assert_eq!(named.warning(), None);
    for pre in [text("default"), Value::U32(4)] {
        let tokenizer = byte_level().with("pre", pre).open().unwrap();
        let warning = tokenizer.warning().unwrap();
        assert!(warning.contains("Quartet assumes gpt-2"), "{warning}");
        let words = "The fox's (den) 123";
        assert_eq!(ids(&tokenizer, words), ids(&named, words));
    }
}

#[test]
fn invalid_metadata_is_rejected_with_a_reason() {
    let texts = |texts: &[&str]| Value::Array(texts.iter().map(|entry| text(entry)).collect());
    let cases = [
        (
            byte_level().with("model", text("t5")),
            "its type \"t5\" is not supported; only \"gpt2\", \"llama\" and \"gemma4\" are",
        ),
        (
            byte_level().with("pre", text("new")),
            "its pre-tokenizer \"new\" is not supported",
        ),
        (
            byte_level().with("tokens", Value::U32(4)),
            "tokenizer.ggml.tokens is missing",
        ),
        (byte_level().with("tokens", texts(&[])), "it has no tokens"),
        (
            byte_level().with("tokens", Value::Array(vec![Value::U32(4)])),
            "entry 0 of tokenizer.ggml.tokens is not a string",
        ),
        (
            byte_level()
                .with("tokens", texts(&["a", "b", "a"]))
                .with("token_type", Value::U8(0)),
            "its tokens 0 and 2 are both \"a\"",
        ),
        (
            byte_level().with("tokens", texts(&["a", "b"])),
            "tokenizer.ggml.token_type has 524 entries for 2 tokens",
        ),
        (
            sentence_piece(0).with("scores", Value::Array(vec![Value::F32(0.0)])),
            "tokenizer.ggml.scores has 1 entries for 480 tokens",
        ),
        (
            byte_level().with("merges", texts(&["T h", "Th x"])),
            "its merge 0, \"T h\", needs the token \"Th\", which does not exist",
        ),
        (
            byte_level().with("merges", texts(&["Ġt he", "Ġ"])),
            "its merge 1, \"Ġ\", does not name two tokens",
        ),
        (
            byte_level().with("merges", texts(&[""])),
            "its merge 0, \"\", does not name two tokens",
        ),
        (
            byte_level().with("bos_token_id", Value::U32(524)),
            "tokenizer.ggml.bos_token_id is 524, but there are 524 tokens",
        ),
        (
            byte_level().with("eos_token_id", Value::U64(u64::MAX)),
            "tokenizer.ggml.eos_token_id is 18446744073709551615, but there are 524 tokens",
        ),
        (
            byte_level().with("add_eos_token", Value::Bool(true)),
            "it adds the eos token to each text, but tokenizer.ggml.eos_token_id is missing",
        ),
    ];
    for (metadata, reason) in cases {
        let error = metadata.open().unwrap_err().to_string();
        let sentence = format!(
            "The tokenizer inside the GGUF file could not be understood: {reason}; \
             put the model’s tokenizer.json beside the file\n"
        );
        assert!(error.starts_with(&sentence), "{error}");
    }
}

#[test]
fn unusual_metadata_is_tolerated() {
    let nan = |metadata: Metadata| {
        let n_tokens = 480;
        metadata.with("scores", Value::Array(vec![Value::F32(f32::NAN); n_tokens]))
    };
    for metadata in [
        nan(sentence_piece(0)),
        sentence_piece(0).with("unknown_token_id", Value::U32(9999)),
        sentence_piece(0).with("scores", Value::Bool(true)),
        sentence_piece(0).with("token_type", Value::Bool(true)),
        byte_level().with("bos_token_id", Value::I32(-1)),
    ] {
        assert!(!ids(&metadata.open().unwrap(), "The fox").is_empty());
    }
}

#[test]
fn a_character_without_a_token_becomes_the_unknown_token_or_an_error() {
    let tokens = ["<unk>", "a", "b", "ab", "▁"];
    let metadata = |kinds: [i32; 5]| {
        Metadata(Vec::new())
            .with("model", text("llama"))
            .with("tokens", Value::Array(tokens.map(text).to_vec()))
            .with("token_type", Value::Array(kinds.map(Value::I32).to_vec()))
            .with("add_bos_token", Value::Bool(false))
    };
    let tokenizer = metadata([2, 1, 1, 1, 1]).open().unwrap();
    assert_eq!(ids(&tokenizer, "abéé"), [4, 3, 0]);
    let error = metadata([1; 5]).open().unwrap().encode("é").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the text could not be tokenized: the model has no token for \"é\""
    );
}
