//! What a token stands for in a text: bytes, which may be half a character.

use serde::{Deserialize, Serialize};

/// The part of a text that one token stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The bytes that the token adds to the text; for a special token its written form.
    #[serde(with = "piece_bytes")]
    pub bytes: Vec<u8>,
    /// Whether it is text at all.
    pub kind: PieceKind,
}

/// Whether a token is a part of the text or a sign for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PieceKind {
    /// A part of the text.
    Text,
    /// A sign such as `</s>` that no text contains.
    Special,
}

impl Piece {
    /// A part of the text.
    pub fn text(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            bytes: bytes.into(),
            kind: PieceKind::Text,
        }
    }

    /// A special token in its written form.
    pub fn special(name: &str) -> Self {
        Self {
            bytes: name.as_bytes().to_vec(),
            kind: PieceKind::Special,
        }
    }

    /// The piece as characters, or nothing where it holds a part of one.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }
}

impl std::fmt::Display for Piece {
    /// The characters; where the bytes are none, their hexadecimal values: "E2 82".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(text) = self.as_str() {
            return f.write_str(text);
        }
        let hex: Vec<String> = self.bytes.iter().map(|b| format!("{b:02X}")).collect();
        f.write_str(&hex.join(" "))
    }
}

/// A string where the bytes are one, a list of bytes otherwise.
mod piece_bytes {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Form {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Form::Text(text.to_owned()),
            Err(_) => Form::Bytes(bytes.to_vec()),
        }
        .serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        Ok(match Form::deserialize(deserializer)? {
            Form::Text(text) => text.into_bytes(),
            Form::Bytes(bytes) => bytes,
        })
    }
}
