//! The server as messages name it, and how its responses are judged as JSON.

use serde_json::Value;

use super::events::N_MAX_EVENT_BYTES;
use super::{Key, ServerError};
use crate::json_words::json_words;

/// How much of a text from the server is shown in a message.
const N_MAX_REASON: usize = 300;

/// A server's name in messages, and the key that no message may contain.
#[derive(Debug, Clone)]
pub(super) struct Peer {
    /// "127.0.0.1:8080".
    pub host: String,
    pub key: Option<Key>,
}

impl Peer {
    /// Parses JSON. If it reports an error, returns that error.
    pub(super) fn parsed(&self, body: &[u8]) -> Result<Value, ServerError> {
        if is_web_page(body) {
            return Err(self.web_page());
        }
        let json = json_of(body);
        let json = json.map_err(|error| {
            let reason = json_words(&error);
            self.unexpected(&format!("it is not JSON: {reason}"))
        })?;
        self.without_error(json)
    }

    /// Returns the JSON, or the error that it reports.
    pub(super) fn without_error(&self, json: Value) -> Result<Value, ServerError> {
        match json.get("error").filter(|error| !error.is_null()) {
            Some(error) => Err(ServerError::Refused {
                host: self.host.clone(),
                status: status_of(error),
                reason: self.shown(&message_of(error)),
            }),
            None => Ok(json),
        }
    }

    /// Returns the reason that the body of a refusal states; empty if it states none.
    pub(super) fn reason(&self, body: &[u8]) -> String {
        let json: Option<Value> = serde_json::from_slice(body).ok();
        let text = match &json {
            Some(json) => message_of(json.get("error").unwrap_or(json)),
            None if is_web_page(body) => String::new(),
            None => String::from_utf8_lossy(body).into_owned(),
        };
        self.shown(&text)
    }

    /// Returns a text from the server for use in a message: short, on one line, without the key.
    pub(super) fn shown(&self, text: &str) -> String {
        let printed = text.replace(|c: char| c.is_control() && !c.is_whitespace(), "");
        let words: Vec<&str> = printed.split_whitespace().collect();
        let mut line = words.join(" ");
        if let Some(key) = &self.key {
            line = key.hidden_in(&line);
        }
        if let Some((at, _)) = line.char_indices().nth(N_MAX_REASON) {
            line.truncate(at);
            line.push('…');
        }
        line
    }

    /// Returns the error for a response that does not follow the server's API.
    pub(super) fn unexpected(&self, reason: &str) -> ServerError {
        ServerError::Unexpected {
            host: self.host.clone(),
            reason: self.shown(reason),
        }
    }

    pub(super) fn lost(&self) -> ServerError {
        let host = self.host.clone();
        ServerError::ConnectionLost { host }
    }

    pub(super) fn web_page(&self) -> ServerError {
        let host = self.host.clone();
        ServerError::WebPage { host }
    }

    pub(super) fn too_large(&self) -> ServerError {
        ServerError::TooLarge {
            host: self.host.clone(),
            n_max_mib: N_MAX_EVENT_BYTES >> 20,
        }
    }
}

/// Parses JSON. Numbers that JSON lacks but Python's encoder writes (`NaN`, `Infinity`) become null.
pub(super) fn json_of(body: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(body).or_else(|error| {
        let repaired = without_non_numbers(body).ok_or(error)?;
        serde_json::from_slice(&repaired)
    })
}

/// Replaces `NaN` and `Infinity` outside of strings with null. Returns `None` if there are none.
fn without_non_numbers(body: &[u8]) -> Option<Vec<u8>> {
    let (mut written, mut rest, mut found) = (Vec::with_capacity(body.len()), body, false);
    let (mut in_string, mut is_escaped) = (false, false);
    while let Some((byte, after)) = rest.split_first() {
        let words: [&[u8]; 3] = [b"-Infinity", b"Infinity", b"NaN"];
        let word = words
            .iter()
            .find(|word| !in_string && rest.starts_with(word));
        if let Some(word) = word {
            written.extend_from_slice(b"null");
            rest = rest.get(word.len()..).unwrap_or_default();
            found = true;
            continue;
        }
        in_string ^= *byte == b'"' && !is_escaped;
        is_escaped = in_string && *byte == b'\\' && !is_escaped;
        written.push(*byte);
        rest = after;
    }
    found.then_some(written)
}

pub(super) fn is_web_page(body: &[u8]) -> bool {
    let start = body.trim_ascii_start();
    let start = start.get(..start.len().min(16)).unwrap_or_default();
    let start = start.to_ascii_lowercase();
    start.starts_with(b"<!doctype") || start.starts_with(b"<html") || start.starts_with(b"<head")
}

/// Returns the message of an error that is reported as JSON.
fn message_of(error: &Value) -> String {
    let named = ["message", "detail", "error"];
    let message = named.iter().find_map(|name| error.get(name)?.as_str());
    let message = message.or_else(|| error.as_str());
    message.map_or_else(|| error.to_string(), str::to_owned)
}

fn status_of(error: &Value) -> u16 {
    let code = error.get("code").and_then(Value::as_u64);
    code.and_then(|code| u16::try_from(code).ok())
        .unwrap_or(200)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::json_of;

    #[test]
    fn numbers_that_json_lacks_are_read_as_null() {
        for (body, expected) in [
            (
                r#"{"a": NaN, "b": -Infinity}"#,
                json!({ "a": null, "b": null }),
            ),
            (
                r#"{"a": "NaN \" NaN", "b": Infinity}"#,
                json!({ "a": "NaN \" NaN", "b": null }),
            ),
        ] {
            assert_eq!(json_of(body.as_bytes()).unwrap(), expected);
        }
        assert!(json_of(b"{NaN").is_err());
        assert!(json_of(b"1e999").is_err());
    }
}
