//! Ollama's own API: texts without ids, at most 20 log-probabilities, and its timings.
//!
//! Source: `docs/api.md` and `api/types.go` of Ollama, 2026. Not tested with a real server.
//! Ollama's imitation of OpenAI's API reports log-probabilities too, although its documentation
//! says that it does not; this API is documented and reports how long the server took.

use serde_json::{Value, json};

use super::error::Broken;
use super::http::Http;
use super::llama_server::{set, text};
use super::openai::{chat_step, part_of_character};
use super::request::{Answer, Place, StreamEnd, StreamPart, StreamedToken};
use super::{Connection, ServerError, ServerInfo, ServerKind, StopFlag};

/// Reads the properties of the server and of the model with this name.
pub(super) fn find(http: &Http, model: &str, stop: &StopFlag) -> Result<ServerInfo, Broken> {
    let mut info = ServerInfo::new(ServerKind::Ollama, &http.host, model);
    let shown = http.post("/api/show", &json!({ "model": model }), stop)?;
    let details = shown.get("details").unwrap_or(&Value::Null);
    let quantization = text(details, "quantization_level").unwrap_or_default();
    quantization.clone_into(&mut info.quantization);
    let facts = shown.get("model_info").unwrap_or(&Value::Null);
    let architecture = text(facts, "general.architecture").unwrap_or_default();
    architecture.clone_into(&mut info.architecture);
    let number = |name: &str| facts.get(name).and_then(Value::as_u64);
    info.n_params = number("general.parameter_count").unwrap_or_default();
    let n_context = number(&format!("{architecture}.context_length"));
    info.n_context = n_context.and_then(|n_context| usize::try_from(n_context).ok());
    let version = http.get("/api/version", stop)?;
    text(&version, "version")
        .unwrap_or_default()
        .clone_into(&mut info.version);
    Ok(info)
}

/// Requests the distribution of the next token.
pub(super) fn ask_step(
    connection: &Connection,
    place: Place<'_>,
    n_probs: usize,
    stop: &StopFlag,
) -> Result<Answer, Broken> {
    let mut body = body(connection, place, n_probs)?;
    set(
        &mut body,
        "options",
        json!({ "num_predict": 1, "temperature": 0.0 }),
    );
    let answer = connection.http().post("/api/generate", &body, stop)?;
    let steps = steps_of(&answer);
    let ended = steps.is_empty() && text(&answer, "done_reason") == Some("stop");
    let reported = steps.into_iter().next().unwrap_or_default();
    if !ended && !reported.has_probs() {
        return Err(no_probs(connection).into());
    }
    Ok(Answer {
        reported,
        server_secs: nanoseconds(&answer, "total_duration"),
        model: text(&answer, "model").map(str::to_owned),
        ended,
    })
}

/// Returns the parts of a request that do not depend on what chooses the tokens.
pub(super) fn body(
    connection: &Connection,
    place: Place<'_>,
    n_probs: usize,
) -> Result<Value, ServerError> {
    let prompt = place
        .whole_text()
        .ok_or_else(|| part_of_character(connection))?;
    Ok(json!({
        "model": connection.info().model,
        "prompt": prompt,
        // Without the model's chat template, which is not meant for texts to continue.
        "raw": true,
        "stream": false,
        "logprobs": true,
        "top_logprobs": n_probs,
    }))
}

/// Reads a part of a stream.
pub(super) fn stream_part(
    connection: &Connection,
    part: &Value,
) -> Result<StreamPart, ServerError> {
    let mut read = StreamPart {
        model: text(part, "model").map(str::to_owned),
        ..StreamPart::default()
    };
    let content = text(part, "response").unwrap_or_default();
    let steps = steps_of(part);
    if steps.is_empty() && !content.is_empty() {
        return Err(no_probs(connection));
    }
    for reported in steps {
        let own = reported
            .sampled
            .as_ref()
            .and_then(|token| token.bytes.clone());
        let bytes = own.unwrap_or_default();
        read.tokens.push(StreamedToken { reported, bytes });
    }
    if part.get("done").and_then(Value::as_bool) == Some(true) {
        read.server_secs = nanoseconds(part, "eval_duration");
        read.end = Some(match text(part, "done_reason") {
            Some("length") => StreamEnd::Limit,
            _ => StreamEnd::EndOfText,
        });
    }
    Ok(read)
}

fn steps_of(answer: &Value) -> Vec<super::distribution::Reported> {
    let steps = answer.get("logprobs").and_then(Value::as_array);
    let steps = steps.map(Vec::as_slice).unwrap_or_default();
    steps.iter().map(chat_step).collect()
}

fn nanoseconds(answer: &Value, name: &str) -> Option<f64> {
    Some(answer.get(name)?.as_f64()? / 1e9)
}

fn no_probs(connection: &Connection) -> ServerError {
    ServerError::NoProbabilities {
        host: connection.host().to_owned(),
        kind: ServerKind::Ollama.name(),
        condition: "since version 0.12.11",
    }
}
