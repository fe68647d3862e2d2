//! Terminal output: results on standard output, everything else on standard error.

use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

use super::failure::Failure;
use crate::generation::formatting::io_words;

/// Writes to standard output. A closed pipe (`| head`) is not an error. Control characters are
/// escaped if a terminal would obey them; files and pipes receive the exact bytes.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let bytes = if stdout.is_terminal() {
        let text = String::from_utf8_lossy(bytes);
        Cow::Owned(escape_control(&text).into_bytes())
    } else {
        Cow::Borrowed(bytes)
    };
    match stdout.write_all(&bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::run(format!(
            "could not write to standard output: {}",
            io_words(&error)
        ))),
        _ => Ok(()),
    }
}

/// Writes a value to standard output, as JSON in one line.
pub(crate) fn print_json_line(value: &serde_json::Value) -> Result<(), Failure> {
    print(format!("{value}\n").as_bytes())
}

/// Whether nothing but errors goes to standard error.
static QUIET: OnceLock<()> = OnceLock::new();

/// From now on, writes nothing but errors to standard error.
pub(super) fn be_quiet() {
    // It is quiet already if this fails.
    QUIET.set(()).ok();
}

/// Returns whether nothing but errors goes to standard error.
pub(super) fn is_quiet() -> bool {
    QUIET.get().is_some()
}

/// Writes a line about the command to standard error, unless `--quiet` is given.
pub(crate) fn note(line: &str) {
    if !is_quiet() {
        write_line(line);
    }
}

/// Writes a line to standard error.
fn write_line(line: &str) {
    // If standard error is closed, there is nowhere left to report it.
    writeln!(io::stderr().lock(), "{}", escape_control(line)).ok();
}

/// Writes an error message in the same form as clap.
pub(crate) fn error(message: &str) {
    write_line(&format!("error: {message}"));
}

/// Escapes control characters, so that text from a file can't move the cursor or change the
/// terminal's colors.
pub(crate) fn escape_control(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && !matches!(c, '\n' | '\t') {
            escaped.extend(c.escape_default());
        } else {
            escaped.push(c);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escape_control;

    #[test]
    fn control_characters_are_escaped_except_line_breaks_and_tabs() {
        let text = "no \u{1b}[31mRED\u{9b}0m\r\n\tein Bär";
        let expected = "no \\u{1b}[31mRED\\u{9b}0m\\r\n\tein Bär";
        assert_eq!(escape_control(text), expected);
    }
}
