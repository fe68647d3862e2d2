//! Tokens as exact text, with visible white space.

use crate::decoding::TokenId;
use crate::generation::formatting::mark;
use crate::generation::{Piece, PieceKind, Vocabulary};

/// Returns a token's text with visible white space, or its id if there is no vocabulary.
pub(super) fn exact_word(token: TokenId, vocabulary: Option<&Vocabulary>) -> String {
    match vocabulary {
        Some(vocabulary) => exact_piece(&vocabulary.piece(token)),
        None => format!("token {token}"),
    }
}

/// Returns the joined text of several tokens with visible white space, or their ids if there is no
/// vocabulary.
pub(super) fn exact_words(tokens: &[TokenId], vocabulary: Option<&Vocabulary>) -> String {
    let Some(vocabulary) = vocabulary else {
        let ids: Vec<String> = tokens.iter().map(ToString::to_string).collect();
        return format!("tokens {}", ids.join(" "));
    };
    let pieces = tokens.iter().map(|token| vocabulary.piece(*token));
    let bytes: Vec<u8> = pieces.flat_map(|piece| piece.bytes).collect();
    exact_piece(&Piece::text(bytes))
}

fn exact_piece(piece: &Piece) -> String {
    match (piece.as_str(), piece.kind) {
        (Some(text), PieceKind::Text) => text
            .chars()
            .map(|letter| match letter {
                ' ' | '\n' | '\t' => mark(letter),
                _ => letter,
            })
            .collect(),
        _ => piece.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{exact_word, exact_words};
    use crate::decoding::TokenId;
    use crate::generation::{Piece, Vocabulary};

    #[test]
    fn white_space_is_visible_and_half_a_character_is_shown_as_bytes() {
        let mut pieces = [" a", "\n", "\t ", "x"].map(Piece::text).to_vec();
        pieces.extend([
            Piece::special("</s>"),
            Piece::text([0xE2]),
            Piece::text([0x82, 0xAC]),
        ]);
        let vocabulary = Vocabulary::new(pieces);
        for (id, expected) in [(0, "·a"), (1, "↵"), (2, "⇥·"), (4, "</s>"), (5, "E2")] {
            assert_eq!(exact_word(TokenId(id), Some(&vocabulary)), expected);
        }
        assert_eq!(exact_word(TokenId(3), None), "token 3");
        let run = [TokenId(3), TokenId(5), TokenId(6), TokenId(0)];
        assert_eq!(exact_words(&run, Some(&vocabulary)), "x€·a");
        assert_eq!(exact_words(&run, None), "tokens 3 5 6 0");
    }
}
