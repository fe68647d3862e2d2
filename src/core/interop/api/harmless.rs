//! The fields of a request that change no text. One with a value that would is an error.

use serde_json::{Value, json};

use super::body::Body;
use super::{ApiError, Endpoint};

/// Fields with which programs keep their own books.
const BOOKKEEPING: [&str; 5] = [
    "metadata",
    "prompt_cache_key",
    "safety_identifier",
    "timeout",
    "user",
];

/// Takes the fields that change no text, and fails if one has a value that would.
pub(super) fn take(endpoint: Endpoint, n_texts: usize, body: &mut Body) -> Result<(), ApiError> {
    for name in BOOKKEEPING {
        body.take(name);
    }
    body.harmless("cache_prompt", |value| *value == Value::Bool(true))?;
    body.harmless("id_slot", |value| value.as_i64() == Some(-1))?;
    match endpoint {
        Endpoint::ChatCompletions => {
            of_openai(body)?;
            body.harmless("functions", is_empty)?;
            body.harmless("modalities", |value| *value == json!(["text"]))
        }
        Endpoint::Completions => {
            of_openai(body)?;
            body.harmless("echo", is_false)?;
            body.harmless("suffix", |value| value == "")?;
            body.harmless("best_of", |value| value.as_u64() == Some(n_texts as u64))
        }
        Endpoint::LlamaCompletion => of_llama_server(body),
    }
}

fn of_openai(body: &mut Body) -> Result<(), ApiError> {
    body.harmless("store", is_false)?;
    body.harmless("service_tier", |value| {
        value == "auto" || value == "default"
    })
}

/// Takes what llama-server has switched off by default.
fn of_llama_server(body: &mut Body) -> Result<(), ApiError> {
    for name in ["n_keep", "n_discard", "n_indent", "n_cache_reuse"] {
        body.harmless(name, |value| value.as_f64() == Some(0.0))?;
    }
    for name in ["post_sampling_probs", "return_progress", "verbose"] {
        body.harmless(name, is_false)?;
    }
    let is_off = |value: &Value| value.as_f64().is_some_and(|ms| ms <= 0.0);
    body.harmless("t_max_predict_ms", is_off)?;
    body.harmless("lora", is_empty)
}

fn is_false(value: &Value) -> bool {
    *value == Value::Bool(false)
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}
