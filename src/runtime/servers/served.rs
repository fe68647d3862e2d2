//! What a server serves, as far as its responses can be read without another request: its properties
//! and the tokens that it has named.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::kind::ServerApi;
use super::peer::Peer;
use super::token_table::TokenTable;
use super::{ServerError, ServerInfo, ServerKind};
use crate::decoding::TokenId;
use crate::generation::{Piece, Vocabulary};

/// Larger than any real vocabulary. The record can't hold larger ids.
const N_MAX_VOCABULARY: usize = 1 << 22;

/// The properties of a server, and the tokens that it has named.
#[derive(Debug)]
pub(super) struct Served {
    pub info: ServerInfo,
    pub peer: Peer,
    /// Shared by the texts, so that they agree on the ids of tokens if the server reports none.
    table: Mutex<TokenTable>,
}

impl Served {
    pub(super) fn new(info: ServerInfo, peer: Peer) -> Self {
        Self {
            info,
            peer,
            table: Mutex::default(),
        }
    }

    pub(super) const fn kind(&self) -> ServerKind {
        self.info.kind
    }

    pub(super) const fn api(&self) -> &'static dyn ServerApi {
        self.info.kind.api()
    }

    pub(super) fn host(&self) -> &str {
        &self.info.host
    }

    /// Returns the token with this id. Fails if the id is outside the vocabulary.
    pub(super) fn check_id(&self, id: i128) -> Result<TokenId, ServerError> {
        let n_vocab = self.info.n_vocab.unwrap_or(N_MAX_VOCABULARY);
        let known = u32::try_from(id).ok().map(TokenId);
        known
            .filter(|token| token.index() < n_vocab.min(N_MAX_VOCABULARY))
            .ok_or_else(|| ServerError::WrongId {
                host: self.host().to_owned(),
                id,
                n_vocab: self.info.n_vocab,
            })
    }

    pub(super) fn learn(&self, token: TokenId, piece: Piece) {
        self.table().learn(token, piece);
    }

    pub(super) fn intern(&self, bytes: &[u8]) -> TokenId {
        let name = std::str::from_utf8(bytes).unwrap_or_default();
        let piece = if self.info.is_end(name) && !name.is_empty() {
            Piece::special(name)
        } else {
            Piece::text(bytes)
        };
        self.table().intern(piece)
    }

    pub(super) fn piece(&self, token: TokenId) -> Option<Piece> {
        self.table().piece(token).cloned()
    }

    pub(super) fn plain_token(&self) -> Option<TokenId> {
        self.table().plain()
    }

    /// Returns the part of the vocabulary that the server has named so far.
    pub(super) fn vocabulary(&self) -> Vocabulary {
        self.table().vocabulary()
    }

    /// Returns how many tokens the server has named.
    pub(super) fn n_known_tokens(&self) -> usize {
        self.table().len()
    }

    fn table(&self) -> MutexGuard<'_, TokenTable> {
        // The table is consistent after each change, so a panic elsewhere leaves it usable.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
