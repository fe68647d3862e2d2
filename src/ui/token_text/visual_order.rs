//! The order in which a row of right-to-left or mixed text is drawn (Unicode Standard Annex #9).
//!
//! egui shapes each word in its own direction, but places the words of a row from left to right. So
//! a row is given to egui in its visual order, one segment after the other.

use std::ops::Range;

use unicode_bidi::{BidiClass, BidiInfo, Level, bidi_class};

use super::transcript::Transcript;

/// A part of a row. Segments are listed from left to right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    /// Its bytes in the row.
    pub(super) bytes: Range<usize>,
    pub(super) n_chars: usize,
    /// Whether its letters are drawn from right to left.
    pub(super) is_reversed: bool,
    /// What is drawn instead of its text: a bracket that faces the other way.
    pub(super) mirrored: Option<char>,
}

/// A row of the transcript and how it is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowPlan {
    /// Its bytes in the transcript, without the newline that ends it.
    pub(super) bytes: Range<usize>,
    /// `None` if it is drawn as it is stored.
    pub(super) order: Option<RowOrder>,
}

/// The visual order of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowOrder {
    pub(super) segments: Vec<Segment>,
    /// Whether its paragraph is read from right to left.
    pub(super) is_right_to_left: bool,
}

impl RowPlan {
    /// Plans a row, or a part of one, that may end with a newline.
    pub(super) fn new(transcript: &Transcript, mut bytes: Range<usize>) -> Self {
        let text = transcript.text().get(bytes.clone()).unwrap_or_default();
        bytes.end -= usize::from(text.ends_with('\n'));
        let order = row_order(transcript, bytes.clone());
        Self { bytes, order }
    }

    /// Returns the bytes of a segment in the transcript.
    pub(super) fn bytes_of(&self, segment: &Segment) -> Range<usize> {
        self.bytes.start + segment.bytes.start..self.bytes.start + segment.bytes.end
    }
}

/// Returns whether a text contains letters that are written from right to left, or digits of their
/// scripts, which egui shapes like letters.
pub(super) fn has_right_to_left(text: &str) -> bool {
    let needs_order = |c: char| is_right_to_left(c) || script(c).is_some();
    // None of them is below U+0590.
    !text.is_ascii() && text.chars().any(|c| c >= '\u{590}' && needs_order(c))
}

fn row_order(transcript: &Transcript, bytes: Range<usize>) -> Option<RowOrder> {
    let text = transcript.text().get(bytes.clone())?;
    let is_right_to_left = is_right_to_left_at(transcript, bytes.start);
    if !is_right_to_left && !has_right_to_left(text) {
        return None;
    }
    let mut marked = MarkedRow {
        text,
        ..MarkedRow::default()
    };
    let mut last_style = None;
    for (run, part) in transcript.parts(bytes.clone()) {
        let part = part.start - bytes.start..part.end - bytes.start;
        if run.style.is_chip() || last_style.is_some_and(|style| style != run.style) {
            marked.breaks.push(part.start);
        }
        if run.style.is_chip() {
            marked.chips.push(part);
        }
        last_style = Some(run.style);
    }
    Some(RowOrder {
        segments: marked.segments(is_right_to_left),
        is_right_to_left,
    })
}

/// Returns whether the paragraph that contains this byte is read from right to left: its first
/// letter outside a chip decides.
fn is_right_to_left_at(transcript: &Transcript, byte: usize) -> bool {
    let text = transcript.text();
    let before = text.get(..byte).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let words = transcript
        .parts(start..text.len())
        .filter(|(run, _)| !run.style.is_chip());
    let letters = words.flat_map(|(_, part)| text.get(part).unwrap_or_default().chars());
    let direction = letters
        .take_while(|c| *c != '\n')
        .find_map(|c| match bidi_class(c) {
            BidiClass::L => Some(false),
            BidiClass::R | BidiClass::AL => Some(true),
            _ => None,
        });
    direction == Some(true)
}

/// The text of a row, with the chips and the styles that it does not show.
#[derive(Debug, Default)]
struct MarkedRow<'a> {
    text: &'a str,
    /// The bytes of each chip, which is drawn as a whole.
    chips: Vec<Range<usize>>,
    /// Where a chip or another style begins, so that a segment must end.
    breaks: Vec<usize>,
}

