//! Builds a tokenizer from the metadata of a GGUF file, if the file specifies it exactly.
//!
//! Three kinds are supported: byte-level BPE ("gpt2"), `SentencePiece` BPE ("llama"), and BPE over
//! characters ("gemma4"). This module reads only the metadata. It knows nothing about weights or
//! architectures.

mod byte_level;
mod merging;
mod metadata;
mod sentence_piece;
mod spaced_bpe;
mod splitting;

pub(super) use metadata::Metadata;
pub(super) use sentence_piece::SentencePieceTokenizer;

use std::path::Path;

use candle_core::quantized::gguf_file::Content;

use self::metadata::{Entry, Kind};
use self::splitting::{Splitting, usual_name};
use super::weights::{Source, read_header};
use super::{EngineError, Tokenizer};
use crate::decoding::TokenId;

/// Tokens that end a text, recognized by name because files often list only one of several.
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

/// Opens the tokenizer of a GGUF file, without its weights.
pub fn open_gguf_tokenizer(path: &Path) -> Result<Tokenizer, EngineError> {
    let source = Source::file(path, "The model")?;
    tokenizer_of(&read_header(&source)?.content, source.path())
}

/// Builds the tokenizer that the metadata describes.
pub(super) fn tokenizer_of(content: &Content, path: &str) -> Result<Tokenizer, EngineError> {
    build(&Metadata::new(content)).map_err(|reason| {
        let reason = format!("{reason}; put the model’s tokenizer.json beside the file");
        EngineError::malformed("The tokenizer inside the GGUF file", reason, path)
    })
}

/// Returns whether the metadata says exactly how to split a text, as far as its names tell.
pub(super) fn is_exact(content: &Content) -> bool {
    let metadata = Metadata::new(content);
    let Some(tokens) = metadata.list("tokenizer.ggml.tokens") else {
        return false;
    };
    match metadata.text("tokenizer.ggml.model") {
        Some("gpt2") => {
            splitting(&metadata, tokens.len()).is_ok_and(|(_, warning)| warning.is_none())
        }
        kind => matches!(kind, Some("gemma4" | "llama")),
    }
}

/// Returns the tokens that the metadata lists as ending a text or a turn.
pub(super) fn end_tokens_of(content: &Content) -> Vec<TokenId> {
    let metadata = Metadata::new(content);
    ["eos", "eot", "eom"]
        .into_iter()
        .filter_map(|name| metadata.number(&format!("tokenizer.ggml.{name}_token_id")))
        .filter_map(|id| u32::try_from(id).ok().map(TokenId))
        .collect()
}

/// Builds the tokenizer, or returns why it can't.
fn build(metadata: &Metadata<'_>) -> Result<Tokenizer, String> {
    match metadata.text("tokenizer.ggml.model") {
        Some("gpt2") => {
            let entries = metadata.entries()?;
            let (splitting, warning) = splitting(metadata, entries.len())?;
            let ends = metadata.ends(&entries, splitting.adds_bos)?;
            let tokenizer = byte_level::tokenizer(&entries, metadata, &splitting)?;
            let mut tokenizer = Tokenizer::with_ends(tokenizer.into(), ends);
            if let Some(warning) = warning {
                tokenizer.add_warning(warning);
            }
            Ok(tokenizer)
        }
        Some("gemma4") => {
            let entries = metadata.entries()?;
            let ends = metadata.ends(&entries, true)?;
            let tokenizer = spaced_bpe::tokenizer(&entries, metadata)?;
            Ok(Tokenizer::with_ends(tokenizer.into(), ends))
        }
        Some("llama") => {
            let entries = metadata.entries()?;
            let ends = metadata.ends(&entries, true)?;
            let tokenizer = sentence_piece::tokenizer(&entries, metadata)?;
            Ok(Tokenizer::with_ends(tokenizer.into(), ends))
        }
        Some(kind) => Err(format!(
            "its type {kind:?} is not supported; only \"gpt2\", \"llama\" and \"gemma4\" are"
        )),
        None => Err("there is none".to_owned()),
    }
}

/// Returns the rules that split a text into words, and a warning if the file does not name them.
fn splitting(
    metadata: &Metadata<'_>,
    n_tokens: usize,
) -> Result<(Splitting, Option<String>), String> {
    match metadata.text("tokenizer.ggml.pre") {
        Some(name) if name != "default" => Splitting::of(name)
            .map(|splitting| (splitting, None))
            .ok_or_else(|| format!("its pre-tokenizer {name:?} is not supported")),
        _ => {
            let architecture = metadata.text("general.architecture").unwrap_or_default();
            let name = usual_name(architecture, n_tokens);
            let splitting = Splitting::of(name)
                .ok_or_else(|| format!("its pre-tokenizer {name:?} is not supported"))?;
            let warning = format!(
                "The file does not name its pre-tokenizer (tokenizer.ggml.pre), which splits text \
                 into words; old files often lack it. Quartet assumes {name}; if that is wrong, \
                 some texts are split into different tokens than in training. A newer file of the \
                 same model names it."
            );
            Ok((splitting, Some(warning)))
        }
    }
}

/// Returns the added tokens, which are matched in a text before it is split.
///
/// An end-of-text token is special even if the file lists it as text or as an ordinary token, and
/// so is Gemma's `<start_of_turn>`. The exception is `</s>`, which is special only if it is the
/// model's own end token: Gemma has other end tokens, and uses `</s>` to generate HTML.
fn added_tokens(
    entries: &[Entry<'_>],
    metadata: &Metadata<'_>,
    written: impl Fn(&Entry<'_>) -> String,
    strips_right: impl Fn(&Entry<'_>) -> bool,
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
            let special = entry.kind != Kind::UserDefined || ends(entry, id);
            tokenizers::AddedToken::from(written(entry), special)
                .normalized(false)
                .rstrip(strips_right(entry))
        })
        .collect()
}
