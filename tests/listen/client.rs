//! A small HTTP client that can also misbehave.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use super::LONG;

/// A response.
#[derive(Debug)]
pub(super) struct Response {
    pub status: u16,
    /// By names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Response {
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Returns the events of a stream.
    pub(super) fn events(&self) -> Vec<String> {
        let text = std::str::from_utf8(&self.body).unwrap();
        let events = text.split_terminator("\n\n");
        let data = events.map(|event| event.strip_prefix("data: ").unwrap().to_owned());
        data.collect()
    }

    /// Returns the chunks of a complete stream.
    pub(super) fn chunks(&self) -> Vec<Value> {
        let mut events = self.events();
        assert_eq!(events.pop().as_deref(), Some("[DONE]"));
        let chunks = events.iter().map(|event| serde_json::from_str(event));
        chunks.collect::<Result<_, _>>().unwrap()
    }

    /// Returns the message of an error.
    pub(super) fn error(&self) -> String {
        let json = self.json();
        assert!(json["error"]["type"].is_string(), "{json}");
        json["error"]["message"].as_str().unwrap().to_owned()
    }
}

/// A connection to the endpoint.
pub(super) struct Client {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
}

impl Client {
    pub(super) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        Self {
            stream: BufReader::new(stream),
            address,
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).unwrap();
    }

    /// Writes what the server still takes.
    pub(super) fn try_write(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).ok();
    }

    /// Reads the status of the next response, unless the server closes the connection without one.
    pub(super) fn try_status(&mut self) -> Option<u16> {
        let mut line = String::new();
        self.stream.read_line(&mut line).ok()?;
        line.split(' ').nth(1)?.parse().ok()
    }

    /// Sends a request with a body.
    pub(super) fn post(&mut self, path: &str, body: &Value) {
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: test/1\r\nAuthorization: Bearer sk-secret\r\n\
             Content-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        self.write(format!("{head}{body}").as_bytes());
    }

    /// Reads a line without its end.
    pub(super) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Reads the next response.
    pub(super) fn response(&mut self) -> Response {
        let line = self.line();
        let status = line.split(' ').nth(1);
        let status = status.unwrap_or_else(|| panic!("no response: {line:?}"));
        let status = status.parse().unwrap();
        let mut headers = BTreeMap::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(": ") else {
                break;
            };
            headers.insert(name.to_lowercase(), value.to_owned());
        }
        let body = if headers.contains_key("transfer-encoding") {
            self.chunked()
        } else {
            let n_bytes = headers.get("content-length").map_or("0", String::as_str);
            let mut body = vec![0; n_bytes.parse().unwrap()];
            self.stream.read_exact(&mut body).unwrap();
            body
        };
        Response {
            status,
            headers,
            body,
        }
    }

    fn chunked(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let n_bytes = usize::from_str_radix(&self.line(), 16).unwrap();
            let mut chunk = vec![0; n_bytes];
            self.stream.read_exact(&mut chunk).unwrap();
            body.extend(chunk);
            self.line();
            if n_bytes == 0 {
                return body;
            }
        }
    }

    /// Returns whether the server has closed the connection.
    pub(super) fn is_closed(&mut self) -> bool {
        // A reset is an end too.
        self.stream.fill_buf().map_or(true, <[u8]>::is_empty)
    }
}

/// Asks on a connection of its own.
pub(super) fn post(address: SocketAddr, path: &str, body: &Value) -> Response {
    let mut client = Client::connect(address);
    client.post(path, body);
    client.response()
}

/// Gets a path on a connection of its own.
pub(super) fn get(address: SocketAddr, path: &str) -> Response {
    let mut client = Client::connect(address);
    client.write(format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes());
    client.response()
}
