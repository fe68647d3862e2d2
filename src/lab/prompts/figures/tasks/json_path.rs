//! Finds the place of a value inside a JSON text, for messages about mistakes.

use serde_json::{Deserializer, Value};

/// A step from a JSON value to one inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Index(usize),
    Key(&'static str),
}

/// Returns the byte at which the value at the end of a path starts, or as much of it as there is.
pub(super) fn locate(json: &str, path: &[Step]) -> usize {
    let start = json.len() - json.trim_start().len();
    let Some((step, path)) = path.split_first() else {
        return start;
    };
    match child(json, start, step) {
        Some(byte) => byte + locate(json.get(byte..).unwrap_or_default(), path),
        None => start,
    }
}

/// Returns the byte of a character inside a string that starts a JSON text. Columns are 1-based.
pub(super) fn locate_char(json: &str, column: usize) -> usize {
    let mut byte = 1;
    let mut n_chars = 1;
    while n_chars < column {
        let rest = json.get(byte..).unwrap_or_default();
        let Some(c) = rest.chars().next().filter(|c| *c != '"') else {
            break;
        };
        byte += match (c, rest.get(..2)) {
            ('\\', Some(r"\u")) if is_surrogate(rest) => 12,
            ('\\', Some(r"\u")) => 6,
            ('\\', _) => 2,
            _ => c.len_utf8(),
        };
        n_chars += 1;
    }
    byte.min(json.len())
}

/// Returns whether `\u` starts a character of two parts.
fn is_surrogate(text: &str) -> bool {
    let digits = text.get(2..6).map(|digits| u32::from_str_radix(digits, 16));
    matches!(digits, Some(Ok(0xd800..=0xdbff)))
}

/// Returns the byte at which an entry of the object or array at a byte starts.
fn child(json: &str, start: usize, step: &Step) -> Option<usize> {
    let mut byte = start + 1;
    let mut index = 0;
    let mut found = None;
    loop {
        byte = skip_space(json, byte);
        let rest = json.get(byte..)?;
        if rest.starts_with(['}', ']']) || rest.is_empty() {
            return found;
        }
        let (first, end) = value_at(json, byte).ok()?;
        match step {
            Step::Index(wanted) if *wanted == index => return Some(byte),
            Step::Index(_) => byte = skip_space(json, end),
            Step::Key(wanted) => {
                let value = skip_space(json, skip_space(json, end) + 1);
                // The last of several fields of the same name is the one that counts.
                if first == Value::String((*wanted).to_owned()) {
                    found = Some(value);
                }
                let (_, end) = value_at(json, value).ok()?;
                byte = skip_space(json, end);
            }
        }
        index += 1;
        if json.get(byte..)?.starts_with(',') {
            byte += 1;
        }
    }
}

/// Reads the value that starts at a byte. Returns it and its end.
pub(super) fn value_at(json: &str, byte: usize) -> Result<(Value, usize), serde_json::Error> {
    let rest = json.get(byte..).unwrap_or_default();
    let mut values = Deserializer::from_str(rest).into_iter::<Value>();
    let value = values.next().unwrap_or_else(|| serde_json::from_str(""))?;
    Ok((value, byte + values.byte_offset()))
}

pub(super) fn skip_space(json: &str, byte: usize) -> usize {
    let rest = json.get(byte..).unwrap_or_default();
    let text = rest.trim_start_matches([' ', '\t', '\n', '\r']);
    byte + rest.len() - text.len()
}
