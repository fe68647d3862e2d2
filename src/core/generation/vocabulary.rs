//! A model's vocabulary: the text of every token.

use super::{Piece, PieceKind};
use crate::decoding::TokenId;

/// The pieces of a vocabulary, by token id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Vocabulary {
    pieces: Vec<Piece>,
}

impl Vocabulary {
    /// Creates a vocabulary in which token `i` has the piece at index `i`.
    pub const fn new(pieces: Vec<Piece>) -> Self {
        Self { pieces }
    }

    /// Returns the number of tokens that have a piece.
    pub const fn n_tokens(&self) -> usize {
        self.pieces.len()
    }

    /// Iterates over all tokens and their pieces, ordered by id.
    pub fn iter(&self) -> impl Iterator<Item = (TokenId, &Piece)> {
        (0..).map(TokenId).zip(&self.pieces)
    }

    /// Returns a token's piece, or the special piece `<|17|>` if the tokenizer does not know token
    /// 17.
    pub fn piece(&self, token: TokenId) -> Piece {
        self.pieces
            .get(token.index())
            .cloned()
            .unwrap_or_else(|| Piece::unnamed(token))
    }

    /// Returns whether a token has this piece, or `None` if the vocabulary does not know the token.
    pub fn agrees(&self, token: TokenId, piece: &Piece) -> Option<bool> {
        let known = self.pieces.get(token.index())?;
        // The vocabulary of a text from a file knows only the tokens that occur in it.
        let is_known = *known != Piece::unnamed(token);
        is_known.then(|| known == piece)
    }

    /// Returns the text of these tokens, with the names of special ones.
    pub fn text_with_special(&self, tokens: &[TokenId]) -> String {
        let bytes: Vec<u8> = tokens
            .iter()
            .flat_map(|token| self.piece(*token).bytes)
            .collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Returns the text of these tokens, special tokens left out.
    pub fn visible_text(&self, tokens: &[TokenId]) -> String {
        let pieces = tokens.iter().map(|token| self.piece(*token));
        let visible = pieces.filter(|piece| piece.kind == PieceKind::Text);
        let bytes: Vec<u8> = visible.flat_map(|piece| piece.bytes).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
