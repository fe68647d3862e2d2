//! vLLM: OpenAI's completions API with token ids.
//!
//! Source: `vllm/entrypoints/openai/protocol.py` and `serving_tokenization.py` of vLLM, 2026. Not
//! tested with a real server.

use serde_json::{Map, Value, json};

use super::error::Broken;
use super::http::Http;
use super::kind::{ServerApi, ServerSpec};
use super::llama_server::{count, set, text};
use super::openai::{self, OpenAi};
use super::request::{Answer, Place, StreamPart, id_of};
use super::sampler::add_settings;
use super::served::Served;
use super::{Connection, ServerError, ServerInfo, ServerKind, StopFlag};
use crate::decoding::TokenId;
use crate::generation::{Piece, PromptToken};
use crate::interop::tools::RequestFormat;

/// vLLM.
pub(super) struct Vllm;

const SPEC: ServerSpec = ServerSpec {
    name: "vLLM",
    word: "vllm",
    has_ids: true,
    default_n_probs: 20,
    reports_all: false,
    streams_drafted_texts: false,
    format: RequestFormat::Vllm,
    remarks: &[
        "vLLM reports at most 20 log-probabilities, unless it was started with a higher \
         --max-logprobs",
    ],
};

impl ServerApi for Vllm {
    fn spec(&self) -> &'static ServerSpec {
        &SPEC
    }

    fn recognizes(&self, owner: &str, _http: &Http, _stop: &StopFlag) -> Result<bool, Broken> {
        Ok(owner == "vllm")
    }

    fn find(&self, http: &Http, model: &Value, stop: &StopFlag) -> Result<ServerInfo, Broken> {
        let name = text(model, "id").unwrap_or_default();
        let mut info = ServerInfo::new(ServerKind::Vllm, &http.peer.host, name);
        info.n_context = count(model, "max_model_len");
        match http.get("/version", stop) {
            Err(Broken::Stopped) => return Err(Broken::Stopped),
            // The version is only displayed, so it may be missing.
            Err(Broken::Failed(_)) => {}
            Ok(answer) => text(&answer, "version")
                .unwrap_or_default()
                .clone_into(&mut info.version),
        }
        Ok(info)
    }

    fn tokenize(
        &self,
        connection: &Connection,
        prompt: &str,
        stop: &StopFlag,
    ) -> Result<Vec<PromptToken>, Broken> {
        let body = json!({
            "model": connection.info().id, "prompt": prompt, "add_special_tokens": true,
        });
        let answer = connection.http().post("/tokenize", &body, stop)?;
        let unexpected = || connection.served().peer.unexpected("no list of tokens");
        let tokens = answer.get("tokens").and_then(Value::as_array);
        let mut read = Vec::new();
        for id in tokens.ok_or_else(unexpected)? {
            let id = connection
                .served()
                .check_id(id_of(id).ok_or_else(unexpected)?)?;
            let name = name_of(connection, id, stop)?;
            let piece = piece_of(connection.served(), &name);
            connection.served().learn(id, piece.clone());
            read.push(PromptToken { id, piece });
        }
        Ok(read)
    }

    fn name_token(
        &self,
        connection: &Connection,
        token: TokenId,
        stop: &StopFlag,
    ) -> Result<Option<Piece>, Broken> {
        let name = name_of(connection, token, stop)?;
        Ok(Some(piece_of(connection.served(), &name)))
    }

    /// vLLM reports the text of tokens only in whole characters.
    fn join_parts(
        &self,
        connection: &Connection,
        tokens: &[TokenId],
        stop: &StopFlag,
    ) -> Result<Option<String>, Broken> {
        text_of(connection, tokens, stop).map(Some)
    }

    fn ask_step(
        &self,
        connection: &Connection,
        place: Place<'_>,
        n_probs: usize,
        stop: &StopFlag,
    ) -> Result<Answer, Broken> {
        let mut body = body(connection, place, n_probs);
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
        OpenAi.answer_of(served, number, answer)
    }

    fn stream_part(&self, served: &Served, part: &Value) -> StreamPart {
        OpenAi.stream_part(served, part)
    }

    fn sampler_request(
        &self,
        connection: &Connection,
        place: Place<'_>,
        fields: Map<String, Value>,
        n_max: usize,
    ) -> Result<(&'static str, Value), ServerError> {
        let mut body = body(connection, place, connection.n_probs());
        add_settings(&mut body, fields);
        set(&mut body, "max_tokens", json!(n_max));
        Ok(("/v1/completions", body))
    }
}

/// Returns a token's text. A part of a character becomes U+FFFD.
fn name_of(connection: &Connection, token: TokenId, stop: &StopFlag) -> Result<String, Broken> {
    if let Some(known) = connection.piece(token) {
        return Ok(String::from_utf8_lossy(&known.bytes).into_owned());
    }
    text_of(connection, &[token], stop)
}

/// Returns the text of several tokens.
fn text_of(connection: &Connection, tokens: &[TokenId], stop: &StopFlag) -> Result<String, Broken> {
    let ids: Vec<u32> = tokens.iter().map(|token| token.0).collect();
    let body = json!({ "model": connection.info().id, "tokens": ids });
    let answer = connection.http().post("/detokenize", &body, stop)?;
    let text = text(&answer, "prompt").map(str::to_owned);
    Ok(text.ok_or_else(|| connection.served().peer.unexpected("no text of a token"))?)
}

/// Returns the piece with this name: special if it ends a text.
fn piece_of(served: &Served, name: &str) -> Piece {
    if served.info.is_end(name) {
        Piece::special(name)
    } else {
        Piece::text(name)
    }
}

/// Returns the parts of a request that do not depend on what chooses the tokens.
fn body(connection: &Connection, place: Place<'_>, n_probs: usize) -> Value {
    let tokens: Vec<u32> = place.tokens.iter().map(|token| token.0).collect();
    let mut body = openai::body(connection, &json!(tokens), n_probs);
    set(&mut body, "add_special_tokens", json!(false));
    set(&mut body, "return_token_ids", json!(true));
    // Names tokens by their ids, because several can have the same text.
    set(&mut body, "return_tokens_as_token_ids", json!(true));
    body
}
