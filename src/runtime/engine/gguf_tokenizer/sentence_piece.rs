//! `SentencePiece` BPE with byte fallback: merges the pair whose token has the highest score first,
//! and the leftmost on a tie.
//!
//! The tokenizers crate ranks every pair, so it can't express ties. The merging is therefore ours,
//! and everything else is the crate's. Kudo, Richardson 2018, "`SentencePiece`: A simple and
//! language independent subword tokenizer".

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

/// The character that stands for a space in tokens.
pub(super) const SPACE: &str = "▁";

/// The complete tokenizer: added tokens, space replacement and merges.
pub(crate) type SentencePieceTokenizer = TokenizerImpl<
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
    // The special tokens of Phi-3 absorb the whitespace after them. GGUF has no key for that.
    let is_phi = metadata.text("general.architecture") == Some("phi3");
    let strips_right =
        |entry: &Entry<'_>| is_phi && !matches!(&*entry.text, "<unk>" | "<s>" | "<|endoftext|>");
    tokenizer
        .add_tokens(added_tokens(entries, metadata, as_typed, strips_right))
        .map_err(|error| error.to_string())?;
    Ok(tokenizer)
}

/// Returns a token's text as it occurs in the input. User-defined tokens match before spaces are
/// replaced.
pub(super) fn as_typed(entry: &Entry<'_>) -> String {
    match entry.kind {
        Kind::UserDefined => entry.text.replace(SPACE, " "),
        _ => entry.text.clone().into_owned(),
    }
}

/// The model of the tokenizer: its tokens, and the order of merges.
#[derive(Debug, Clone)]
pub(crate) struct SentencePiece {
    /// The text of each token by id, with plain spaces in user-defined tokens.
    texts: Vec<String>,
    ids: HashMap<String, u32>,
    merges: Merges,
    /// The token of each byte.
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
                    if let Some(token) = byte_of(&text).and_then(|byte| this.bytes.get_mut(byte)) {
                        *token = Some(id);
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

    /// Appends the tokens of a merged piece: its own token, or those of its bytes, or the unknown
    /// token.
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
                // Consecutive unknown tokens collapse into one.
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
        Err("a tokenizer from a GGUF file can’t be saved".into())
    }

    fn get_trainer(&self) -> BpeTrainer {
        BpeTrainer::default()
    }
}
