//! Parsing Python string literals, including escapes.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The quotes that delimit a string, longest first.
const QUOTES: [&str; 4] = ["\"\"\"", "'''", "\"", "'"];

/// Reads the string literals of one text.
pub(super) struct Strings {
    /// For each quote, the extent of the last malformed string, as remaining text lengths. A string
    /// that starts within it with the same quote is malformed too. Without this memo, trying each
    /// of them would take quadratic time.
    broken: BTreeMap<&'static str, RangeInclusive<usize>>,
}

impl Strings {
    /// Creates a reader for a new text.
    pub(super) const fn new() -> Self {
        Self {
            broken: BTreeMap::new(),
        }
    }

    /// Reads the string at the start of the remaining text. Returns it with the text that follows.
    pub(super) fn read<'a>(&mut self, rest: &'a str) -> Option<(String, &'a str)> {
        let quote = QUOTES.into_iter().find(|quote| rest.starts_with(*quote))?;
        let broken = self.broken.get(quote);
        if broken.is_some_and(|broken| broken.contains(&rest.len())) {
            return None;
        }
        match closed(quote, rest.get(quote.len()..)?) {
            Ok(read) => Some(read),
            Err(left) => {
                self.broken.insert(quote, left.len() + 1..=rest.len());
                None
            }
        }
    }
}

/// Reads a string up to its closing quote. Returns it with the text that follows, or, as an error,
/// the remaining text at which it turned out to be malformed.
fn closed<'a>(quote: &str, text: &'a str) -> Result<(String, &'a str), &'a str> {
    let mut string = String::new();
    let mut rest = text;
    loop {
        if let Some(after) = rest.strip_prefix(quote) {
            return Ok((string, after));
        }
        let mut chars = rest.chars();
        match chars.next().ok_or(rest)? {
            '\\' => string.push_str(&escaped(&mut chars).ok_or(rest)?),
            c => string.push(c),
        }
        rest = chars.as_str();
    }
}

/// Reads the escape after a backslash. An escape that Python does not know is kept unchanged.
fn escaped(chars: &mut std::str::Chars<'_>) -> Option<String> {
    let c = chars.next()?;
    let n_digits = match c {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        'n' => return Some("\n".to_owned()),
        'r' => return Some("\r".to_owned()),
        't' => return Some("\t".to_owned()),
        'b' => return Some("\u{8}".to_owned()),
        'f' => return Some("\u{c}".to_owned()),
        '0' => return Some("\0".to_owned()),
        '\n' => return Some(String::new()),
        '\\' | '\'' | '"' => return Some(c.to_string()),
        _ => return Some(format!("\\{c}")),
    };
    let digits = chars.as_str().get(..n_digits)?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    *chars = chars.as_str().get(n_digits..)?.chars();
    char::from_u32(code).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::Strings;

    #[test]
    fn a_string_ends_at_its_quote_and_escapes_are_decoded() {
        for (text, string, after) in [
            ("'a' b", "a", " b"),
            (r#""say \"no\"", 1"#, "say \"no\"", ", 1"),
            ("\"\"\"a\"b\n\"\"\")", "a\"b\n", ")"),
            (r"'\x41\d\u00e9'", "A\\dé", ""),
        ] {
            let read = Strings::new().read(text);
            assert_eq!(read, Some((string.to_owned(), after)), "{text}");
        }
    }

    #[test]
    fn only_strings_that_start_within_a_malformed_one_are_skipped() {
        let text = r#""a" "\"b" 'c' \xzz" "d""#;
        let mut strings = Strings::new();
        let mut read = |at: usize| strings.read(&text[at..]).map(|(string, _)| string);
        let second = text.find("\"\\").unwrap();
        assert_eq!(read(second).as_deref(), Some("\"b"));
        let broken = text.find("\" 'c").unwrap();
        assert_eq!(read(broken), None);
        assert_eq!(read(0).as_deref(), Some("a"));
        assert_eq!(read(text.find("'c").unwrap()).as_deref(), Some("c"));
        assert_eq!(read(text.find("\"d").unwrap()).as_deref(), Some("d"));
    }
}
