//! Splits a stream of bytes into events: those of the HTML standard's event streams (section 9.2), or
//! lines of JSON.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::ServerError;
use super::peer::{Peer, is_web_page, json_of};

/// The longest event that is read. A whole distribution over 150,000 tokens takes about 17 MB.
pub(super) const N_MAX_EVENT_BYTES: usize = 64 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// What a streamed response brings next.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Received {
    Json(Value),
    /// `[DONE]`, the marker after which nothing follows.
    Done,
}

/// Collects the bytes of a streamed response until an object is complete.
#[derive(Debug)]
pub(super) struct EventReader<'a> {
    peer: &'a Peer,
    /// The line that is arriving.
    line: Vec<u8>,
    /// Whether the last byte was a carriage return, which a line feed may follow.
    after_return: bool,
    /// Whether the stream's first line, which may begin with a byte order mark, is complete.
    has_begun: bool,
    /// The data of the event that is arriving.
    data: Vec<u8>,
    /// Lines of JSON without field names that are not yet complete: an object over several lines.
    plain: Vec<u8>,
    ready: VecDeque<Received>,
}

impl<'a> EventReader<'a> {
    pub(super) fn new(peer: &'a Peer) -> Self {
        Self {
            peer,
            line: Vec::new(),
            after_return: false,
            has_begun: false,
            data: Vec::new(),
            plain: Vec::new(),
            ready: VecDeque::new(),
        }
    }

    /// Returns the next object that has arrived.
    pub(super) fn next(&mut self) -> Option<Received> {
        self.ready.pop_front()
    }

