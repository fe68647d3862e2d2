//! Values as Python writes them, because templates were written for it.

use std::fmt::Write as _;

use minijinja::value::{Kwargs, Rest, ValueKind};
use minijinja::{Error, ErrorKind, Output, State, Value};

/// How deep values may lie in each other where they are written.
const N_MAX_DEPTH: usize = 64;

/// Prints a value where a template says `{{ value }}`.
pub(super) fn print(
    output: &mut Output<'_>,
    _: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), Error> {
    let written = match value.kind() {
        ValueKind::Undefined => return Ok(()),
        ValueKind::String => match value.as_str() {
            Some(text) => return Ok(output.write_str(text)?),
            None => value.to_string(),
        },
        ValueKind::None | ValueKind::Bool | ValueKind::Seq | ValueKind::Map => {
            let mut written = String::new();
            write_value(value, &Notation::Python, 0, &mut written)?;
            written
        }
        _ => value.to_string(),
    };
    Ok(output.write_str(&written)?)
}

/// Python's `json.dumps`, with its options in its order: `ensure_ascii`, `indent`, `separators`,
/// `sort_keys`.
pub(super) fn to_json(value: &Value, given: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let option = |place: usize, name: &str| -> Result<Value, Error> {
        match given.get(place) {
            Some(value) => Ok(value.clone()),
            None => Ok(named.get::<Option<Value>>(name)?.unwrap_or_default()),
        }
    };
    let ascii = option(0, "ensure_ascii")?.is_true();
    let indent = indent(&option(1, "indent")?)?;
    let separators = option(2, "separators")?;
    let sorted = option(3, "sort_keys")?.is_true();
    named.assert_all_used()?;
    let separator = |place: usize, usual: &str| {
        let separator = separators.get_item_by_index(place);
        let text = separator
            .ok()
            .and_then(|text| text.as_str().map(str::to_owned));
        text.unwrap_or_else(|| usual.to_owned())
    };
    let json = Json {
        between_items: separator(0, if indent.is_some() { "," } else { ", " }),
        after_key: separator(1, ": "),
        indent,
        ascii,
        sorted,
    };
    let mut written = String::new();
    write_value(value, &Notation::Json(json), 0, &mut written)?;
    Ok(Value::from(written))
}

/// Whether a value has a length and items: in Python, texts and dictionaries too.
pub(super) fn is_sequence(value: &Value) -> bool {
    match value.kind() {
        ValueKind::String | ValueKind::Seq | ValueKind::Map => true,
        ValueKind::Iterable => value.len().is_some(),
        _ => false,
    }
}

/// What one level is set in by.
fn indent(option: &Value) -> Result<Option<String>, Error> {
    if let Some(text) = option.as_str() {
        return Ok(Some(text.to_owned()));
    }
    match option.kind() {
        ValueKind::None | ValueKind::Undefined => Ok(None),
        _ => match u8::try_from(option.clone()) {
            Ok(width) => Ok(Some(" ".repeat(width.into()))),
            Err(_) => Err(Error::new(
                ErrorKind::InvalidOperation,
                format!("tojson can't indent by {option}"),
            )),
        },
    }
}

enum Notation {
    /// As `str` writes it.
    Python,
    Json(Json),
}

struct Json {
    between_items: String,
    after_key: String,
    indent: Option<String>,
    ascii: bool,
    sorted: bool,
}

