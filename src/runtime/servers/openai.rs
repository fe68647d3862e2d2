//! OpenAI's completions API, as far as its imitations agree: texts without ids, and a few
//! log-probabilities.
//!
//! Sources: OpenAI's API reference of completions (legacy) and `vllm/entrypoints/openai`.

use serde_json::{Map, Value, json};

use super::distribution::{Reported, ReportedToken};
use super::error::Broken;
use super::http::Http;
use super::kind::{ServerApi, ServerSpec};
use super::llama_server::{bytes_of, set, text};
use super::request::{Answer, Place, StreamEnd, StreamPart, split_text, without_probs};
use super::sampler::add_settings;
use super::served::Served;
use super::{Connection, ServerError, ServerInfo, ServerKind, StopFlag};
use crate::generation::GenerationConfig;
use crate::interop::tools::{RequestFormat, RequestSettings, request_settings};

/// Any server with OpenAI's completions API.
pub(super) struct OpenAi;

const SPEC: ServerSpec = ServerSpec {
    name: "OpenAI-compatible server",
    word: "openai",
    has_ids: false,
    default_n_probs: 5,
    reports_all: false,
    streams_drafted_texts: false,
    format: RequestFormat::OpenAi,
    remarks: &["Tokens have texts but no ids; the server tokenizes the text again at each step"],
};

impl ServerApi for OpenAi {
    fn spec(&self) -> &'static ServerSpec {
        &SPEC
    }

    fn recognizes(&self, _owner: &str, _http: &Http, _stop: &StopFlag) -> Result<bool, Broken> {
        Ok(true)
    }

    /// Some services don't list their models.
    fn lists_models(&self) -> bool {
        false
    }

    fn find(&self, http: &Http, model: &Value, _stop: &StopFlag) -> Result<ServerInfo, Broken> {
        let name = text(model, "id").unwrap_or_default();
        Ok(ServerInfo::new(ServerKind::OpenAi, &http.peer.host, name))
    }

    fn ask_step(
        &self,
        connection: &Connection,
        place: Place<'_>,
        n_probs: usize,
        stop: &StopFlag,
    ) -> Result<Answer, Broken> {
        let prompt = place
            .whole_text()
            .ok_or_else(|| part_of_character(connection))?;
        let mut body = body(connection, &json!(prompt), n_probs);
        set(&mut body, "max_tokens", json!(1));
        set(&mut body, "temperature", json!(0.0));
        let answer = connection.http().post("/v1/completions", &body, stop)?;
        Ok(self.answer_of(connection.served(), place.number(), &answer)?)
    }

    fn answer_of(
        &self,
        served: &Served,
        number: usize,
        answer: &Value,
    ) -> Result<Answer, ServerError> {
        let choice = first_choice(answer);
        let choice = choice.ok_or_else(|| served.peer.unexpected("no choice"))?;
        let steps = steps_of(choice);
        let is_empty = steps.is_empty() && content_of(choice).is_empty();
        let end = choice.get("finish_reason").filter(|_| is_empty);
        let end = end.and_then(|reason| StreamEnd::of(reason, served));
        let reported = steps.into_iter().next().unwrap_or_default();
        if end.is_none() && !reported.has_probs() {
            return Err(ServerError::NoProbabilities {
                host: served.host().to_owned(),
                number,
                remedy: "use a server whose completions API supports logprobs",
            });
        }
        Ok(Answer {
            reported,
            server_secs: None,
            model: text(answer, "model").map(str::to_owned),
            end,
        })
    }

    fn stream_part(&self, served: &Served, part: &Value) -> StreamPart {
        let mut read = StreamPart {
            model: text(part, "model").map(str::to_owned),
            ..StreamPart::default()
        };
        // A part that only reports usage has no choice.
        let Some(choice) = first_choice(part) else {
            return read;
        };
        let reason = choice.get("finish_reason").unwrap_or(&Value::Null);
        read.end = StreamEnd::of(reason, served);
        let steps = steps_of(choice);
        let content = content_of(choice);
        read.tokens = if steps.is_empty() {
            without_probs(content, choice.get("token_ids").unwrap_or(&Value::Null))
        } else {
            split_text(content, steps)
        };
        read
    }

    fn translated(&self, _info: &ServerInfo, config: GenerationConfig) -> RequestSettings {
        let mut settings = request_settings(SPEC.format, &config);
        // Only vLLM has this field; another server may ignore it without a word.
        settings.fields.remove("structured_outputs");
        settings
    }

    fn sampler_request(
        &self,
        connection: &Connection,
        place: Place<'_>,
        fields: Map<String, Value>,
        n_max: usize,
    ) -> Result<(&'static str, Value), ServerError> {
        let prompt = place.whole_text();
        let prompt = prompt.ok_or_else(|| part_of_character(connection))?;
        let mut body = body(connection, &json!(prompt), connection.n_probs());
        add_settings(&mut body, fields);
        set(&mut body, "max_tokens", json!(n_max));
        Ok(("/v1/completions", body))
    }
}

/// Returns the parts of a request that do not depend on what chooses the tokens.
pub(super) fn body(connection: &Connection, prompt: &Value, n_probs: usize) -> Value {
    json!({
        "model": connection.info().id,
        "prompt": prompt,
        "logprobs": n_probs,
        "stream": false,
    })
}

pub(super) fn part_of_character(connection: &Connection) -> ServerError {
    let kind = connection.kind().name();
    ServerError::PartOfCharacter { kind }
}

