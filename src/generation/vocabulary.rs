//! What every token of a model stands for.

use super::Piece;
use crate::decoding::TokenId;

/// The pieces of a vocabulary, by token id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Vocabulary {
    pieces: Vec<Piece>,
}

impl Vocabulary {
    /// A vocabulary whose token `i` stands for the piece at index `i`.
    pub const fn new(pieces: Vec<Piece>) -> Self {
        Self { pieces }
    }

    /// How many tokens have a piece.
    pub const fn n_tokens(&self) -> usize {
        self.pieces.len()
    }

    /// Every token with its piece, in the order of the ids.
    pub fn iter(&self) -> impl Iterator<Item = (TokenId, &Piece)> {
        (0..).map(TokenId).zip(&self.pieces)
    }

    /// What a token stands for; one that the tokenizer does not know is shown as `<|17|>`.
    pub fn piece(&self, token: TokenId) -> Piece {
        self.pieces
            .get(token.index())
            .cloned()
            .unwrap_or_else(|| Piece::special(&format!("<|{token}|>")))
    }
}
