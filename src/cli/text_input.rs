//! Texts from files and from standard input, up to a limit.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::failure::Failure;
use crate::export::read_at_most;
use crate::generation::ByteSize;
use crate::generation::formatting::without_final_line_break;

/// The largest text: more than the context of any model holds.
pub(super) const MAX_TEXT_BYTES: u64 = 16_000_000;

/// Reads a text for a model from a file, or from standard input for `-`. A final line break is
/// dropped. `what` is its name in errors: "the prompt".
pub(super) fn text_of(file: &Path, what: &str) -> Result<String, Failure> {
    let text = read_text(file, what, MAX_TEXT_BYTES)?;
    Ok(without_final_line_break(&text).to_owned())
}

/// Reads all of a file, or of standard input for `-`, if it has at most `n_max` bytes. `what` is
/// its name in errors: "the settings".
pub(super) fn read_text(file: &Path, what: &str, n_max: u64) -> Result<String, Failure> {
    let (read, origin) = if file.as_os_str() == "-" {
        let read = read_limited(io::stdin().lock(), n_max);
        (read, "Standard input".to_owned())
    } else {
        let opened = File::open(file).map_err(|error| error.to_string());
        let read = opened.and_then(|file| read_limited(file, n_max));
        (read, format!("File: {}", file.display()))
    };
    read.map_err(|reason| Failure::run(format!("could not read {what}: {reason}\n{origin}")))
}

fn read_limited(input: impl Read, n_max: u64) -> Result<String, String> {
    let read = read_at_most(input, n_max).map_err(|error| error.to_string())?;
    let bytes = read.ok_or_else(|| format!("it has more than {}", ByteSize(n_max)))?;
    let text = String::from_utf8(bytes)
        .map_err(|_not_text| "it is not UTF-8 text; convert it first".to_owned())?;
    // Windows editors begin a text with a byte order mark, which nothing should read.
    match text.strip_prefix('\u{FEFF}') {
        Some(rest) => Ok(rest.to_owned()),
        None => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::{Failure, MAX_TEXT_BYTES, read_limited, text_of};

    #[test]
    fn a_text_is_read_up_to_its_limit() {
        for (bytes, expected) in [
            (&b"fox\n"[..], Ok("fox\n")),
            (b"\xEF\xBB\xBFfox", Ok("fox")),
            (b"", Ok("")),
            (b"123456789", Ok("123456789")),
            (b"1234567890", Err("it has more than 9 bytes")),
            (b"\xFF", Err("it is not UTF-8 text; convert it first")),
        ] {
            let read = read_limited(bytes, 9);
            assert_eq!(read.as_deref().map_err(String::as_str), expected);
        }
        let endless = read_limited(std::io::repeat(b' '), MAX_TEXT_BYTES);
        assert_eq!(endless, Err("it has more than 16 MB".to_owned()));
    }

    #[test]
    fn an_error_names_the_text_and_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("text");
        let Err(Failure::Run(error)) = text_of(&file, "the prompt") else {
            panic!("there is no such file");
        };
        assert!(error.starts_with("could not read the prompt: "), "{error}");
        assert!(
            error.ends_with(&format!("\nFile: {}", file.display())),
            "{error}"
        );
        std::fs::write(&file, "Once\n\n").unwrap();
        assert_eq!(text_of(&file, "the prompt").unwrap(), "Once\n");
    }
}