impl MarkedRow<'_> {
    /// Returns the segments in visual order.
    fn segments(&self, paragraph_is_rtl: bool) -> Vec<Segment> {
        let text = self.with_chips_as_letters(paragraph_is_rtl);
        let level = if paragraph_is_rtl {
            Level::rtl()
        } else {
            Level::ltr()
        };
        let info = BidiInfo::new(&text, Some(level));
        let mut found = Vec::new();
        for paragraph in &info.paragraphs {
            let (levels, runs) = info.visual_runs(paragraph, paragraph.range.clone());
            for run in runs {
                let is_rtl = levels.get(run.start).is_some_and(Level::is_rtl);
                let mut segments = self.segments_of(run, is_rtl);
                if is_rtl {
                    segments.reverse();
                }
                found.extend(segments);
            }
        }
        found
    }

    /// Replaces each chip by as many bytes of letters in the direction of the paragraph, because its
    /// place does not depend on what is written on it.
    fn with_chips_as_letters(&self, paragraph_is_rtl: bool) -> String {
        let mut text = String::with_capacity(self.text.len());
        let mut at = 0;
        for chip in &self.chips {
            text.push_str(self.text.get(at..chip.start).unwrap_or_default());
            if paragraph_is_rtl {
                // Alef has two bytes; a control character makes up for an odd one.
                text.push_str(&"\u{5D0}".repeat(chip.len() / 2));
                text.push_str(&"\u{1}".repeat(chip.len() % 2));
            } else {
                text.push_str(&"a".repeat(chip.len()));
            }
            at = chip.end;
        }
        text.push_str(self.text.get(at..).unwrap_or_default());
        text
    }

    /// Splits a run of one direction at chips and where the style changes and, from right to left,
    /// into words of one script and the characters between them. The segments are in reading order.
    fn segments_of(&self, run: Range<usize>, is_rtl: bool) -> Vec<Segment> {
        let text = self.text.get(run.clone()).unwrap_or_default();
        let mut segments: Vec<Segment> = Vec::new();
        for (index, c) in text.char_indices() {
            let start = run.start + index;
            let end = start + c.len_utf8();
            let in_chip = self.chips.iter().any(|chip| chip.contains(&start));
            let is_reversed = is_rtl && !in_chip && may_be_in_right_to_left_word(c);
            // egui would draw the digits of such a script from right to left, as it does its letters.
            let is_digit = !is_reversed && script(c).is_some();
            let is_whole = in_chip || is_reversed || !(is_rtl || is_digit);
            let continues = |last: &Segment| {
                let before = text.get(..index).unwrap_or_default().chars().next_back();
                let same_word = !is_reversed || before.is_some_and(|before| joins(before, c));
                let is_alike = last.is_reversed == is_reversed && same_word;
                is_whole && is_alike && !self.breaks.contains(&start)
            };
            match segments.last_mut().filter(|last| continues(last)) {
                Some(last) => {
                    last.bytes.end = end;
                    last.n_chars += 1;
                }
                None => segments.push(Segment {
                    bytes: start..end,
                    n_chars: 1,
                    is_reversed,
                    mirrored: mirrored(c).filter(|_| is_rtl && !in_chip),
                }),
            }
        }
        segments
    }
}

/// Returns whether a character is a letter that is written from right to left.
pub(in crate::ui) fn is_right_to_left(c: char) -> bool {
    matches!(bidi_class(c), BidiClass::R | BidiClass::AL)
}

/// Returns whether a right-to-left word goes on with this character.
pub(in crate::ui) fn continues_right_to_left_word(before: char, c: char) -> bool {
    may_be_in_right_to_left_word(c) && joins(before, c)
}

/// Returns whether a character may be part of a right-to-left word: a letter, a mark or a joiner.
fn may_be_in_right_to_left_word(c: char) -> bool {
    let is_joiner = matches!(c, '\u{200C}' | '\u{200D}');
    is_joiner || is_right_to_left(c) || bidi_class(c) == BidiClass::NSM
}

/// Returns whether two neighboring characters of right-to-left words belong to the same word: a font
/// often has only one of the scripts, and egui places what each font draws from left to right.
fn joins(before: char, c: char) -> bool {
    let scripts = script(before).zip(script(c));
    scripts.is_none_or(|(before, script)| before == script)
}

