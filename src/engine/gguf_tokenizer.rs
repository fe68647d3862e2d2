//! A tokenizer from the metadata of a GGUF file, where the file says enough for an exact one.

use candle_core::quantized::gguf_file::{Content, Value};
use candle_core::quantized::tokenizer::TokenizerFromGguf;
use tokenizers::Tokenizer as HfTokenizer;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;

use super::{EngineError, Tokenizer};

/// The tokenizer that the metadata describes. Changes the metadata to the names that candle knows.
pub fn tokenizer_of(content: &mut Content, path: &str) -> Result<Tokenizer, EngineError> {
    let refused = |reason: String| {
        let reason = format!("{reason}; put the model's tokenizer.json beside the file");
        EngineError::malformed("The tokenizer inside the GGUF file", reason, path)
    };
    let kind = text(content, "tokenizer.ggml.model").unwrap_or("missing");
    if kind != "gpt2" {
        return Err(refused(format!(
            "it is of the kind {kind:?}, not byte-level BPE"
        )));
    }
    let pre = text(content, "tokenizer.ggml.pre").unwrap_or("missing");
    let splitting = match pre {
        "gpt2" | "gpt-2" => Splitting::Gpt2,
        "llama3" | "llama-v3" | "llama-bpe" => Splitting::Llama3,
        "qwen2" => Splitting::Qwen2,
        "smollm" => Splitting::SmolLm,
        other => {
            return Err(refused(format!(
                "it splits text in an unknown way, {other:?}"
            )));
        }
    };
    splitting.rename(content);
    let mut tokenizer =
        HfTokenizer::from_gguf(content).map_err(|error| refused(first_line(&error.to_string())))?;
    splitting.correct(&mut tokenizer);
    Ok(tokenizer.into())
}

/// How a text is cut into the words that are then split into tokens.
#[derive(Clone, Copy)]
enum Splitting {
    Gpt2,
    Llama3,
    Qwen2,
    SmolLm,
}

impl Splitting {
    fn rename(self, content: &mut Content) {
        let metadata = &mut content.metadata;
        let name = match self {
            Self::Gpt2 | Self::SmolLm => "gpt2",
            Self::Llama3 => "llama3",
            Self::Qwen2 => "qwen2",
        };
        metadata.insert(
            "tokenizer.ggml.pre".to_owned(),
            Value::String(name.to_owned()),
        );
        if matches!(self, Self::Llama3) {
            // Llama 3 takes words that are tokens whole and begins with its first token; both go
            // without saying in its GGUF files.
            for key in [
                "tokenizer.ggml.ignore_merges",
                "tokenizer.ggml.add_bos_token",
            ] {
                metadata.entry(key.to_owned()).or_insert(Value::Bool(true));
            }
        }
    }

    /// candle puts a space in front of a GPT-2 text, and does not know that digits may stand alone.
    fn correct(self, tokenizer: &mut HfTokenizer) {
        let byte_level = ByteLevel::new(false, true, true);
        match self {
            Self::Gpt2 => {
                tokenizer.with_pre_tokenizer(Some(byte_level));
            }
            Self::SmolLm => {
                let parts = vec![Digits::new(true).into(), byte_level.into()];
                tokenizer.with_pre_tokenizer(Some(Sequence::new(parts)));
            }
            Self::Llama3 | Self::Qwen2 => {}
        }
    }
}

fn text<'a>(content: &'a Content, key: &str) -> Option<&'a str> {
    match content.metadata.get(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
