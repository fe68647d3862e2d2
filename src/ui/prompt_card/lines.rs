//! Lays out the tokens of a prompt in lines of a given width. A token is broken only if it is wider
//! than a line, and every character and byte of it is visible.

use std::collections::VecDeque;

use crate::generation::formatting::{code_point, is_invisible};
use crate::generation::{Piece, PieceKind, PromptToken};

/// How a part of a token is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Plain characters.
    Text,
    /// A chip: a special token, or the code point of an invisible character.
    Sign,
    /// A chip: bytes that are not valid UTF-8.
    Bytes,
}

/// The part of a token that is on one line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fragment {
    /// The token's index in the prompt.
    pub token: usize,
    pub look: Look,
    /// Its characters, white space included.
    pub text: String,
    /// The left edge within the line, in points.
    pub x: f32,
    /// In points, including the padding of a chip.
    pub width: f32,
}

/// The fragments of one line, from left to right.
pub(super) type Line = Vec<Fragment>;

/// The gap between two tokens, in points.
const GAP: f32 = 3.0;

/// The padding on each side of a chip's text, in points.
pub(super) const CHIP_PADDING: f32 = 4.0;

/// Lays out tokens in lines of `width` points; `width_of` measures a character.
pub(super) fn lines_of(
    tokens: &[PromptToken],
    width: f32,
    mut width_of: impl FnMut(char, Look) -> f32,
) -> Vec<Line> {
    let mut layout = LineLayout {
        lines: vec![Line::new()],
        x: 0.0,
        width,
    };
    for (index, token) in tokens.iter().enumerate() {
        for part in parts_of(&token.piece) {
            layout.push(index, &part, &mut width_of);
        }
        if layout.lines.last().is_some_and(|line| !line.is_empty()) {
            layout.x += GAP;
        }
    }
    if layout.lines.last().is_some_and(Line::is_empty) {
        layout.lines.pop();
    }
    layout.lines
}

/// A run of a token's characters that look the same.
struct Part {
    look: Look,
    text: String,
}

impl Part {
    fn new(look: Look, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { look, text }
    }
}

/// Splits a token into its visible text, up to each line break, and chips for everything else.
fn parts_of(piece: &Piece) -> Vec<Part> {
    let text = match (piece.as_str(), piece.kind) {
        (Some(""), _) => return vec![Part::new(Look::Sign, "∅")],
        (Some(text), PieceKind::Text) => text,
        (Some(name), PieceKind::Special) => return vec![Part::new(Look::Sign, name)],
        (None, _) => return vec![Part::new(Look::Bytes, piece.to_string())],
    };
    let mut parts = Vec::new();
    for line in text.split_inclusive('\n') {
        for run in line.split_inclusive(is_invisible) {
            let hidden = run.chars().next_back().filter(|last| is_invisible(*last));
            let visible = run.trim_end_matches(is_invisible);
            if !visible.is_empty() {
                parts.push(Part::new(Look::Text, visible));
            }
            parts.extend(hidden.map(|c| Part::new(Look::Sign, code_point(c))));
        }
    }
    parts
}

/// The lines laid out so far.
struct LineLayout {
    /// Never empty; the last line is the one being filled.
    lines: Vec<Line>,
    /// Where the next fragment starts in the last line, in points.
    x: f32,
    /// The width of a line, in points.
    width: f32,
}

