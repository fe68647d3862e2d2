//! A tokenizer from the metadata of a GGUF file, where the file says enough for an exact one.
//!
//! Two kinds are known: byte-level BPE ("gpt2") and `SentencePiece` BPE ("llama"). This module knows
//! the metadata alone, neither weights nor architectures.

mod byte_level;
mod merging;
mod metadata;
mod sentence_piece;
mod splitting;

pub use metadata::Metadata;
pub use sentence_piece::SentencePieceTokenizer;

use std::path::Path;

use candle_core::quantized::gguf_file::Content;

use self::metadata::{Entry, Kind};
use self::splitting::Splitting;
use super::weights::{Source, read_header};
use super::{EngineError, Tokenizer};
use crate::decoding::TokenId;

/// Tokens by which a text has ended, known by their names, because files often name only one of a
/// model's.
pub(super) const END_TOKENS: [&str; 19] = [
    "<EOT>",
    "<end_of_turn>",
    "<end_of_utterance>",
    "<eos>",
    "<|call|>",
    "<|end_of_text|>",
    "<|end|>",
    "<|endoftext|>",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|im_end|>",
    "<|return|>",
    "</s>",
    "<｜end▁of▁sentence｜>",
    "<|EOT|>",
    "[EOS]",
    "[EOT]",
    "_<EOT>",
    "<turn|>",
];

/// The tokenizer of a GGUF file, without its weights.
pub fn open_gguf_tokenizer(path: &Path) -> Result<Tokenizer, EngineError> {
    let source = Source::file(path, "The model")?;
    tokenizer_of(&read_header(&source)?.content, source.path())
}

/// The tokenizer that the metadata describes.
pub fn tokenizer_of(content: &Content, path: &str) -> Result<Tokenizer, EngineError> {
    build(&Metadata::new(content)).map_err(|reason| {
        let reason = format!("{reason}; put the model's tokenizer.json beside the file");
        EngineError::malformed("The tokenizer inside the GGUF file", reason, path)
    })
}

/// The tokens that the metadata names as those with which the model ends a text or a turn.
pub fn end_tokens_of(content: &Content) -> Vec<TokenId> {
    let metadata = Metadata::new(content);
    ["eos", "eot", "eom"]
        .into_iter()
        .filter_map(|sign| metadata.number(&format!("tokenizer.ggml.{sign}_token_id")))
        .filter_map(|id| u32::try_from(id).ok().map(TokenId))
        .collect()
}

/// The tokenizer, or why there can't be one.
fn build(metadata: &Metadata<'_>) -> Result<Tokenizer, String> {
    match metadata.text("tokenizer.ggml.model") {
        Some("gpt2") => {
            let name = metadata.text("tokenizer.ggml.pre").unwrap_or("missing");
            let splitting = Splitting::of(name)
                .ok_or_else(|| format!("it splits text in an unknown way, {name:?}"))?;
            let entries = metadata.entries()?;
            let ends = metadata.ends(&entries, splitting.begins)?;
            let tokenizer = byte_level::tokenizer(&entries, metadata, &splitting)?;
            Ok(Tokenizer::with_ends(tokenizer.into(), ends))
        }
        Some("llama") => {
            let entries = metadata.entries()?;
            let ends = metadata.ends(&entries, true)?;
            let tokenizer = sentence_piece::tokenizer(&entries, metadata)?;
            Ok(Tokenizer::with_ends(tokenizer.into(), ends))
        }
        kind => Err(format!(
            "it is of the kind {:?}, and Quartet knows \"gpt2\" and \"llama\"",
            kind.unwrap_or("missing")
        )),
    }
}

/// The entries that are looked for in a text before it is split, as the tokenizers crate takes them.
/// The sign of an end is a sign, also where the file lists it as text or as an ordinary piece, which no
/// merge leads to; so is the one that begins a turn of Gemma's. Only `</s>` is not a sign just by its
/// name: Gemma ends its texts otherwise, and has it for the HTML that it writes.
fn added_tokens(
    entries: &[Entry<'_>],
    metadata: &Metadata<'_>,
    written: impl Fn(&Entry<'_>) -> String,
    swallows_spaces: impl Fn(&Entry<'_>) -> bool,
) -> Vec<tokenizers::AddedToken> {
    let end = metadata.number("tokenizer.ggml.eos_token_id");
    let ends = |entry: &Entry<'_>, id: u64| match &*entry.text {
        "</s>" => end == Some(id),
        name => END_TOKENS.contains(&name),
    };
    let added = |(entry, id): &(&Entry<'_>, u64)| match entry.kind {
        Kind::Control | Kind::Unknown | Kind::UserDefined => true,
        Kind::Normal => ends(entry, *id) || entry.text == "<start_of_turn>",
        Kind::Byte => false,
    };
    entries
        .iter()
        .zip(0..)
        .filter(added)
        .map(|(entry, id)| {
            let sign = entry.kind != Kind::UserDefined || ends(entry, id);
            tokenizers::AddedToken::from(written(entry), sign)
                .normalized(false)
                .rstrip(swallows_spaces(entry))
        })
        .collect()
}
