//! A text in the parts in which it is sent while it is written. Together they are the text of the
//! record, byte for byte.

use std::collections::VecDeque;

use crate::generation::{CertainPart, CertainText, FinishReason, Generation, Piece, PieceKind};

/// Splits a text into parts. What may turn out to be part of a character or of a stop sequence is
/// held back until that is known.
#[derive(Debug, Clone)]
pub(super) struct TextParts {
    certain: CertainText,
    /// How many bytes the text has, before invalid ones are replaced.
    n_bytes: usize,
    /// How many of them have been sent.
    n_bytes_sent: usize,
    /// The same after invalid ones were replaced.
    n_text_sent: usize,
    n_steps: usize,
    /// The tokens of the text that have not been sent.
    unsent: VecDeque<TokenStart>,
    /// The special tokens that have not been sent, with how many bytes of the text are before them.
    unsent_special: VecDeque<(usize, String)>,
}

/// A part of a text with the tokens that begin in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TextPart {
    pub text: String,
    pub tokens: Vec<TokenStart>,
    /// The names of the special tokens in it, which are not part of the text, with how many bytes of
    /// `text` are before them.
    pub special: Vec<(usize, String)>,
}

/// Where a token begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TokenStart {
    /// The index of its step.
    pub step: usize,
    /// Where its bytes begin in the text, before invalid ones are replaced.
    pub n_bytes_before: usize,
}

impl TextParts {
    /// Begins a text that these stop sequences end.
    pub(super) fn new(stops: &[String]) -> Self {
        Self {
            certain: CertainText::new(stops),
            n_bytes: 0,
            n_bytes_sent: 0,
            n_text_sent: 0,
            n_steps: 0,
            unsent: VecDeque::new(),
            unsent_special: VecDeque::new(),
        }
    }

    /// Returns a finished text as one part.
    pub(super) fn whole(text: &Generation) -> TextPart {
        let mut parts = Self::new(&[]);
        for step in &text.steps {
            parts.note(&step.piece);
        }
        parts.finish(text)
    }

    /// Appends a token, and returns what can be sent now.
    pub(super) fn push(&mut self, piece: &Piece) -> TextPart {
        self.note(piece);
        let n_bytes_before = self.n_bytes_sent;
        let certain = match piece.kind {
            PieceKind::Text => self.certain.push(&piece.bytes),
            PieceKind::Special => CertainPart::default(),
        };
        self.n_bytes_sent += certain.n_bytes;
        self.n_text_sent += certain.text.len();
        TextPart {
            tokens: self.tokens_before(self.n_bytes_sent),
            special: self.special_from(n_bytes_before, self.n_bytes_sent, &certain.text),
            text: certain.text,
        }
    }

    /// Returns what is left of the finished text.
    pub(super) fn finish(mut self, text: &Generation) -> TextPart {
        let bytes = text.bytes();
        let whole = String::from_utf8_lossy(&bytes);
        // A stop sequence may have cut off the last tokens.
        let n_bytes = match text.finish {
            Some(FinishReason::StopString { .. }) => bytes.len(),
            _ => usize::MAX,
        };
        let text = whole.get(self.n_text_sent..).unwrap_or_default().to_owned();
        TextPart {
            tokens: self.tokens_before(n_bytes),
            special: self.special_from(self.n_bytes_sent, n_bytes, &text),
            text,
        }
    }

    fn note(&mut self, piece: &Piece) {
        match piece.kind {
            PieceKind::Text => {
                self.unsent.push_back(TokenStart {
                    step: self.n_steps,
                    n_bytes_before: self.n_bytes,
                });
                self.n_bytes += piece.bytes.len();
            }
            PieceKind::Special => {
                self.unsent_special
                    .push_back((self.n_bytes, piece.to_string()));
            }
        }
        self.n_steps += 1;
    }

    /// Takes the tokens that begin before this byte.
    fn tokens_before(&mut self, n_bytes: usize) -> Vec<TokenStart> {
        let n_tokens = self
            .unsent
            .partition_point(|token| token.n_bytes_before < n_bytes);
        self.unsent.drain(..n_tokens).collect()
    }

