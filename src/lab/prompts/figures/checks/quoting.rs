//! Texts in double quotation marks, and lists of texts.
//!
//! In a quoted text `\"` and `""` are quotation marks, and `\\`, `\n`, `\r` and `\t` what they usually
//! are; any other backslash stands for itself. These are promptfoo's rules for its lists, with line
//! breaks.

use super::CheckError;

/// A part of a spec, and where it begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) text: &'a str,
    /// 1-based, in characters of the spec.
    pub(super) column: usize,
}

impl Part<'_> {
    pub(super) fn trimmed(self) -> Self {
        let text = self.text.trim_start();
        let n_bytes = self.text.len() - text.len();
        Self {
            text: text.trim_end(),
            column: self.column_at(n_bytes),
        }
    }

    /// Returns the column of a byte of the part.
    pub(super) fn column_at(self, byte: usize) -> usize {
        let before = self.text.get(..byte).unwrap_or(self.text);
        self.column + before.chars().count()
    }

    /// Returns the part from a byte on.
    fn from(self, byte: usize) -> Self {
        Self {
            text: self.text.get(byte..).unwrap_or_default(),
            column: self.column_at(byte),
        }
    }

    fn until(self, byte: usize) -> Self {
        Self {
            text: self.text.get(..byte).unwrap_or(self.text),
            column: self.column,
        }
    }
}

/// Reads the quoted text at the start of a part. Returns it and what follows it.
pub(super) fn quoted(part: Part<'_>) -> Result<(String, Part<'_>), CheckError> {
    let mut text = String::new();
    let mut chars = part.text.char_indices().skip(1).peekable();
    while let Some((index, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let escaped = match (c, next) {
            ('"' | '\\', Some('"')) => Some('"'),
            ('"', _) => return Ok((text, part.from(index + 1))),
            ('\\', Some('\\')) => Some('\\'),
            ('\\', Some('n')) => Some('\n'),
            ('\\', Some('r')) => Some('\r'),
            ('\\', Some('t')) => Some('\t'),
            _ => None,
        };
        if escaped.is_some() {
            chars.next();
        }
        text.push(escaped.unwrap_or(c));
    }
    Err(CheckError::QuoteOpen {
        column: part.column,
    })
}

/// Reads the texts of a list. As in promptfoo, empty ones are skipped.
pub(super) fn list(
    part: Part<'_>,
    separator: char,
    fill: &dyn Fn(&str) -> String,
) -> Result<Vec<String>, CheckError> {
    let mut texts = Vec::new();
    let mut rest = part.trimmed();
    while !rest.text.is_empty() {
        if rest.text.starts_with('"') {
            let (text, after) = quoted(rest)?;
            texts.push(fill(&text));
            rest = after.trimmed();
            if !rest.text.is_empty() && !rest.text.starts_with(separator) {
                let column = rest.column;
                return Err(CheckError::CommaMissing { column });
            }
        } else {
            let end = rest.text.find(separator).unwrap_or(rest.text.len());
            let text = fill(rest.until(end).trimmed().text);
            if !text.trim().is_empty() {
                texts.push(text.trim().to_owned());
            }
            rest = rest.from(end);
        }
        if rest.text.starts_with(separator) {
            rest = rest.from(separator.len_utf8()).trimmed();
        }
    }
    Ok(texts)
}

/// Writes texts as a list that [`list`] reads back.
pub(super) fn written_list(texts: &[String], separator: char) -> String {
    let texts = texts.iter().map(|text| written(text, Some(separator)));
    let between = if separator == ',' { ", " } else { " | " };
    texts.collect::<Vec<String>>().join(between)
}

/// Writes a text as it is if that reads back, otherwise in quotation marks.
pub(super) fn written(text: &str, separator: Option<char>) -> String {
    let is_plain = !text.is_empty()
        && text.trim() == text
        && !text.starts_with('"')
        && !text.starts_with("file://")
        && !text.contains(char::is_control)
        && separator.is_none_or(|separator| !text.contains(separator));
    if is_plain {
        return text.to_owned();
    }
    let mut written = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => written.extend(['\\', c]),
            '\n' => written.push_str(r"\n"),
            '\r' => written.push_str(r"\r"),
            '\t' => written.push_str(r"\t"),
            _ => written.push(c),
        }
    }
    written.push('"');
    written
}
