//! Which tokens can follow in a spelling of a right answer.

use crate::decoding::TokenId;
use crate::generation::{EndOfText, Limits, PieceKind, StopMatcher, Vocabulary};

/// The texts to spell, and what ends them.
pub(super) struct Spelled<'a> {
    /// The texts that are right answers.
    pub texts: &'a [String],
    pub limits: &'a Limits,
    pub end_tokens: &'a [TokenId],
    pub vocabulary: &'a Vocabulary,
}

/// What a token does to the text before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// It ends a right answer. `is_end` if it has no part in the answer.
    Right { is_end: bool },
    /// The text may still become a right answer.
    Open,
}

impl Spelled<'_> {
    /// Returns every token that can follow these bytes in a spelling of a right answer.
    pub(super) fn next(&self, written: &[u8]) -> Vec<(TokenId, Next)> {
        let is_written = self.texts.iter().any(|text| text.as_bytes() == written);
        let ends = is_written && self.limits.end_of_text == EndOfText::Stops;
        let end_tokens = self.end_tokens.iter().filter(|_| ends);
        let ending = end_tokens.map(|token| (*token, Next::Right { is_end: true }));
        let first_bytes = self.first_bytes(written);
        let spelling = self.vocabulary.iter().filter_map(|(token, piece)| {
            let first = usize::from(*piece.bytes.first()?);
            if piece.kind != PieceKind::Text || !*first_bytes.get(first)? {
                return None;
            }
            let is_end_token = self.end_tokens.contains(&token);
            if is_end_token && self.limits.end_of_text == EndOfText::Stops {
                return None;
            }
            Some((token, self.after(written, &piece.bytes)?))
        });
        ending.chain(spelling).collect()
    }

    /// Returns for each byte whether it can follow.
    fn first_bytes(&self, written: &[u8]) -> [bool; 256] {
        let mut follows = [false; 256];
        for text in self.texts {
            let text = text.as_bytes();
            let of_stops = written.strip_prefix(text).into_iter().flat_map(|rest| {
                let stops = self.limits.stop_strings.iter();
                stops.filter_map(move |stop| stop.as_bytes().strip_prefix(rest))
            });
            for rest in text.strip_prefix(written).into_iter().chain(of_stops) {
                if let Some(first) = rest.first()
                    && let Some(follows) = follows.get_mut(usize::from(*first))
                {
                    *follows = true;
                }
            }
        }
        follows
    }

    /// Returns what a token with these bytes does, or `None` if no right answer begins like that.
    fn after(&self, written: &[u8], bytes: &[u8]) -> Option<Next> {
        let text = [written, bytes].concat();
        if let Some(end) = self.first_stop(&text) {
            let answer = text.get(..end)?;
            let is_right = self.texts.iter().any(|right| right.as_bytes() == answer);
            let is_end = end <= written.len();
            return is_right.then_some(Next::Right { is_end });
        }
        let continues = |right: &String| {
            let right = right.as_bytes();
            let stops = &self.limits.stop_strings;
            right.starts_with(&text)
                || text
                    .strip_prefix(right)
                    .is_some_and(|rest| stops.iter().any(|stop| stop.as_bytes().starts_with(rest)))
        };
        self.texts.iter().any(continues).then_some(Next::Open)
    }

    /// Returns where the stop string that ends the text begins.
    fn first_stop(&self, text: &[u8]) -> Option<usize> {
        let mut matcher = StopMatcher::new(&self.limits.stop_strings);
        (1..).zip(text).find_map(|(end, byte)| {
            let stop = matcher.push(std::slice::from_ref(byte))?;
            Some(end - stop.len())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Next, Spelled};
    use crate::decoding::TokenId;
    use crate::generation::{EndOfText, Limits, Piece, Vocabulary};

    const END: Next = Next::Right { is_end: true };

    fn next(texts: &[&str], stops: &[&str], pieces: &[&str], written: &str) -> Vec<(u32, Next)> {
        let vocabulary = pieces.iter().map(|piece| Piece::text(*piece));
        let mut vocabulary: Vec<Piece> = vocabulary.collect();
        vocabulary.push(Piece::special("</s>"));
        let end = TokenId(pieces.len() as u32);
        let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
        let spelled = Spelled {
            texts: &texts,
            limits: &Limits {
                stop_strings: stops.iter().map(ToString::to_string).collect(),
                ..Limits::default()
            },
            end_tokens: &[end],
            vocabulary: &Vocabulary::new(vocabulary),
        };
        let found = spelled.next(written.as_bytes()).into_iter();
        found.map(|(token, next)| (token.0, next)).collect()
    }

    #[test]
    fn a_token_follows_if_an_answer_begins_with_it() {
        let pieces = ["O", "Os", "Oslo", "lo", "slo", "Oslos", "B", "Bergen"];
        let open = |tokens: &[u32]| tokens.iter().map(|token| (*token, Next::Open)).collect();
        let expected: Vec<(u32, Next)> = open(&[0, 1, 2]);
        assert_eq!(next(&["Oslo"], &[], &pieces, ""), expected);
        let expected: Vec<(u32, Next)> = open(&[0, 1, 2, 6, 7]);
        assert_eq!(next(&["Oslo", "Bergen"], &[], &pieces, ""), expected);
        assert_eq!(next(&["Oslo"], &[], &pieces, "Os"), [(3, Next::Open)]);
        assert_eq!(next(&["Oslo"], &[], &pieces, "Oslo"), [(8, END)]);
        assert_eq!(next(&["Oslo"], &[], &pieces, "Osla"), []);
        // Both an answer and the beginning of another.
        let pieces = ["s", "."];
        let found = next(&["Oslo", "Oslos"], &[], &pieces, "Oslo");
        assert_eq!(found, [(2, END), (0, Next::Open)]);
    }

    #[test]
    fn a_stop_string_ends_an_answer_wherever_its_tokens_split() {
        let pieces = ["\n", "\n\nQ", ".\n", "lo\n", "#", "##", "###", ".", " #"];
        let inside = Next::Right { is_end: false };
        assert_eq!(
            next(&["Oslo"], &["\n"], &pieces, "Oslo"),
            [(9, END), (0, END), (1, END)]
        );
        assert_eq!(next(&["Oslo"], &["\n"], &pieces, "Os"), [(3, inside)]);
        let found = next(&["Oslo"], &["###"], &pieces, "Oslo");
        assert_eq!(
            found,
            [(9, END), (4, Next::Open), (5, Next::Open), (6, END)]
        );
        // After a part of the stop string, the end of the text would leave it in the answer.
        let found = next(&["Oslo"], &["###"], &pieces, "Oslo#");
        assert_eq!(found, [(4, Next::Open), (5, END), (6, END)]);
    }

    #[test]
    fn a_stop_string_in_an_answer_cuts_it() {
        assert_eq!(
            next(&["a.b"], &["."], &["a", "a.b", ".b"], ""),
            [(0, Next::Open)]
        );
        assert_eq!(next(&["a.b"], &["."], &["a", "a.b", ".b"], "a"), []);
    }

    #[test]
    fn an_end_token_that_is_ignored_ends_nothing() {
        let spelled = Spelled {
            texts: &["a".to_owned()],
            limits: &Limits {
                end_of_text: EndOfText::Ignored,
                ..Limits::default()
            },
            end_tokens: &[TokenId(0)],
            vocabulary: &Vocabulary::new(vec![Piece::special("</s>")]),
        };
        assert_eq!(spelled.next(b"a"), []);
    }
}
