//! The text of a token: bytes, which may be only part of a character.

use serde::{Deserialize, Serialize};

use crate::decoding::TokenId;

/// The text of one token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The bytes that the token adds to the text, or a special token's name.
    #[serde(with = "piece_bytes")]
    pub bytes: Vec<u8>,
    pub kind: PieceKind,
}

/// Whether a token is ordinary text or a special token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PieceKind {
    Text,
    /// A control token such as `</s>`, which is not part of the visible text.
    Special,
}

impl Piece {
    /// Creates an ordinary piece; the bytes need not be valid UTF-8.
    pub fn text(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            bytes: bytes.into(),
            kind: PieceKind::Text,
        }
    }

    /// Creates a special token with this name, such as `</s>`.
    pub fn special(name: &str) -> Self {
        Self {
            bytes: name.as_bytes().to_vec(),
            kind: PieceKind::Special,
        }
    }

    /// Creates the piece of a token that has no name: `<|17|>`.
    pub fn unnamed(token: TokenId) -> Self {
        Self::special(&format!("<|{token}|>"))
    }

    /// Returns the piece as a string, or `None` if it contains a partial character.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }
}

impl std::fmt::Display for Piece {
    /// Shows the text, or the bytes in hexadecimal ("E2 82") if they are not valid UTF-8.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(text) = self.as_str() {
            return f.write_str(text);
        }
        let hex: Vec<String> = self.bytes.iter().map(|b| format!("{b:02X}")).collect();
        f.write_str(&hex.join(" "))
    }
}

/// Serializes bytes as a string if they are valid UTF-8, and as a list of bytes otherwise.
mod piece_bytes {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Form {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Form::Text(text.to_owned()),
            Err(_) => Form::Bytes(bytes.to_vec()),
        }
        .serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        Ok(match Form::deserialize(deserializer)? {
            Form::Text(text) => text.into_bytes(),
            Form::Bytes(bytes) => bytes,
        })
    }
}
