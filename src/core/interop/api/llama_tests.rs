//! Tests of llama-server’s own paths.

use std::sync::Arc;

use serde_json::{Value, json};

use super::tests::{merged, model, settings};
use super::{
    AnswerForm, AnswerStream, ApiError, ApiModel, Endpoint, TextRequest, detokenize, props,
    template_request, tokenize,
};
use crate::decoding::TokenId;
use crate::generation::testing::generation;
use crate::generation::{
    EndOfText, FinishReason, Framing, Generation, ModelInfo, Piece, PromptForm, Provenance,
    Vocabulary,
};

fn with(fields: Value) -> Result<TextRequest, ApiError> {
    let body = merged(json!({"prompt": "Once"}), fields).to_string();
    TextRequest::read(Endpoint::LlamaCompletion, body.as_bytes(), &model())
}

#[test]
fn what_a_request_leaves_out_has_llama_servers_default() {
    for (fields, expected) in [
        (
            json!({}),
            "top-k 40, top-p 0.95, min-p 0.05, T 0.8, dialect llama.cpp",
        ),
        (
            json!({"temperature": 0.5, "top_k": 0, "min_p": 0}),
            "top-p 0.95, T 0.5, dialect llama.cpp",
        ),
        (
            json!({"temperature": 0}),
            "top-k 40, top-p 0.95, min-p 0.05, greedy, dialect llama.cpp",
        ),
    ] {
        let read = with(fields.clone()).unwrap_or_else(|error| panic!("{fields}: {error}"));
        assert_eq!(settings(&read), expected, "{fields}");
    }
    let read = with(json!({})).unwrap();
    assert_eq!((read.limits.max_new_tokens, read.seed), (100, None));
    assert_eq!((read.n_texts, read.delivery.n_top), (1, None));
    let read = with(json!({
        "n_predict": 7, "seed": u32::MAX, "n_probs": 3, "n_cmpl": 2, "stop": ["x"], "cache_prompt": true,
        "return_tokens": true, "stream": true, "id_slot": -1, "n_keep": 0, "t_max_predict_ms": 0,
    }));
    let read = read.unwrap();
    assert_eq!((read.limits.max_new_tokens, read.seed), (7, None));
    assert_eq!((read.n_texts, read.delivery.n_top), (2, Some(3)));
    assert!(read.delivery.stream && read.delivery.llama.return_tokens);
}

#[test]
fn an_ignored_end_of_text_is_never_sampled() {
    let model = ApiModel {
        info: Arc::new(ModelInfo {
            provenance: Provenance {
                end_tokens: vec![TokenId(4)],
                ..Provenance::default()
            },
            ..(*model().info).clone()
        }),
        ..model()
    };
    for (biases, expected) in [(json!([]), "ban 4"), (json!([[1, false]]), "ban 1 4")] {
        let body = json!({"prompt": "a", "ignore_eos": true, "logit_bias": biases}).to_string();
        let read = TextRequest::read(Endpoint::LlamaCompletion, body.as_bytes(), &model).unwrap();
        assert_eq!(read.limits.end_of_text, EndOfText::Ignored);
        assert!(settings(&read).starts_with(expected), "{}", settings(&read));
    }
}

#[test]
fn what_is_not_supported_is_named() {
    for (param, value) in [
        ("post_sampling_probs", json!(true)),
        ("t_max_predict_ms", json!(100)),
        ("n_keep", json!(5)),
        ("id_slot", json!(0)),
        ("lora", json!([{"id": 0, "scale": 1}])),
        ("response_fields", json!(["content"])),
        ("logprobs", json!(2)),
        ("foo", json!(1)),
        ("n_probs", json!(21)),
        ("prompt", json!(["a", "b"])),
    ] {
        let error = with(json!({param: value})).expect_err(param);
        assert_eq!(error.param.as_deref(), Some(param), "{error}");
        assert_eq!(error.body(true)["error"]["code"], 400);
    }
}

/// Returns a finished text, and the form of its response.
fn written(fields: Value, finish: FinishReason) -> (AnswerForm, Generation) {
    let mut text = generation(&[("Once", 0.5), ("\n", 0.25)]);
    text.finish = Some(finish);
    let request = with(fields).unwrap();
    (AnswerForm::new(&request, "toy", 0, 1), text)
}

#[test]
fn a_response_says_why_it_ended_and_how_many_tokens_it_has() {
    for (finish, stop_type, word, truncated) in [
        (FinishReason::EndOfText, "eos", "", false),
        (FinishReason::MaxTokens, "limit", "", false),
        (FinishReason::ContextFull, "limit", "", true),
        (
            FinishReason::StopString {
                stop: "x".to_owned(),
            },
            "word",
            "x",
            false,
        ),
    ] {
        let fields = json!({"return_tokens": true, "n_probs": 1});
        let (form, text) = written(fields, finish);
        let response = form.whole(&[&text]).unwrap();
        assert_eq!(response["stop_type"], stop_type);
        assert_eq!(response["stopping_word"], word);
        assert_eq!(response["truncated"], truncated);
        assert_eq!(
            (&response["stop"], &response["has_new_line"]),
            (&json!(true), &json!(true))
        );
        assert_eq!(
            (&response["content"], &response["model"]),
            (&json!(text.text()), &json!("toy"))
        );
        let ids: Vec<u32> = text.steps.iter().map(|step| step.token.0).collect();
        assert_eq!(response["tokens"], json!(ids));
        assert_eq!(response["tokens_predicted"], 2);
        assert_eq!(response["timings"]["predicted_n"], 2);
        assert_eq!(response["generation_settings"]["seed"], text.config.seed);
        let probs = response["completion_probabilities"].as_array().unwrap();
        assert_eq!(probs.len(), 2);
        assert_eq!(probs[0]["id"], ids[0]);
        let error = probs[0]["logprob"].as_f64().unwrap() - 0.5_f64.ln();
        assert!(error.abs() < 1e-2, "{error}");
        assert_eq!(probs[0]["bytes"], json!(b"Once"));
        assert_eq!(probs[0]["top_logprobs"].as_array().unwrap().len(), 1);
    }
    let (form, text) = written(json!({}), FinishReason::MaxTokens);
    let response = form.whole(&[&text, &text]).unwrap();
    assert_eq!(response[1]["index"], 1);
    assert_eq!(response[0]["tokens"], json!([]));
    assert_eq!(response[0].get("completion_probabilities"), None);
    let (form, text) = written(json!({}), FinishReason::Cancelled);
    assert_eq!(form.whole(&[&text]).unwrap_err().status, 503);
}

