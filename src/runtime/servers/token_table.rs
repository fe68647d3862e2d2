//! What is known about a server's vocabulary: the tokens that it has named so far.

use std::collections::{BTreeMap, HashMap};

use crate::decoding::TokenId;
use crate::generation::{Piece, PieceKind, Vocabulary};

/// The tokens that a server has named. If the server reports no ids, texts get ids in the order in
/// which they were first seen.
#[derive(Debug, Default)]
pub(super) struct TokenTable {
    pieces: BTreeMap<TokenId, Piece>,
    ids: HashMap<Vec<u8>, TokenId>,
}

impl TokenTable {
    /// Records the text of a token. The first text that is not empty is kept.
    pub(super) fn learn(&mut self, token: TokenId, piece: Piece) {
        let known = self.pieces.get(&token);
        if known.is_none_or(|known| known.bytes.is_empty()) {
            self.pieces.insert(token, piece);
        }
    }

    /// Returns the id of a text, for servers that don't report ids.
    pub(super) fn intern(&mut self, piece: Piece) -> TokenId {
        if let Some(token) = self.ids.get(&piece.bytes) {
            return *token;
        }
        let token = TokenId(self.ids.len() as u32);
        self.ids.insert(piece.bytes.clone(), token);
        self.pieces.insert(token, piece);
        token
    }

    /// Returns a token's piece, or `None` if the server has not named it with a text.
    pub(super) fn piece(&self, token: TokenId) -> Option<&Piece> {
        let known = self.pieces.get(&token);
        known.filter(|piece| !piece.bytes.is_empty())
    }

    /// Returns how many tokens are known.
    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Returns a token that is plain text of whole characters.
    pub(super) fn plain(&self) -> Option<TokenId> {
        let is_plain = |piece: &Piece| {
            let is_text = piece.kind == PieceKind::Text && !piece.bytes.is_empty();
            let is_printed = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
            is_text && piece.bytes.iter().all(is_printed)
        };
        let mut known = self.pieces.iter();
        known
            .find(|(_, piece)| is_plain(piece))
            .map(|(token, _)| *token)
    }

    /// Returns the known part of the vocabulary. Tokens that were not named appear as `<|17|>`.
    pub(super) fn vocabulary(&self) -> Vocabulary {
        let n_tokens = self.pieces.keys().last().map_or(0, |last| last.index() + 1);
        let pieces = (0..n_tokens as u32).map(TokenId).map(|token| {
            let known = self.piece(token).cloned();
            known.unwrap_or_else(|| Piece::unnamed(token))
        });
        Vocabulary::new(pieces.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::TokenTable;
    use crate::decoding::TokenId;
    use crate::generation::Piece;

    #[test]
    fn texts_get_ids_and_ids_get_texts() {
        let mut table = TokenTable::default();
        for (bytes, id) in [(&b" fox"[..], 0), (b"\xE2\x82", 1), (b" fox", 0)] {
            assert_eq!(table.intern(Piece::text(bytes)), TokenId(id));
        }
        table.learn(TokenId(3), Piece::text(""));
        table.learn(TokenId(3), Piece::special("</s>"));
        table.learn(TokenId(3), Piece::text("later"));
        let vocabulary = table.vocabulary();
        let pieces: Vec<String> = vocabulary
            .iter()
            .map(|(_, piece)| piece.to_string())
            .collect();
        assert_eq!(pieces, [" fox", "E2 82", "<|2|>", "</s>"]);
    }
}
