//! Fields of a request for everything that the settings do not use. Without them, a server would
//! apply what it was started with, or what the model's file recommends.

use serde_json::{Map, Value, json};

use super::ServerKind;
use crate::decoding::dialect::Dialect;

/// Switches off what these fields do not mention.
pub(super) fn switch_off_others(kind: ServerKind, fields: &mut Map<String, Value>) {
    let others = match kind {
        ServerKind::LlamaServer => llama_server(fields),
        ServerKind::Ollama => vec![
            ("typical_p", json!(1.0)),
            ("presence_penalty", json!(0.0)),
            ("frequency_penalty", json!(0.0)),
        ],
        // vLLM's own fields are always written, and the others have fixed defaults.
        ServerKind::Vllm | ServerKind::OpenAi => Vec::new(),
    };
    for (name, value) in others {
        fields.entry(name).or_insert(value);
    }
}

/// Returns llama-server's order, unless it was started with another one.
fn usual_order() -> Vec<&'static str> {
    let mut names = Vec::new();
    for kind in Dialect::LlamaCpp.kinds() {
        let name = kind.spec().llama_samplers.first().copied();
        names.extend(name.filter(|name| !names.contains(name)));
    }
    names
}

fn llama_server(fields: &Map<String, Value>) -> Vec<(&'static str, Value)> {
    let mut others = vec![
        ("samplers", json!(usual_order())),
        ("mirostat", json!(0)),
        ("dynatemp_range", json!(0.0)),
        ("typical_p", json!(1.0)),
        ("top_n_sigma", json!(-1.0)),
        ("xtc_probability", json!(0.0)),
        ("presence_penalty", json!(0.0)),
        ("frequency_penalty", json!(0.0)),
        ("dry_multiplier", json!(0.0)),
        ("min_keep", json!(0)),
        ("ignore_eos", json!(false)),
    ];
    if !fields.contains_key("json_schema") {
        others.push(("grammar", json!("")));
    }
    others
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{ServerKind, switch_off_others, usual_order};

    fn completed(kind: ServerKind, fields: &Value) -> Map<String, Value> {
        let mut fields = fields.as_object().unwrap().clone();
        switch_off_others(kind, &mut fields);
        fields
    }

    #[test]
    fn what_a_server_was_started_with_is_switched_off() {
        let fields = completed(ServerKind::LlamaServer, &json!({ "xtc_probability": 0.5 }));
        for (name, value) in [
            ("xtc_probability", json!(0.5)),
            ("typical_p", json!(1.0)),
            ("dry_multiplier", json!(0.0)),
            ("mirostat", json!(0)),
            ("grammar", json!("")),
            ("samplers", json!(usual_order())),
        ] {
            assert_eq!(fields.get(name), Some(&value), "{name}");
        }
        let fields = completed(ServerKind::Ollama, &json!({ "presence_penalty": 1.5 }));
        assert_eq!(fields.get("presence_penalty"), Some(&json!(1.5)));
        assert_eq!(fields.get("frequency_penalty"), Some(&json!(0.0)));
    }

    #[test]
    fn a_schema_and_an_order_stay() {
        let sent = json!({ "json_schema": {}, "samplers": ["temperature", "top_p"] });
        let fields = completed(ServerKind::LlamaServer, &sent);
        assert_eq!(fields.get("samplers"), sent.get("samplers"));
        assert!(!fields.contains_key("grammar"));
    }

    #[test]
    fn the_order_is_that_of_the_dialect() {
        let names = [
            "penalties",
            "dry",
            "top_n_sigma",
            "top_k",
            "typ_p",
            "top_p",
            "min_p",
            "xtc",
            "temperature",
        ];
        assert_eq!(usual_order(), names);
    }
}
