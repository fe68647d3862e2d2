//! Tools that the model calls.

use serde_json::{Value, json};

use super::client::post;
use super::{Endpoint, chat_model_with};

const ANSWER: &str = "?Hi:See:\n<tool_call>\n{\"name\": \"rain\", \"arguments\": {\"place\": \
                      \"Oslo\"}}\n</tool_call>";
const TEMPLATE: &str = "{# <tool_call>{\"name\": …, \"arguments\": …}</tool_call> #}{% for message in messages \
                        %}?{{ message.content }}{% endfor %}:";

fn request(stream: bool) -> Value {
    json!({
        "messages": [{"role": "user", "content": "Hi"}], "temperature": 0, "stream": stream,
        "tools": [{"type": "function", "function": {"name": "rain"}}],
    })
}

#[test]
fn a_call_is_one_in_the_response_and_text_in_the_record() {
    let endpoint = Endpoint::start(|| chat_model_with(TEMPLATE, ANSWER));
    let whole = post(endpoint.address, "/v1/chat/completions", &request(false)).json();
    let record = endpoint.texts().remove(0);
    assert!(
        record.text().starts_with("See:\n<tool_call>\n{"),
        "{}",
        record.text()
    );
    let choice = &whole["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert_eq!(choice["message"]["content"], "See:\n");
    let call = &choice["message"]["tool_calls"][0];
    assert_eq!(
        (&call["type"], &call["function"]["name"]),
        (&json!("function"), &json!("rain"))
    );
    let arguments: Value =
        serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(arguments, json!({"place": "Oslo"}));

    let chunks = post(endpoint.address, "/v1/chat/completions", &request(true)).chunks();
    let deltas: Vec<&Value> = chunks
        .iter()
        .map(|chunk| &chunk["choices"][0]["delta"])
        .collect();
    let contents: Vec<&str> = deltas
        .iter()
        .filter_map(|delta| delta["content"].as_str())
        .collect();
    assert_eq!(contents.concat(), "See:\n");
    let calls: Vec<&Value> = deltas
        .iter()
        .filter_map(|delta| delta["tool_calls"].get(0))
        .collect();
    assert_eq!(calls.len(), 1);
    assert_eq!(
        (&calls[0]["index"], &calls[0]["function"]),
        (&json!(0), &call["function"])
    );
    let last = chunks.last().unwrap();
    assert_eq!(last["choices"][0]["finish_reason"], "tool_calls");
}

#[test]
fn without_tools_or_a_template_that_names_the_form_it_stays_text() {
    let endpoint = Endpoint::start(|| chat_model_with(TEMPLATE, ANSWER));
    let mut without = request(false);
    without["tools"] = json!([]);
    let unnamed = Endpoint::start(|| chat_model_with("?{{ messages[0].content }}:", ANSWER));
    for (endpoint, request) in [(&endpoint, without), (&unnamed, request(false))] {
        let whole = post(endpoint.address, "/v1/chat/completions", &request).json();
        let choice = &whole["choices"][0];
        assert_eq!(
            choice["message"]["content"],
            endpoint.texts().remove(0).text()
        );
        assert_eq!(choice["message"].get("tool_calls"), None);
        assert_eq!(choice["finish_reason"], "stop");
    }
}
