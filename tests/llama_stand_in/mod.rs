//! A stand-in for llama-server that serves any model over loopback, for tests that compare a text
//! over a server with the same model here. It must be beside [`crate::loopback`].

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::thread;

use quartet::decoding::TokenId;
use quartet::engine::{LoadedModel, Row};
use quartet::generation::PieceKind;
use serde_json::{Value, json};

use crate::loopback::read_request;

/// Serves a model until the test process ends. Returns the address.
pub(crate) fn serve(mut model: LoadedModel) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let accept = move || {
        for stream in listener.incoming().flatten() {
            // A client may disconnect at any time.
            answer(&mut model, &stream).unwrap_or_default();
        }
    };
    thread::Builder::new().spawn(accept).unwrap();
    address
}

fn answer(model: &mut LoadedModel, stream: &TcpStream) -> std::io::Result<()> {
    let Some(request) = read_request(stream)? else {
        return Ok(());
    };
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    if body["stream"] == json!(true) {
        return send(stream, 200, &streamed(model, &body));
    }
    match reply(model, &request.path, &body) {
        Some(reply) => send(stream, 200, &reply.to_string()),
        None => send(stream, 404, "{\"error\":{\"message\":\"File Not Found\"}}"),
    }
}

fn reply(model: &mut LoadedModel, path: &str, body: &Value) -> Option<Value> {
    match path {
        "/v1/models" => {
            let meta = json!({ "n_vocab": model.info.n_vocab, "n_params": model.info.n_params });
            let served = json!({
                "id": model.info.name, "object": "model", "owned_by": "llamacpp", "meta": meta,
            });
            Some(json!({ "object": "list", "data": [served] }))
        }
        "/props" => Some(json!({
            "default_generation_settings": { "n_ctx": model.info.n_context },
            "total_slots": 4, "build_info": "b1", "model_ftype": model.info.quantization,
            "bos_token": begin(model), "eos_token": name(model, *model.end_tokens.first()?),
        })),
        "/tokenize" => {
            let tokens = model.tokenizer.encode(body["content"].as_str()?).ok()?;
            let piece = |token: &TokenId| json!({ "id": token.0, "piece": shown(model, *token) });
            Some(json!({ "tokens": tokens.iter().map(piece).collect::<Vec<_>>() }))
        }
        "/detokenize" => {
            let token = body["tokens"][0].as_u64()?;
            Some(json!({ "content": name(model, TokenId(token as u32)) }))
        }
        "/completion" => {
            let log_probs = log_probs(model, &tokens_of(body));
            let token = ranked(&log_probs)[0];
            let mut part = part(model, token, &log_probs, body);
            part["stop"] = json!(true);
            part["stop_type"] = json!("limit");
            Some(part)
        }
        _ => None,
    }
}

/// Returns the lines of a stream. The server's own sampler takes the most likely token.
fn streamed(model: &mut LoadedModel, body: &Value) -> String {
    let mut tokens = tokens_of(body);
    let mut parts = Vec::new();
    for _ in 0..body["n_predict"].as_u64().unwrap() {
        let log_probs = log_probs(model, &tokens);
        let token = ranked(&log_probs)[0];
        tokens.push(token);
        parts.push(part(model, token, &log_probs, body));
    }
    parts.push(json!({ "stop": true, "stop_type": "limit", "content": "" }));
    let lines: Vec<String> = parts
        .iter()
        .map(|part| format!("data: {part}\n\n"))
        .collect();
    lines.concat()
}

/// Describes a token and the most likely ones beside it.
fn part(model: &LoadedModel, token: TokenId, log_probs: &[f32], body: &Value) -> Value {
    let n_probs = body["n_probs"].as_u64().unwrap() as usize;
    let entry = |token: TokenId| {
        let bytes = visible_bytes(model, token);
        let (name, log_prob) = (name(model, token), log_probs[token.index()]);
        json!({ "id": token.0, "token": name, "bytes": bytes, "logprob": log_prob })
    };
    let mut probs = entry(token);
    let top = ranked(log_probs).into_iter().take(n_probs).map(entry);
    probs["top_logprobs"] = top.collect();
    json!({
        "content": String::from_utf8_lossy(&visible_bytes(model, token)), "tokens": [token.0],
        "stop": false, "completion_probabilities": [probs],
        "timings": { "prompt_ms": 0.25, "predicted_ms": 0.25 },
    })
}

fn tokens_of(body: &Value) -> Vec<TokenId> {
    let tokens = body["prompt"].as_array().unwrap().iter();
    let tokens = tokens.map(|token| TokenId(token.as_u64().unwrap() as u32));
    tokens.collect()
}

/// Returns the log-probabilities of the next token.
fn log_probs(model: &mut LoadedModel, tokens: &[TokenId]) -> Vec<f32> {
    let sequence = model.lm.open();
    let rows = tokens.iter().enumerate().map(|(index, token)| Row {
        sequence,
        token: *token,
        logits_wanted: index + 1 == tokens.len(),
    });
    let rows: Vec<Row> = rows.collect();
    let logits = model.lm.forward(&rows).unwrap().row(0).unwrap().to_vec();
    model.lm.close(sequence);
    let sum: f64 = logits.iter().map(|logit| f64::from(*logit).exp()).sum();
    let log_prob = |logit: f32| (f64::from(logit) - sum.ln()) as f32;
    logits.into_iter().map(log_prob).collect()
}

fn ranked(log_probs: &[f32]) -> Vec<TokenId> {
    let mut ranked: Vec<usize> = (0..log_probs.len()).collect();
    ranked.sort_by(|a, b| log_probs[*b].total_cmp(&log_probs[*a]).then(a.cmp(b)));
    let ranked = ranked.into_iter().map(|token| TokenId(token as u32));
    ranked.collect()
}

/// Returns the bytes of a token. llama-server reports none for special tokens.
fn visible_bytes(model: &LoadedModel, token: TokenId) -> Vec<u8> {
    let piece = model.vocabulary.piece(token);
    match piece.kind {
        PieceKind::Text => piece.bytes,
        PieceKind::Special => Vec::new(),
    }
}

/// Returns the piece of a token of a prompt: a text, or bytes if they are none.
fn shown(model: &LoadedModel, token: TokenId) -> Value {
    let bytes = model.vocabulary.piece(token).bytes;
    std::str::from_utf8(&bytes).map_or_else(|_| json!(bytes), |text| json!(text))
}

fn name(model: &LoadedModel, token: TokenId) -> String {
    String::from_utf8_lossy(&model.vocabulary.piece(token).bytes).into_owned()
}

/// Returns the name of the token that begins a text; empty if there is none.
fn begin(model: &LoadedModel) -> String {
    let tokens = model.tokenizer.encode("").unwrap_or_default();
    let first = tokens.first();
    first.map_or_else(String::new, |token| name(model, *token))
}

fn send(mut stream: &TcpStream, status: u16, body: &str) -> std::io::Result<()> {
    let n_body = body.len();
    let head =
        format!("HTTP/1.1 {status} Told\r\nConnection: close\r\nContent-Length: {n_body}\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    stream.flush()
}
