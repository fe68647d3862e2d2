//! Models that also read images, of which Quartet runs the text part.

use serde_json::{Map, Value};

use crate::engine::EngineError;

/// A family of models around a text model.
struct Wrapper {
    /// The `model_type` in a `config.json`.
    model_type: &'static str,
    /// The first of the `architectures` in a `config.json`.
    class: &'static str,
    /// The `model_type` of the text model, if the file does not say.
    text: &'static str,
    /// Whether transformers assumes that the embedding table is also the output head.
    tied_head: bool,
}

static WRAPPERS: [Wrapper; 8] = [
    Wrapper {
        model_type: "gemma3",
        class: "Gemma3ForConditionalGeneration",
        text: "gemma3_text",
        tied_head: true,
    },
    Wrapper {
        model_type: "gemma3n",
        class: "Gemma3nForConditionalGeneration",
        text: "gemma3n_text",
        tied_head: true,
    },
    Wrapper {
        model_type: "gemma4",
        class: "Gemma4ForConditionalGeneration",
        text: "gemma4_text",
        tied_head: true,
    },
    Wrapper {
        model_type: "mistral3",
        class: "Mistral3ForConditionalGeneration",
        text: "mistral",
        tied_head: true,
    },
    Wrapper {
        model_type: "qwen3_5",
        class: "Qwen3_5ForConditionalGeneration",
        text: "qwen3_5_text",
        tied_head: false,
    },
    Wrapper {
        model_type: "qwen3_5_moe",
        class: "Qwen3_5MoeForConditionalGeneration",
        text: "qwen3_5_moe_text",
        tied_head: false,
    },
    Wrapper {
        model_type: "qwen3_vl",
        class: "Qwen3VLForConditionalGeneration",
        text: "qwen3_vl_text",
        tied_head: false,
    },
    Wrapper {
        model_type: "qwen3_vl_moe",
        class: "Qwen3VLMoeForConditionalGeneration",
        text: "qwen3_vl_moe_text",
        tied_head: false,
    },
];

/// Returns whether a `config.json` with this `model_type` and this first class is of a model that
/// also reads images, and whose text part Quartet may run.
pub(super) fn wraps(model_type: Option<&str>, class: Option<&str>) -> bool {
    find(model_type, class).is_some()
}

fn find(model_type: Option<&str>, class: Option<&str>) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| {
        model_type == Some(wrapper.model_type) && class.is_none_or(|class| class == wrapper.class)
    })
}

/// Replaces the configuration of a model that also reads images by that of its text part. Returns
/// the wrapping model's type, or `None` if the configuration is not one of those.
pub(super) fn take_text_part(
    values: &mut Map<String, Value>,
    path: &str,
) -> Result<Option<&'static str>, EngineError> {
    let classes = values.get("architectures").and_then(Value::as_array);
    let class = classes.and_then(|classes| classes.first());
    let class = class.map(|class| class.as_str().unwrap_or_default());
    let model_type = values.get("model_type").and_then(Value::as_str);
    let Some(wrapper) = find(model_type, class) else {
        return Ok(None);
    };
    let mut text = match values.remove("text_config") {
        Some(Value::Object(text)) => text,
        Some(_) => {
            let reason = "text_config is not an object";
            let what = "The model’s configuration";
            return Err(EngineError::malformed(what, reason, path));
        }
        None => Map::new(),
    };
    let text_type = text.entry("model_type").or_insert(wrapper.text.into());
    if text_type.is_null() {
        *text_type = wrapper.text.into();
    }
    // The class of the text part names no model of its own.
    text.remove("architectures");
    for (key, usual) in [
        ("eos_token_id", None),
        ("tie_word_embeddings", Some(wrapper.tied_head)),
    ] {
        let outer = values.remove(key).filter(|value| !value.is_null());
        if let Some(value) = outer {
            text.insert(key.to_owned(), value);
        } else if let Some(usual) = usual {
            text.entry(key).or_insert(usual.into());
        }
    }
    *values = text;
    Ok(Some(wrapper.model_type))
}
