//! Texts from files and from standard input, up to a limit.

use std::fs::File;
use std::io;
use std::path::Path;

use super::failure::Failure;
use crate::export::read_text_at_most;
use crate::generation::formatting::{io_words, without_final_line_break};

/// The largest text: more than the context of any model holds.
pub(crate) const MAX_TEXT_BYTES: u64 = 16_000_000;

/// Reads a text for a model from a file, or from standard input for `-`. A final line break is
/// dropped. `what` is its name in errors: "the prompt".
pub(crate) fn text_of(file: &Path, what: &str) -> Result<String, Failure> {
    let text = read_text(file, what, MAX_TEXT_BYTES)?;
    Ok(without_final_line_break(&text).to_owned())
}

/// Reads all of a file, or of standard input for `-`, if it has at most `n_max` bytes. `what` is
/// its name in errors: "the settings".
pub(crate) fn read_text(file: &Path, what: &str, n_max: u64) -> Result<String, Failure> {
    let (read, origin) = if file.as_os_str() == "-" {
        let read = read_text_at_most(io::stdin().lock(), n_max);
        (read, "Standard input".to_owned())
    } else {
        let opened = File::open(file).map_err(|error| io_words(&error));
        let read = opened.and_then(|file| read_text_at_most(file, n_max));
        (read, format!("File: {}", file.display()))
    };
    read.map_err(|reason| Failure::run(format!("could not read {what}: {reason}\n{origin}")))
}

#[cfg(test)]
mod tests {
    use super::{Failure, text_of};

    #[test]
    fn an_error_names_the_text_and_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("text");
        let Err(Failure::Run(error)) = text_of(&file, "the prompt") else {
            panic!("there is no such file");
        };
        assert!(error.starts_with("could not read the prompt: "), "{error}");
        assert!(!error.contains("os error"), "{error}");
        assert!(
            error.ends_with(&format!("\nFile: {}", file.display())),
            "{error}"
        );
        std::fs::write(&file, "Once\n\n").unwrap();
        assert_eq!(text_of(&file, "the prompt").unwrap(), "Once\n");
    }
}
