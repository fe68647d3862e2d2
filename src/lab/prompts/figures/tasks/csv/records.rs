//! The records of CSV, each field with its place.

use std::borrow::Cow;

use super::super::super::checks::CheckError;
use super::super::TaskMistake;

/// Returns the separator that splits the first line most often: a comma if none does.
pub(super) fn separator(text: &str) -> u8 {
    let n_fields = |separator: &u8| match Records::new(text, *separator).next_record() {
        Ok(Some(record)) => record.len(),
        _ => 0,
    };
    let mut best = b',';
    for separator in b";\t" {
        if n_fields(separator) > n_fields(&best) {
            best = *separator;
        }
    }
    best
}

/// One field of a record.
#[derive(Debug, Clone)]
pub(super) struct Field<'a> {
    pub(super) value: Cow<'a, str>,
    /// The byte at which the field starts, with its quotation mark.
    pub(super) start: usize,
    /// The text between the quotation marks, or the whole field.
    raw: &'a str,
    is_quoted: bool,
}

impl Field<'_> {
    /// Returns the name of an assertion that can't be judged. Any other mistake keeps its byte.
    pub(super) fn not_judged(&self, error: CheckError) -> Result<String, (usize, TaskMistake)> {
        match error {
            CheckError::NotJudged { name } => Ok(name),
            error => Err((self.byte_of(error.column().unwrap_or(1)), error.into())),
        }
    }

    /// Returns the byte of a 1-based column of the value.
    fn byte_of(&self, column: usize) -> usize {
        let mut byte = self.start + usize::from(self.is_quoted);
        let mut chars = self.raw.chars();
        for _ in 1..column {
            let Some(c) = chars.next() else {
                break;
            };
            byte += c.len_utf8();
            if self.is_quoted && c == '"' {
                byte += chars.next().map_or(0, char::len_utf8);
            }
        }
        byte
    }
}

/// Splits a text into records.
#[derive(Debug)]
pub(super) struct Records<'a> {
    text: &'a str,
    separator: u8,
    byte: usize,
}

impl<'a> Records<'a> {
    pub(super) fn new(text: &'a str, separator: u8) -> Self {
        Self {
            text,
            separator,
            byte: 0,
        }
    }

    /// Returns the next record, or `None` at the end. Empty lines are skipped. A failure has its byte.
    pub(super) fn next_record(&mut self) -> Result<Option<Vec<Field<'a>>>, (usize, TaskMistake)> {
        while matches!(self.peek(), Some(b'\n' | b'\r')) {
            self.byte += 1;
        }
        if self.peek().is_none() {
            return Ok(None);
        }
        let mut record = vec![self.field()?];
        while self.peek() == Some(self.separator) {
            self.byte += 1;
            record.push(self.field()?);
        }
        Ok(Some(record))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.byte).copied()
    }

    fn field(&mut self) -> Result<Field<'a>, (usize, TaskMistake)> {
        if self.peek() == Some(b'"') {
            return self.quoted();
        }
        let start = self.byte;
        while !self.is_at_end_of_field() {
            self.byte += 1;
        }
        let raw = self.text.get(start..self.byte).unwrap_or_default();
        Ok(Field {
            value: Cow::Borrowed(raw),
            start,
            raw,
            is_quoted: false,
        })
    }

    fn quoted(&mut self) -> Result<Field<'a>, (usize, TaskMistake)> {
        let start = self.byte;
        self.byte += 1;
        loop {
            match (self.peek(), self.text.as_bytes().get(self.byte + 1)) {
                (None, _) => return Err((start, TaskMistake::QuoteOpen)),
                (Some(b'"'), Some(b'"')) => self.byte += 2,
                (Some(b'"'), _) => break,
                _ => self.byte += 1,
            }
        }
        let raw = self.text.get(start + 1..self.byte).unwrap_or_default();
        self.byte += 1;
        if !self.is_at_end_of_field() {
            return Err((self.byte, TaskMistake::TextAfterQuote));
        }
        let value = if raw.contains('"') {
            Cow::Owned(raw.replace(r#""""#, r#"""#))
        } else {
            Cow::Borrowed(raw)
        };
        Ok(Field {
            value,
            start,
            raw,
            is_quoted: true,
        })
    }

    fn is_at_end_of_field(&self) -> bool {
        match self.peek() {
            None | Some(b'\n' | b'\r') => true,
            Some(byte) => byte == self.separator,
        }
    }
}