    /// Reads received bytes. A line ends with a line feed, a carriage return, or both.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), ServerError> {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if self.after_return && *first == b'\n' {
                rest = rest.get(1..).unwrap_or_default();
            }
            self.after_return = false;
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
            self.line.extend_from_slice(part);
            if self.line.len() + self.data.len() + self.plain.len() > N_MAX_EVENT_BYTES {
                return Err(self.peer.too_large());
            }
            let Some((line_break, after)) = after.split_first() else {
                break;
            };
            self.after_return = *line_break == b'\r';
            rest = after;
            self.end_line()?;
        }
        Ok(())
    }

    /// Reads what remains when the connection has closed: the last line may lack its line break, and
    /// the last event the empty line after it. Whatever is not whole JSON was cut off.
    pub(super) fn close(&mut self) -> Result<(), ServerError> {
        self.end_line().or_else(|error| match error {
            ServerError::Unexpected { .. } => Ok(()),
            error => Err(error),
        })?;
        for rest in [
            std::mem::take(&mut self.data),
            std::mem::take(&mut self.plain),
        ] {
            if let Ok(json) = json_of(&rest) {
                let json = self.peer.without_error(json)?;
                self.ready.push_back(Received::Json(json));
            }
        }
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), ServerError> {
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if !std::mem::replace(&mut self.has_begun, true) {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if is_web_page(line) {
            return Err(self.peer.web_page());
        }
        if !self.plain.is_empty() || line.trim_ascii_start().starts_with(b"{") {
            return self.end_plain_line(line);
        }
        if line.is_empty() {
            return self.end_event();
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field.trim_ascii() {
            b"data" if value.trim_ascii() == b"[DONE]" => {
                self.end_event()?;
                self.ready.push_back(Received::Done);
            }
            b"data" => {
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
            }
            // llama-server reports errors in a separate field.
            b"error" => return Err(self.reported(value)),
            // Comments (an empty name), `event`, `id`, `retry` and unknown fields carry no text.
            _ => {}
        }
        Ok(())
    }

    /// Ends an event. The data of several lines is one text, so an object may extend over them; some
    /// servers leave out the empty line between events, so they may also be several objects. An event
    /// whose data is blank says nothing.
    fn end_event(&mut self) -> Result<(), ServerError> {
        let data = std::mem::take(&mut self.data);
        if data.trim_ascii().is_empty() {
            return Ok(());
        }
        match json_of(&data) {
            Ok(json) => self.add_json(json),
            Err(_) if is_sequence(&data) => {
                let lines = data.split(|byte| *byte == b'\n');
                lines
                    .filter(|line| !line.is_empty())
                    .try_for_each(|line| self.add(line))
            }
            Err(_) => self.add(&data),
        }
    }

    /// Ends a line of an object without a field name: Ollama's streams consist of such lines, and an
    /// error or a response that is no stream may be one over several lines.
    fn end_plain_line(&mut self, line: &[u8]) -> Result<(), ServerError> {
        self.plain.extend_from_slice(line);
        match json_of(&self.plain) {
            Ok(json) => {
                self.plain.clear();
                self.add_json(json)
            }
            Err(error) if error.is_eof() && self.plain.len() <= N_MAX_PLAIN => Ok(()),
            Err(_) => {
                let plain = std::mem::take(&mut self.plain);
                self.add(&plain)
            }
        }
    }

    fn add(&mut self, data: &[u8]) -> Result<(), ServerError> {
        let json = self.peer.parsed(data)?;
        self.ready.push_back(Received::Json(json));
        Ok(())
    }

    /// Returns the error in a field of its own: as an object, or within one.
    fn reported(&self, value: &[u8]) -> ServerError {
        let within = |error: Value| self.peer.without_error(json!({ "error": error }));
        let error = self.peer.parsed(value).and_then(within);
        error
            .err()
            .unwrap_or_else(|| self.peer.unexpected("an empty error"))
    }

    fn add_json(&mut self, json: Value) -> Result<(), ServerError> {
        let json = self.peer.without_error(json)?;
        self.ready.push_back(Received::Json(json));
        Ok(())
    }
}

/// The longest object without a field name that may extend over several lines: each of its lines is
/// parsed again.
const N_MAX_PLAIN: usize = 1 << 16;

/// Returns whether each line is JSON, so that they are separate events.
fn is_sequence(data: &[u8]) -> bool {
    let mut lines = data
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    lines.all(|line| json_of(line).is_ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{EventReader, Received};
    use crate::servers::ServerError;
    use crate::servers::peer::Peer;

    fn read(text: &[u8], size: usize) -> Result<Vec<Received>, ServerError> {
        let peer = Peer {
            host: "HOST".to_owned(),
            key: None,
        };
        let mut reader = EventReader::new(&peer);
        for part in text.chunks(size) {
            reader.push(part)?;
        }
        reader.close()?;
        Ok(std::iter::from_fn(|| reader.next()).collect())
    }

    /// Checks what a text holds, wherever the stream is cut: the numbers under `a`, and −1 for the
    /// end marker.
    fn check(text: &str, expected: &[i64]) {
        for size in 1..=text.len() {
            let found = read(text.as_bytes(), size).unwrap();
            let found: Vec<i64> = found
                .iter()
                .map(|received| match received {
                    Received::Json(json) => json["a"].as_i64().unwrap(),
                    Received::Done => -1,
                })
                .collect();
            assert_eq!(found, expected, "{text:?} in parts of {size}");
        }
    }

    #[test]
    fn an_event_stream_is_read_as_the_standard_says() {
        for (text, expected) in [
            ("data: {\"a\": 1}\n\ndata: [DONE]\n\n", &[1, -1][..]),
            ("data: {\"a\": 1}\r\n\r\ndata:{\"a\":2}\r\n\r\n", &[1, 2]),
            ("data: {\"a\": 1}\r\rdata: {\"a\": 2}\r\r", &[1, 2]),
            ("\u{feff}data: {\"a\": 1}\n\n", &[1]),
            // Comments, other fields, and fields without a colon.
            (
                ": ping\n\n:\n\nevent: message\nid: 7\nretry: 10\ndata: {\"a\": 1}\n\n",
                &[1],
            ),
            ("data\n\ndata\ndata\n\nevent\n\ndata: {\"a\": 1}\n\n", &[1]),
            // Blank events.
            ("data:\n\ndata: \n\ndata:  \n\ndata: {\"a\": 1}\n\n", &[1]),
            // An object over several lines, and several without an empty line between them.
            ("data: {\"a\":\ndata: 1}\n\n", &[1]),
            (
                "data: {\"a\": 1}\ndata: {\"a\": 2}\ndata: [DONE]\n\n",
                &[1, 2, -1],
            ),
            // The end of the connection in place of the last empty line.
            ("data: {\"a\": 1}\n\ndata: {\"a\": 2}", &[1, 2]),
            ("data: {\"a\": 1}\n\ndata: [DONE]", &[1, -1]),
            ("data: {\"a\": 1}\n\ndata: {\"a\": 2", &[1]),
            ("data: {\"a\": 1}\n\nda", &[1]),
            // Lines of JSON, and one object over several lines.
            ("{\"a\":1}\n{\"a\":2}\n", &[1, 2]),
            ("{\n \"a\": 1\n}", &[1]),
            ("", &[]),
            ("\n\n\n", &[]),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn errors_of_a_stream_are_named() {
        for (text, expected) in [
            (
                "data: {\"error\": {\"message\": \"no\"}}\n\n",
                "HOST refused the request (200): no",
            ),
            (
                "error: {\"error\": \"no\"}\n\n",
                "HOST refused the request (200): no",
            ),
            (
                "error: {\"message\": \"no\", \"code\": 500}\n\n",
                "HOST refused the request (500): no",
            ),
            (
                "{\n\"error\": \"no\"\n}",
                "HOST refused the request (200): no",
            ),
            (
                "data: {\"a\": 1}, {\"a\": 2}\n\n",
                "HOST sent an unexpected response: it is not JSON",
            ),
            ("<!doctype html>\n", "HOST sent a web page"),
            ("<html>", "HOST sent a web page"),
        ] {
            let error = read(text.as_bytes(), text.len()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text:?}: {error}");
        }
    }

    #[test]
    fn an_error_without_text_is_null() {
        let text = b"data: {\"a\": 1, \"error\": null}\n\n";
        assert_eq!(
            read(text, 5).unwrap(),
            [Received::Json(json!({ "a": 1, "error": null }))]
        );
    }
}
