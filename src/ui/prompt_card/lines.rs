//! The tokens of a prompt in lines of one width: no token is broken that fits into a line, and
//! nothing of it is left unseen.

use std::collections::VecDeque;

use crate::generation::{Piece, PieceKind, PromptToken};
use crate::ui::words::{code_point, is_invisible};

/// How a part of a token looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Characters.
    Text,
    /// A special token, or the code of a character that can't be seen; a chip.
    Sign,
    /// Bytes that are no character; a chip.
    Bytes,
}

/// A part of a token that stands in one line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fragment {
    /// The token's place in the prompt, from 0.
    pub token: usize,
    /// How it looks.
    pub look: Look,
    /// Its characters; white space is in it as it is.
    pub text: String,
    /// Where it begins in its line, in points.
    pub x: f32,
    /// How wide it is, in points, with the padding of a chip.
    pub width: f32,
}

/// What stands in one line, from left to right.
pub(super) type Line = Vec<Fragment>;

/// Between two tokens, in points.
const GAP: f32 = 3.0;

/// Around the words of a chip, on each side.
pub(super) const CHIP_PADDING: f32 = 4.0;

/// Sets tokens in lines of `width` points; `width_of` measures a character.
pub(super) fn lines_of(
    tokens: &[PromptToken],
    width: f32,
    mut width_of: impl FnMut(char, Look) -> f32,
) -> Vec<Line> {
    let mut setter = Setter {
        lines: vec![Line::new()],
        x: 0.0,
        width,
    };
    for (token, known) in tokens.iter().enumerate() {
        for (look, text) in parts_of(&known.piece) {
            setter.push((token, look), &text, &mut width_of);
        }
        if setter.lines.last().is_some_and(|line| !line.is_empty()) {
            setter.x += GAP;
        }
    }
    if setter.lines.last().is_some_and(Line::is_empty) {
        setter.lines.pop();
    }
    setter.lines
}

/// What a token shows: its characters up to each line break, and chips for what has none.
fn parts_of(piece: &Piece) -> Vec<(Look, String)> {
    let text = match (piece.as_str(), piece.kind) {
        (Some(""), _) => return vec![(Look::Sign, "∅".to_owned())],
        (Some(text), PieceKind::Text) => text,
        (Some(name), PieceKind::Special) => return vec![(Look::Sign, name.to_owned())],
        (None, _) => return vec![(Look::Bytes, piece.to_string())],
    };
    let mut parts = Vec::new();
    for line in text.split_inclusive('\n') {
        for part in line.split_inclusive(is_invisible) {
            let hidden = part.chars().next_back().filter(|last| is_invisible(*last));
            let seen = part.trim_end_matches(is_invisible);
            if !seen.is_empty() {
                parts.push((Look::Text, seen.to_owned()));
            }
            parts.extend(hidden.map(|c| (Look::Sign, code_point(c))));
        }
    }
    parts
}

struct Setter {
    lines: Vec<Line>,
    x: f32,
    width: f32,
}

impl Setter {
    fn push(
        &mut self,
        (token, look): (usize, Look),
        text: &str,
        width_of: &mut impl FnMut(char, Look) -> f32,
    ) {
        let around = match look {
            Look::Text => 0.0,
            Look::Sign | Look::Bytes => 2.0 * CHIP_PADDING,
        };
        let mut rest: VecDeque<(char, f32)> =
            text.chars().map(|c| (c, width_of(c, look))).collect();
        let whole = around + rest.iter().map(|(_, width)| width).sum::<f32>();
        if self.x + whole > self.width {
            self.break_line();
        }
        // What is wider than a line goes on in the next one.
        while !rest.is_empty() {
            let mut fragment = Fragment {
                token,
                look,
                text: String::new(),
                x: self.x,
                width: around,
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

    /// Begins a line, unless this one is empty still.
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

    /// Lines of this many characters, all of them 10 points wide.
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
    fn signs_bytes_and_what_cannot_be_seen_are_chips() {
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
    fn a_token_is_broken_only_where_it_is_wider_than_a_line() {
        let pieces = ["Once", " upon", " a", " counterrevolution", "\n\n", "!"].map(Piece::text);
        assert_eq!(
            words(&lines(&pieces, 10)),
            ["Once| upon", " a", " counterre", "volution|\n", "\n", "!"]
        );
    }

    #[test]
    fn nothing_overlaps_and_nothing_leaves_the_line() {
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
