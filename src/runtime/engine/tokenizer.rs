//! Turns text into token ids, and lists the text of each token.

mod weak;

use std::sync::Arc;

use tokenizers::{AddedToken, DecoderWrapper, Encoding, ModelWrapper, Tokenizer as HfTokenizer};

use super::EngineError;
use super::caught_panic::catch_panic;
use super::gguf_tokenizer::SentencePieceTokenizer;
use super::tokenizer_check::check;
use crate::decoding::TokenId;
use crate::generation::{Framing, Piece, Vocabulary};

/// A model's tokenizer, with the special tokens that it adds to every text.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    splitter: Splitter,
    ends: Ends,
    /// Whether a rendered chat gets the tokens that begin a text, as in llama.cpp. In transformers,
    /// the template writes them.
    begins_chats: bool,
    /// The factor by which a text can grow before it is split.
    growth: f64,
    /// How it may differ from what the file asks for, or `None` if it does not.
    warning: Option<String>,
}

const DROPOUT_IGNORED: &str =
    "The tokenizer’s dropout, which splits the same text differently each time, is ignored";

/// The longest text that a normalizer may produce if it can lengthen texts more than
/// [`USUAL_GROWTH`]-fold.
const N_MAX_NORMALIZED_BYTES: f64 = 268_435_456.0;

/// The largest factor by which ordinary normalizers lengthen a text.
const USUAL_GROWTH: f64 = 100.0;

/// The special tokens that a tokenizer adds around every text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Ends {
    /// Usually the beginning-of-text token, if the model has one.
    pub prefix: Vec<TokenId>,
    /// Almost always empty for causal language models.
    pub suffix: Vec<TokenId>,
}

/// The implementation that splits a text into tokens.
#[derive(Debug, Clone)]
pub(super) enum Splitter {
    /// The tokenizers crate.
    Crate(Arc<HfTokenizer>),
    SentencePiece(Arc<SentencePieceTokenizer>),
}

impl Tokenizer {
    /// Parses the content of a `tokenizer.json`. `path` only appears in the error.
    pub fn from_json(json: &[u8], path: &str) -> Result<Self, EngineError> {
        let parse = || {
            let growth = check(json)?;
            let inner = HfTokenizer::from_bytes(json).and_then(without_truncation_and_padding);
            let mut inner = inner.map_err(|error| error.to_string())?;
            let drops_out = disable_dropout(&mut inner);
            Ok(Self {
                growth,
                warning: drops_out.then(|| DROPOUT_IGNORED.to_owned()),
                ..Self::from(inner)
            })
        };
        let parsed = catch_panic(parse).unwrap_or_else(|panic| Err(inconsistent(&panic)));
        parsed.map_err(|reason| EngineError::FileMalformed {
            what: "The tokenizer",
            reason,
            path: path.to_owned(),
        })
    }

    /// Creates a tokenizer that adds the given special tokens, whatever the splitter's own are.
    pub(super) const fn with_ends(splitter: Splitter, ends: Ends) -> Self {
        Self {
            splitter,
            ends,
            begins_chats: true,
            growth: 1.0,
            warning: None,
        }
    }

    /// Adds a line to the warning.
    pub(super) fn add_warning(&mut self, warning: String) {
        self.warning = Some(match self.warning.take() {
            Some(before) => format!("{before}\n{warning}"),
            None => warning,
        });
    }

    /// Returns how the tokenizer may differ from what the files ask for, or `None` if it does not.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// Returns the special tokens around every text.
    pub(super) const fn ends(&self) -> &Ends {
        &self.ends
    }

    /// Adds no tokens to a rendered chat, because the template has written all of them.
    pub(super) const fn leave_chats_to_template(&mut self) {
        self.begins_chats = false;
    }

    /// Tokenizes a text and adds the special tokens around it, unless the text already begins or
    /// ends with them.
    pub fn encode(&self, text: &str) -> Result<Vec<TokenId>, EngineError> {
        let mut tokens = self.encode_turn(text)?;
        if !tokens.ends_with(&self.ends.suffix) {
            tokens.extend(&self.ends.suffix);
        }
        Ok(tokens)
    }

    /// Tokenizes a rendered chat that awaits the model's turn. The template has written the special
    /// tokens of the turns, and perhaps the prefix.
    pub fn encode_chat(&self, rendered: &str) -> Result<Vec<TokenId>, EngineError> {
        if self.begins_chats {
            self.encode_turn(rendered)
        } else {
            self.encode_bare(rendered)
        }
    }

