//! Values as Python writes them, because templates were written for it.

use std::fmt::{self, Write as _};

use minijinja::value::{Kwargs, Rest, ValueKind};
use minijinja::{Error, ErrorKind, Output, State, Value};

use super::N_MAX_TEXT_BYTES;
use super::error::TooLong;

/// How deep values may lie in each other where they are written.
const N_MAX_DEPTH: usize = 64;

/// Prints a value where a template says `{{ value }}`, also where it keeps what is printed for later.
pub(super) fn print(
    output: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), Error> {
    let written = match value.kind() {
        ValueKind::Undefined => return Ok(()),
        ValueKind::None | ValueKind::Bool | ValueKind::Seq | ValueKind::Map => {
            Writer::written(value, Notation::Python)?
        }
        _ => match value.as_str() {
            Some(text) => return print_text(output, state, text),
            None => Text::default().with(value)?,
        },
    };
    print_text(output, state, &written)
}

/// How many bytes a rendering has printed.
#[derive(Default)]
struct Printed(usize);

fn print_text(output: &mut Output<'_>, state: &mut State<'_, '_>, text: &str) -> Result<(), Error> {
    let printed = state.get_or_insert_extension_with(Printed::default);
    printed.0 = printed.0.saturating_add(text.len());
    if printed.0 > N_MAX_TEXT_BYTES {
        return Err(too_long());
    }
    Ok(output.write_str(text)?)
}

/// A text that does not grow without end.
#[derive(Default)]
struct Text(String);

impl Text {
    /// A value behind what is there, as minijinja writes it.
    fn with(mut self, value: &Value) -> Result<String, Error> {
        write!(self, "{value}").map_err(|_full| too_long())?;
        Ok(self.0)
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > N_MAX_TEXT_BYTES {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

fn too_long() -> Error {
    Error::from(ErrorKind::InvalidOperation).with_source(TooLong)
}

/// Python's `json.dumps`, with its options in its order: `ensure_ascii`, `indent`, `separators`,
/// `sort_keys`.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the form that minijinja asks for"
)]
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
    Writer::written(value, Notation::Json(json)).map(Value::from)
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
                format!("tojson can't indent by {}", Text::default().with(option)?),
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

/// Writes one value, however deep it is.
struct Writer {
    notation: Notation,
    depth: usize,
    out: String,
}

impl Writer {
    fn written(value: &Value, notation: Notation) -> Result<String, Error> {
        let mut writer = Self {
            notation,
            depth: 0,
            out: String::new(),
        };
        writer.value(value)?;
        Ok(writer.out)
    }

    fn value(&mut self, value: &Value) -> Result<(), Error> {
        let (none, yes, no) = match self.notation {
            Notation::Python => ("None", "True", "False"),
            Notation::Json(_) => ("null", "true", "false"),
        };
        match value.kind() {
            ValueKind::Undefined => self.undefined()?,
            ValueKind::None => self.out.push_str(none),
            ValueKind::Bool => self.out.push_str(if value.is_true() { yes } else { no }),
            ValueKind::String => self.text(value.as_str().unwrap_or_default()),
            ValueKind::Seq | ValueKind::Iterable => {
                let tuple = value.is_tuple() && matches!(self.notation, Notation::Python);
                let brackets = if tuple { ('(', ')') } else { ('[', ']') };
                self.items(value.try_iter()?, brackets, Self::value)?;
            }
            ValueKind::Map => {
                let mut keys: Vec<Value> = value.try_iter()?.collect();
                if matches!(self.notation, Notation::Json(Json { sorted: true, .. })) {
                    keys.sort();
                }
                self.items(keys.into_iter(), ('{', '}'), |writer, key| {
                    writer.key(key)?;
                    writer.value(&value.get_item(key)?)
                })?;
            }
            _ => write!(self.out, "{value}")?,
        }
        Ok(())
    }

    fn undefined(&mut self) -> Result<(), Error> {
        match self.notation {
            Notation::Python => {
                self.out.push_str("Undefined");
                Ok(())
            }
            Notation::Json(_) => {
                let reason = "a value that is not defined can't be written as JSON";
                Err(Error::new(ErrorKind::BadSerialization, reason))
            }
        }
    }

    fn key(&mut self, key: &Value) -> Result<(), Error> {
        let after = match &self.notation {
            Notation::Python => ": ".to_owned(),
            Notation::Json(json) => json.after_key.clone(),
        };
        match (&self.notation, key.as_str()) {
            // In JSON every key is a text.
            (Notation::Json(_), None) => {
                self.out.push('"');
                self.value(key)?;
                self.out.push('"');
            }
            _ => self.value(key)?,
        }
        self.out.push_str(&after);
        Ok(())
    }

    /// Items in brackets, each on a line of its own where there is an indent.
    fn items(
        &mut self,
        items: impl Iterator<Item = Value>,
        (open, close): (char, char),
        mut item: impl FnMut(&mut Self, &Value) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.depth == N_MAX_DEPTH {
            let reason = "values lie too deep in each other to be written";
            return Err(Error::new(ErrorKind::InvalidOperation, reason));
        }
        self.depth += 1;
        self.out.push(open);
        let mut is_empty = true;
        for value in items {
            if self.out.len() > N_MAX_TEXT_BYTES {
                return Err(too_long());
            }
            if !is_empty {
                let between = match &self.notation {
                    Notation::Python => ", ",
                    Notation::Json(json) => &json.between_items,
                };
                self.out.push_str(between);
            }
            is_empty = false;
            self.new_line();
            item(self, &value)?;
        }
        self.depth -= 1;
        if !is_empty {
            self.new_line();
        }
        self.out.push(close);
        Ok(())
    }

    fn new_line(&mut self) {
        if let Notation::Json(Json {
            indent: Some(indent),
            ..
        }) = &self.notation
        {
            self.out.push('\n');
            self.out.push_str(&indent.repeat(self.depth));
        }
    }

    /// A text in quotation marks.
    fn text(&mut self, text: &str) {
        let quote = match self.notation {
            // Python takes the other mark where it saves an escape.
            Notation::Python if text.contains('"') || !text.contains('\'') => '\'',
            Notation::Python | Notation::Json(_) => '"',
        };
        self.out.push(quote);
        for character in text.chars() {
            match character {
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                character if character == quote => self.out.extend(['\\', quote]),
                character => self.character(character),
            }
        }
        self.out.push(quote);
    }

    fn character(&mut self, character: char) {
        let code = u32::from(character);
        let out = &mut self.out;
        // Writing to a string does not fail.
        match &self.notation {
            Notation::Python if character.is_ascii_control() => write!(out, "\\x{code:02x}").ok(),
            Notation::Json(_) if code == 8 => write!(out, "\\b").ok(),
            Notation::Json(_) if code == 12 => write!(out, "\\f").ok(),
            Notation::Json(_) if code < 0x20 => write!(out, "\\u{code:04x}").ok(),
            Notation::Json(Json { ascii: true, .. }) if !character.is_ascii() => {
                let mut units = [0; 2];
                let mut units = character.encode_utf16(&mut units).iter();
                units.try_for_each(|unit| write!(out, "\\u{unit:04x}")).ok()
            }
            _ => write!(out, "{character}").ok(),
        };
    }
}
