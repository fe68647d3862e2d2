//! Escaping: whatever a model, a user or a file wrote stays text.

use std::fmt::Write as _;

use crate::generation::formatting::{code_point, is_invisible};
use crate::generation::{Piece, PieceKind};

/// Escapes a text for HTML, inside elements and quoted attributes. Invisible characters, which
/// could reverse or hide what follows them, are shown as code points.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c if is_invisible(c) => escaped.push_str(&code_point(c)),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Serializes a value as JSON that can't end the `script` element that contains it.
pub(super) fn script_json(value: &serde_json::Value) -> String {
    let json = value.to_string();
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            // Outside of strings, JSON has none of these.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                // Writing to a string cannot fail.
                write!(safe, "\\u{:04x}", u32::from(c)).ok();
            }
            c => safe.push(c),
        }
    }
    safe
}

/// Returns an SVG document as a data URL for a quoted attribute. As an image it can neither run
/// scripts nor load anything.
pub(super) fn data_url(svg: &str) -> String {
    let mut url = String::from("data:image/svg+xml,");
    for byte in svg.bytes() {
        match byte {
            b'"' | b'#' | b'%' | b'<' | b'>' | b'&' | b'\'' | 0..=0x1F | 0x7F.. => {
                write!(url, "%{byte:02X}").ok();
            }
            byte => url.push(char::from(byte)),
        }
    }
    url
}

/// How a token is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Text,
    /// A special token or a code point, in its own style.
    Special,
    /// Part of a character, in hexadecimal.
    Bytes,
}

/// Returns a token as it appears in a text, and its look.
pub(super) fn shown(piece: &Piece) -> (String, Look) {
    match (piece.as_str(), piece.kind) {
        (None, _) => (piece.to_string(), Look::Bytes),
        (Some(text), PieceKind::Special) => (text.to_owned(), Look::Special),
        (Some(""), PieceKind::Text) => ("∅".to_owned(), Look::Special),
        (Some(text), PieceKind::Text) if text.chars().all(is_invisible) => {
            (text.chars().map(code_point).collect(), Look::Special)
        }
        (Some(text), PieceKind::Text) => (text.to_owned(), Look::Text),
    }
}

#[cfg(test)]
mod tests {
    use super::{data_url, escaped, script_json};

    #[test]
    fn markup_becomes_text() {
        let hostile = "</script><b onclick='x' title=\"y\">&amp;\u{202E}\0";
        assert_eq!(
            escaped(hostile),
            "&lt;/script&gt;&lt;b onclick=&#39;x&#39; title=&quot;y&quot;&gt;&amp;amp;U+202EU+0000"
        );
    }

    #[test]
    fn data_cannot_end_its_script_and_stays_the_same_value() {
        let value = serde_json::json!(["</script><!--", "]]>", "&\u{2028}\u{2029}", "ü"]);
        let json = script_json(&value);
        assert!(
            !json.contains(['<', '>', '&', '\u{2028}', '\u{2029}']),
            "{json}"
        );
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&json).unwrap(),
            value
        );
    }

    #[test]
    fn a_picture_is_one_quoted_url() {
        let url = data_url("<svg a=\"#1\">ü'%\n</svg>");
        assert_eq!(
            url,
            "data:image/svg+xml,%3Csvg a=%22%231%22%3E%C3%BC%27%25%0A%3C/svg%3E"
        );
        assert!(!url.contains(['"', '\'', '<', '>']));
    }
}
