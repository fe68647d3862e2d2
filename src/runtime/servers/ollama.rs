//! Ollama's own API: texts without ids, at most 20 log-probabilities, and its timings.
//!
//! Source: `docs/api.md` and `api/types.go` of Ollama, 2026. Not tested with a real server.
//! Ollama's imitation of OpenAI's API reports log-probabilities too, although its documentation
//! says that it does not; this API is documented and reports how long the server took.

use serde_json::{Map, Value, json};

use super::distribution::Reported;
use super::error::Broken;
use super::http::Http;
use super::kind::{ServerApi, ServerSpec};
use super::llama_server::{set, text};
use super::openai::{chat_step, part_of_character};
use super::request::{
    Answer, Place, StreamEnd, StreamPart, StreamedToken, split_text, without_probs,
};
use super::served::Served;
use super::{Connection, ServerError, ServerInfo, ServerKind, StopFlag};
use crate::decoding::dialect::Dialect;
use crate::generation::GenerationConfig;
use crate::interop::tools::{RequestFormat, RequestSettings, request_settings};

/// Ollama.
pub(super) struct Ollama;

const SPEC: ServerSpec = ServerSpec {
    name: "Ollama",
    word: "ollama",
    has_ids: false,
    default_n_probs: 20,
    reports_all: false,
    streams_drafted_texts: false,
    format: RequestFormat::Ollama,
    remarks: &[
        "Ollama reports at most 20 log-probabilities and no token ids; it tokenizes the text again \
         at each step",
        "Ollama does not report the probability that the text ends: when its own sampler would end \
         the text, so does Quartet",
    ],
};

impl ServerApi for Ollama {
    fn spec(&self) -> &'static ServerSpec {
        &SPEC
    }

    fn recognizes(&self, _owner: &str, http: &Http, stop: &StopFlag) -> Result<bool, Broken> {
        match http.get("/api/version", stop) {
            Ok(answer) => Ok(text(&answer, "version").is_some()),
            Err(Broken::Failed(_)) => Ok(false),
            Err(Broken::Stopped) => Err(Broken::Stopped),
        }
    }

    fn find(&self, http: &Http, model: &Value, stop: &StopFlag) -> Result<ServerInfo, Broken> {
        let name = text(model, "id").unwrap_or_default();
        let mut info = ServerInfo::new(ServerKind::Ollama, &http.peer.host, name);
        let shown = http.post("/api/show", &json!({ "model": name }), stop)?;
        let details = shown.get("details").unwrap_or(&Value::Null);
        let quantization = text(details, "quantization_level").unwrap_or_default();
        quantization.clone_into(&mut info.quantization);
        info.runs_in_mlx = text(details, "format") == Some("safetensors");
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

    fn ask_step(
        &self,
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
        Ok(self.answer_of(connection.served(), place.number(), &answer)?)
    }

    fn answer_of(
        &self,
        served: &Served,
        number: usize,
        answer: &Value,
    ) -> Result<Answer, ServerError> {
        let steps = steps_of(answer);
        let is_empty = steps.is_empty() && text(answer, "response").unwrap_or_default().is_empty();
        let end = answer.get("done_reason").filter(|_| is_empty);
        let end = end.and_then(|reason| StreamEnd::of(reason, served));
        let reported = steps.into_iter().next().unwrap_or_default();
        if end.is_none() && !reported.has_probs() {
            return Err(ServerError::NoProbabilities {
                host: served.host().to_owned(),
                number,
                remedy: "update Ollama: it reports them since version 0.12.11",
            });
        }
        Ok(Answer {
            reported,
            server_secs: nanoseconds(answer, "total_duration"),
            model: text(answer, "model").map(str::to_owned),
            end,
        })
    }

    fn stream_part(&self, served: &Served, part: &Value) -> StreamPart {
        let content = text(part, "response").unwrap_or_default();
        let steps = steps_of(part);
        let mut read = StreamPart {
            model: text(part, "model").map(str::to_owned),
            tokens: if steps.is_empty() {
                without_probs(content, &Value::Null)
            } else {
                own_texts(content, steps)
            },
            ..StreamPart::default()
        };
        if part.get("done").and_then(Value::as_bool) == Some(true) {
            read.server_secs = nanoseconds(part, "eval_duration");
            let reason = part.get("done_reason").unwrap_or(&Value::Null);
            // Before `done_reason` there was only `done`.
            let end = StreamEnd::of(reason, served);
            read.end = Some(end.unwrap_or(StreamEnd::EndOfText));
        }
        read
    }

    /// The order depends on the runner, whatever the pane was made for.
    fn translated(&self, info: &ServerInfo, mut config: GenerationConfig) -> RequestSettings {
        config.chain.dialect = Some(if info.runs_in_mlx {
            Dialect::OllamaMlx
        } else {
            Dialect::Ollama
        });
        request_settings(SPEC.format, &config)
    }

    fn neutral_fields(&self, _fields: &Map<String, Value>) -> Vec<(&'static str, Value)> {
        vec![
            ("typical_p", json!(1.0)),
            ("presence_penalty", json!(0.0)),
            ("frequency_penalty", json!(0.0)),
        ]
    }

    fn sampler_request(
        &self,
        connection: &Connection,
        place: Place<'_>,
        mut fields: Map<String, Value>,
        n_max: usize,
    ) -> Result<(&'static str, Value), ServerError> {
        let mut body = body(connection, place, connection.n_probs())?;
        fields.insert("num_predict".to_owned(), json!(n_max));
        set(&mut body, "options", Value::Object(fields));
        Ok(("/api/generate", body))
    }
}

/// Returns the parts of a request that do not depend on what chooses the tokens.
fn body(connection: &Connection, place: Place<'_>, n_probs: usize) -> Result<Value, ServerError> {
    let prompt = place
        .whole_text()
        .ok_or_else(|| part_of_character(connection))?;
    Ok(json!({
        "model": connection.info().id,
        "prompt": prompt,
        // Without the model's chat template, which is not meant for texts to continue.
        "raw": true,
        "stream": false,
        "logprobs": true,
        "top_logprobs": n_probs,
    }))
}

/// Returns the tokens with the bytes that they name: the text of a part may lack those of a character
/// that is not yet complete. If they name none, the text is split among them.
fn own_texts(content: &str, steps: Vec<Reported>) -> Vec<StreamedToken> {
    let own = |reported: &Reported| reported.sampled.as_ref()?.bytes.clone();
    let named: Option<Vec<Vec<u8>>> = steps.iter().map(own).collect();
    let Some(named) = named.filter(|named| named.iter().any(|bytes| !bytes.is_empty())) else {
        return split_text(content, steps);
    };
    let tokens = steps.into_iter().zip(named);
    tokens
        .map(|(reported, bytes)| StreamedToken {
            reported,
            bytes,
            is_last_of_several: false,
        })
        .collect()
}

fn steps_of(answer: &Value) -> Vec<Reported> {
    let steps = answer.get("logprobs").and_then(Value::as_array);
    let steps = steps.map(Vec::as_slice).unwrap_or_default();
    steps.iter().map(chat_step).collect()
}

fn nanoseconds(answer: &Value, name: &str) -> Option<f64> {
    Some(answer.get(name)?.as_f64()? / 1e9)
}
