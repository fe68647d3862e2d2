//! Tests of what requests mean, and of what is refused.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{ApiError, ApiModel, Endpoint, RequestPrompt, TextRequest};
use crate::decoding::TokenId;
use crate::generation::{
    ChatMessage, EndOfText, ModelInfo, PaneSettings, Piece, PromptForm, Vocabulary,
};

pub(super) fn model() -> ApiModel {
    let pieces = ["a", "b", "\n", ":", "\"", "*"].map(Piece::text);
    ApiModel {
        info: Arc::new(ModelInfo {
            name: "toy".to_owned(),
            n_vocab: 6,
            n_context: 100,
            ..ModelInfo::default()
        }),
        vocabulary: Arc::new(Vocabulary::new(pieces.to_vec())),
        second: None,
        loaded_at: 0,
        tool_calls: None,
    }
}

fn read(endpoint: Endpoint, body: &Value) -> Result<TextRequest, ApiError> {
    TextRequest::read(endpoint, body.to_string().as_bytes(), &model())
}

/// Reads a request for a text with these further fields.
fn with(fields: Value) -> Result<TextRequest, ApiError> {
    read(
        Endpoint::Completions,
        &merged(json!({"prompt": "Once"}), fields),
    )
}

/// Reads a request for an answer with these further fields.
fn chat_with(fields: Value) -> Result<TextRequest, ApiError> {
    let messages = json!([{"role": "user", "content": "Hi"}]);
    read(
        Endpoint::ChatCompletions,
        &merged(json!({"messages": messages}), fields),
    )
}

/// Returns the chain in the words of `--pane`.
pub(super) fn settings(request: &TextRequest) -> String {
    PaneSettings::from(request.chain.clone()).to_string()
}

pub(super) fn merged(mut body: Value, fields: Value) -> Value {
    let (Some(all), Value::Object(fields)) = (body.as_object_mut(), fields) else {
        panic!("both are objects");
    };
    all.extend(fields);
    body
}

#[test]
fn without_settings_the_api_draws_from_the_model_itself() {
    let text = with(json!({})).unwrap();
    assert_eq!(settings(&text), "sample, dialect openai");
    assert_eq!((text.limits.max_new_tokens, text.n_texts), (16, 1));
    assert_eq!((text.seed, text.delivery.stream), (None, false));
    assert_eq!(text.limits.end_of_text, EndOfText::Stops);
    // An answer is limited by the context alone.
    assert_eq!(chat_with(json!({})).unwrap().limits.max_new_tokens, 100);
}

#[test]
fn settings_define_the_chain() {
    for (fields, expected) in [
        (json!({"temperature": 0}), "greedy, dialect openai"),
        (
            json!({"temperature": 0.7, "top_p": 0.9, "frequency_penalty": 0.5}),
            "frequency 0.5 last all generated only, T 0.7, top-p 0.9, dialect openai",
        ),
        (
            json!({"logit_bias": {"1": -100, "2": 5}}),
            "bias 2 5 ban 1, dialect openai",
        ),
        // llama-server’s fields are read as llama-server reads them, without its defaults.
        (json!({"top_k": 5}), "top-k 5, dialect llama.cpp"),
        (
            json!({"min_p": 0.1, "temperature": 0.7}),
            "min-p 0.1, T 0.7, dialect llama.cpp",
        ),
        (
            json!({"samplers": ["temperature", "top_k"], "temperature": 0.5, "top_k": 3}),
            "T 0.5, top-k 3, dialect llama.cpp",
        ),
        (
            json!({"mirostat": 2, "mirostat_tau": 4}),
            "mirostat 4 eta 0.1, dialect llama.cpp",
        ),
        // What a program leaves at null, it leaves out.
        (
            json!({"temperature": null, "top_k": null, "user": "me"}),
            "sample, dialect openai",
        ),
    ] {
        let read = with(fields.clone()).unwrap_or_else(|error| panic!("{fields}: {error}"));
        assert_eq!(settings(&read), expected, "{fields}");
    }
}

#[test]
fn limits_and_seeds_have_several_names_and_values_for_none() {
    let limit = |fields: Value| with(fields).unwrap().limits.max_new_tokens;
    assert_eq!(limit(json!({"max_tokens": 7})), 7);
    assert_eq!(
        limit(json!({"max_completion_tokens": 7, "max_tokens": 7})),
        7
    );
    assert_eq!(limit(json!({"n_predict": -1})), 100);
    assert_eq!(limit(json!({"max_tokens": 1_000_000})), 100);
    let seed = |fields: Value| with(fields).unwrap().seed;
    assert_eq!(seed(json!({"seed": 7})), Some(7));
    assert_eq!(seed(json!({"seed": u64::MAX})), Some(u64::MAX));
    assert_eq!(seed(json!({"seed": -1})), None);
    let stop = |stop: Value| with(json!({"stop": stop})).unwrap().limits.stop_strings;
    assert_eq!(stop(json!("x")), ["x"]);
    assert_eq!(stop(json!(["x", "", "y"])), ["x", "y"]);
}

