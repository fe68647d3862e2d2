//! Programs that misbehave, and web pages that try to get in.

use std::sync::mpsc::sync_channel;

use serde_json::{Value, json};

use super::client::{Client, get, post};
use super::{Endpoint, LONG, chat_model, gated};
use crate::random::Random;
use crate::scripted::ScriptedLm;
use quartet::generation::FinishReason;
use quartet::listen::{MAX_OPEN_REQUESTS, Outcome};

const TALE: &str = "Once upon a time there was a fox.";

/// A text that goes on until the context is full.
fn endless() -> Value {
    json!({"prompt": "Once", "max_tokens": -1, "ignore_eos": true, "stream": true})
}

/// Sends a request as it is, and returns the status of the response.
fn status_of(endpoint: &Endpoint, request: &str) -> u16 {
    let mut client = Client::connect(endpoint.address);
    client.write(request.as_bytes());
    client.response().status
}

#[test]
fn web_pages_of_others_are_refused_and_no_page_is_invited() {
    let endpoint = Endpoint::reciting(TALE);
    let port = endpoint.address.port();
    let body = json!({"prompt": "Once", "max_tokens": 3}).to_string();
    for (headers, expected) in [
        (format!("Host: 127.0.0.1:{port}"), 200),
        (
            format!("Host: localhost:{port}\r\nOrigin: http://localhost:3000"),
            200,
        ),
        (format!("Host: evil.example:{port}"), 403),
        (
            format!("Host: 127.0.0.1:{port}\r\nOrigin: http://evil.example"),
            403,
        ),
        (format!("Host: 127.0.0.1:{port}\r\nOrigin: null"), 403),
        ("Host: 127.0.0.1:1".to_owned(), 403),
    ] {
        let n_bytes = body.len();
        let mut client = Client::connect(endpoint.address);
        client.write(
            format!("POST /v1/completions HTTP/1.1\r\n{headers}\r\nContent-Length: {n_bytes}\r\n\r\n{body}")
                .as_bytes(),
        );
        let response = client.response();
        assert_eq!(response.status, expected, "{headers}");
        let invites = |name: &String| name.starts_with("access-control");
        assert!(!response.headers.keys().any(invites), "{headers}");
        let is_refused = matches!(endpoint.answered().outcome, Outcome::Refused(_));
        assert_eq!(is_refused, expected == 403);
    }
    let preflight = format!("OPTIONS /v1/completions HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    assert_eq!(status_of(&endpoint, &preflight), 405);
}

#[test]
fn only_the_listed_paths_and_methods_exist() {
    let endpoint = Endpoint::reciting(TALE);
    for path in [
        "/",
        "/v1",
        "/../etc/passwd",
        "/v1/files",
        "/slots",
        "/metrics",
        "/v1/models/..",
    ] {
        let response = get(endpoint.address, path);
        assert_eq!(response.status, 404, "{path}");
        response.error();
    }
    assert_eq!(get(endpoint.address, "/v1/completions").status, 405);
    assert_eq!(post(endpoint.address, "/v1/models", &json!({})).status, 405);
}

#[test]
fn what_is_no_request_is_refused_and_the_endpoint_goes_on() {
    let endpoint = Endpoint::reciting(TALE);
    let host = endpoint.address;
    let many = "X-Header: 1\r\n".repeat(200);
    let long = "x".repeat(100_000);
    for request in [
        "\r\n\r\nnonsense\r\n\r\n".to_owned(),
        "GET / HTTP/9.9\r\n\r\n".to_owned(),
        format!("GET /health HTTP/1.1\r\nHost: {host}\r\n{many}\r\n"),
        format!("GET /{long} HTTP/1.1\r\nHost: {host}\r\n\r\n"),
        format!("GET /health HTTP/1.1\r\nHost: {host}\r\nX: {long}\r\n\r\n"),
        format!("POST /v1/completions HTTP/1.1\r\nHost: {host}\r\nContent-Length: -1\r\n\r\n"),
        format!(
            "POST /v1/completions HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"
        ),
        format!(
            "POST /v1/completions HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
        ),
    ] {
        let status = {
            let mut client = Client::connect(endpoint.address);
            // The endpoint may close the connection before it has read everything.
            client.try_write(request.as_bytes());
            client.try_status()
        };
        assert!(
            status.is_none_or(|status| (400..500).contains(&status) || status == 505),
            "{status:?} for {:?}",
            request.get(..60)
        );
    }
    assert_eq!(get(endpoint.address, "/health").status, 200);
}

#[test]
fn a_body_that_is_too_large_is_refused_before_it_is_kept() {
    let endpoint = Endpoint::reciting(TALE);
    let host = endpoint.address;
    let n_bytes = (16 << 20) + 1;
    let announced = format!(
        "POST /v1/completions HTTP/1.1\r\nHost: {host}\r\nContent-Length: {n_bytes}\r\n\r\n"
    );
    assert_eq!(status_of(&endpoint, &announced), 413);
    let mut client = Client::connect(host);
    client.write(
        format!(
            "POST /v1/completions HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        .as_bytes(),
    );
    let chunk = vec![b' '; 1 << 20];
    for _ in 0..18 {
        client.try_write(format!("{:x}\r\n", chunk.len()).as_bytes());
        client.try_write(&chunk);
        client.try_write(b"\r\n");
    }
    assert!(matches!(endpoint.answered().outcome, Outcome::Refused(error) if error.status == 413));
    assert!(matches!(endpoint.answered().outcome, Outcome::Refused(error) if error.status == 413));
    // A body of megabytes that fits is read, and is only then found to be wrong.
    let spaces = " ".repeat(8 << 20);
    let mut client = Client::connect(host);
    client.write(
        format!(
            "POST /v1/completions HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\r\n{spaces}",
            spaces.len()
        )
        .as_bytes(),
    );
    assert_eq!(client.response().status, 400);
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let endpoint = Endpoint::reciting(TALE);
    let mut client = Client::connect(endpoint.address);
    for n_tokens in 1..=5 {
        client.post(
            "/v1/completions",
            &json!({"prompt": "O", "max_tokens": n_tokens, "temperature": 0}),
        );
    }
    for n_tokens in 1..=5 {
        let json = client.response().json();
        assert_eq!(json["usage"]["completion_tokens"], n_tokens);
    }
}

#[test]
fn a_program_that_leaves_stops_its_own_text_only() {
    let endpoint = Endpoint::start(|| ScriptedLm::babbling(1 << 20).into_loaded());
    let other = json!({"prompt": "Once", "max_tokens": 20, "seed": 7, "ignore_eos": true});
    let alone = post(endpoint.address, "/v1/completions", &other).json();
    assert_eq!(endpoint.texts()[0].steps.len(), 20);
    let mut staying = Client::connect(endpoint.address);
    let mut leaving = Client::connect(endpoint.address);
    leaving.post("/v1/completions", &endless());
    // The text has begun.
    assert_eq!(leaving.line(), "HTTP/1.1 200 OK");
    staying.post("/v1/completions", &other);
    drop(leaving);
    let beside = staying.response().json();
    assert_eq!(beside["choices"], alone["choices"]);
    let both = [endpoint.answered(), endpoint.answered()];
    let cut = both.iter().find_map(|answered| match &answered.outcome {
        Outcome::Written { texts, request } => Some((&texts[0], request.undelivered.as_deref()?)),
        _ => None,
    });
    let (text, why) = cut.expect("one text was cut");
    assert_eq!(why, "the program left");
    assert_eq!(text.finish, Some(FinishReason::Cancelled));
}

#[test]
fn further_requests_are_turned_away_while_too_many_are_open() {
    let (endpoint, gate) = gated(|| ScriptedLm::reciting(64, TALE));
    let (sender, responses) = sync_channel(MAX_OPEN_REQUESTS + 1);
    let address = endpoint.address;
    let threads: Vec<_> = (0..=MAX_OPEN_REQUESTS)
        .map(|_| {
            let sender = sender.clone();
            let ask = move || {
                let body = json!({"prompt": "Once", "max_tokens": 3});
                let response = post(address, "/v1/completions", &body);
                sender.send(response).unwrap();
            };
            std::thread::Builder::new().spawn(ask).unwrap()
        })
        .collect();
    // The model writes nothing yet, so only a refusal can arrive.
    let refused = responses.recv_timeout(LONG).unwrap();
    assert_eq!(refused.status, 429);
    assert_eq!(refused.headers["retry-after"], "1");
    assert!(refused.error().contains("16 requests are open"));
    drop(gate);
    for thread in threads {
        thread.join().unwrap();
    }
    let statuses: Vec<u16> = responses
        .try_iter()
        .map(|response| response.status)
        .collect();
    assert_eq!(statuses, [200; MAX_OPEN_REQUESTS]);
}

#[test]
fn an_endpoint_that_closes_says_so_in_its_streams() {
    let endpoint = Endpoint::start(|| ScriptedLm::babbling(1 << 20).into_loaded());
    let mut client = Client::connect(endpoint.address);
    client.post("/v1/completions", &endless());
    assert_eq!(client.line(), "HTTP/1.1 200 OK");
    let address = endpoint.address;
    let reader = std::thread::Builder::new().spawn(move || {
        let mut last = String::new();
        while !client.is_closed() {
            let line = client.line();
            if line.starts_with("data: ") {
                last = line;
            }
        }
        last
    });
    drop(endpoint);
    let last = reader.unwrap().join().unwrap();
    assert!(last.contains("\"error\""), "{last}");
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn an_error_after_the_first_token_ends_the_stream() {
    let endpoint = Endpoint::start(|| {
        let fails = |tokens: &[quartet::decoding::TokenId]| {
            let logit = if tokens.len() > 6 { f32::NAN } else { 0.0 };
            vec![logit; crate::scripted::N_VOCAB]
        };
        ScriptedLm::new(64, fails).into_loaded()
    });
    let body = |stream: bool| json!({"prompt": "Once", "stream": stream, "ignore_eos": true});
    let whole = post(endpoint.address, "/v1/completions", &body(false));
    assert_eq!(whole.status, 500);
    assert_eq!(whole.json()["error"]["type"], "server_error");
    let kept = endpoint.texts().remove(0);
    assert_eq!(kept.steps.len(), 3);
    let events = post(endpoint.address, "/v1/completions", &body(true)).events();
    let last: Value = serde_json::from_str(events.last().unwrap()).unwrap();
    assert_eq!(last["error"]["type"], "server_error");
}

#[test]
fn damaged_requests_are_refused_or_answered() {
    let endpoint = Endpoint::start(|| chat_model("?Hi</s>:Hello"));
    let valid = json!({
        "model": "Scripted", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3,
        "temperature": 0.7, "top_k": 5, "stop": ["x"], "seed": 3, "logit_bias": {"5": 1.5},
        "response_format": {"type": "text"}, "logprobs": true, "dry_multiplier": 0.5,
    })
    .to_string();
    let mut random = Random(7);
    let mut client = Client::connect(endpoint.address);
    let mut n_refused = 0;
    for _ in 0..300 {
        let mut bytes = valid.clone().into_bytes();
        for _ in 0..=random.below(4) {
            let index = random.below(bytes.len());
            match random.below(3) {
                0 => drop(bytes.remove(index)),
                1 => bytes.insert(index, random.pick(b"{}[]\",:-0e\\x")),
                _ => bytes[index] = random.next() as u8,
            }
        }
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n",
            endpoint.address,
            bytes.len()
        );
        client.write(&[head.as_bytes(), &bytes].concat());
        let response = client.response();
        assert!([200, 400, 404].contains(&response.status), "{response:?}");
        n_refused += usize::from(response.status != 200);
    }
    assert!((1..300).contains(&n_refused));
}
