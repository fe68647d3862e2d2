//! Where the rows of a text with right-to-left words end.
//!
//! egui breaks rows between glyphs, and a right-to-left word does not have one glyph per letter. So
//! rows are measured word by word.

use std::ops::Range;

use unicode_bidi::{BidiClass, bidi_class};

/// Returns the end of the row that starts at `from`, and whether it is final, whatever text follows.
/// `width_of` measures a part of the text, which contains no line break.
pub(super) fn row_end(
    text: &str,
    from: usize,
    width: f32,
    width_of: impl Fn(Range<usize>) -> f32,
) -> (usize, bool) {
    let rest = text.get(from..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default();
    let mut at = from;
    // Each space ends a word, if only an empty one.
    for word in line.split_inclusive(char::is_whitespace) {
        let letters = at..at + word.trim_end().len();
        let is_complete = letters.end < text.len();
        if width_of(from..letters.end) > width {
            let is_first = at == from;
            let end = if is_first {
                end_within(text, letters, width, &width_of)
            } else {
                at
            };
            return (end, is_complete);
        }
        at += word.len();
    }
    let newline = usize::from(line.len() < rest.len());
    (at + newline, newline > 0)
}

/// Returns where a word that is wider than a row is broken: after as many letters as fit, at least
/// one, each with its marks.
fn end_within(
    text: &str,
    word: Range<usize>,
    width: f32,
    width_of: impl Fn(Range<usize>) -> f32,
) -> usize {
    let letters = text.get(word.clone()).unwrap_or_default();
    let is_start = |c: char| !matches!(bidi_class(c), BidiClass::NSM | BidiClass::BN);
    let starts = letters.char_indices().filter(|(_, c)| is_start(*c));
    let mut ends = starts.map(|(index, _)| word.start + index).skip(1);
    let first = ends.next().unwrap_or(word.end);
    let fitting = ends.take_while(|end| width_of(word.start..*end) <= width);
    fitting.last().unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::row_end;

    /// The rows of a text in which every letter but the marks is 10 points wide.
    fn rows(text: &str, width: f32) -> Vec<&str> {
        let width_of = |bytes: Range<usize>| {
            let letters = text[bytes].chars().filter(|c| *c != '\u{5B8}');
            letters.count() as f32 * 10.0
        };
        let (mut from, mut rows) = (0, Vec::new());
        while from < text.len() {
            let (end, _) = row_end(text, from, width, width_of);
            assert!(end > from, "{rows:?}");
            rows.push(&text[from..end]);
            from = end;
        }
        rows
    }

    #[test]
    fn rows_end_after_a_space_and_contain_every_character_once() {
        for (text, width, expected) in [
            ("שלום עולם", 200.0, vec!["שלום עולם"]),
            ("שלום עולם", 80.0, vec!["שלום ", "עולם"]),
            ("שלום עולם", 90.0, vec!["שלום עולם"]),
            ("שלום  עולם", 50.0, vec!["שלום  ", "עולם"]),
            ("אב\n\nגד", 50.0, vec!["אב\n", "\n", "גד"]),
            ("אבגדה", 20.0, vec!["אב", "גד", "ה"]),
            // A mark stays with its letter, and a row has at least one letter.
            ("אָבָגָ", 10.0, vec!["אָ", "בָ", "גָ"]),
            ("אב", 5.0, vec!["א", "ב"]),
        ] {
            assert_eq!(rows(text, width), expected, "{text} {width}");
        }
    }

    #[test]
    fn a_row_is_final_once_the_word_after_it_is_complete() {
        let width_of = |bytes: Range<usize>| bytes.len() as f32;
        for (text, expected) in [
            ("אב גד", (5, false)),
            ("אב גד ", (5, true)),
            ("אב\n", (5, true)),
            ("אב", (4, false)),
        ] {
            assert_eq!(row_end(text, 0, 5.0, width_of), expected, "{text}");
        }
    }
}