#[test]
fn prompts_are_texts_or_tokens() {
    let prompt = |prompt: Value| with(json!({"prompt": prompt})).unwrap().prompt;
    assert_eq!(prompt(json!("Once")), RequestPrompt::Text("Once".into()));
    assert_eq!(prompt(json!(["Once"])), RequestPrompt::Text("Once".into()));
    let tokens = RequestPrompt::Tokens(vec![TokenId(1), TokenId(0)]);
    assert_eq!(prompt(json!([1, 0])), tokens);
    assert_eq!(prompt(json!([[1, 0]])), tokens);
    for refused in [
        json!(""),
        json!([]),
        json!([[]]),
        json!(["a", "b"]),
        json!([6]),
        json!([-1]),
        json!([1, "a"]),
        json!(7),
    ] {
        let error = with(json!({"prompt": refused})).unwrap_err();
        assert_eq!(error.param.as_deref(), Some("prompt"), "{error}");
    }
}

#[test]
fn messages_are_answered_through_the_template() {
    let messages = json!([
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello!", "tool_calls": []},
        {"role": "user", "content": [{"type": "text", "text": "Who are you?"}]},
    ]);
    let kwargs = json!({"enable_thinking": false});
    let read = chat_with(json!({"messages": messages, "chat_template_kwargs": kwargs})).unwrap();
    let RequestPrompt::Text(prompt) = read.prompt else {
        panic!("messages are a text");
    };
    assert_eq!(prompt.text, "Who are you?");
    let PromptForm::Chat(settings) = prompt.form else {
        panic!("it is a chat");
    };
    assert_eq!(settings.system.as_deref(), Some("Be kind."));
    let before = [ChatMessage::user("Hi"), ChatMessage::assistant("Hello!")];
    assert_eq!(settings.history, before);
    assert_eq!(settings.kwargs.get("enable_thinking"), Some(&json!(false)));
}

#[test]
fn log_probabilities_are_asked_for_differently() {
    let n_top = |read: Result<TextRequest, ApiError>| read.unwrap().delivery.n_top;
    assert_eq!(n_top(with(json!({}))), None);
    assert_eq!(n_top(with(json!({"logprobs": 0}))), Some(0));
    assert_eq!(n_top(chat_with(json!({"logprobs": false}))), None);
    assert_eq!(n_top(chat_with(json!({"logprobs": true}))), Some(0));
    assert_eq!(
        n_top(chat_with(json!({"logprobs": true, "top_logprobs": 3}))),
        Some(3)
    );
}

