//! Formats tokens, probabilities and counts for sentences, tables and cards.

use super::{Piece, PieceKind};

/// Formats a probability for reading: "41 %", "5.9 %", "< 0.1 %". Only a certainty is "100 %".
pub fn percent(prob: f64) -> String {
    // A sum of probabilities can miss 1 by a rounding error.
    let certain = prob > 1.0 - 1e-9;
    if prob > 0.999 && !certain {
        "> 99.9 %".to_owned()
    } else if prob >= 0.995 && !certain {
        format!("{:.1} %", prob * 100.0)
    } else if prob >= 0.0995 {
        format!("{:.0} %", prob * 100.0)
    } else if prob >= 0.000_95 {
        format!("{:.1} %", prob * 100.0)
    } else {
        "< 0.1 %".to_owned()
    }
}

/// Formats a token as a word: without leading spaces, with visible marks for a token that is only
/// whitespace, and with code points for invisible characters.
pub fn token_word(piece: &Piece) -> String {
    match (piece.as_str(), piece.kind) {
        (Some(""), PieceKind::Text) => "∅".to_owned(),
        (Some(text), PieceKind::Text) => {
            let shown = text.trim_start_matches(' ');
            let is_blank = text.trim().is_empty();
            let only_joins = text.chars().all(joins);
            let mut word = String::new();
            for c in if is_blank { text } else { shown }.chars() {
                match c {
                    _ if is_invisible(c) || (only_joins && joins(c)) => word += &code_point(c),
                    _ if is_blank || c == '\n' => word.push(mark(c)),
                    _ => word.push(c),
                }
            }
            word
        }
        _ => piece.to_string(),
    }
}

/// Returns the visible mark for a whitespace character.
pub const fn mark(whitespace: char) -> char {
    match whitespace {
        '\n' => '↵',
        '\t' => '⇥',
        _ => '·',
    }
}

