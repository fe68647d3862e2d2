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
    writeln!(io::stderr().lock(), "{line}").ok();
}

/// Tells what went wrong, as the parser of the arguments does.
pub(super) fn complain(sentence: &str) {
    note(&format!("error: {sentence}"));
}