fn write_value(
    value: &Value,
    notation: &Notation,
    depth: usize,
    out: &mut String,
) -> Result<(), Error> {
    if depth > N_MAX_DEPTH {
        let reason = "values lie too deep in each other to be written";
        return Err(Error::new(ErrorKind::InvalidOperation, reason));
    }
    let (none, yes, no) = match notation {
        Notation::Python => ("None", "True", "False"),
        Notation::Json(_) => ("null", "true", "false"),
    };
    match value.kind() {
        ValueKind::Undefined if matches!(notation, Notation::Json(_)) => {
            let reason = "a value that is not defined can't be written as JSON";
            return Err(Error::new(ErrorKind::BadSerialization, reason));
        }
        ValueKind::Undefined => out.push_str("Undefined"),
        ValueKind::None => out.push_str(none),
        ValueKind::Bool => out.push_str(if value.is_true() { yes } else { no }),
        ValueKind::String => write_text(value.as_str().unwrap_or_default(), notation, out),
        ValueKind::Seq | ValueKind::Iterable => {
            let items: Vec<Value> = value.try_iter()?.collect();
            let brackets = match notation {
                Notation::Python if value.is_tuple() => ('(', ')'),
                _ => ('[', ']'),
            };
            write_items(&items, brackets, notation, depth, out, |item, out| {
                write_value(item, notation, depth + 1, out)
            })?;
        }
        ValueKind::Map => {
            let mut keys: Vec<Value> = value.try_iter()?.collect();
            if matches!(notation, Notation::Json(Json { sorted: true, .. })) {
                keys.sort();
            }
            write_items(&keys, ('{', '}'), notation, depth, out, |key, out| {
                write_key(key, notation, out)?;
                write_value(&value.get_item(key)?, notation, depth + 1, out)
            })?;
        }
        _ => write!(out, "{value}")?,
    }
    Ok(())
}

fn write_key(key: &Value, notation: &Notation, out: &mut String) -> Result<(), Error> {
    match notation {
        Notation::Python => {
            write_value(key, notation, 0, out)?;
            out.push_str(": ");
        }
        // In JSON every key is a text.
        Notation::Json(json) => {
            let mut text = String::new();
            match key.as_str() {
                Some(key) => text.push_str(key),
                None => write_value(key, notation, 0, &mut text)?,
            }
            write_text(&text, notation, out);
            out.push_str(&json.after_key);
        }
    }
    Ok(())
}

/// Items in brackets, each on a line of its own where there is an indent.
fn write_items(
    items: &[Value],
    (open, close): (char, char),
    notation: &Notation,
    depth: usize,
    out: &mut String,
    mut write_item: impl FnMut(&Value, &mut String) -> Result<(), Error>,
) -> Result<(), Error> {
    let (between, indent) = match notation {
        Notation::Python => (", ", None),
        Notation::Json(json) => (json.between_items.as_str(), json.indent.as_deref()),
    };
    let break_line = |depth: usize, out: &mut String| {
        if let Some(indent) = indent.filter(|_| !items.is_empty()) {
            out.push('\n');
            out.push_str(&indent.repeat(depth));
        }
    };
    out.push(open);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(between);
        }
        break_line(depth + 1, out);
        write_item(item, out)?;
    }
    break_line(depth, out);
    out.push(close);
    Ok(())
}

/// A text in quotation marks.
fn write_text(text: &str, notation: &Notation, out: &mut String) {
    let (quote, ascii) = match notation {
        // Python takes the other mark where it saves an escape.
        Notation::Python if text.contains('\'') && !text.contains('"') => ('"', false),
        Notation::Python => ('\'', false),
        Notation::Json(json) => ('"', json.ascii),
    };
    out.push(quote);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            character if character == quote => out.extend(['\\', quote]),
            character => write_character(character, notation, ascii, out),
        }
    }
    out.push(quote);
}

fn write_character(character: char, notation: &Notation, ascii: bool, out: &mut String) {
    let code = u32::from(character);
    let control = character.is_ascii_control();
    // Writing to a string does not fail.
    match notation {
        Notation::Python if control => write!(out, "\\x{code:02x}").ok(),
        Notation::Json(_) if code == 8 => write!(out, "\\b").ok(),
        Notation::Json(_) if code == 12 => write!(out, "\\f").ok(),
        Notation::Json(_) if code < 0x20 => write!(out, "\\u{code:04x}").ok(),
        Notation::Json(_) if ascii && !character.is_ascii() => {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                write!(out, "\\u{unit:04x}").ok();
            }
            None
        }
        _ => {
            out.push(character);
            None
        }
    };
}