/// Returns the first code point of the blocks of a script that is written from right to left.
fn script(c: char) -> Option<u32> {
    match c {
        '\u{590}'..='\u{5FF}' | '\u{FB1D}'..='\u{FB4F}' => Some(0x590),
        '\u{600}'..='\u{6FF}'
        | '\u{750}'..='\u{77F}'
        | '\u{870}'..='\u{8FF}'
        | '\u{FB50}'..='\u{FDFF}'
        | '\u{FE70}'..='\u{FEFC}' => Some(0x600),
        // Syriac.
        '\u{700}'..='\u{74F}' | '\u{860}'..='\u{86F}' => Some(0x700),
        // Thaana, NKo, Samaritan, Mandaic.
        '\u{780}'..='\u{7BF}' => Some(0x780),
        '\u{7C0}'..='\u{7FF}' => Some(0x7C0),
        '\u{800}'..='\u{83F}' => Some(0x800),
        '\u{840}'..='\u{85F}' => Some(0x840),
        // Older and rarer ones, which never meet in a word.
        '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}' => Some(0x10800),
        _ => None,
    }
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
    use super::{MarkedRow, has_right_to_left};

    /// The segments of a row, from left to right, as they are drawn.
    fn drawn(row: &MarkedRow<'_>, paragraph_is_rtl: bool) -> Vec<String> {
        let segments = row.segments(paragraph_is_rtl).into_iter();
        segments
            .map(|segment| match segment.mirrored {
                Some(c) => c.to_string(),
                None => row.text[segment.bytes].to_owned(),
            })
            .collect()
    }

    fn row(text: &str) -> MarkedRow<'_> {
        MarkedRow {
            text,
            ..MarkedRow::default()
        }
    }

    #[test]
    fn words_are_drawn_in_the_order_of_their_paragraph() {
        for (text, rtl, expected) in [
            ("שלום עולם", true, vec!["עולם", " ", "שלום"]),
            (
                "say שלום עולם now",
                false,
                vec!["say ", "עולם", " ", "שלום", " now"],
            ),
            ("שלום 42 ok", true, vec!["ok", " ", "42", " ", "שלום"]),
            ("(مرحبا)", true, vec!["(", "مرحبا", ")"]),
            ("لاשלום", true, vec!["שלום", "لا"]),
            // A Syriac word, with letters from both halves of its block.
            ("ܫܠܡܐ ܐ", true, vec!["ܐ", " ", "ܫܠܡܐ"]),
            // A number keeps its order.
            ("لا ١٢٣", true, vec!["١", "٢", "٣", " ", "لا"]),
            ("a ١٢ b", false, vec!["a ", "١", "٢", " b"]),
            ("a fox", false, vec!["a fox"]),
        ] {
            assert_eq!(drawn(&row(text), rtl), expected, "{text}");
        }
    }

    #[test]
    fn every_character_is_drawn_once() {
        for text in ["שָׁלוֹם (עוֹלָם) 3.5, ok", "لا إله 12:30 abc «نعم»", "x"]
        {
            let mut segments = row(text).segments(true);
            segments.sort_by_key(|segment| segment.bytes.start);
            let mut at = 0;
            for segment in segments {
                assert_eq!(segment.bytes.start, at, "{text}");
                at = segment.bytes.end;
            }
            assert_eq!(at, text.len());
        }
    }

    #[test]
    fn a_segment_ends_where_the_style_changes() {
        let marked = MarkedRow {
            breaks: vec![4],
            ..row("שלום")
        };
        assert_eq!(drawn(&marked, true), ["ום", "של"]);
    }

    #[test]
    fn chips_stay_whole_and_follow_their_paragraph() {
        let text = "של <|a|> <0xE2>";
        let marked = MarkedRow {
            chips: vec![4..11, 11..text.len()],
            breaks: vec![4, 11],
            ..row(text)
        };
        assert_eq!(&text[4..11], " <|a|> ");
        assert_eq!(drawn(&marked, true), ["<0xE2>", " <|a|> ", "של"]);
        let chips_last = ["של", " <|a|> ", "<0xE2>"];
        assert_eq!(drawn(&marked, false), chips_last);
    }

    #[test]
    fn only_scripts_from_the_right_need_an_order() {
        for text in ["aש", "لا", "(שָׁ)", "a ١٢"] {
            assert!(has_right_to_left(text), "{text}");
        }
        // Marks and joiners of other scripts don't count.
        for text in ["café", "狐", "हिन्दी", "ที่", "👩\u{200D}🔬"] {
            assert!(!has_right_to_left(text), "{text}");
        }
    }
}
