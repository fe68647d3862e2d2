//! The order in which a row of right-to-left or mixed text is drawn.
//!
//! egui shapes each word in its own direction, but places the words of a row from left to right. So
//! a row is given to egui in its visual order, one segment after the other.

use std::ops::Range;

use super::transcript::Transcript;
use unicode_bidi::{BidiClass, BidiInfo, Direction, Level, bidi_class, get_base_direction};

/// A part of a row. Segments are listed from left to right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    /// Its bytes in the row.
    pub(super) bytes: Range<usize>,
    /// Whether its letters are drawn from right to left.
    pub(super) is_reversed: bool,
    /// What is drawn instead of its text: a bracket that faces the other way.
    pub(super) mirrored: Option<char>,
}

/// How a row is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowOrder {
    pub(super) segments: Vec<Segment>,
    /// Whether its paragraph is read from right to left.
    pub(super) is_right_to_left: bool,
}

/// Returns whether a text contains letters that are written from right to left.
pub(super) fn has_right_to_left(text: &str) -> bool {
    // No such letter is below U+0590.
    !text.is_ascii() && text.chars().any(|c| c >= '\u{590}' && is_reversed(c))
}

/// Returns whether the paragraph that contains this byte is written from right to left: its first
/// letter decides.
fn is_right_to_left_at(text: &str, byte: usize) -> bool {
    let before = text.get(..byte).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let paragraph = text.get(start..).unwrap_or_default();
    let paragraph = paragraph.lines().next().unwrap_or_default();
    get_base_direction(paragraph) == Direction::Rtl
}

/// Returns the visual order of a row of the transcript, or `None` if it is drawn as it is stored. The
/// row does not include the newline that ends it.
pub(super) fn row_order(transcript: &Transcript, bytes: Range<usize>) -> Option<RowOrder> {
    let row = transcript.text().get(bytes.clone())?;
    let is_right_to_left = is_right_to_left_at(transcript.text(), bytes.start);
    if !is_right_to_left && !has_right_to_left(row) {
        return None;
    }
    let mut breaks = Vec::new();
    let mut last_style = None;
    for (run, _) in transcript.runs_from(bytes.start) {
        if run.start >= bytes.end {
            break;
        }
        if last_style.is_some_and(|style| style != run.style) {
            breaks.push(run.start - bytes.start);
        }
        last_style = Some(run.style);
    }
    Some(RowOrder {
        segments: segments(row, is_right_to_left, &breaks),
        is_right_to_left,
    })
}

/// Returns the segments of a row in visual order. `breaks` are bytes at which a segment must end,
/// because another style begins.
fn segments(row: &str, paragraph_is_rtl: bool, breaks: &[usize]) -> Vec<Segment> {
    let level = if paragraph_is_rtl {
        Level::rtl()
    } else {
        Level::ltr()
    };
    let info = BidiInfo::new(row, Some(level));
    let mut found = Vec::new();
    for paragraph in &info.paragraphs {
        let (levels, runs) = info.visual_runs(paragraph, paragraph.range.clone());
        for run in runs {
            let is_rtl = levels.get(run.start).is_some_and(Level::is_rtl);
            let parts = parts(row, &run, is_rtl, breaks);
            if is_rtl {
                found.extend(parts.into_iter().rev());
            } else {
                found.extend(parts);
            }
        }
    }
    found
}

/// Splits a run of one direction where the style changes and, from right to left, into words and
/// the characters between them.
fn parts(row: &str, run: &Range<usize>, is_rtl: bool, breaks: &[usize]) -> Vec<Segment> {
    let text = row.get(run.clone()).unwrap_or_default();
    let mut parts: Vec<Segment> = Vec::new();
    for (index, c) in text.char_indices() {
        let start = run.start + index;
        let end = start + c.len_utf8();
        let reversed = is_rtl && is_reversed(c);
        let continues = |last: &Segment| {
            last.is_reversed == reversed && (reversed || !is_rtl) && !breaks.contains(&start)
        };
        match parts.last_mut() {
            Some(last) if continues(last) => last.bytes.end = end,
            _ => parts.push(Segment {
                bytes: start..end,
                is_reversed: reversed,
                mirrored: mirrored(c).filter(|_| is_rtl),
            }),
        }
    }
    parts
}

/// Returns whether a character is a letter that is written from right to left, or a mark on one.
pub(super) fn is_reversed(c: char) -> bool {
    let is_joiner = matches!(c, '\u{200C}' | '\u{200D}');
    is_joiner || matches!(bidi_class(c), BidiClass::R | BidiClass::AL | BidiClass::NSM)
}

/// Returns the bracket that faces the other way.
const fn mirrored(c: char) -> Option<char> {
    Some(match c {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        '{' => '}',
        '}' => '{',
        '<' => '>',
        '>' => '<',
        '«' => '»',
        '»' => '«',
        '‹' => '›',
        '›' => '‹',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{has_right_to_left, is_right_to_left_at, segments};

    fn drawn(row: &str, paragraph_is_rtl: bool, breaks: &[usize]) -> Vec<String> {
        segments(row, paragraph_is_rtl, breaks)
            .into_iter()
            .map(|segment| match segment.mirrored {
                Some(c) => c.to_string(),
                None => row[segment.bytes].to_owned(),
            })
            .collect()
    }

    #[test]
    fn words_are_drawn_in_the_order_of_their_paragraph() {
        for (row, rtl, expected) in [
            ("שלום עולם", true, vec!["עולם", " ", "שלום"]),
            (
                "say שלום עולם now",
                false,
                vec!["say ", "עולם", " ", "שלום", " now"],
            ),
            ("שלום 42 ok", true, vec!["ok", " ", "42", " ", "שלום"]),
            ("(مرحبا)", true, vec!["(", "مرحبا", ")"]),
            ("a fox", false, vec!["a fox"]),
        ] {
            assert_eq!(drawn(row, rtl, &[]), expected, "{row}");
        }
    }

    #[test]
    fn every_character_is_drawn_once() {
        for row in ["שָׁלוֹם (עוֹלָם) 3.5, ok", "لا إله 12:30 abc «نعم»", "x"]
        {
            let mut bytes: Vec<_> = segments(row, true, &[]);
            bytes.sort_by_key(|segment| segment.bytes.start);
            let mut at = 0;
            for segment in bytes {
                assert_eq!(segment.bytes.start, at, "{row}");
                at = segment.bytes.end;
            }
            assert_eq!(at, row.len());
        }
    }

    #[test]
    fn a_segment_ends_where_the_style_changes() {
        let row = "שלום";
        assert_eq!(drawn(row, true, &[4]), ["ום", "של"]);
    }

    #[test]
    fn the_first_letter_decides_the_direction_of_a_paragraph() {
        let text = "A fox\n1. שלום fox\n\nok";
        assert!(!is_right_to_left_at(text, 2));
        assert!(is_right_to_left_at(text, 8));
        assert!(!is_right_to_left_at(text, text.len()));
        assert!(has_right_to_left("aש") && !has_right_to_left("café, naïve"));
    }
}
