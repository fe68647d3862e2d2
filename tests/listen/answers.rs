//! What programs get is what is recorded.

use serde_json::{Value, json};

use super::client::{Client, get, post};
use super::{Endpoint, chat_model};
use crate::scripted::ScriptedLm;
use quartet::generation::FinishReason;
use quartet::listen::Outcome;

const TALE: &str = "Once upon a time there was a fox.";

/// Joins the texts of a stream of `/v1/completions`.
fn joined(chunks: &[Value]) -> String {
    let texts = chunks.iter().map(|chunk| &chunk["choices"][0]["text"]);
    texts.filter_map(Value::as_str).collect()
}

#[test]
fn the_model_is_named_and_healthy() {
    let endpoint = Endpoint::reciting(TALE);
    assert_eq!(get(endpoint.address, "/health").json()["status"], "ok");
    let models = get(endpoint.address, "/v1/models").json();
    assert_eq!(models["object"], "list");
    assert_eq!(models["data"][0]["id"], "Scripted");
    assert_eq!(models["data"][0]["created"], 7);
}

#[test]
fn a_text_is_the_same_whole_streamed_and_in_the_record() {
    // Its logits are close to each other, so that the settings decide.
    let endpoint = Endpoint::start(|| ScriptedLm::babbling(512).into_loaded());
    let settings = json!({
        "prompt": "Once", "max_tokens": 60, "seed": 7, "temperature": 0.9, "top_p": 0.8,
        "logprobs": 3, "ignore_eos": true,
    });
    let whole = post(endpoint.address, "/v1/completions", &settings).json();
    let record = endpoint.texts().remove(0);
    assert_eq!(record.config.seed, 7);
    assert_eq!(record.config.chain.stages.len(), 2);
    assert_eq!(record.steps.len(), 60);
    let choice = &whole["choices"][0];
    assert_eq!(choice["text"], record.text());
    assert_eq!(choice["finish_reason"], "length");
    assert_eq!(whole["usage"]["prompt_tokens"], 4);
    assert_eq!(whole["usage"]["completion_tokens"], 60);
    assert_eq!(whole["usage"]["total_tokens"], 64);

    let mut streamed = settings;
    streamed["stream"] = json!(true);
    streamed["stream_options"] = json!({"include_usage": true});
    let response = post(endpoint.address, "/v1/completions", &streamed);
    assert_eq!(response.headers["content-type"], "text/event-stream");
    let again = endpoint.texts().remove(0);
    let tokens = |text: &quartet::generation::Generation| -> Vec<u32> {
        text.steps.iter().map(|step| step.token.0).collect()
    };
    assert_eq!(tokens(&again), tokens(&record));
    let mut chunks = response.chunks();
    let usage = chunks.pop().unwrap();
    assert_eq!(usage["choices"], json!([]));
    assert_eq!(usage["usage"]["completion_tokens"], 60);
    assert_eq!(joined(&chunks), record.text());
    assert_eq!(
        chunks.last().unwrap()["choices"][0]["finish_reason"],
        "length"
    );
    let all = |name: &str| -> Vec<Value> {
        let of_chunk = |chunk: &Value| chunk["choices"][0]["logprobs"][name].as_array().cloned();
        chunks.iter().filter_map(of_chunk).flatten().collect()
    };
    for name in ["tokens", "token_logprobs", "top_logprobs", "text_offset"] {
        assert_eq!(choice["logprobs"][name], Value::from(all(name)), "{name}");
    }
    for (step, log_prob) in record.steps.iter().zip(all("token_logprobs")) {
        let error = step.trace.raw_prob.ln() - log_prob.as_f64().unwrap();
        assert!(error.abs() < 1e-6, "{error}");
    }
}

