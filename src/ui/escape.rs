//! Text in one line: line breaks and tabs are written `\n` and `\t`.

/// The text in one line.
pub(super) fn escape(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\t', "\\t")
}

/// The text that a line stands for.
pub(super) fn unescape(line: &str) -> String {
    let mut text = String::new();
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let sign = match (letter, letters.peek()) {
            ('\\', Some('n')) => '\n',
            ('\\', Some('t')) => '\t',
            ('\\', Some('\\')) => '\\',
            _ => {
                text.push(letter);
                continue;
            }
        };
        letters.next();
        text.push(sign);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{escape, unescape};

    #[test]
    fn a_text_survives_being_edited_in_one_line() {
        for text in ["The end", "\n\n", "a\\nb", "tab\there", "\\", ""] {
            assert_eq!(unescape(&escape(text)), text, "{text:?}");
        }
        assert_eq!(unescape("half \\"), "half \\");
    }
}
