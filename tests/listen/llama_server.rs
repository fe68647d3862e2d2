//! llama-server’s own paths.

use serde_json::{Value, json};

use super::client::{get, post};
use super::{Endpoint, chat_model};
use crate::scripted::ScriptedLm;

#[test]
fn a_text_is_the_same_whole_streamed_and_in_the_record() {
    let endpoint = Endpoint::start(|| ScriptedLm::babbling(512).into_loaded());
    let settings = json!({
        "prompt": "Once", "n_predict": 40, "seed": 7, "ignore_eos": true, "n_probs": 2,
        "return_tokens": true,
    });
    let whole = post(endpoint.address, "/completion", &settings).json();
    let record = endpoint.texts().remove(0);
    let ids: Vec<u32> = record.steps.iter().map(|step| step.token.0).collect();
    assert_eq!(whole["content"], record.text());
    assert_eq!(whole["tokens"], json!(ids));
    assert_eq!(
        (&whole["tokens_predicted"], &whole["tokens_evaluated"]),
        (&json!(40), &json!(4))
    );
    assert_eq!(
        (&whole["stop_type"], &whole["prompt"]),
        (&json!("limit"), &json!("Once"))
    );
    assert_eq!(
        whole["completion_probabilities"].as_array().unwrap().len(),
        40
    );
    // Stages that llama-server has on by default.
    assert_eq!(record.config.chain.stages.len(), 4);

    let mut streamed = settings;
    streamed["stream"] = json!(true);
    let events = post(endpoint.address, "/completions", &streamed).events();
    assert_eq!(endpoint.texts().remove(0).text(), record.text());
    let events: Vec<Value> = events
        .iter()
        .map(|event| serde_json::from_str(event).unwrap())
        .collect();
    let contents: Vec<&str> = events
        .iter()
        .filter_map(|event| event["content"].as_str())
        .collect();
    assert_eq!(contents.concat(), record.text());
    let sent: Vec<&Value> = events
        .iter()
        .filter_map(|event| event["tokens"].get(0))
        .collect();
    assert_eq!(json!(sent), json!(ids));
    let stops = events.iter().filter(|event| event["stop"] == true).count();
    assert_eq!((stops, &events.last().unwrap()["stop"]), (1, &json!(true)));
}

#[test]
fn texts_are_tokenized_and_chats_rendered_without_a_run() {
    let endpoint = Endpoint::start(|| chat_model("?Hi</s>:Hello"));
    let tokens = post(endpoint.address, "/tokenize", &json!({"content": "Hi"})).json();
    assert_eq!(tokens["tokens"].as_array().unwrap().len(), 2);
    let text = post(endpoint.address, "/detokenize", &tokens).json();
    assert_eq!(text["content"], "Hi");
    let chat = json!({"messages": [{"role": "user", "content": "Hi"}]});
    let rendered = post(endpoint.address, "/apply-template", &chat).json();
    assert_eq!(rendered, json!({"prompt": "?Hi</s>:"}));
    let props = get(endpoint.address, "/props").json();
    assert_eq!(props["default_generation_settings"]["n_ctx"], 256);
    // Nothing of that was listed; this is.
    let refused = post(endpoint.address, "/tokenize", &json!({}));
    assert_eq!(
        (refused.status, &refused.json()["error"]["code"]),
        (400, &json!(400))
    );
    assert_eq!(endpoint.answered().client.target, "POST /tokenize");
}

#[test]
fn what_the_template_rejects_is_an_error_of_the_request() {
    let endpoint = Endpoint::reciting("Once upon a time there was a fox.");
    let chat = json!({"messages": [{"role": "user", "content": "Hi"}]});
    let refused = post(endpoint.address, "/apply-template", &chat);
    assert_eq!(refused.status, 400);
    assert!(refused.error().contains("no chat template"));
}
