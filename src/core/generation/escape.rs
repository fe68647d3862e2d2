//! Escapes text for a single-line field: line breaks and tabs become `\n` and `\t`.

/// Escapes backslashes, line breaks and tabs, so that the text fits on one line.
pub fn escape(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\t', "\\t")
}

/// Reverses [`escape`]. An unknown escape stays as typed.
pub fn unescape(line: &str) -> String {
    let mut text = String::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let unescaped = match (c, chars.peek()) {
            ('\\', Some('n')) => '\n',
            ('\\', Some('t')) => '\t',
            ('\\', Some('\\')) => '\\',
            _ => {
                text.push(c);
                continue;
            }
        };
        chars.next();
        text.push(unescaped);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{escape, unescape};

    #[test]
    fn text_survives_a_round_trip_through_one_line() {
        for text in ["The end", "\n\n", "a\\nb", "tab\there", "\\", ""] {
            assert_eq!(unescape(&escape(text)), text, "{text:?}");
        }
        assert_eq!(unescape("half \\"), "half \\");
    }
}