#[test]
fn an_answer_is_the_same_whole_and_streamed() {
    let endpoint = Endpoint::start(|| chat_model("?Hi</s>:Hello"));
    let messages = json!([{"role": "user", "content": "Hi"}]);
    let request = json!({
        "model": "Scripted", "messages": messages, "temperature": 0, "logprobs": true,
        "top_logprobs": 2, "stop": ["o"],
    });
    let whole = post(endpoint.address, "/v1/chat/completions", &request).json();
    let record = endpoint.texts().remove(0);
    let rendered = record
        .prompt
        .chat
        .as_ref()
        .map(|chat| chat.rendered.as_str());
    assert_eq!(rendered, Some("?Hi</s>:"));
    assert_eq!(whole["object"], "chat.completion");
    let choice = &whole["choices"][0];
    assert_eq!(choice["message"]["role"], "assistant");
    assert_eq!(choice["message"]["content"], record.text());
    assert_eq!(choice["finish_reason"], "stop");
    let content = choice["logprobs"]["content"].as_array().unwrap();
    let shown: Vec<&str> = content
        .iter()
        .map(|it| it["token"].as_str().unwrap())
        .collect();
    assert_eq!(shown.concat(), record.text());
    assert_eq!(content[0]["top_logprobs"].as_array().unwrap().len(), 2);
    assert_eq!(content[0]["bytes"], json!([shown[0].as_bytes()[0]]));

    let mut streamed = request;
    streamed["stream"] = json!(true);
    let chunks = post(endpoint.address, "/v1/chat/completions", &streamed).chunks();
    let delta = |chunk: &Value| chunk["choices"][0]["delta"].clone();
    assert_eq!(delta(&chunks[0])["role"], "assistant");
    let texts: Vec<String> = chunks
        .iter()
        .filter_map(|chunk| delta(chunk)["content"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(texts.concat(), record.text());
    assert_eq!(delta(chunks.last().unwrap()), json!({}));
    assert_eq!(
        chunks.last().unwrap()["choices"][0]["finish_reason"],
        "stop"
    );
    assert!(chunks.iter().all(|chunk| chunk.get("usage").is_none()));
    let ids: Vec<&Value> = chunks.iter().map(|chunk| &chunk["id"]).collect();
    assert!(ids.iter().all(|id| id == &ids[0] && **id != whole["id"]));
}

#[test]
fn several_texts_share_a_prompt_and_have_their_own_seeds() {
    let endpoint = Endpoint::start(|| ScriptedLm::babbling(512).into_loaded());
    let request =
        json!({"prompt": "Once", "n": 3, "seed": 5, "max_tokens": 20, "ignore_eos": true});
    let whole = post(endpoint.address, "/v1/completions", &request).json();
    let records = endpoint.texts();
    let seeds: Vec<u64> = records.iter().map(|text| text.config.seed).collect();
    assert_eq!(seeds, [5, 6, 7]);
    for (choice, record) in whole["choices"].as_array().unwrap().iter().zip(&records) {
        assert_eq!(choice["text"], record.text());
    }
    assert_ne!(records[0].text(), records[1].text());
    assert_eq!(whole["usage"]["completion_tokens"], 60);
    let mut streamed = request;
    streamed["stream"] = json!(true);
    let chunks = post(endpoint.address, "/v1/completions", &streamed).chunks();
    for (index, record) in records.iter().enumerate() {
        let own = chunks
            .iter()
            .filter(|it| it["choices"][0]["index"] == index);
        let own: Vec<Value> = own.cloned().collect();
        assert_eq!(joined(&own), record.text());
    }
}

#[test]
fn tokens_are_continued_as_they_are_and_what_is_cached_is_counted() {
    let endpoint = Endpoint::reciting(TALE);
    let prompt: Vec<u8> = TALE.bytes().take(10).collect();
    let request = json!({"prompt": prompt, "max_tokens": 5, "temperature": 0});
    let first = post(endpoint.address, "/v1/completions", &request).json();
    let record = endpoint.texts().remove(0);
    assert_eq!(record.prompt.text, "Once upon ");
    assert_eq!(first["choices"][0]["text"], record.text());
    assert_eq!(record.text(), "a tim");
    let cached = |json: &Value| json["usage"]["prompt_tokens_details"]["cached_tokens"].clone();
    assert_eq!(cached(&first), 0);
    let again = post(endpoint.address, "/v1/completions", &request).json();
    assert_eq!(cached(&again), 10);
}

#[test]
fn what_the_engine_refuses_is_an_error_of_the_request() {
    let endpoint = Endpoint::reciting(TALE);
    let messages = json!([{"role": "user", "content": "Hi"}]);
    for stream in [false, true] {
        let body = json!({"messages": messages, "stream": stream});
        let refused = post(endpoint.address, "/v1/chat/completions", &body);
        assert_eq!(refused.status, 400);
        assert!(refused.error().contains("no chat template"));
        assert!(
            matches!(endpoint.answered().outcome, Outcome::Refused(error) if error.status == 400)
        );
    }
    let long = "x".repeat(65);
    let refused = post(
        endpoint.address,
        "/v1/completions",
        &json!({"prompt": long}),
    );
    assert_eq!(refused.status, 400);
    assert!(refused.error().contains("65 tokens"), "{}", refused.error());
}

#[test]
fn the_record_names_the_program_and_never_its_key() {
    let endpoint = Endpoint::reciting(TALE);
    let body = json!({"prompt": "Once", "max_tokens": 3, "ignore_eos": true});
    let mut client = Client::connect(endpoint.address);
    // Both requests use one connection.
    for _ in 0..2 {
        client.post("/v1/completions?key=sk-secret", &body);
        assert_eq!(client.response().status, 200);
        let answered = endpoint.answered();
        assert_eq!(answered.client.user_agent.as_deref(), Some("test/1"));
        assert_eq!(answered.client.target, "POST /v1/completions");
        assert_eq!(answered.asked, "Once");
        assert!(!format!("{answered:?}").contains("sk-secret"));
        let Outcome::Written { texts, request } = answered.outcome else {
            panic!("a text was written");
        };
        assert_eq!(texts[0].finish, Some(FinishReason::MaxTokens));
        assert_eq!(request.undelivered, None);
    }
}