/// Returns a choice's text, in the completions format or in the chat format.
fn content_of(choice: &Value) -> &str {
    let in_chat = |name: &str| text(choice.get(name)?, "content");
    let content = text(choice, "text").or_else(|| in_chat("delta"));
    content.or_else(|| in_chat("message")).unwrap_or_default()
}

fn first_choice(answer: &Value) -> Option<&Value> {
    answer.get("choices")?.as_array()?.first()
}

/// Reads the log-probabilities of a choice, in the completions format or in the chat format, which
/// some servers use for both.
fn steps_of(choice: &Value) -> Vec<Reported> {
    let Some(logprobs) = choice.get("logprobs").filter(|it| it.is_object()) else {
        return Vec::new();
    };
    if let Some(content) = logprobs.get("content").and_then(Value::as_array) {
        return content.iter().map(chat_step).collect();
    }
    let list = |name: &str| logprobs.get(name).and_then(Value::as_array);
    let (tokens, log_probs, tops) = (list("tokens"), list("token_logprobs"), list("top_logprobs"));
    let tokens = tokens.map(Vec::as_slice).unwrap_or_default();
    let at = |list: Option<&Vec<Value>>, place: usize| list?.get(place).cloned();
    let step = |(place, token): (usize, &Value)| {
        let log_prob = at(log_probs, place).and_then(|it| it.as_f64());
        let top = at(tops, place).unwrap_or_default();
        let top = top.as_object().into_iter().flatten();
        Reported {
            top: top
                .map(|(token, log_prob)| named(token, log_prob.as_f64()))
                .collect(),
            sampled: token.as_str().map(|token| named(token, log_prob)),
        }
    };
    tokens.iter().enumerate().map(step).collect()
}

/// Reads a step in the format of chats, which Ollama uses too.
pub(super) fn chat_step(step: &Value) -> Reported {
    let top = step.get("top_logprobs").and_then(Value::as_array);
    let top = top.map(Vec::as_slice).unwrap_or_default();
    Reported {
        top: top.iter().filter_map(chat_token).collect(),
        sampled: chat_token(step),
    }
}

fn chat_token(token: &Value) -> Option<ReportedToken> {
    let name = text(token, "token")?;
    let bytes = token.get("bytes").and_then(bytes_of);
    Some(ReportedToken {
        id: None,
        bytes: Some(bytes.unwrap_or_else(|| name.as_bytes().to_vec())),
        log_prob: token.get("logprob").and_then(Value::as_f64),
    })
}

/// Reads a token from its name: its text, its bytes if it is part of a character, or its id, which
/// vLLM reports on request.
fn named(name: &str, log_prob: Option<f64>) -> ReportedToken {
    if let Some(id) = name.strip_prefix("token_id:") {
        return ReportedToken {
            id: id.parse().ok(),
            bytes: None,
            log_prob,
        };
    }
    let escaped = name.strip_prefix("bytes:").and_then(unescaped);
    ReportedToken {
        id: None,
        bytes: Some(escaped.unwrap_or_else(|| name.as_bytes().to_vec())),
        log_prob,
    }
}

/// Decodes escaped bytes such as `\xe2\x82`. Other characters stand for themselves.
fn unescaped(escaped: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = escaped;
    while !rest.is_empty() {
        if let Some(hex) = rest.strip_prefix("\\x") {
            bytes.push(u8::from_str_radix(hex.get(..2)?, 16).ok()?);
            rest = hex.get(2..)?;
        } else {
            let first = rest.chars().next()?;
            let (own, left) = rest.split_at(first.len_utf8());
            bytes.extend_from_slice(own.as_bytes());
            rest = left;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{named, steps_of};

    #[test]
    fn tokens_are_named_by_text_bytes_or_id() {
        for (name, id, bytes) in [
            (" fox", None, Some(&b" fox"[..])),
            ("bytes:\\xe2\\x82", None, Some(&b"\xE2\x82"[..])),
            ("bytes: \\xf0", None, Some(&b" \xF0"[..])),
            ("bytes:", None, Some(&b""[..])),
            ("bytes:\\xz", None, Some(&b"bytes:\\xz"[..])),
            ("token_id:17", Some(17), None),
        ] {
            let token = named(name, Some(-1.0));
            assert_eq!((token.id, token.bytes.as_deref()), (id, bytes), "{name}");
        }
    }

    #[test]
    fn both_forms_of_log_probabilities_are_read() {
        let completions = json!({ "logprobs": {
            "tokens": [" a", " b"],
            "token_logprobs": [-0.5, null],
            "top_logprobs": [{ " a": -0.5, " c": -9999.0 }, {}],
        } });
        let steps = steps_of(&completions);
        assert_eq!(steps.len(), 2);
        assert_eq!(steps[0].top.len(), 2);
        assert_eq!(steps[1].sampled.as_ref().unwrap().log_prob, None);
        let chat = json!({ "logprobs": { "content": [{
            "token": "\u{fffd}", "bytes": [226, 130], "logprob": -0.5,
            "top_logprobs": [{ "token": "\u{fffd}", "bytes": [226, 130], "logprob": -0.5 }],
        }] } });
        let steps = steps_of(&chat);
        assert_eq!(steps[0].top[0].bytes.as_deref(), Some(&b"\xE2\x82"[..]));
        assert!(steps_of(&json!({ "logprobs": null })).is_empty());
    }
}
