//! Text to token ids, and what each token stands for.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tokenizers::{AddedToken, DecoderWrapper, Encoding, Tokenizer as HfTokenizer};

use super::EngineError;
use super::gguf_tokenizer::SentencePieceTokenizer;
use crate::decoding::TokenId;
use crate::generation::{Piece, Vocabulary};

/// A model's tokenizer.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    splitter: Splitter,
    ends: Ends,
}

/// What a tokenizer puts around every text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Ends {
    /// In front of it: the token that begins a text, of models that have one.
    pub prefix: Vec<TokenId>,
    /// After it; hardly any model that writes has one.
    pub suffix: Vec<TokenId>,
}

/// Who splits a text into tokens.
#[derive(Debug, Clone)]
pub(super) enum Splitter {
    Crate(Box<HfTokenizer>),
    SentencePiece(Box<SentencePieceTokenizer>),
}

impl Tokenizer {
    /// From the content of a `tokenizer.json`. `path` is named where it can't be understood.
    pub fn from_json(json: &[u8], path: &str) -> Result<Self, EngineError> {
        let read = unless_it_panics(|| {
            let inner = HfTokenizer::from_bytes(json).and_then(without_lengths);
            inner.map(Self::from).map_err(|error| error.to_string())
        });
        read.map_err(|reason| EngineError::FileMalformed {
            what: "The tokenizer",
            reason,
            path: path.to_owned(),
        })
    }

    /// A tokenizer whose ends are known from elsewhere.
    pub(super) const fn with_ends(splitter: Splitter, ends: Ends) -> Self {
        Self { splitter, ends }
    }

    /// Puts these in front of every text from now on, and nothing where there are none.
    pub(super) fn set_prefix(&mut self, prefix: Vec<TokenId>) {
        self.ends.prefix = prefix;
    }

    /// Puts these after every text from now on, and nothing where there are none.
    pub(super) fn set_suffix(&mut self, suffix: Vec<TokenId>) {
        self.ends.suffix = suffix;
    }

    /// The tokens of a text, with those that the tokenizer puts around every text. Where the text
    /// begins or ends with those itself, they stand there once.
    pub fn encode(&self, text: &str) -> Result<Vec<TokenId>, EngineError> {
        let mut tokens = self.encode_turn(text)?;
        if !tokens.ends_with(&self.ends.suffix) {
            tokens.extend(&self.ends.suffix);
        }
        Ok(tokens)
    }

    /// The tokens of a chat that waits for its next turn: as [`Self::encode`], but nothing is put
    /// after it. The template has written the signs of the turns, and may have begun the text.
    pub fn encode_turn(&self, text: &str) -> Result<Vec<TokenId>, EngineError> {
        let split = unless_it_panics(|| {
            let encoding = self.splitter.encode(text, false);
            encoding.map_err(|error| error.to_string())
        });
        let encoding = split.map_err(|reason| EngineError::TokenizerFailed { reason })?;
        let mut tokens = ids(&encoding);
        if !tokens.starts_with(&self.ends.prefix) {
            tokens.splice(0..0, self.ends.prefix.iter().copied());
        }
        Ok(tokens)
    }

    /// How many entries there are, added ones included.
    pub fn n_tokens(&self) -> usize {
        match &self.splitter {
            Splitter::Crate(inner) => inner.get_vocab_size(true),
            Splitter::SentencePiece(inner) => inner.get_vocab_size(true),
        }
    }

    /// The id of a token by its written form, such as `</s>`.
    pub fn token(&self, name: &str) -> Option<TokenId> {
        let id = match &self.splitter {
            Splitter::Crate(inner) => inner.token_to_id(name),
            Splitter::SentencePiece(inner) => inner.token_to_id(name),
        };
        id.map(TokenId)
    }

    /// What each of the tokens stands for, for ids 0 to `n_vocab`.
    ///
    /// A model may have more rows than its tokenizer has entries; those have a piece in the form
    /// `<|17|>`.
    pub fn vocabulary(&self, n_vocab: usize) -> Vocabulary {
        let byte_level = self.splitter.is_byte_level();
        let added = match &self.splitter {
            Splitter::Crate(inner) => inner.get_added_tokens_decoder(),
            Splitter::SentencePiece(inner) => inner.get_added_tokens_decoder(),
        };
        let pieces = (0..n_vocab as u32).map(|id| {
            if let Some(token) = added.get(&id) {
                return added_piece(token, byte_level);
            }
            match self.splitter.written(id) {
                Some(written) if byte_level => Piece::text(bytes_of_byte_level(&written)),
                Some(written) => Piece::text(bytes_of_sentence_piece(&written)),
                None => Piece::special(&format!("<|{id}|>")),
            }
        });
        Vocabulary::new(pieces.collect())
    }
}

/// The crate takes for granted that the parts of a file fit together, and panics at some texts where
/// they do not. Nothing of it is changed by what is done here, so that nothing is left half done.
fn unless_it_panics<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_panic| Err("its parts do not fit together".to_owned()))
}

