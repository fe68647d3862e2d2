//! The words of the tokens of kept results, so that they can be shown without their model.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::decoding::TokenId;
use crate::generation::{Piece, Vocabulary};

/// The largest token id that is read. It bounds the memory of a vocabulary from a damaged file.
const MAX_TOKEN: u32 = 4_000_000;

/// The pieces of all tokens that occur in results.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(in crate::lab) struct KeptPieces(Vec<(TokenId, Piece)>);

impl KeptPieces {
    /// Takes the pieces of these tokens from a vocabulary.
    pub(in crate::lab) fn of(
        vocabulary: &Vocabulary,
        tokens: impl IntoIterator<Item = TokenId>,
    ) -> Self {
        let tokens: BTreeSet<TokenId> = tokens.into_iter().collect();
        let piece = |token: TokenId| (token, vocabulary.piece(token));
        Self(tokens.into_iter().map(piece).collect())
    }

    /// Returns a vocabulary that knows only these tokens. Fails if an id is beyond every vocabulary.
    pub(in crate::lab) fn vocabulary(self) -> Result<Vocabulary, String> {
        let last = self.0.iter().map(|(token, _)| token.0).max();
        if last.is_some_and(|last| last > MAX_TOKEN) {
            return Err("a token is beyond every vocabulary".to_owned());
        }
        let n_tokens = last.map_or(0, |last| last + 1);
        let mut known: Vec<Piece> = (0..n_tokens).map(TokenId).map(Piece::unnamed).collect();
        for (token, piece) in self.0 {
            if let Some(place) = known.get_mut(token.index()) {
                *place = piece;
            }
        }
        Ok(Vocabulary::new(known))
    }
}
