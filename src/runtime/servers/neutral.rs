//! Fields of a request for everything that the settings do not use. Without them, a server would
//! apply what it was started with, or what the model's file recommends.

use serde_json::{Map, Value};

use super::ServerKind;

/// Switches off what these fields do not mention.
pub(super) fn switch_off_others(kind: ServerKind, fields: &mut Map<String, Value>) {
    let others = kind.api().neutral_fields(fields);
    for (name, value) in others {
        fields.entry(name).or_insert(value);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{ServerKind, switch_off_others};
    use crate::servers::llama_server::usual_order;

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
}
