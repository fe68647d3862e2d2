//! A program that gets its text while others misbehave.

use serde_json::json;

use super::Endpoint;
use super::client::{Client, get, post};
use crate::random::Random;
use crate::scripted::ScriptedLm;

/// How many requests of hostile programs are sent.
const N_HOSTILE: usize = 96;

/// Sends one hostile request. Returns the connection if it stays open.
fn attack(endpoint: &Endpoint, random: &mut Random) -> Option<Client> {
    let address = endpoint.address;
    let mut client = Client::connect(address);
    let head = |n_bytes: usize| {
        format!("POST /completion HTTP/1.1\r\nHost: {address}\r\nContent-Length: {n_bytes}\r\n\r\n")
    };
    match random.below(8) {
        // Garbage.
        0 => {
            let garbage: Vec<u8> = (0..200).map(|_| random.next() as u8).collect();
            client.try_write(&garbage);
        }
        // Another host.
        1 => client.try_write(b"GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
        // A body that is cut off.
        2 => client.try_write(format!("{}{{\"prompt\"", head(1000)).as_bytes()),
        // A huge head.
        3 => client.try_write(format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(50_000)).as_bytes()),
        // A head that never ends.
        4 => {
            client.try_write(b"POST /completion HTTP/1.1\r\nHost: ");
            return Some(client);
        }
        // Pipelined requests whose responses nobody reads.
        5 => {
            let request = format!("GET /v1/models HTTP/1.1\r\nHost: {address}\r\n\r\n");
            client.try_write(request.repeat(20).as_bytes());
        }
        // Nested JSON.
        6 => client.try_write(format!("{}{}", head(20_000), "[".repeat(20_000)).as_bytes()),
        // A stream that is left in the middle.
        _ => {
            let body = json!({"prompt": "O", "n_predict": -1, "ignore_eos": true, "stream": true});
            client.post("/completion", &body);
            client.line();
        }
    }
    None
}

#[test]
fn hostile_programs_change_no_text_of_another() {
    let endpoint = Endpoint::start(|| ScriptedLm::babbling(1 << 12).into_loaded());
    let body = json!({"prompt": "Once", "max_tokens": 300, "seed": 7, "ignore_eos": true});
    let alone = post(endpoint.address, "/v1/completions", &body).json();
    let mut staying = Client::connect(endpoint.address);
    staying.post("/v1/completions", &body);
    let mut random = Random(11);
    let mut open = Vec::new();
    for _ in 0..N_HOSTILE {
        open.extend(attack(&endpoint, &mut random));
        // Connections are limited, and the next one would wait for a place.
        if open.len() > 8 {
            open.clear();
        }
    }
    assert_eq!(staying.response().json()["choices"], alone["choices"]);
    drop(open);
    assert_eq!(get(endpoint.address, "/health").status, 200);
}
