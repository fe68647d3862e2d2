//! llama-server, llama.cpp's own API: token ids, any number of log-probabilities, and its timings.
//!
//! Source: `tools/server` of llama.cpp, 2026.

use serde_json::{Map, Value, json};

use super::distribution::{Reported, ReportedToken};
use super::error::Broken;
use super::http::Http;
use super::kind::{ServerApi, ServerSpec};
use super::request::{Answer, Place, StreamEnd, StreamPart, id_of, split_text, without_probs};
use super::sampler::add_settings;
use super::served::Served;
use super::{Connection, ServerError, ServerInfo, ServerKind, StopFlag};
use crate::decoding::TokenId;
use crate::decoding::dialect::Dialect;
use crate::generation::{ChatSettings, Piece, PromptToken};
use crate::interop::message_json;
use crate::interop::tools::RequestFormat;

/// llama-server.
pub(super) struct LlamaServer;

const SPEC: ServerSpec = ServerSpec {
    name: "llama-server",
    word: "llama-server",
    has_ids: true,
    default_n_probs: 128,
    reports_all: true,
    streams_drafted_texts: true,
    format: RequestFormat::LlamaServer,
    remarks: &[
        "If a step needs more log-probabilities than were requested, Quartet requests all of them",
        "Requesting probabilities turns off llama-server’s sampling on the GPU",
        "With speculative decoding, llama-server reports no probabilities for drafted tokens",
    ],
};