    /// Tokenizes a text like [`Self::encode`], but without a suffix.
    pub fn encode_turn(&self, text: &str) -> Result<Vec<TokenId>, EngineError> {
        let mut tokens = self.encode_bare(text)?;
        if !tokens.starts_with(&self.ends.prefix) {
            tokens.splice(0..0, self.ends.prefix.iter().copied());
        }
        Ok(tokens)
    }

    /// Tokenizes a text, and adds nothing.
    fn encode_bare(&self, text: &str) -> Result<Vec<TokenId>, EngineError> {
        let n_bytes = text.len() as f64 * self.growth;
        if self.growth > USUAL_GROWTH && n_bytes > N_MAX_NORMALIZED_BYTES {
            let growth = self.growth;
            let reason = format!("its normalizer can lengthen it {growth:.0}-fold");
            return Err(EngineError::TokenizerFailed { reason });
        }
        let encode = || {
            let encoding = self.splitter.encode(text, false);
            encoding.map_err(|error| error.to_string())
        };
        let encoded = catch_panic(encode).unwrap_or_else(|panic| Err(inconsistent(&panic)));
        let encoding = encoded.map_err(|reason| EngineError::TokenizerFailed { reason })?;
        Ok(ids(&encoding))
    }

    /// Tokenizes a text that follows other tokens, without special tokens around it.
    pub fn encode_continuation(&self, text: &str) -> Result<Vec<TokenId>, EngineError> {
        let mut tokens = self.encode_turn(text)?;
        if tokens.starts_with(&self.ends.prefix) {
            tokens.drain(..self.ends.prefix.len());
        }
        Ok(tokens)
    }

    fn encode_framed(&self, text: &str, framing: Framing) -> Result<Vec<TokenId>, EngineError> {
        match framing {
            Framing::Bare => self.encode_bare(text),
            Framing::Continuation => self.encode_continuation(text),
            Framing::Whole => self.encode(text),
        }
    }

    /// Returns the number of entries, including added tokens.
    pub fn n_tokens(&self) -> usize {
        match &self.splitter {
            Splitter::Crate(inner) => inner.get_vocab_size(true),
            Splitter::SentencePiece(inner) => inner.get_vocab_size(true),
        }
    }

    /// Returns the id of a token such as `</s>`, or `None` if there is no such token.
    pub fn token(&self, name: &str) -> Option<TokenId> {
        let id = match &self.splitter {
            Splitter::Crate(inner) => inner.token_to_id(name),
            Splitter::SentencePiece(inner) => inner.token_to_id(name),
        };
        id.map(TokenId)
    }

    /// Returns the pieces of the tokens from 0 to `n_vocab` (exclusive).
    ///
    /// A model's embedding table may have more rows than its tokenizer has entries. Such a token
    /// gets a piece like `<|17|>`.
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
            match self.splitter.raw_token(id) {
                Some(raw) if byte_level => Piece::text(bytes_of_byte_level(&raw)),
                Some(raw) => Piece::text(bytes_of_sentence_piece(&raw)),
                None => Piece::unnamed(TokenId(id)),
            }
        });
        // Texts keep their vocabulary, which must not keep the tokenizer of a model that is gone.
        let weak = self.downgrade();
        Vocabulary::new(pieces.collect())
            .with_encoder(move |text, framing| weak.upgrade()?.encode_framed(text, framing).ok())
    }
}

/// Returns the reason for a panic in the tokenizers crate, which assumes that the parts of a file
/// are consistent, and panics on some texts if they are not.
fn inconsistent(panic: &str) -> String {
    format!("its parts are inconsistent: {panic}")
}

impl From<HfTokenizer> for Tokenizer {
    fn from(inner: HfTokenizer) -> Self {
        let splitter = Splitter::from(inner);
        // A tokenizer that fails on this text will report it when it encodes one.
        let ends = splitter.ends_around("a").unwrap_or_default();
        Self::with_ends(splitter, ends)
    }
}

impl From<HfTokenizer> for Splitter {
    fn from(inner: HfTokenizer) -> Self {
        Self::Crate(Arc::new(inner))
    }
}

impl From<SentencePieceTokenizer> for Splitter {
    fn from(inner: SentencePieceTokenizer) -> Self {
        Self::SentencePiece(Arc::new(inner))
    }
}

impl Splitter {
    fn encode(&self, text: &str, add_special_tokens: bool) -> tokenizers::Result<Encoding> {
        match self {
            Self::Crate(inner) => inner.encode_fast(text, add_special_tokens),
            Self::SentencePiece(inner) => inner.encode_fast(text, add_special_tokens),
        }
    }

