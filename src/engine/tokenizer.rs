//! Text to token ids, and what each token stands for.

use tokenizers::{DecoderWrapper, Tokenizer as HfTokenizer};

use super::EngineError;
use crate::decoding::TokenId;
use crate::generation::{Piece, Vocabulary};

/// A model's tokenizer.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    inner: HfTokenizer,
    /// What it puts in front of every text.
    prefix: Vec<TokenId>,
}

impl Tokenizer {
    /// From the content of a `tokenizer.json`. `path` is named where it can't be understood.
    pub fn from_json(json: &[u8], path: &str) -> Result<Self, EngineError> {
        match HfTokenizer::from_bytes(json) {
            Ok(inner) => Ok(inner.into()),
            Err(error) => Err(EngineError::FileMalformed {
                what: "The tokenizer",
                reason: error.to_string(),
                path: path.to_owned(),
            }),
        }
    }

    /// The tokens of a text, with those that the tokenizer puts in front of every text. Where the text
    /// begins with those itself, they stand there once.
    pub fn encode(&self, text: &str) -> Result<Vec<TokenId>, EngineError> {
        match self.inner.encode_fast(text, true) {
            Ok(encoding) => {
                let tokens: Vec<TokenId> =
                    encoding.get_ids().iter().copied().map(TokenId).collect();
                Ok(match tokens.strip_prefix(self.prefix.as_slice()) {
                    Some(rest) if rest.starts_with(&self.prefix) => rest.to_vec(),
                    _ => tokens,
                })
            }
            Err(error) => Err(EngineError::TokenizerFailed {
                reason: error.to_string(),
            }),
        }
    }

    /// How many entries there are, added ones included.
    pub fn n_tokens(&self) -> usize {
        self.inner.get_vocab_size(true)
    }

    /// The id of a token by its written form, such as `</s>`.
    pub fn token(&self, name: &str) -> Option<TokenId> {
        self.inner.token_to_id(name).map(TokenId)
    }

    /// What each of the tokens stands for, for ids 0 to `n_vocab`.
    ///
    /// A model may have more rows than its tokenizer has entries; those have a piece in the form
    /// `<|17|>`.
    pub fn vocabulary(&self, n_vocab: usize) -> Vocabulary {
        let byte_level = has_byte_level_decoder(self.inner.get_decoder());
        let added = self.inner.get_added_tokens_decoder();
        let pieces = (0..n_vocab as u32).map(|id| {
            if let Some(token) = added.get(&id) {
                return if token.special {
                    Piece::special(&token.content)
                } else {
                    Piece::text(token.content.as_bytes())
                };
            }
            match self.inner.id_to_token(id) {
                Some(written) if byte_level => Piece::text(bytes_of_byte_level(&written)),
                Some(written) => Piece::text(bytes_of_sentence_piece(&written)),
                None => Piece::special(&format!("<|{id}|>")),
            }
        });
        Vocabulary::new(pieces.collect())
    }
}

impl From<HfTokenizer> for Tokenizer {
    fn from(inner: HfTokenizer) -> Self {
        let prefix = inner
            .encode_fast("", true)
            .map(|encoding| encoding.get_ids().to_vec());
        Self {
            // A tokenizer that can't read an empty text will say so when it reads one.
            prefix: prefix
                .unwrap_or_default()
                .into_iter()
                .map(TokenId)
                .collect(),
            inner,
        }
    }
}

fn has_byte_level_decoder(decoder: Option<&DecoderWrapper>) -> bool {
    match decoder {
        Some(DecoderWrapper::ByteLevel(_)) => true,
        Some(DecoderWrapper::Sequence(sequence)) => sequence
            .get_decoders()
            .iter()
            .any(|decoder| has_byte_level_decoder(Some(decoder))),
        _ => false,
    }
}

/// The bytes behind a byte-level token. Each byte is written as one printable character: itself
/// where it is printable in Latin-1, the next free one from U+0100 on where it is not.
///
/// Radford et al. 2019, "Language Models are Unsupervised Multitask Learners" (`bytes_to_unicode`).
fn bytes_of_byte_level(written: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(written.len());
    for character in written.chars() {
        match byte_of_character(character) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend(character.to_string().as_bytes()),
        }
    }
    bytes
}

fn byte_of_character(character: char) -> Option<u8> {
    match u32::from(character) {
        code @ (0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF) => u8::try_from(code).ok(),
        code @ 0x100..=0x120 => u8::try_from(code - 0x100).ok(),
        code @ 0x121..=0x142 => u8::try_from(code - 0x121 + 0x7F).ok(),
        0x143 => Some(0xAD),
        _ => None,
    }
}

/// The bytes behind a `SentencePiece` token: `▁` is a space, `<0x0A>` a byte.
fn bytes_of_sentence_piece(written: &str) -> Vec<u8> {
    let byte = written
        .strip_prefix("<0x")
        .and_then(|rest| rest.strip_suffix('>'))
        .filter(|hex| hex.len() == 2)
        .and_then(|hex| u8::from_str_radix(hex, 16).ok());
    match byte {
        Some(byte) => vec![byte],
        None => written.replace('▁', " ").into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::{bytes_of_byte_level, bytes_of_sentence_piece};

    #[test]
    fn byte_level_characters_stand_for_the_bytes_that_gpt_2_gives_them() {
        for (written, bytes) in [
            ("Ġthe", b" the".as_slice()),
            ("Ċ", b"\n"),
            ("âĤ¬", "€".as_bytes()),
            ("ł", &[0xA0]),
            ("Ń", &[0xAD]),
            ("ÿ", &[0xFF]),
            ("ġ", &[0x7F]),
        ] {
            assert_eq!(bytes_of_byte_level(written), bytes, "{written}");
        }
    }

    #[test]
    fn sentence_piece_tokens_are_text_or_one_byte() {
        for (written, bytes) in [
            ("▁the", b" the".as_slice()),
            ("<0x0A>", b"\n"),
            ("<0xE2>", &[0xE2]),
            ("<0xZZ>", b"<0xZZ>"),
        ] {
            assert_eq!(bytes_of_sentence_piece(written), bytes, "{written}");
        }
    }
}