impl ServerApi for LlamaServer {
    fn spec(&self) -> &'static ServerSpec {
        &SPEC
    }

    fn recognizes(&self, owner: &str, _http: &Http, _stop: &StopFlag) -> Result<bool, Broken> {
        Ok(owner == "llamacpp")
    }

    fn find(&self, http: &Http, model: &Value, stop: &StopFlag) -> Result<ServerInfo, Broken> {
        let id = text(model, "id").unwrap_or_default();
        let mut info = ServerInfo::new(ServerKind::LlamaServer, &http.peer.host, id);
        let meta = model.get("meta").unwrap_or(&Value::Null);
        info.n_vocab = count(meta, "n_vocab");
        info.n_context = count(meta, "n_ctx");
        info.n_params = meta.get("n_params").and_then(Value::as_u64).unwrap_or(0);
        let props = http.get("/props", stop)?;
        let settings = props.get("default_generation_settings");
        let settings = settings.unwrap_or(&Value::Null);
        info.n_context = count(settings, "n_ctx").or(info.n_context);
        info.n_slots = count(&props, "total_slots");
        for (field, name) in [
            (&mut info.version, "build_info"),
            (&mut info.begin_name, "bos_token"),
            (&mut info.end_name, "eos_token"),
            (&mut info.quantization, "model_ftype"),
        ] {
            text(&props, name).unwrap_or_default().clone_into(field);
        }
        info.has_chat_template = text(&props, "chat_template").is_some_and(|it| !it.is_empty());
        Ok(info)
    }

    fn render_chat(
        &self,
        connection: &Connection,
        message: &str,
        settings: &ChatSettings,
        stop: &StopFlag,
    ) -> Result<Option<String>, Broken> {
        let mut messages = Vec::new();
        if let Some(system) = &settings.system {
            messages.push(json!({ "role": "system", "content": system }));
        }
        messages.extend(settings.history.iter().map(message_json));
        messages.push(message_json(&settings.message(message)));
        let mut body = json!({ "messages": messages });
        if !settings.tools.definitions.is_empty() {
            set(&mut body, "tools", json!(settings.tools.definitions));
        }
        if let (false, Some(body)) = (settings.kwargs.is_empty(), body.as_object_mut()) {
            body.insert("chat_template_kwargs".to_owned(), json!(settings.kwargs));
        }
        let answer = connection.http().post("/apply-template", &body, stop)?;
        let prompt = text(&answer, "prompt").map(str::to_owned);
        let unexpected = || connection.served().peer.unexpected("no rendered prompt");
        Ok(Some(prompt.ok_or_else(unexpected)?))
    }

    fn tokenize(
        &self,
        connection: &Connection,
        prompt: &str,
        stop: &StopFlag,
    ) -> Result<Vec<PromptToken>, Broken> {
        tokens_of(connection, prompt, true, stop)
    }

    fn tokenize_part(
        &self,
        connection: &Connection,
        text: &str,
        stop: &StopFlag,
    ) -> Result<Vec<PromptToken>, Broken> {
        let mut tokens = tokens_of(connection, text, false, stop)?;
        // Some tokenizers prepend a space to every text.
        if !text.starts_with(' ')
            && tokens
                .first()
                .is_some_and(|token| token.piece.bytes == b" ")
        {
            tokens.remove(0);
        }
        Ok(tokens)
    }

    fn ask_step(
        &self,
        connection: &Connection,
        place: Place<'_>,
        n_probs: usize,
        stop: &StopFlag,
    ) -> Result<Answer, Broken> {
        let mut body = step_body(connection, place, n_probs);
        // The server's own choice does not matter here.
        for (name, value) in [("n_predict", json!(1)), ("temperature", json!(0.0))] {
            set(&mut body, name, value);
        }
        let mut answer = connection.http().post("/completion", &body, stop)?;
        // The server omits the probabilities if the token that it chose ends within a character. A
        // bias, which the reported probabilities don't include, makes it choose another token.
        if probs_of(&answer).is_empty()
            && let Some(plain) = connection.served().plain_token()
        {
            set(&mut body, "logit_bias", json!([[plain.0, 1000.0]]));
            answer = connection.http().post("/completion", &body, stop)?;
        }
        Ok(self.answer_of(connection.served(), place.number(), &answer)?)
    }

    fn answer_of(
        &self,
        served: &Served,
        number: usize,
        answer: &Value,
    ) -> Result<Answer, ServerError> {
        let reported = probs_of(answer).first().map(reported);
        let reported = reported.filter(Reported::has_probs);
        let no_probs = || ServerError::NoProbabilities {
            host: served.host().to_owned(),
            number,
            remedy: "start llama-server without drafts (speculative decoding) if it has them",
        };
        Ok(Answer {
            reported: reported.ok_or_else(no_probs)?,
            server_secs: answer.get("timings").and_then(|timings| {
                let secs = |name| Some(timings.get(name)?.as_f64()? / 1e3);
                Some(secs("prompt_ms")? + secs("predicted_ms")?)
            }),
            model: text(answer, "model").map(str::to_owned),
            end: None,
        })
    }

    fn stream_part(&self, served: &Served, part: &Value) -> StreamPart {
        let timings = part.get("timings").unwrap_or(&Value::Null);
        let mut read = StreamPart {
            model: text(part, "model").map(str::to_owned),
            server_secs: timings
                .get("predicted_ms")
                .and_then(Value::as_f64)
                .map(|ms| ms / 1e3),
            n_chosen: part
                .get("tokens_predicted")
                .and_then(Value::as_u64)
                .and_then(|n_tokens| usize::try_from(n_tokens).ok()),
            ..StreamPart::default()
        };
        let stopped = part.get("stop").and_then(Value::as_bool) == Some(true);
        if stopped {
            read.end = Some(end_of(served, part));
        }
        let content = text(part, "content").unwrap_or_default();
        // The last part of a stream repeats all probabilities, but no text.
        if stopped && content.is_empty() {
            return read;
        }
        let steps: Vec<Reported> = probs_of(part).iter().map(reported).collect();
        read.tokens = if steps.is_empty() {
            without_probs(content, part.get("tokens").unwrap_or(&Value::Null))
        } else {
            split_text(content, steps)
        };
        read
    }

    fn name_token(
        &self,
        connection: &Connection,
        token: TokenId,
        stop: &StopFlag,
    ) -> Result<Option<Piece>, Broken> {
        let name = name_of(connection, token, stop)?;
        Ok(Some(if name.is_empty() {
            Piece::unnamed(token)
        } else {
            Piece::special(&name)
        }))
    }

    fn neutral_fields(&self, fields: &Map<String, Value>) -> Vec<(&'static str, Value)> {
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

    fn sampler_request(
        &self,
        connection: &Connection,
        place: Place<'_>,
        fields: Map<String, Value>,
        n_max: usize,
    ) -> Result<(&'static str, Value), ServerError> {
        let mut body = step_body(connection, place, connection.n_probs());
        set(&mut body, "timings_per_token", json!(true));
        add_settings(&mut body, fields);
        set(&mut body, "n_predict", json!(n_max));
        Ok(("/completion", body))
    }
}

/// Returns llama-server's order, unless it was started with another one.
pub(super) fn usual_order() -> Vec<&'static str> {
    let mut names = Vec::new();
    for kind in Dialect::LlamaCpp.kinds() {
        let name = kind.spec().llama_samplers.first().copied();
        names.extend(name.filter(|name| !names.contains(name)));
    }
    names
}