impl From<HfTokenizer> for Tokenizer {
    fn from(inner: HfTokenizer) -> Self {
        let splitter = Splitter::from(inner);
        // A tokenizer that can't read such a text will say so when it reads one.
        let ends = splitter.ends_around("a").unwrap_or_default();
        Self { splitter, ends }
    }
}

impl From<HfTokenizer> for Splitter {
    fn from(inner: HfTokenizer) -> Self {
        Self::Crate(Box::new(inner))
    }
}

impl From<SentencePieceTokenizer> for Splitter {
    fn from(inner: SentencePieceTokenizer) -> Self {
        Self::SentencePiece(Box::new(inner))
    }
}

impl Splitter {
    fn encode(&self, text: &str, ends: bool) -> tokenizers::Result<Encoding> {
        match self {
            Self::Crate(inner) => inner.encode_fast(text, ends),
            Self::SentencePiece(inner) => inner.encode_fast(text, ends),
        }
    }

    fn written(&self, id: u32) -> Option<String> {
        match self {
            Self::Crate(inner) => inner.id_to_token(id),
            Self::SentencePiece(inner) => inner.id_to_token(id),
        }
    }

    fn is_byte_level(&self) -> bool {
        match self {
            Self::Crate(inner) => has_byte_level_decoder(inner.get_decoder()),
            Self::SentencePiece(_) => false,
        }
    }

    /// What stands around the tokens of a text where a tokenizer is asked to put its ends there.
    fn ends_around(&self, text: &str) -> Option<Ends> {
        let bare = ids(&self.encode(text, false).ok()?);
        let framed = ids(&self.encode(text, true).ok()?);
        let at = framed
            .windows(bare.len().max(1))
            .position(|part| part == bare)?;
        Some(Ends {
            prefix: framed.get(..at)?.to_vec(),
            suffix: framed.get(at + bare.len()..)?.to_vec(),
        })
    }
}

/// A file may keep the lengths to which texts were once cut and filled, to train on them. What is
/// written here has its own length; transformers leaves them aside too.
fn without_lengths(mut inner: HfTokenizer) -> tokenizers::Result<HfTokenizer> {
    inner.with_truncation(None)?.with_padding(None);
    Ok(inner)
}

fn ids(encoding: &Encoding) -> Vec<TokenId> {
    encoding.get_ids().iter().copied().map(TokenId).collect()
}

/// What an added token stands for: a sign, or text as it is typed.
fn added_piece(token: &AddedToken, byte_level: bool) -> Piece {
    if token.special {
        Piece::special(&token.content)
    } else if byte_level {
        Piece::text(token.content.as_bytes())
    } else {
        Piece::text(token.content.replace('▁', " "))
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
    use serde_json::{Value, json};

    use super::{Tokenizer, bytes_of_byte_level, bytes_of_sentence_piece};
    use crate::decoding::TokenId;

    #[test]
    fn a_text_keeps_its_length_whatever_lengths_the_file_keeps() {
        let cut = |stride: usize| {
            json!({"direction": "Right", "max_length": 2, "strategy": "LongestFirst",
                   "stride": stride})
        };
        let filled = json!({"strategy": {"Fixed": 8}, "direction": "Right", "pad_id": 0,
                            "pad_to_multiple_of": null, "pad_type_id": 0, "pad_token": "<pad>"});
        for (truncation, padding) in [
            (cut(0), Value::Null),
            (cut(2), Value::Null),
            (Value::Null, filled),
        ] {
            let json = json!({
                "version": "1.0", "truncation": truncation, "padding": padding,
                "added_tokens": [], "normalizer": null, "pre_tokenizer": {"type": "Whitespace"},
                "post_processor": null, "decoder": null,
                "model": {"type": "WordLevel", "vocab": {"<pad>": 0, "a": 1, "b": 2, "c": 3},
                          "unk_token": "<pad>"}
            });
            let tokenizer = Tokenizer::from_json(json.to_string().as_bytes(), "").unwrap();
            let tokens = tokenizer.encode("a b c").unwrap();
            assert_eq!(tokens, [1, 2, 3].map(TokenId), "{json}");
        }
    }

    #[test]
    fn a_file_whose_parts_do_not_fit_together_is_refused() {
        let processor = json!({
            "type": "TemplateProcessing", "pair": [], "special_tokens": {},
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                       {"Sequence": {"id": "A", "type_id": 0}}],
        });
        let json = json!({
            "version": "1.0", "added_tokens": [], "post_processor": processor,
            "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}
        });
        let read = Tokenizer::from_json(json.to_string().as_bytes(), "some/tokenizer.json");
        let message = read.unwrap_err().to_string();
        assert!(
            message.contains("its parts do not fit together"),
            "{message}"
        );
        assert!(message.contains("some/tokenizer.json"), "{message}");
    }

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
