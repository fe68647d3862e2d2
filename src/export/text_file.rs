//! Texts that people wrote with any editor.

use std::io::Read;

use super::read_at_most;
use crate::generation::ByteSize;
use crate::generation::formatting::io_words;

/// Returns a file without the byte order mark with which Windows editors begin a text.
pub(super) fn without_byte_order_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(bytes)
}

/// Reads a text of at most `n_max` bytes, without a byte order mark. The error says why not, about
/// an "it".
pub fn read_text_at_most(source: impl Read, n_max: u64) -> Result<String, String> {
    let read = read_at_most(source, n_max).map_err(|error| io_words(&error))?;
    let bytes = read.ok_or_else(|| format!("it has more than {}", ByteSize(n_max)))?;
    let text = str::from_utf8(without_byte_order_mark(&bytes));
    text.map(str::to_owned)
        .map_err(|_not_text| "it is not UTF-8 text; convert it first".to_owned())
}

#[cfg(test)]
mod tests {
    use super::read_text_at_most;

    #[test]
    fn a_text_is_read_up_to_its_limit() {
        for (bytes, expected) in [
            (&b"fox\n"[..], Ok("fox\n")),
            (b"\xEF\xBB\xBFfox", Ok("fox")),
            (b"\xEF\xBB\xBF\xEF\xBB\xBFa", Ok("\u{FEFF}a")),
            (b"", Ok("")),
            (b"123456789", Ok("123456789")),
            (b"1234567890", Err("it has more than 9 bytes")),
            (b"\xFF", Err("it is not UTF-8 text; convert it first")),
        ] {
            let read = read_text_at_most(bytes, 9);
            assert_eq!(read.as_deref().map_err(String::as_str), expected);
        }
        let endless = read_text_at_most(std::io::repeat(b' '), 16_000_000);
        assert_eq!(endless, Err("it has more than 16 MB".to_owned()));
    }
}