/// Returns the tokens of a text. Those of a prompt include special ones, written or added.
fn tokens_of(
    connection: &Connection,
    text: &str,
    is_prompt: bool,
    stop: &StopFlag,
) -> Result<Vec<PromptToken>, Broken> {
    let body = json!({
        "content": text, "add_special": is_prompt, "parse_special": is_prompt,
        "with_pieces": true,
    });
    let answer = connection.http().post("/tokenize", &body, stop)?;
    let unexpected = || connection.served().peer.unexpected("no list of tokens");
    let tokens = answer.get("tokens").and_then(Value::as_array);
    let mut read = Vec::new();
    for token in tokens.ok_or_else(unexpected)? {
        let id = token.get("id").and_then(id_of);
        let id = connection.served().check_id(id.ok_or_else(unexpected)?)?;
        let bytes = match token.get("piece") {
            Some(Value::String(piece)) => piece.as_bytes().to_vec(),
            Some(bytes) => bytes_of(bytes).ok_or_else(unexpected)?,
            None => return Err(unexpected().into()),
        };
        let info = connection.info();
        let name = String::from_utf8_lossy(&bytes);
        let is_special = *name == info.begin_name || *name == info.end_name;
        let piece = if is_special && !name.is_empty() {
            Piece::special(&name)
        } else {
            Piece::text(bytes)
        };
        connection.served().learn(id, piece.clone());
        read.push(PromptToken { id, piece });
    }
    Ok(read)
}

/// Returns the name of a special token, which the list of probabilities leaves empty.
fn name_of(connection: &Connection, token: TokenId, stop: &StopFlag) -> Result<String, Broken> {
    let body = json!({ "tokens": [token.0] });
    let answer = connection.http().post("/detokenize", &body, stop)?;
    Ok(text(&answer, "content").unwrap_or_default().to_owned())
}

/// Returns the parts of a request that do not depend on what chooses the tokens.
fn step_body(connection: &Connection, place: Place<'_>, n_probs: usize) -> Value {
    let tokens: Vec<u32> = place.tokens.iter().map(|token| token.0).collect();
    let mut body = json!({
        "prompt": tokens,
        "model": connection.info().id,
        "n_probs": n_probs,
        "cache_prompt": true,
        // Probabilities after sampling would omit all that are zero.
        "post_sampling_probs": false,
        "return_tokens": true,
        "stream": false,
    });
    if let Some(slot) = place.slot {
        set(&mut body, "id_slot", json!(slot));
    }
    body
}

fn end_of(served: &Served, part: &Value) -> StreamEnd {
    if part.get("truncated").and_then(Value::as_bool) == Some(true) {
        return StreamEnd::ContextFull;
    }
    let reason = part.get("stop_type").unwrap_or(&Value::Null);
    // Earlier versions had one flag for each reason.
    let flags = [
        ("stopped_eos", StreamEnd::EndOfText),
        ("stopped_limit", StreamEnd::Limit),
    ];
    let is_set = |name: &str| part.get(name).and_then(Value::as_bool) == Some(true);
    let mut flags = flags.into_iter();
    let by_flag = || flags.find_map(|(name, end)| is_set(name).then_some(end));
    let end = StreamEnd::of(reason, served).or_else(by_flag);
    end.unwrap_or(StreamEnd::Word("none".to_owned()))
}

/// Returns the probabilities. llama-server's README calls them `probs`, but it sends
/// `completion_probabilities`.
fn probs_of(answer: &Value) -> &[Value] {
    let named = ["completion_probabilities", "probs"];
    let found = named.iter().find_map(|name| answer.get(name)?.as_array());
    found.map(Vec::as_slice).unwrap_or_default()
}

fn reported(probs: &Value) -> Reported {
    let top = probs.get("top_logprobs").and_then(Value::as_array);
    let top = top.map(Vec::as_slice).unwrap_or_default();
    Reported {
        top: top.iter().filter_map(reported_token).collect(),
        sampled: reported_token(probs),
    }
}

fn reported_token(token: &Value) -> Option<ReportedToken> {
    Some(ReportedToken {
        id: Some(id_of(token.get("id")?)?),
        bytes: token.get("bytes").and_then(bytes_of),
        log_prob: token.get("logprob").and_then(Value::as_f64),
    })
}

/// Parses bytes from a list of numbers.
pub(super) fn bytes_of(list: &Value) -> Option<Vec<u8>> {
    let byte = |number: &Value| u8::try_from(number.as_u64()?).ok();
    list.as_array()?.iter().map(byte).collect()
}

pub(super) fn text<'a>(json: &'a Value, name: &str) -> Option<&'a str> {
    json.get(name)?.as_str()
}

pub(super) fn count(json: &Value, name: &str) -> Option<usize> {
    usize::try_from(json.get(name)?.as_u64()?).ok()
}

pub(super) fn set(body: &mut Value, name: &str, value: Value) {
    if let Some(fields) = body.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::usual_order;

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