impl LineLayout {
    fn push(
        &mut self,
        token: usize,
        Part { look, text }: &Part,
        width_of: &mut impl FnMut(char, Look) -> f32,
    ) {
        let look = *look;
        let padding = match look {
            Look::Text => 0.0,
            Look::Sign | Look::Bytes => 2.0 * CHIP_PADDING,
        };
        let mut rest: VecDeque<(char, f32)> =
            text.chars().map(|c| (c, width_of(c, look))).collect();
        let full_width = padding + rest.iter().map(|(_, width)| width).sum::<f32>();
        if self.x + full_width > self.width {
            self.break_line();
        }
        // A part that is wider than a line continues on the next one.
        while !rest.is_empty() {
            let mut fragment = Fragment {
                token,
                look,
                text: String::new(),
                x: self.x,
                width: padding,
            };
            while let Some((c, width)) = rest.front().copied() {
                let fits = self.x + fragment.width + width <= self.width;
                if !fits && !fragment.text.is_empty() {
                    break;
                }
                fragment.text.push(c);
                fragment.width += width;
                rest.pop_front();
            }
            self.x += fragment.width;
            let ends_line = look == Look::Text && fragment.text.ends_with('\n');
            if let Some(line) = self.lines.last_mut() {
                line.push(fragment);
            }
            if ends_line || !rest.is_empty() {
                self.break_line();
            }
        }
    }

    /// Starts a new line, unless the last one is still empty.
    fn break_line(&mut self) {
        self.x = 0.0;
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(Line::new());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, Look, lines_of};
    use crate::decoding::TokenId;
    use crate::generation::{Piece, PromptToken};

    /// Lays out lines of this many characters, each 10 points wide.
    fn lines(pieces: &[Piece], n_chars: usize) -> Vec<Line> {
        let tokens: Vec<PromptToken> = (0..)
            .zip(pieces)
            .map(|(id, piece)| PromptToken {
                id: TokenId(id),
                piece: piece.clone(),
            })
            .collect();
        lines_of(&tokens, 10.0 * n_chars as f32, |_, _| 10.0)
    }

    fn words(lines: &[Line]) -> Vec<String> {
        let word = |line: &Line| {
            let words = line.iter().map(|fragment| match fragment.look {
                Look::Text => fragment.text.clone(),
                Look::Sign | Look::Bytes => format!("[{}]", fragment.text),
            });
            words.collect::<Vec<_>>().join("|")
        };
        lines.iter().map(word).collect()
    }

    #[test]
    fn special_tokens_bytes_and_invisible_characters_are_chips() {
        let pieces = [
            Piece::special("<|im_start|>"),
            Piece::text("user\n"),
            Piece::text("a\u{200B}b"),
            Piece::text([0xE2, 0x82]),
            Piece::text([0xAC]),
            Piece::text(""),
            Piece::text("\r\n"),
        ];
        assert_eq!(
            words(&lines(&pieces, 99)),
            [
                "[<|im_start|>]|user\n",
                "a|[U+200B]|b|[E2 82]|[AC]|[∅]|[U+000D]|\n"
            ]
        );
    }

    #[test]
    fn a_token_is_broken_only_if_it_is_wider_than_a_line() {
        let pieces = ["Once", " upon", " a", " counterrevolution", "\n\n", "!"].map(Piece::text);
        assert_eq!(
            words(&lines(&pieces, 10)),
            ["Once| upon", " a", " counterre", "volution|\n", "\n", "!"]
        );
    }

    #[test]
    fn fragments_neither_overlap_nor_leave_the_line() {
        let pieces: Vec<Piece> = (0..200)
            .map(|at| match at % 7 {
                0 => Piece::special("</s>"),
                1 => Piece::text([0xFF, at as u8]),
                n => Piece::text("word ".repeat(n)),
            })
            .collect();
        let lines = lines(&pieces, 31);
        let mut tokens: Vec<usize> = Vec::new();
        for line in &lines {
            let mut end = 0.0;
            for fragment in line {
                assert!(fragment.x >= end, "{line:?}");
                end = fragment.x + fragment.width;
                tokens.push(fragment.token);
            }
            assert!(!line.is_empty() && end <= 310.0, "{line:?}");
        }
        tokens.dedup();
        assert_eq!(tokens, (0..200).collect::<Vec<_>>());
    }

    #[test]
    fn a_prompt_without_tokens_has_no_lines() {
        assert!(lines(&[], 10).is_empty());
    }
}
