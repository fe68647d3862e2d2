//! Words to the terminal: results on standard output, everything else on standard error.

use std::io::{self, ErrorKind, Write};

use super::failure::Failure;

/// Puts bytes on standard output. A reader that has had enough (`| head`) is no failure.
pub(super) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::run(format!(
            "standard output could not be written: {error}"
        ))),
        _ => Ok(()),
    }
}

/// Puts a line on standard error.
pub(super) fn note(line: &str) {
    // There is no other place to say that standard error is closed.
    writeln!(io::stderr().lock(), "{}", spelt_out(line)).ok();
}

/// Tells what went wrong, as the parser of the arguments does.
pub(super) fn complain(sentence: &str) {
    note(&format!("error: {sentence}"));
}

/// The text with control characters in the form that a program's text has for them: what a file says
/// must not move the cursor or change the colours of a terminal.
pub(super) fn spelt_out(text: &str) -> String {
    let mut spelt = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && !matches!(c, '\n' | '\t') {
            spelt.extend(c.escape_default());
        } else {
            spelt.push(c);
        }
    }
    spelt
}

#[cfg(test)]
mod tests {
    use super::spelt_out;

    #[test]
    fn control_characters_are_spelt_out_and_lines_stay() {
        let text = "no \u{1b}[31mRED\u{9b}0m\r\n\tein Bär";
        let expected = "no \\u{1b}[31mRED\\u{9b}0m\\r\n\tein Bär";
        assert_eq!(spelt_out(text), expected);
    }
}
