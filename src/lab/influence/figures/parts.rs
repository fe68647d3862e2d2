//! Which parts of a text are left out: tokens, words or sentences.

use std::ops::Range;

use crate::decoding::TokenId;
use crate::generation::{PieceKind, Vocabulary};
use crate::lab::influence::plan::LeftOut;

/// Returns the parts of the first `n` tokens, in order. Special tokens, which the model's format
/// needs, belong to no part.
pub(in crate::lab::influence) fn parts_of(
    tokens: &[TokenId],
    unit: LeftOut,
    vocabulary: &Vocabulary,
) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    // What the part so far says, or `None` before a token that must begin a new one.
    let mut said: Option<Vec<u8>> = None;
    for (position, token) in tokens.iter().enumerate() {
        let piece = vocabulary.piece(*token);
        if piece.kind == PieceKind::Special {
            said = None;
            continue;
        }
        let continues = said
            .as_ref()
            .is_some_and(|said| !begins_part(unit, said, &piece.bytes));
        if let Some(part) = parts.last_mut().filter(|_| continues) {
            part.end = position + 1;
        } else {
            parts.push(position..position + 1);
            said = Some(Vec::new());
        }
        if let Some(said) = &mut said {
            said.extend_from_slice(&piece.bytes);
        }
    }
    parts
}

/// Returns whether a piece begins a new part after what the part so far says.
fn begins_part(unit: LeftOut, said: &[u8], piece: &[u8]) -> bool {
    let begins_word = piece.first().is_some_and(u8::is_ascii_whitespace)
        || said.last().is_some_and(u8::is_ascii_whitespace);
    match unit {
        LeftOut::Token => true,
        LeftOut::Word => begins_word && has_words(said),
        LeftOut::Sentence => begins_word && ends_sentence(said) && has_words(piece),
    }
}

/// Returns whether a text has more than white space.
fn has_words(text: &[u8]) -> bool {
    !text.trim_ascii().is_empty()
}

/// Returns whether a text ends with the punctuation of a sentence, perhaps in quotes or brackets, or
/// with an empty line.
fn ends_sentence(text: &[u8]) -> bool {
    const CLOSING: [char; 6] = ['"', '\'', ')', ']', '”', '’'];
    const ENDS: [char; 7] = ['.', '!', '?', '…', '。', '！', '？'];
    let text = String::from_utf8_lossy(text);
    let words = text.trim_end();
    let n_breaks = text[words.len()..].matches('\n').count();
    n_breaks >= 2 || words.trim_end_matches(CLOSING).ends_with(ENDS)
}

#[cfg(test)]
mod tests {
    use super::parts_of;
    use crate::decoding::TokenId;
    use crate::generation::{Piece, Vocabulary};
    use crate::lab::influence::plan::LeftOut;

    fn parts(unit: LeftOut, pieces: &[&str]) -> Vec<String> {
        let all = pieces.iter().map(|piece| match piece.strip_prefix('<') {
            Some(_) => Piece::special(piece),
            None => Piece::text(*piece),
        });
        let vocabulary = Vocabulary::new(all.collect());
        let tokens: Vec<TokenId> = (0..).map(TokenId).take(pieces.len()).collect();
        let parts = parts_of(&tokens, unit, &vocabulary);
        parts
            .into_iter()
            .map(|part| pieces[part].concat())
            .collect()
    }

    #[test]
    fn each_token_is_a_part_except_special_ones() {
        let pieces = ["<s>", "A", " fo", "x", "</s>", " ran"];
        assert_eq!(parts(LeftOut::Token, &pieces), ["A", " fo", "x", " ran"]);
    }

    #[test]
    fn a_word_keeps_its_punctuation_and_the_space_before_it() {
        let pieces = ["<s>", "A", " fo", "x", ",", " ran", " ", "away", "."];
        assert_eq!(
            parts(LeftOut::Word, &pieces),
            ["A", " fox,", " ran", " away."]
        );
    }

    #[test]
    fn a_special_token_ends_a_word() {
        assert_eq!(parts(LeftOut::Word, &["a", "<b>", "c"]), ["a", "c"]);
    }

    #[test]
    fn a_sentence_ends_with_its_punctuation_and_quotes() {
        let pieces = [
            "A fox", ".", " \"Run", "!\"", " It", " ran", ".", "\n\n", "The", " end",
        ];
        assert_eq!(
            parts(LeftOut::Sentence, &pieces),
            ["A fox.", " \"Run!\"", " It ran.\n\n", "The end"]
        );
        assert_eq!(
            parts(LeftOut::Sentence, &["It is 3", ".", "5", " m"]),
            ["It is 3.5 m"]
        );
        assert_eq!(
            parts(LeftOut::Sentence, &["A title", "\n\n", "A text"]),
            ["A title\n\n", "A text"]
        );
    }
}
