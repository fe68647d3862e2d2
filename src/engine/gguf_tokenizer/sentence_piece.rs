//! `SentencePiece` BPE with byte fallback: of all pairs that make a token, the one with the highest
//! score is merged first, and of equal ones the leftmost.
//!
//! The tokenizers crate merges by a rank of its own for each pair, which can't say that two are
//! equal; so the merging is ours, and the rest is the crate's.
//! Kudo, Richardson 2018, "`SentencePiece`: A simple and language independent subword tokenizer".

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tokenizers::models::bpe::BpeTrainer;
use tokenizers::normalizers::{Prepend, Replace, Sequence};
use tokenizers::{
    DecoderWrapper, Model, NormalizerWrapper, PostProcessorWrapper, PreTokenizerWrapper, Token,
    TokenizerImpl,
};

use super::added_tokens;
use super::merging::Merges;
use super::metadata::{Entry, Kind, Metadata};

/// How a space is written in a token.
const SPACE: &str = "▁";

/// The whole tokenizer: added tokens, spaces, merges.
pub type SentencePieceTokenizer = TokenizerImpl<
    SentencePiece,
    NormalizerWrapper,
    PreTokenizerWrapper,
    PostProcessorWrapper,
    DecoderWrapper,
>;

pub(super) fn tokenizer(
    entries: &[Entry<'_>],
    metadata: &Metadata<'_>,
) -> Result<SentencePieceTokenizer, String> {
    let mut normalizers = Vec::new();
    if metadata
        .flag("tokenizer.ggml.add_space_prefix")
        .unwrap_or(true)
    {
        normalizers.push(Prepend::new(SPACE.to_owned()).into());
    }
    let spaces = Replace::new(" ", SPACE).map_err(|error| error.to_string())?;
    normalizers.push(spaces.into());
    let unknown = metadata.number("tokenizer.ggml.unknown_token_id");
    let mut tokenizer = TokenizerImpl::new(SentencePiece::new(entries, unknown));
    tokenizer
        .with_normalizer(Some(Sequence::new(normalizers)))
        .map_err(|error| error.to_string())?;
    // The signs of Phi-3 take the line break after them along; GGUF has no place to say so.
    let phi = metadata.text("general.architecture") == Some("phi3");
    let swallows =
        |entry: &Entry<'_>| phi && !matches!(&*entry.text, "<unk>" | "<s>" | "<|endoftext|>");
    tokenizer
        .add_tokens(added_tokens(entries, metadata, as_typed, swallows))
        .map_err(|error| error.to_string())?;
    Ok(tokenizer)
}

/// A token that is looked for in the text as it was typed. Some files write its spaces as spaces.
fn as_typed(entry: &Entry<'_>) -> String {
    match entry.kind {
        Kind::UserDefined => entry.text.replace(SPACE, " "),
        _ => entry.text.clone().into_owned(),
    }
}

/// The tokens, and how early each is merged.
#[derive(Debug, Clone)]
pub struct SentencePiece {
    /// As they are typed, by id.
    texts: Vec<String>,
    ids: HashMap<String, u32>,
    merges: Merges,
    bytes: Box<[Option<u32>; 256]>,
    unknown: Option<u32>,
}

impl SentencePiece {
    fn new(entries: &[Entry<'_>], unknown: Option<u64>) -> Self {
        let mut this = Self {
            texts: Vec::with_capacity(entries.len()),
            ids: HashMap::with_capacity(entries.len()),
            merges: Merges::default(),
            bytes: Box::new([None; 256]),
            unknown: unknown
                .and_then(|id| u32::try_from(id).ok())
                .filter(|id| (*id as usize) < entries.len()),
        };
        for (entry, id) in entries.iter().zip(0..) {
            let text = as_typed(entry);
            match entry.kind {
                Kind::Normal | Kind::UserDefined => {
                    this.merges
                        .insert(text.replace(' ', SPACE), id, entry.score);
                }
                Kind::Byte => {
                    if let Some(place) = byte_of(&text).and_then(|byte| this.bytes.get_mut(byte)) {
                        *place = Some(id);
                    }
                }
                Kind::Unknown if this.unknown.is_none() => this.unknown = Some(id),
                Kind::Control | Kind::Unknown => {}
            }
            this.ids.insert(text.clone(), id);
            this.texts.push(text);
        }
        this
    }

    /// The tokens of a piece that merges led to: itself, its bytes, or the sign for the unknown.
    fn tokens_of(&self, piece: &str, ids: &mut Vec<u32>) -> tokenizers::Result<()> {
        if let Some(id) = self.merges.token(piece) {
            ids.push(id);
            return Ok(());
        }
        let byte = |byte: u8| self.bytes.get(usize::from(byte)).copied().flatten();
        let bytes: Option<Vec<u32>> = piece.bytes().map(byte).collect();
        match (bytes, self.unknown) {
            (Some(bytes), _) => ids.extend(bytes),
            (None, Some(unknown)) => ids.push(unknown),
            (None, None) => return Err(format!("the model has no token for {piece:?}").into()),
        }
        Ok(())
    }
}

fn byte_of(written: &str) -> Option<usize> {
    let hex = written.strip_prefix("<0x")?.strip_suffix('>')?;
    u8::from_str_radix(hex, 16).ok().map(usize::from)
}

impl Model for SentencePiece {
    type Trainer = BpeTrainer;

    fn tokenize(&self, sequence: &str) -> tokenizers::Result<Vec<Token>> {
        let mut tokens = Vec::new();
        let mut ids = Vec::new();
        for span in self.merges.apply(sequence) {
            self.tokens_of(sequence.get(span.clone()).unwrap_or_default(), &mut ids)?;
            for id in ids.drain(..) {
                // What is unknown in a row is one unknown.
                let repeated = self.unknown == Some(id)
                    && tokens.last().is_some_and(|last: &Token| last.id == id);
                if !repeated {
                    let text = self.id_to_token(id).unwrap_or_default();
                    tokens.push(Token::new(id, text, (span.start, span.end)));
                }
            }
        }
        Ok(tokens)
    }

    fn token_to_id(&self, token: &str) -> Option<u32> {
        self.ids.get(token).copied()
    }

    fn id_to_token(&self, id: u32) -> Option<String> {
        self.texts.get(id as usize).cloned()
    }

    fn get_vocab(&self) -> HashMap<String, u32> {
        self.ids.clone()
    }

    fn get_vocab_size(&self) -> usize {
        self.texts.len()
    }

    fn save(&self, _: &Path, _: Option<&str>) -> tokenizers::Result<Vec<PathBuf>> {
        Err("a tokenizer from a GGUF file is not saved".into())
    }

    fn get_trainer(&self) -> BpeTrainer {
        BpeTrainer::default()
    }
}
