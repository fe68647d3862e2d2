//! A model's vocabulary: the text of every token.

use std::sync::Arc;

use super::{Piece, PieceKind};
use crate::decoding::TokenId;

/// Turns a text into tokens, or returns `None` if it fails.
type Encode = dyn Fn(&str, Framing) -> Option<Vec<TokenId>> + Send + Sync;

/// What a tokenizer adds around a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Nothing. Special tokens that the text names stay.
    Bare,
    /// Nothing, and a beginning-of-text token that the text names is left out.
    Continuation,
    /// The tokens that begin and end every text, as far as the text does not name them.
    Whole,
}

/// The pieces of a vocabulary, by token id.
#[derive(Clone, Default)]
pub struct Vocabulary {
    pieces: Vec<Piece>,
    /// The model's tokenizer, if it is there.
    encode: Option<Arc<Encode>>,
}

impl std::fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Vocabulary").field(&self.pieces).finish()
    }
}

/// Vocabularies are the same if their tokens are.
impl PartialEq for Vocabulary {
    fn eq(&self, other: &Self) -> bool {
        self.pieces == other.pieces
    }
}

impl Eq for Vocabulary {}

impl Vocabulary {
    /// Creates a vocabulary in which token `i` has the piece at index `i`.
    pub const fn new(pieces: Vec<Piece>) -> Self {
        Self {
            pieces,
            encode: None,
        }
    }

    /// Adds the model's tokenizer.
    #[must_use]
    pub fn with_encoder(
        mut self,
        encode: impl Fn(&str, Framing) -> Option<Vec<TokenId>> + Send + Sync + 'static,
    ) -> Self {
        self.encode = Some(Arc::new(encode));
        self
    }

    /// Returns the tokens that the model's tokenizer makes of a text, special ones included. `None`
    /// without a tokenizer, or if it fails.
    pub fn encode(&self, text: &str, framing: Framing) -> Option<Vec<TokenId>> {
        self.encode.as_ref()?(text, framing)
    }

    /// Returns the tokens that the model's tokenizer makes of a text that follows other tokens, special
    /// ones included. Without a tokenizer, or if it changes the text, these are the fewest that spell
    /// it; `None` if none do.
    pub fn tokenize(&self, text: &str) -> Option<Vec<TokenId>> {
        let encoded = self.encode(text, Framing::Continuation);
        let exact = encoded.filter(|tokens| self.text_with_special(tokens) == text);
        exact.or_else(|| self.spell_with_special(text))
    }

    /// Adds a piece. Returns its token.
    pub fn push(&mut self, piece: Piece) -> TokenId {
        self.pieces.push(piece);
        TokenId(self.pieces.len() as u32 - 1)
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
