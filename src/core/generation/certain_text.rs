//! How much of a growing text later tokens can't change.

use std::sync::Arc;

/// A text that arrives in pieces. What may be part of an incomplete character, or of a stop sequence that
/// is not part of the text, is held back until that is known.
#[derive(Debug, Clone, Default)]
pub struct CertainText {
    /// None of them is empty.
    stops: Arc<[String]>,
    /// The bytes that are not certain yet.
    held: Vec<u8>,
}

/// What became certain with a piece.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CertainPart {
    /// As [`String::from_utf8_lossy`] decodes it.
    pub text: String,
    /// How many bytes that is before decoding.
    pub n_bytes: usize,
}

impl CertainText {
    /// Begins a text that these stop sequences end. Empty ones are ignored.
    pub fn new(stops: &[String]) -> Self {
        Self {
            stops: stops
                .iter()
                .filter(|stop| !stop.is_empty())
                .cloned()
                .collect(),
            held: Vec::new(),
        }
    }

    /// Appends a piece. Returns what is certain now.
    pub fn push(&mut self, bytes: &[u8]) -> CertainPart {
        self.held.extend_from_slice(bytes);
        let stops = self.stops.iter();
        let starts = stops.filter_map(|stop| start_of(stop.as_bytes(), &self.held));
        let n_sure = starts.min().unwrap_or(self.held.len());
        let (text, n_bytes) = complete_characters(self.held.get(..n_sure).unwrap_or_default());
        self.held.drain(..n_bytes);
        CertainPart { text, n_bytes }
    }
}

/// Returns where these bytes contain the stop sequence, or where they end with the beginning of one.
fn start_of(stop: &[u8], bytes: &[u8]) -> Option<usize> {
    let is_start = |start: &usize| {
        let rest = bytes.get(*start..).unwrap_or_default();
        rest.starts_with(stop) || stop.starts_with(rest)
    };
    (0..bytes.len()).find(is_start)
}

/// Returns the text of these bytes without a last character that is incomplete, and its length in
/// bytes. Invalid UTF-8 becomes U+FFFD.
fn complete_characters(bytes: &[u8]) -> (String, usize) {
    let (mut text, mut n_read) = (String::new(), 0);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        n_read += chunk.valid().len();
        let invalid = chunk.invalid();
        if invalid.is_empty() {
            break;
        }
        let is_begun = |error: std::str::Utf8Error| error.error_len().is_none();
        let is_last = n_read + invalid.len() == bytes.len();
        if is_last && std::str::from_utf8(invalid).is_err_and(is_begun) {
            break;
        }
        text.push(char::REPLACEMENT_CHARACTER);
        n_read += invalid.len();
    }
    (text, n_read)
}

#[cfg(test)]
mod tests {
    use super::CertainText;

    /// The pieces of a text, its stop sequences, and what is certain after each piece.
    type Case<'a> = (&'a [&'a [u8]], &'a [&'a str], &'a [&'a str]);

    #[test]
    fn only_what_later_bytes_can_change_is_held_back() {
        let euro = "€".as_bytes();
        let cases: [Case<'_>; 9] = [
            (&[b"One ", b"fox"], &[""], &["One ", "fox"]),
            (&[&euro[..1], &euro[1..], b"!"], &[], &["", "€", "!"]),
            (&[&euro[..2], b"!"], &[], &["", "\u{fffd}!"]),
            (&[b"a\xFF", b"b"], &[], &["a\u{fffd}", "b"]),
            (&[b"the e", b"n", b"emy"], &["end"], &["the ", "", "enemy"]),
            (
                &[b"the e", b"n", b"d.", b"x"],
                &["end"],
                &["the ", "", "", ""],
            ),
            (&[b"a#", b"#b", b"##"], &["###", "x"], &["a", "##b", ""]),
            (&[b"aa", b"ab"], &["aab"], &["", "a"]),
            (
                &[&euro[..1], &euro[1..2], b"x"],
                &["€"],
                &["", "", "\u{fffd}x"],
            ),
        ];
        for (pieces, stops, expected) in cases {
            let stops: Vec<String> = stops.iter().map(ToString::to_string).collect();
            let mut text = CertainText::new(&stops);
            let parts = pieces.iter().map(|piece| text.push(piece).text);
            let parts: Vec<String> = parts.collect();
            assert_eq!(parts, expected, "{pieces:?}");
        }
    }
}
