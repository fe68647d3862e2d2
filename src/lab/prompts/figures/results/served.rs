//! The tokens of answers that servers have written, under ids of our own.

use std::collections::BTreeMap;

use crate::decoding::TokenId;
use crate::generation::{Piece, PieceKind, Vocabulary};

/// The pieces that servers have written. Equal pieces have the same id, whichever server wrote them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ServedTokens {
    vocabulary: Vocabulary,
    /// By whether a piece is special, and its bytes.
    ids: BTreeMap<(bool, Vec<u8>), TokenId>,
}

impl ServedTokens {
    /// Takes over the pieces that the history has kept.
    pub(super) fn of_kept(vocabulary: Vocabulary) -> Self {
        let ids = vocabulary.iter().map(|(token, piece)| (key(piece), token));
        Self {
            ids: ids.collect(),
            vocabulary,
        }
    }

    /// Returns the id of a piece.
    pub(super) fn id_of(&mut self, piece: Piece) -> TokenId {
        let entry = self.ids.entry(key(&piece));
        *entry.or_insert_with(|| self.vocabulary.push(piece))
    }

    pub(super) const fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }
}

fn key(piece: &Piece) -> (bool, Vec<u8>) {
    (piece.kind == PieceKind::Special, piece.bytes.clone())
}