#[test]
fn a_format_becomes_a_grammar() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    for (format, expected) in [
        (json!({"type": "text"}), None),
        (json!({"type": "json_object"}), Some(String::new())),
        (
            json!({"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}),
            Some(schema.to_string()),
        ),
    ] {
        let chain = chat_with(json!({"response_format": format})).unwrap().chain;
        let grammar = chain.grammar.map(|rule| rule.text().to_string());
        let json = |text: &String| serde_json::from_str::<Value>(text).ok();
        assert_eq!(
            grammar.as_ref().and_then(json),
            expected.as_ref().and_then(json),
            "{format}"
        );
        assert_eq!(grammar.is_some(), expected.is_some(), "{format}");
    }
}

#[test]
fn what_changes_nothing_is_accepted() {
    for fields in [
        json!({"model": "toy", "user": "me", "metadata": {"a": "b"}, "store": false, "n": 1}),
        json!({"stream": false, "service_tier": "auto", "cache_prompt": true, "id_slot": -1}),
        json!({"echo": false, "suffix": null, "best_of": 1}),
        // llama-server has no use for them either, and lists them here.
        json!({"mirostat": 2, "top_k": 5}),
    ] {
        with(fields.clone()).unwrap_or_else(|error| panic!("{fields}: {error}"));
    }
    let notes = with(json!({"mirostat": 2, "top_k": 5})).unwrap().notes;
    assert_eq!(notes, ["top_k 5 has no effect with mirostat"]);
    let tools = json!({"tools": [], "tool_choice": "none", "parallel_tool_calls": true});
    chat_with(tools).unwrap();
}

#[test]
fn the_template_gets_tools_calls_and_results() {
    let call = json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let messages = json!([
        {"role": "user", "content": "Rain?"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "content": "no", "tool_call_id": "c", "name": "f"},
    ]);
    let tool = json!({"type": "function", "function": {"name": "f"}});
    for (choice, n_tools) in [("auto", 1), ("none", 0)] {
        let fields = json!({"messages": messages, "tools": [tool], "tool_choice": choice});
        let RequestPrompt::Text(prompt) = chat_with(fields).unwrap().prompt else {
            panic!("messages are a text");
        };
        let PromptForm::Chat(settings) = prompt.form else {
            panic!("messages are answered");
        };
        assert_eq!(prompt.text, "no");
        assert_eq!(settings.tools.definitions.len(), n_tools);
        let answered = settings.tools.answered_call.unwrap();
        assert_eq!(answered.tool_call_id.as_deref(), Some("c"));
        assert_eq!(settings.history[1].tool_calls, std::slice::from_ref(&call));
    }
}

/// Checks that a request is refused, and what the error names and says.
fn assert_refused(
    read: fn(Value) -> Result<TextRequest, ApiError>,
    fields: Value,
    param: &str,
    words: &str,
) {
    let shown = fields.to_string();
    let error = read(fields).expect_err(&shown);
    assert_eq!(error.param.as_deref(), Some(param), "{shown}: {error}");
    assert!(error.message.contains(words), "{shown}: {error}");
    let status = if param == "model" { 404 } else { 400 };
    assert_eq!(error.status, status);
    assert_eq!(error.body(false)["error"]["type"], "invalid_request_error");
}

#[test]
fn wrong_values_are_named() {
    for (param, value, words) in [
        ("temperature", json!(3), "between 0 and 2"),
        ("temperature", json!("hot"), "must be a number, not \"hot\""),
        ("top_p", json!(1.5), "between 0 and 1"),
        ("seed", json!(-2), "at least 0"),
        ("seed", json!(1.5), "at least 0"),
        ("n", json!(9), "from 1 to 8"),
        ("max_tokens", json!(-2), "at least -1"),
        ("stop", json!(1), "a string or a list of strings"),
        ("stop", json!(vec!["x"; 33]), "at most 32"),
        ("stream", json!(1), "true or false"),
        ("stream_options", json!({}), "needs stream: true"),
        ("logprobs", json!(21), "from 0 to 20"),
        ("logit_bias", json!(1), "must assign numbers"),
        ("grammar", json!("root ::= ("), "is invalid"),
        (
            "response_format",
            json!({"type": "xml"}),
            "text, json_object or json_schema",
        ),
        (
            "response_format",
            json!({"type": "json_schema"}),
            "has no json_schema",
        ),
        ("model", json!("gpt-4"), "ask for \"toy\""),
    ] {
        assert_refused(with, json!({param: value}), param, words);
    }
    let two = json!({"max_tokens": 1, "n_predict": 2});
    assert_refused(with, two, "n_predict", "contradicts");
}

#[test]
fn what_is_not_supported_is_named() {
    for (param, value) in [
        ("foo", json!(1)),
        ("echo", json!(true)),
        ("suffix", json!("x")),
        ("best_of", json!(2)),
        ("store", json!(true)),
        ("cache_prompt", json!(false)),
        ("repetition_penalty", json!(1.1)),
    ] {
        assert_refused(with, json!({param: value}), param, "is not supported");
    }
    let biases = json!({"logit_bias": {"fox": 1}});
    assert_refused(with, biases, "logit_bias", "use a token id");
    let format = json!({"type": "json_object", "schema": {}});
    let format = json!({"response_format": format});
    assert_refused(with, format, "response_format", "the type json_schema");
    let effort = json!({"reasoning_effort": "low"});
    assert_refused(chat_with, effort, "reasoning_effort", "is not supported");
    for tools in [
        json!([{}]),
        json!([{"type": "function", "function": {}}]),
        json!({}),
    ] {
        let tools = json!({"tools": tools});
        assert_refused(
            chat_with,
            tools,
            "tools",
            "at most 128 functions with names",
        );
    }
    for choice in [json!("required"), json!({"type": "function"})] {
        let choice = json!({"tool_choice": choice});
        assert_refused(chat_with, choice, "tool_choice", "tool_choice must be");
    }
    let top = json!({"top_logprobs": 3});
    assert_refused(chat_with, top, "top_logprobs", "needs logprobs");
    let kwargs = json!({"chat_template_kwargs": {"messages": []}});
    assert_refused(chat_with, kwargs, "chat_template_kwargs", "can’t replace");
}

#[test]
fn messages_that_cannot_be_answered_say_why() {
    let user = json!({"role": "user", "content": "Hi"});
    for (messages, param, words) in [
        (json!(null), "messages", "is missing"),
        (json!([]), "messages", "no list of messages"),
        (
            json!([user, {"role": "assistant", "content": "x"}]),
            "messages",
            "must be the user’s",
        ),
        (
            json!([{"role": "function", "content": "x"}]),
            "messages",
            "by \"function\"",
        ),
        (
            json!([{"role": "user", "content": ""}]),
            "messages",
            "is empty",
        ),
        (
            json!([{"role": "user", "content": "x", "name": "me"}]),
            "messages[0].name",
            "message 1 has name",
        ),
    ] {
        assert_refused(chat_with, json!({"messages": messages}), param, words);
    }
}

#[test]
fn what_is_no_object_says_why() {
    for (body, words) in [
        ("", "it is empty"),
        ("[", "it ends"),
        ("[]", "must be a JSON object"),
        ("{\"prompt\": \"\u{7}\"}", "control character"),
        ("{}", "prompt is missing"),
    ] {
        let error = TextRequest::read(Endpoint::Completions, body.as_bytes(), &model());
        let error = error.expect_err(body);
        assert!(error.message.contains(words), "{body}: {error}");
    }
    let deep = "[".repeat(100_000);
    let error = TextRequest::read(Endpoint::Completions, deep.as_bytes(), &model());
    assert!(error.unwrap_err().message.contains("nested too deeply"));
    assert!(TextRequest::read(Endpoint::Completions, b"\xff", &model()).is_err());
}