    /// Takes the special tokens up to this byte. `text` begins at byte `n_before`.
    fn special_from(
        &mut self,
        n_before: usize,
        n_bytes: usize,
        text: &str,
    ) -> Vec<(usize, String)> {
        let is_sent = |(n_before, _): &(usize, String)| *n_before <= n_bytes;
        let n_special = self.unsent_special.partition_point(is_sent);
        let special = self.unsent_special.drain(..n_special);
        special
            // Bytes that are no text were replaced, so that this may be inside a character.
            .map(|(at, name)| (text.floor_char_boundary(at - n_before.min(at)), name))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{TextPart, TextParts};
    use crate::generation::testing::generation;
    use crate::generation::{FinishReason, Generation, Piece, Step, StopMatcher};

    /// Returns a text of these tokens that ends as the engine would end it.
    fn written(pieces: &[Piece], stops: &[String]) -> Generation {
        let mut text = generation(&[("a", 0.5)]);
        let step = text.steps[0].clone();
        text.steps.truncate(0);
        text.finish = Some(FinishReason::MaxTokens);
        let mut matcher = StopMatcher::new(stops);
        for piece in pieces {
            text.steps.push(Step {
                piece: piece.clone(),
                ..step.clone()
            });
            if piece.kind == crate::generation::PieceKind::Text
                && let Some(stop) = matcher.push(&piece.bytes)
            {
                let stop = stop.to_owned();
                text.finish = Some(FinishReason::StopString { stop });
                break;
            }
        }
        text
    }

    /// Returns the parts that a program gets.
    fn sent(text: &Generation, stops: &[String]) -> Vec<TextPart> {
        let mut parts = TextParts::new(stops);
        let mut sent: Vec<TextPart> = text
            .steps
            .iter()
            .map(|step| parts.push(&step.piece))
            .collect();
        sent.push(parts.finish(text));
        sent
    }

    fn texts(parts: &[TextPart]) -> Vec<&str> {
        parts.iter().map(|part| part.text.as_str()).collect()
    }

    #[test]
    fn parts_of_characters_and_of_stop_sequences_are_held_back() {
        let euro = "€".as_bytes();
        let pieces = |all: &[&[u8]]| -> Vec<Piece> {
            all.iter()
                .map(|bytes| Piece::text(bytes.to_vec()))
                .collect()
        };
        for (written_pieces, stop, expected) in [
            (pieces(&[b"One ", b"fox"]), "", &["One ", "fox", ""][..]),
            (
                pieces(&[&euro[..1], &euro[1..], b"!"]),
                "",
                &["", "€", "!", ""],
            ),
            (pieces(&[&euro[..2], b"!"]), "", &["", "\u{fffd}!", ""]),
            (pieces(&[b"a", &euro[..2]]), "", &["a", "", "\u{fffd}"]),
            (
                pieces(&[b"the e", b"n", b"d."]),
                "end",
                &["the ", "", "", ""],
            ),
            (
                pieces(&[b"the e", b"n", b"emy"]),
                "end",
                &["the ", "", "enemy", ""],
            ),
            (pieces(&[b"an e"]), "end", &["an ", "e"]),
        ] {
            let stops = [stop.to_owned()];
            let text = written(&written_pieces, &stops);
            assert_eq!(texts(&sent(&text, &stops)), expected);
        }
    }

    #[test]
    fn tokens_come_with_the_part_in_which_they_begin_and_special_ones_never() {
        let euro = "€".as_bytes();
        let pieces = [
            Piece::text(*b"a"),
            Piece::text(&euro[..1]),
            Piece::text(&euro[1..]),
            Piece::special("</s>"),
        ];
        let text = written(&pieces, &[]);
        let steps = |part: &TextPart| -> Vec<usize> {
            part.tokens.iter().map(|token| token.step).collect()
        };
        let parts = sent(&text, &[]);
        let all: Vec<Vec<usize>> = parts.iter().map(steps).collect();
        assert_eq!(all, [vec![0], vec![], vec![1, 2], vec![], vec![]]);
        assert_eq!(steps(&TextParts::whole(&text)), [0, 1, 2]);
    }

    proptest! {
        #[test]
        fn the_parts_are_the_text_of_the_record(
            pieces in prop::collection::vec(
                prop::collection::vec(prop::sample::select(vec![b'a', b'b', 0xE2, 0x82, 0xAC, 0xF0]), 0..4),
                0..12,
            ),
            stops in prop::collection::vec("[ab€]{0,3}", 0..3),
        ) {
            let pieces: Vec<Piece> = pieces.into_iter().map(Piece::text).collect();
            let text = written(&pieces, &stops);
            let parts = sent(&text, &stops);
            prop_assert_eq!(texts(&parts).concat(), text.text());
            let whole = TextParts::whole(&text);
            prop_assert_eq!(&whole.text, &text.text());
            let tokens: Vec<_> = parts.iter().flat_map(|part| &part.tokens).copied().collect();
            prop_assert_eq!(tokens, whole.tokens);
        }
    }
}