#[test]
fn a_stream_has_an_event_for_each_token_and_one_for_the_end() {
    let (form, text) = written(
        json!({"stream": true, "n_probs": 1}),
        FinishReason::MaxTokens,
    );
    let mut stream = AnswerStream::new(&form, 0, &["\n!".to_owned()]);
    assert_eq!(stream.begin(&form), None);
    let mut growing = text.clone();
    growing.steps.truncate(0);
    let mut events = Vec::new();
    for step in &text.steps {
        growing.steps.push(step.clone());
        events.extend(stream.step(&form, &growing));
    }
    events.extend(stream.finish(&form, &text));
    let contents: Vec<&str> = events
        .iter()
        .map(|it| it["content"].as_str().unwrap())
        .collect();
    // The line break may have been the beginning of the stop sequence.
    assert_eq!(contents, ["Once", "", "\n", ""]);
    let stops: Vec<&Value> = events.iter().map(|event| &event["stop"]).collect();
    assert_eq!(stops, [false, false, false, true]);
    assert_eq!(events[1]["tokens"], json!([text.steps[1].token.0]));
    assert_eq!(
        events[1]["completion_probabilities"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(events[3]["stop_type"], "limit");
    assert_eq!(form.end_of_stream(), None);
}

/// A model whose tokenizer knows letters, and adds a token around each text.
fn tokenizing() -> ApiModel {
    let pieces = [Piece::text("a"), Piece::text("b"), Piece::special("<s>")];
    let mut pieces = pieces.to_vec();
    pieces.push(Piece::text(vec![0xE2]));
    let encode = |text: &str, framing: Framing| {
        let ids = text.bytes().map(|byte| TokenId(u32::from(byte - b'a')));
        let begin = (framing == Framing::Whole).then_some(TokenId(2));
        Some(begin.into_iter().chain(ids).collect())
    };
    let model = model();
    ApiModel {
        info: Arc::new(ModelInfo {
            n_vocab: 4,
            ..(*model.info).clone()
        }),
        vocabulary: Arc::new(Vocabulary::new(pieces).with_encoder(encode)),
        ..model
    }
}

#[test]
fn texts_become_tokens_and_tokens_texts() {
    let model = tokenizing();
    let tokens = |body: Value| tokenize(body.to_string().as_bytes(), &model).unwrap();
    assert_eq!(tokens(json!({"content": "ab"})), json!({"tokens": [0, 1]}));
    assert_eq!(
        tokens(json!({"content": "ab", "add_special": true, "parse_special": false}))["tokens"],
        json!([2, 0, 1])
    );
    assert_eq!(
        tokens(json!({"content": "d", "with_pieces": true})),
        json!({"tokens": [{"id": 3, "piece": [0xE2]}]})
    );
    assert_eq!(tokens(json!({"content": ""})), json!({"tokens": []}));
    let text = detokenize(br#"{"tokens": [2, 0, 1]}"#, &model).unwrap();
    assert_eq!(text, json!({"content": "<s>ab"}));
    for (param, body) in [
        ("content", json!({})),
        ("content", json!({"content": 5})),
        ("content", json!({"content": "a".repeat((1 << 20) + 1)})),
        (
            "parse_special",
            json!({"content": "a<s>", "parse_special": false}),
        ),
        ("foo", json!({"content": "a", "foo": 1})),
    ] {
        let error = tokenize(body.to_string().as_bytes(), &model).unwrap_err();
        assert_eq!(error.param.as_deref(), Some(param), "{error}");
    }
    for tokens in [
        json!(null),
        json!("a"),
        json!([4]),
        json!([-1]),
        json!(["a"]),
    ] {
        let body = json!({"tokens": tokens}).to_string();
        let error = detokenize(body.as_bytes(), &model).unwrap_err();
        assert_eq!(error.param.as_deref(), Some("tokens"), "{error}");
    }
}

#[test]
fn chats_are_read_for_the_template() {
    let body = json!({"messages": [{"role": "user", "content": "Hi"}]}).to_string();
    let chat = template_request(body.as_bytes()).unwrap();
    assert_eq!(chat.text, "Hi");
    assert!(matches!(chat.form, PromptForm::Chat(_)));
    let body = json!({"messages": [{"role": "user", "content": "Hi"}], "foo": 1}).to_string();
    let error = template_request(body.as_bytes()).unwrap_err();
    assert_eq!(error.param.as_deref(), Some("foo"));
}

#[test]
fn properties_state_the_defaults() {
    let props = props(&model(), 8);
    let settings = &props["default_generation_settings"];
    assert_eq!(
        (&settings["n_ctx"], &props["total_slots"]),
        (&json!(100), &json!(8))
    );
    assert_eq!(settings["params"]["top_k"], 40);
    assert_eq!(settings["params"].get("seed"), None);
}