/// Returns whether a character is invisible on screen. Line breaks and tabs are not: they have
/// marks.
pub fn is_invisible(c: char) -> bool {
    let control = c.is_control() && c != '\n' && c != '\t';
    control
        || matches!(c, '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}' | '\u{200C}' | '\u{200E}'
            | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}

/// Returns whether a character only modifies its neighbors: a joiner or a variation selector.
pub const fn joins(c: char) -> bool {
    matches!(c, '\u{200D}' | '\u{FE00}'..='\u{FE0F}')
}

/// Formats a character as its code point: "U+200B".
pub fn code_point(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}

/// Formats a speed in tokens per second, with decimals if it is low: "1,204", "2.5", "0.04".
pub fn speed(per_sec: f64) -> String {
    match per_sec {
        ..0.095 => format!("{per_sec:.2}"),
        ..9.95 => format!("{per_sec:.1}"),
        _ => grouped(per_sec),
    }
}

/// Formats a number without decimals, with thousands separators: "6,144".
pub fn grouped(n: f64) -> String {
    let digits = format!("{n:.0}");
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a count with its noun: "1 token", "6,144 tokens".
pub fn counted(n: usize, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(n as f64))
}

/// Returns a text on one line, cut after `n_max` characters with "…".
pub fn one_line(text: &str, n_max: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    cut(&words.join(" "), n_max)
}

/// Returns a text, cut after `n_max` characters with "…".
pub fn cut(text: &str, n_max: usize) -> String {
    match text.char_indices().nth(n_max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}

/// Returns a text without its final line break, because editors add one to every file.
pub fn without_final_line_break(text: &str) -> &str {
    let line = text.strip_suffix('\n').unwrap_or(text);
    line.strip_suffix('\r').unwrap_or(line)
}

/// Formats why a file or another service of the system failed, without the number of the error.
pub fn io_words(error: &std::io::Error) -> String {
    let words = error.to_string();
    match words.rsplit_once(" (os error ") {
        // Windows ends its sentences.
        Some((words, _number)) => words.trim_end_matches('.').to_owned(),
        None => words,
    }
}

/// Returns the letter of the pane at this place: A to Z, then AA, AB and so on.
pub fn pane_letter(place: usize) -> String {
    let last = char::from(b'A' + (place % 26) as u8);
    match (place / 26).checked_sub(1) {
        Some(before) => pane_letter(before) + &last.to_string(),
        None => last.to_string(),
    }
}

/// Returns the place of the pane with this letter among the first `n_places`.
pub fn place_of_letter(letter: &str, n_places: usize) -> Option<usize> {
    (0..n_places).find(|place| pane_letter(*place) == letter)
}

/// Formats a token as a quoted word.
pub fn quoted(piece: &Piece) -> String {
    format!("‘{}’", token_word(piece))
}

/// Formats a rank: "1st", "22nd", "1,013th".
pub fn ordinal(n: u32) -> String {
    let suffix = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    grouped(f64::from(n)) + suffix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!(one_line("one\n two  three", 7), "one two…");
        assert_eq!(one_line("one\n", 7), "one");
        assert_eq!(cut("one\n", 7), "one\n");
    }

    #[test]
    fn one_is_singular() {
        for (n, words) in [(0, "0 tokens"), (1, "1 token"), (6144, "6,144 tokens")] {
            assert_eq!(counted(n, "token"), words);
        }
    }

    #[test]
    fn probabilities_keep_their_significant_digits() {
        for (prob, expected) in [
            (1.0, "100 %"),
            (0.999_95, "> 99.9 %"),
            (0.998, "99.8 %"),
            (0.412, "41 %"),
            (0.0996, "10 %"),
            (0.0594, "5.9 %"),
            (0.001, "0.1 %"),
            (0.000_04, "< 0.1 %"),
        ] {
            assert_eq!(percent(prob), expected);
        }
    }

    #[test]
    fn tokens_drop_leading_spaces_and_show_whitespace_as_marks() {
        for (piece, expected) in [
            (Piece::text(" beside"), "beside"),
            (Piece::text("\n\n"), "↵↵"),
            (Piece::text(" "), "·"),
            (Piece::special("</s>"), "</s>"),
            (Piece::text([0xE2, 0x82]), "E2 82"),
            (Piece::text("\u{200B}"), "U+200B"),
            (Piece::text(" a\u{200B}"), "aU+200B"),
            (Piece::text("\u{FE0F}"), "U+FE0F"),
            (Piece::text("❤\u{FE0F}"), "❤\u{FE0F}"),
            (Piece::text(""), "∅"),
        ] {
            assert_eq!(token_word(&piece), expected);
        }
    }

    #[test]
    fn the_reason_of_a_failure_has_no_number() {
        let missing = std::fs::File::open("no such folder/no such file").unwrap_err();
        assert!(missing.to_string().contains("(os error "), "{missing}");
        let words = io_words(&missing);
        assert!(
            !words.contains("os error") && !words.ends_with('.'),
            "{words}"
        );
        for other in [
            "it changed while the model was loaded",
            "the load (os error) failed",
        ] {
            assert_eq!(io_words(&std::io::Error::other(other)), other);
        }
    }

    #[test]
    fn ranks_are_written_as_ordinals() {
        for (n, expected) in [
            (1, "1st"),
            (2, "2nd"),
            (3, "3rd"),
            (11, "11th"),
            (112, "112th"),
            (1023, "1,023rd"),
        ] {
            assert_eq!(ordinal(n), expected);
        }
    }

    #[test]
    fn a_slow_speed_does_not_round_to_zero() {
        for (per_sec, expected) in [
            (1204.4, "1,204"),
            (10.2, "10"),
            (9.94, "9.9"),
            (0.42, "0.4"),
            (0.042, "0.04"),
        ] {
            assert_eq!(speed(per_sec), expected);
        }
    }
}
