//! Places in a file of tasks, and in what is written beside it.

use std::fmt;

/// Where a mistake is. Lines and columns are 1-based, and columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In a check that was given beside the file, counted from 1.
    Check {
        check: usize,
        column: Option<usize>,
    },
    /// In the file as a whole.
    File,
    Line {
        line: usize,
        column: Option<usize>,
    },
    Template {
        column: usize,
    },
}

impl Place {
    /// Returns the place of a byte of a text.
    pub(super) fn of_byte(text: &str, byte: usize) -> Self {
        let before = text.get(..byte).unwrap_or(text);
        let (line, start) = Lines::new(before).of(before.len());
        let in_line = before.get(start..).unwrap_or_default();
        Self::Line {
            line,
            column: Some(in_line.chars().count() + 1),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = match *self {
            Self::Check { check, column } => {
                write!(f, "Check {check}")?;
                column
            }
            Self::File => return Ok(()),
            Self::Line { line, column } => {
                write!(f, "Line {line}")?;
                column
            }
            Self::Template { column } => {
                write!(f, "Template")?;
                Some(column)
            }
        };
        match column {
            Some(column) => write!(f, ", column {column}: "),
            None => write!(f, ": "),
        }
    }
}

/// Counts the lines of a text, from byte to byte. A line ends with `\n`, `\r\n` or `\r`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lines<'a> {
    text: &'a str,
    byte: usize,
    line: usize,
    start: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            byte: 0,
            line: 1,
            start: 0,
        }
    }

    /// Returns the line of a byte and the byte at which that line starts. Bytes must not go back.
    pub(super) fn of(&mut self, byte: usize) -> (usize, usize) {
        let bytes = self.text.as_bytes();
        while self.byte < byte {
            let next = bytes.get(self.byte + 1);
            match bytes.get(self.byte) {
                Some(b'\r') if next == Some(&b'\n') => {}
                Some(b'\n' | b'\r') => {
                    self.line += 1;
                    self.start = self.byte + 1;
                }
                _ => {}
            }
            self.byte += 1;
        }
        (self.line, self.start)
    }
}
