//! Stand-ins for the servers: they respond like llama-server, vLLM, Ollama and OpenAI's completions
//! API, record their requests, and can inject faults.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::loopback::{Received, read_request};
use crate::servers::toy_model::{self, END, EURO, N_VOCAB, bytes, log_probs, name, ranked};

/// Which server a stand-in imitates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Llama,
    Vllm,
    Ollama,
    OpenAi,
}

pub(crate) const KINDS: [Kind; 4] = [Kind::Llama, Kind::Vllm, Kind::Ollama, Kind::OpenAi];

/// A fault that affects one request.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// The response has this status, these header lines and this body.
    Refused(u16, &'static str, &'static str),
    /// Nothing is sent until the client hangs up.
    Silence,
    /// The stream ends after this many lines, in the middle of the next one.
    CutAfter(usize),
    /// The stream goes silent after this many lines, until the client hangs up.
    SilentAfter(usize),
    /// After this many lines of the stream, or in place of a response that is no stream, this text
    /// is sent again and again until the client hangs up.
    DripAfter(usize, &'static str),
    /// Every occurrence of the first text in the response is replaced with the second.
    Replaced(&'static str, &'static str),
    /// The response to a request for a stream is this text.
    Raw(&'static str),
    /// No fault, so that a later request is affected.
    Absent,
}

#[derive(Debug, Default)]
struct Shared {
    received: Mutex<Vec<Received>>,
    faults: Mutex<Vec<(String, Fault)>>,
    n_open: AtomicUsize,
    n_most_open: AtomicUsize,
    n_hung_up: AtomicUsize,
}

/// A stand-in. It runs until the test process ends.
#[derive(Debug, Clone)]
pub(crate) struct StandIn {
    pub address: String,
    kind: Kind,
    shared: Arc<Shared>,
}

impl StandIn {
    pub(crate) fn start(kind: Kind) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let server = Self {
            address,
            kind,
            shared: Arc::default(),
        };
        let serving = server.clone();
        let accept = move || {
            for stream in listener.incoming().flatten() {
                let server = serving.clone();
                // A client may disconnect at any time.
                let serve = move || server.serve(&stream).unwrap_or_default();
                thread::Builder::new().spawn(serve).unwrap();
            }
        };
        thread::Builder::new().spawn(accept).unwrap();
        server
    }

    /// Injects a fault into the next request whose path contains this text, after `n_before` such
    /// requests.
    pub(crate) fn fail(&self, path: &str, n_before: usize, fault: Fault) {
        let mut faults = self.shared.faults.lock().unwrap();
        for _ in 0..n_before {
            faults.push((path.to_owned(), Fault::Absent));
        }
        faults.push((path.to_owned(), fault));
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.shared.received.lock().unwrap().clone()
    }

    /// Returns the bodies of the requests to a path.
    pub(crate) fn bodies(&self, path: &str) -> Vec<Value> {
        let received = self.received().into_iter();
        let to_path = received.filter(|received| received.path == path);
        to_path
            .map(|received| serde_json::from_slice(&received.body).unwrap())
            .collect()
    }

    /// The most requests that were open at the same time.
    pub(crate) fn n_most_open(&self) -> usize {
        self.shared.n_most_open.load(Ordering::SeqCst)
    }

    /// How many requests the client hung up on.
    pub(crate) fn n_hung_up(&self) -> usize {
        self.shared.n_hung_up.load(Ordering::SeqCst)
    }

    fn serve(&self, stream: &TcpStream) -> std::io::Result<()> {
        let Some(request) = read_request(stream)? else {
            return Ok(());
        };
        self.shared.received.lock().unwrap().push(request.clone());
        let n_open = self.shared.n_open.fetch_add(1, Ordering::SeqCst) + 1;
        self.shared.n_most_open.fetch_max(n_open, Ordering::SeqCst);
        let served = self.answer(&request, stream);
        self.shared.n_open.fetch_sub(1, Ordering::SeqCst);
        served
    }

    fn fault(&self, path: &str) -> Option<Fault> {
        let mut faults = self.shared.faults.lock().unwrap();
        let index = faults.iter().position(|(part, _)| path.contains(part))?;
        Some(faults.remove(index).1)
    }

    fn answer(&self, request: &Received, mut stream: &TcpStream) -> std::io::Result<()> {
        let fault = self.fault(&request.path);
        match &fault {
            Some(Fault::Refused(status, headers, body)) => {
                return send(stream, *status, headers, body);
            }
            Some(Fault::Silence) => {
                self.wait_for_hang_up(stream);
                return Ok(());
            }
            _ => {}
        }
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let replaced = |text: String| match &fault {
            Some(Fault::Replaced(old, new)) => text.replace(old, new),
            _ => text,
        };
        assert_eq!(request.method == "POST", !request.body.is_empty());
        let is_stream = body["stream"] == json!(true);
        if let (Some(Fault::DripAfter(_, text)), false) = (&fault, is_stream) {
            stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
            self.drip(stream, text);
            return Ok(());
        }
        if !is_stream {
            return match self.reply(&request.path, &body) {
                Some(reply) => send(stream, 200, "", &replaced(reply.to_string())),
                None => send(
                    stream,
                    404,
                    "",
                    "{\"error\":{\"message\":\"File Not Found\"}}",
                ),
            };
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
        if let Some(Fault::Raw(body)) = fault {
            return stream.write_all(body.as_bytes());
        }
        for (index, line) in self.stream_lines(&body).into_iter().enumerate() {
            match fault {
                Some(Fault::CutAfter(n)) if n == index => {
                    let line = line.as_bytes();
                    return stream.write_all(&line[..line.len() / 2]);
                }
                Some(Fault::SilentAfter(n)) if n == index => {
                    self.wait_for_hang_up(stream);
                    return Ok(());
                }
                Some(Fault::DripAfter(n, text)) if n == index => {
                    self.drip(stream, text);
                    return Ok(());
                }
                _ => {}
            }
            // Send the line in two parts, split at an arbitrary byte.
            let line = replaced(line);
            let (a, b) = line.as_bytes().split_at(line.len() / 3);
            stream.write_all(a)?;
            stream.flush()?;
            stream.write_all(b)?;
        }
        Ok(())
    }

    /// Sends this text again and again until the client hangs up.
    fn drip(&self, mut stream: &TcpStream, text: &str) {
        while stream.write_all(text.as_bytes()).is_ok() {
            // The pause keeps it below what counts as progress; the test does not depend on it.
            thread::sleep(Duration::from_millis(5));
        }
        self.shared.n_hung_up.fetch_add(1, Ordering::SeqCst);
    }

    fn wait_for_hang_up(&self, mut stream: &TcpStream) {
        let mut byte = [0];
        // A reset is a hang-up too.
        let n_read = stream.read(&mut byte).unwrap_or(0);
        assert_eq!(n_read, 0, "the client sent more than its request");
        self.shared.n_hung_up.fetch_add(1, Ordering::SeqCst);
    }

    fn reply(&self, path: &str, body: &Value) -> Option<Value> {
        match (self.kind, path) {
            (_, "/v1/models") => Some(self.models()),
            (Kind::Llama, "/props") => Some(json!({
                "default_generation_settings": { "n_ctx": 64 }, "total_slots": 4,
                "bos_token": "<s>", "eos_token": "</s>", "build_info": "b1", "chat_template": "x",
                "model_ftype": "F32",
            })),
            (Kind::Llama, "/apply-template") => {
                let contents = body["messages"].as_array().unwrap().iter();
                let contents = contents.map(|message| message["content"].as_str().unwrap());
                Some(json!({ "prompt": contents.collect::<Vec<_>>().concat() + " q" }))
            }
            (Kind::Llama, "/tokenize") => {
                let tokens = toy_model::tokenize(body["content"].as_str().unwrap());
                let piece = |token: &usize| match String::from_utf8(bytes(*token)) {
                    Ok(text) => json!({ "id": token, "piece": text }),
                    Err(error) => json!({ "id": token, "piece": error.as_bytes() }),
                };
                Some(json!({ "tokens": tokens.iter().map(piece).collect::<Vec<_>>() }))
            }
            (Kind::Llama, "/detokenize") => {
                let token = body["tokens"][0].as_u64().unwrap();
                Some(json!({ "content": name(token as usize) }))
            }
            (Kind::Llama, "/completion") => Some(llama_reply(body)),
            (Kind::Vllm, "/version") => Some(json!({ "version": "0.1" })),
            (Kind::Vllm, "/tokenize") => {
                let tokens = toy_model::tokenize(body["prompt"].as_str().unwrap());
                Some(json!({ "count": tokens.len(), "max_model_len": 64, "tokens": tokens }))
            }
            (Kind::Vllm, "/detokenize") => {
                let tokens = tokens_of(&body["tokens"]);
                let text: Vec<u8> = tokens
                    .iter()
                    .flat_map(|token| match *token {
                        END => b"</s>".to_vec(),
                        token => bytes(token),
                    })
                    .collect();
                Some(json!({ "prompt": String::from_utf8_lossy(&text) }))
            }
            (Kind::Ollama, "/api/version") => Some(json!({ "version": "0.12.11" })),
            (Kind::Ollama, "/api/show") => Some(json!({
                "details": { "quantization_level": "Q8_0" },
                "model_info": { "general.architecture": "llama", "llama.context_length": 64 },
            })),
            (Kind::Ollama, "/api/generate") => {
                let (tokens, log_probs) = row_of(body);
                let token = ranked(&log_probs)[0];
                let mut reply = ollama_part(token, &log_probs, body);
                reply["done"] = json!(true);
                reply["total_duration"] = json!(1_000_000);
                let reason = if token == END { "stop" } else { "length" };
                reply["done_reason"] = json!(reason);
                if token == END {
                    reply["logprobs"] = json!([]);
                }
                assert!(!tokens.is_empty());
                Some(reply)
            }
            (Kind::Vllm | Kind::OpenAi, "/v1/completions") => {
                let (_, log_probs) = row_of(body);
                // vLLM adds the sampled token if it is not among the most likely ones.
                let token = ranked(&log_probs)[if self.kind == Kind::Vllm { 25 } else { 0 }];
                Some(json!({ "model": "toy", "choices": [self.choice(token, &log_probs, body)] }))
            }
            _ => None,
        }
    }

    fn models(&self) -> Value {
        let owner = match self.kind {
            Kind::Llama => "llamacpp",
            Kind::Vllm => "vllm",
            Kind::Ollama => "library",
            Kind::OpenAi => "somebody",
        };
        let mut model = json!({ "id": "toy", "object": "model", "owned_by": owner });
        match self.kind {
            Kind::Llama => model["meta"] = json!({ "n_vocab": N_VOCAB, "n_params": 1000 }),
            Kind::Vllm => model["max_model_len"] = json!(64),
            _ => {}
        }
        json!({ "object": "list", "data": [model] })
    }

    /// Returns the lines of a stream. The server's own sampler takes the second most likely token,
    /// or the most likely one at temperature 0.
    fn stream_lines(&self, body: &Value) -> Vec<String> {
        let (mut tokens, _) = row_of(body);
        let limit = ["n_predict", "max_tokens"]
            .iter()
            .find_map(|name| body[*name].as_u64());
        let limit = limit
            .or_else(|| body["options"]["num_predict"].as_u64())
            .unwrap();
        let greedy = body["temperature"].as_f64() == Some(0.0);
        let (mut lines, mut held) = (Vec::new(), Vec::new());
        for n_done in 1..=limit {
            let log_probs = log_probs(&tokens);
            let order = ranked(&log_probs);
            let token = if greedy || EURO[1..].contains(&order[0]) {
                order[0]
            } else {
                order[1]
            };
            tokens.push(token);
            held.extend(bytes(token));
            let is_last = n_done == limit;
            match self.kind {
                // It sends no token whose text ends within a character.
                Kind::Llama if std::str::from_utf8(&held).is_err() => {}
                Kind::Llama => {
                    let text = std::mem::take(&mut held);
                    let mut part = llama_part(token, &log_probs, body, &text);
                    // It names the last token of a character with the text of all of them.
                    part["completion_probabilities"][0]["bytes"] = json!(text);
                    part["tokens_predicted"] = json!(n_done);
                    lines.push(format!("data: {part}\n\n"));
                }
                Kind::Ollama => {
                    lines.push(ollama_part(token, &log_probs, body).to_string() + "\n");
                }
                Kind::Vllm | Kind::OpenAi => {
                    let mut choice = self.choice(token, &log_probs, body);
                    // They send text only in whole characters.
                    let whole = match std::str::from_utf8(&held) {
                        Ok(text) => text.to_owned(),
                        Err(_) => String::new(),
                    };
                    if !whole.is_empty() {
                        held.clear();
                    }
                    choice["text"] = json!(whole);
                    let reason = if is_last {
                        json!("length")
                    } else {
                        Value::Null
                    };
                    choice["finish_reason"] = reason;
                    let part = json!({ "model": "toy", "choices": [choice] });
                    lines.push(format!(": ping\n\ndata: {part}\n\n"));
                }
            }
        }
        match self.kind {
            Kind::Llama => lines.push(format!(
                "data: {}\n\n",
                json!({ "stop": true, "stop_type": "limit", "content": "", "model": "toy" })
            )),
            Kind::Ollama => lines.push(
                json!({ "model": "toy", "done": true, "done_reason": "length", "response": "" })
                    .to_string()
                    + "\n",
            ),
            _ => lines.push("data: [DONE]\n\n".to_owned()),
        }
        lines
    }

    fn choice(&self, token: usize, log_probs: &[f32], body: &Value) -> Value {
        let named = |token: usize| match self.kind {
            Kind::Vllm => format!("token_id:{token}"),
            _ if EURO.contains(&token) => format!("bytes:\\x{:02x}", bytes(token)[0]),
            _ => name(token),
        };
        let n_probs = body["logprobs"].as_u64().unwrap() as usize;
        let mut top = serde_json::Map::new();
        for likely in ranked(log_probs).into_iter().take(n_probs) {
            top.insert(named(likely), json!(log_probs[likely]));
        }
        top.insert(named(token), json!(log_probs[token]));
        json!({
            "text": String::from_utf8_lossy(&bytes(token)),
            "finish_reason": "length",
            "logprobs": {
                "tokens": [named(token)],
                "token_logprobs": [log_probs[token]],
                "top_logprobs": [top],
            },
        })
    }
}

fn tokens_of(list: &Value) -> Vec<usize> {
    let tokens = list.as_array().unwrap().iter();
    tokens
        .map(|token| token.as_u64().unwrap() as usize)
        .collect()
}

/// Returns the tokens of a request's prompt, and the distribution after them.
fn row_of(body: &Value) -> (Vec<usize>, Vec<f32>) {
    let tokens = match &body["prompt"] {
        Value::String(text) => toy_model::tokenize(text),
        list => tokens_of(list),
    };
    let row = log_probs(&tokens);
    (tokens, row)
}

fn llama_reply(body: &Value) -> Value {
    let (_, row) = row_of(body);
    let mut biased = row.clone();
    for bias in body["logit_bias"].as_array().into_iter().flatten() {
        biased[bias[0].as_u64().unwrap() as usize] += bias[1].as_f64().unwrap() as f32;
    }
    let token = ranked(&biased)[0];
    let part = llama_part(token, &row, body, &bytes(token));
    let is_whole = std::str::from_utf8(&bytes(token)).is_ok();
    json!({
        "model": "toy", "content": part["content"], "tokens": [token], "stop": true,
        "stop_type": "limit",
        "timings": { "prompt_ms": 0.25, "predicted_ms": 0.25 },
        // It lists no token whose text ends within a character.
        "completion_probabilities": if is_whole { part["completion_probabilities"].clone() } else {
            json!([])
        },
    })
}

fn llama_part(token: usize, row: &[f32], body: &Value, content: &[u8]) -> Value {
    let n_probs = body["n_probs"].as_u64().unwrap() as usize;
    let entry = |token: usize| {
        json!({
            "id": token, "token": name(token), "bytes": bytes(token), "logprob": row[token],
        })
    };
    let mut probs = entry(token);
    probs["top_logprobs"] = ranked(row).into_iter().take(n_probs).map(entry).collect();
    json!({
        "model": "toy", "content": String::from_utf8_lossy(content), "tokens": [token],
        "stop": false, "completion_probabilities": [probs],
    })
}

fn ollama_part(token: usize, row: &[f32], body: &Value) -> Value {
    let n_probs = body["top_logprobs"].as_u64().unwrap() as usize;
    let entry = |token: usize| {
        let bytes = if token == END {
            b"</s>".to_vec()
        } else {
            bytes(token)
        };
        json!({ "token": name(token), "bytes": bytes, "logprob": row[token] })
    };
    let mut probs = entry(token);
    probs["top_logprobs"] = ranked(row).into_iter().take(n_probs).map(entry).collect();
    json!({
        "model": "toy", "response": String::from_utf8_lossy(&bytes(token)), "done": false,
        "logprobs": [probs],
    })
}

fn send(mut stream: &TcpStream, status: u16, headers: &str, body: &str) -> std::io::Result<()> {
    let n_body = body.len();
    let head = format!(
        "HTTP/1.1 {status} Told\r\nConnection: close\r\nContent-Length: {n_body}\r\n{headers}\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    stream.flush()
}
