//! Reads requests on loopback, for the servers that tests start.

#![allow(dead_code, reason = "each test crate uses only some of this module")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub method: String,
    pub path: String,
    /// Keyed by name in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

/// Reads one request. Returns `None` if the client sent nothing.
pub(crate) fn read_request(stream: &TcpStream) -> std::io::Result<Option<Received>> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split(' ');
    let (Some(method), Some(path)) = (words.next(), words.next()) else {
        return Ok(None);
    };
    let (method, path) = (method.to_owned(), path.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let n_body = headers
        .get("content-length")
        .map_or(0, |n| n.parse().unwrap());
    let mut body = vec![0; n_body];
    reader.read_exact(&mut body)?;
    Ok(Some(Received {
        method,
        path,
        headers,
        body,
    }))
}