    fn raw_token(&self, id: u32) -> Option<String> {
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

    /// Finds the special tokens that the tokenizer adds, by encoding `text` with and without them.
    fn ends_around(&self, text: &str) -> Option<Ends> {
        let bare = ids(&self.encode(text, false).ok()?);
        let framed = ids(&self.encode(text, true).ok()?);
        let start = framed
            .windows(bare.len().max(1))
            .position(|part| part == bare)?;
        Some(Ends {
            prefix: framed.get(..start)?.to_vec(),
            suffix: framed.get(start + bare.len()..)?.to_vec(),
        })
    }
}

/// Disables the truncation and padding that a file may have kept from training. transformers
/// ignores both, too.
fn without_truncation_and_padding(mut inner: HfTokenizer) -> tokenizers::Result<HfTokenizer> {
    inner.with_truncation(None)?.with_padding(None);
    Ok(inner)
}

/// Disables the dropout of merges that a file may have kept from training. Returns whether there
/// was any.
fn disable_dropout(inner: &mut HfTokenizer) -> bool {
    let ModelWrapper::BPE(model) = inner.get_model() else {
        return false;
    };
    if model.dropout.is_none_or(|dropout| dropout <= 0.0) {
        return false;
    }
    let mut model = model.clone();
    model.dropout = None;
    inner.with_model(model);
    true
}

fn ids(encoding: &Encoding) -> Vec<TokenId> {
    encoding.get_ids().iter().copied().map(TokenId).collect()
}

/// Returns the piece of an added token, which is either special or plain text.
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

/// Returns the bytes of a byte-level token, in which each byte is one printable character: itself
/// if it is printable in Latin-1, otherwise the next unused character from U+0100.
///
/// Radford et al. 2019, "Language Models are Unsupervised Multitask Learners" (`bytes_to_unicode`).
fn bytes_of_byte_level(raw: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(raw.len());
    for character in raw.chars() {
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

/// Returns the bytes of a `SentencePiece` token: `▁` is a space, `<0x0A>` is a byte.
fn bytes_of_sentence_piece(raw: &str) -> Vec<u8> {
    let byte = raw
        .strip_prefix("<0x")
        .and_then(|rest| rest.strip_suffix('>'))
        .filter(|hex| hex.len() == 2)
        .and_then(|hex| u8::from_str_radix(hex, 16).ok());
    match byte {
        Some(byte) => vec![byte],
        None => raw.replace('▁', " ").into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Tokenizer, bytes_of_byte_level, bytes_of_sentence_piece};
    use crate::decoding::TokenId;

    #[test]
    fn truncation_and_padding_of_the_file_are_ignored() {
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
    fn an_inconsistent_file_is_rejected() {
        let processor = json!({
            "type": "TemplateProcessing", "pair": [], "special_tokens": {},
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                       {"Sequence": {"id": "A", "type_id": 0}}],
        });
        let json = json!({
            "version": "1.0", "added_tokens": [], "post_processor": processor,
            "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}
        });
        let parsed = Tokenizer::from_json(json.to_string().as_bytes(), "some/tokenizer.json");
        let message = parsed.unwrap_err().to_string();
        assert!(message.contains("its parts are inconsistent"), "{message}");
        assert!(message.contains("some/tokenizer.json"), "{message}");
    }

    #[test]
    fn dropout_is_ignored() {
        let file = |dropout: Value| {
            json!({
                "version": "1.0", "added_tokens": [],
                "model": {"type": "BPE", "dropout": dropout, "merges": [["a", "b"], ["ab", "c"]],
                          "vocab": {"a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4}}
            })
        };
        let parse = |file: Value| Tokenizer::from_json(file.to_string().as_bytes(), "").unwrap();
        let random = parse(file(json!(0.5)));
        assert!(random.warning().is_some());
        for _ in 0..50 {
            assert_eq!(random.encode("abc").unwrap(), [TokenId(4)]);
        }
        assert_eq!(parse(file(Value::Null)).warning(), None);
    }

    #[test]
    fn byte_level_characters_decode_as_in_gpt_2() {
        for (raw, bytes) in [
            ("Ġthe", b" the".as_slice()),
            ("Ċ", b"\n"),
            ("âĤ¬", "€".as_bytes()),
            ("ł", &[0xA0]),
            ("Ń", &[0xAD]),
            ("ÿ", &[0xFF]),
            ("ġ", &[0x7F]),
        ] {
            assert_eq!(bytes_of_byte_level(raw), bytes, "{raw}");
        }
    }

    #[test]
    fn sentence_piece_tokens_decode_to_text_or_one_byte() {
        for (raw, bytes) in [
            ("▁the", b" the".as_slice()),
            ("<0x0A>", b"\n"),
            ("<0xE2>", &[0xE2]),
            ("<0xZZ>", b"<0xZZ>"),
        ] {
            assert_eq!(bytes_of_sentence_piece(raw), bytes, "{raw}");
        }
    }
}
