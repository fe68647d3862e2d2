//! Formats values as Python does, because templates are written for Jinja2.

use std::fmt::{self, Write as _};

use minijinja::value::{Kwargs, Rest, ValueKind};
use minijinja::{Error, ErrorKind, Output, State, Value};

use super::N_MAX_TEXT_BYTES;
use super::error::OutputLimitExceeded;

/// How deeply lists and maps may nest in a value that is formatted.
const N_MAX_DEPTH: usize = 64;

/// Prints the value of `{{ value }}` into the output or a capture such as a `set` block.
pub(super) fn print(
    output: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), Error> {
    let formatted = match value.kind() {
        ValueKind::Undefined => return Ok(()),
        ValueKind::None | ValueKind::Bool | ValueKind::Seq | ValueKind::Map => {
            Formatter::format(value, Notation::Python)?
        }
        _ => match value.as_str() {
            Some(text) => return print_text(output, state, text),
            None => BoundedString::default().with(value)?,
        },
    };
    print_text(output, state, &formatted)
}

/// How many bytes the current rendering has printed, including captures.
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

/// A string that fails to grow beyond [`N_MAX_TEXT_BYTES`].
#[derive(Default)]
struct BoundedString(String);

impl BoundedString {
    /// Appends a value as minijinja formats it.
    fn with(mut self, value: &Value) -> Result<String, Error> {
        write!(self, "{value}").map_err(|_full| too_long())?;
        Ok(self.0)
    }
}

impl fmt::Write for BoundedString {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > N_MAX_TEXT_BYTES {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

fn too_long() -> Error {
    Error::from(ErrorKind::InvalidOperation).with_source(OutputLimitExceeded)
}

/// Python's `json.dumps`, with the same options in the same order: `ensure_ascii`, `indent`,
/// `separators`, `sort_keys`.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the signature that minijinja requires"
)]
pub(super) fn to_json(value: &Value, args: Rest<Value>, kwargs: Kwargs) -> Result<Value, Error> {
    let option = |index: usize, name: &str| -> Result<Value, Error> {
        match args.get(index) {
            Some(value) => Ok(value.clone()),
            None => Ok(kwargs.get::<Option<Value>>(name)?.unwrap_or_default()),
        }
    };
    let ascii = option(0, "ensure_ascii")?.is_true();
    let indent = indent(&option(1, "indent")?)?;
    let separators = option(2, "separators")?;
    let sorted = option(3, "sort_keys")?.is_true();
    kwargs.assert_all_used()?;
    let separator = |index: usize, default: &str| {
        let separator = separators.get_item_by_index(index);
        let text = separator
            .ok()
            .and_then(|text| text.as_str().map(str::to_owned));
        text.unwrap_or_else(|| default.to_owned())
    };
    let json = Json {
        between_items: separator(0, if indent.is_some() { "," } else { ", " }),
        after_key: separator(1, ": "),
        indent,
        ascii,
        sorted,
    };
    Formatter::format(value, Notation::Json(json)).map(Value::from)
}

/// Jinja2's `iterable` test. Unlike minijinja's, it does not hold for `none`.
pub(super) fn is_iterable(value: &Value) -> bool {
    !value.is_none() && value.try_iter().is_ok()
}

/// Jinja2's `sequence` test: whether a value has a length and items. Strings and maps do, too.
pub(super) fn is_sequence(value: &Value) -> bool {
    match value.kind() {
        ValueKind::String | ValueKind::Seq | ValueKind::Map => true,
        ValueKind::Iterable => value.len().is_some(),
        _ => false,
    }
}

/// Parses the `indent` option: a string, a number of spaces or none.
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
                format!(
                    "tojson cannot indent by {}",
                    BoundedString::default().with(option)?
                ),
            )),
        },
    }
}

enum Notation {
    /// Python's `str`.
    Python,
    /// Python's `json.dumps`.
    Json(Json),
}

/// The options of `json.dumps`.
struct Json {
    between_items: String,
    after_key: String,
    indent: Option<String>,
    /// Whether non-ASCII characters are escaped.
    ascii: bool,
    /// Whether keys are sorted.
    sorted: bool,
}

#[derive(Clone, Copy)]
struct Brackets {
    open: char,
    close: char,
}

impl Brackets {
    const ROUND: Self = Self {
        open: '(',
        close: ')',
    };
    const SQUARE: Self = Self {
        open: '[',
        close: ']',
    };
    const CURLY: Self = Self {
        open: '{',
        close: '}',
    };
}

/// Formats one value recursively.
struct Formatter {
    notation: Notation,
    depth: usize,
    out: String,
}

impl Formatter {
    fn format(value: &Value, notation: Notation) -> Result<String, Error> {
        let mut formatter = Self {
            notation,
            depth: 0,
            out: String::new(),
        };
        formatter.value(value)?;
        Ok(formatter.out)
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
                let brackets = if tuple {
                    Brackets::ROUND
                } else {
                    Brackets::SQUARE
                };
                self.items(value.try_iter()?, brackets, Self::value)?;
            }
            ValueKind::Map => {
                let mut keys: Vec<Value> = value.try_iter()?.collect();
                if matches!(self.notation, Notation::Json(Json { sorted: true, .. })) {
                    keys.sort();
                }
                self.items(keys.into_iter(), Brackets::CURLY, |formatter, key| {
                    formatter.key(key)?;
                    formatter.value(&value.get_item(key)?)
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
                let reason = "an undefined value cannot be converted to JSON";
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
            // In JSON, every key is a string.
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

    /// Writes items in brackets, one per line if there is an indent.
    fn items(
        &mut self,
        items: impl Iterator<Item = Value>,
        brackets: Brackets,
        mut item: impl FnMut(&mut Self, &Value) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.depth == N_MAX_DEPTH {
            let reason = "the value is nested too deeply";
            return Err(Error::new(ErrorKind::InvalidOperation, reason));
        }
        self.depth += 1;
        self.out.push(brackets.open);
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
        self.out.push(brackets.close);
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

    /// Writes a string in quotation marks.
    fn text(&mut self, text: &str) {
        let quote = match self.notation {
            // Python switches to double quotes if that avoids an escape.
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
        // Writing to a string cannot fail.
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
