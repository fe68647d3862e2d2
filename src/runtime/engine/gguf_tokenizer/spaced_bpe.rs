//! BPE over characters with byte fallback, as in Gemma 4: "▁" stands for a space, and line breaks
//! merge only with each other.
//!
//! Unlike in `SentencePiece`, the file lists the merges in order.

use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::normalizers::Replace;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{SplitDelimiterBehavior, Tokenizer};

use super::added_tokens;
use super::byte_level::merges;
use super::metadata::{Entry, Metadata};
use super::sentence_piece::{SPACE, as_typed};

/// Where a text is split before merges apply.
const LINE_BREAKS: &str = "\n+";

pub(super) fn tokenizer(
    entries: &[Entry<'_>],
    metadata: &Metadata<'_>,
) -> Result<Tokenizer, String> {
    let failed = |error: tokenizers::Error| error.to_string();
    let vocab: Vocab = entries
        .iter()
        .zip(0..)
        .map(|(entry, id)| (entry.text.clone().into_owned(), id))
        .collect();
    let mut bpe = BPE::builder()
        .vocab_and_merges(vocab, merges(entries, metadata)?)
        .byte_fallback(true)
        .fuse_unk(true);
    let unknown = metadata.number("tokenizer.ggml.unknown_token_id");
    let unknown = unknown.and_then(|id| entries.get(usize::try_from(id).ok()?));
    if let Some(unknown) = unknown {
        bpe = bpe.unk_token(unknown.text.clone().into_owned());
    }
    let mut tokenizer = Tokenizer::new(bpe.build().map_err(failed)?);
    let spaces = Replace::new(" ", SPACE).map_err(failed)?;
    tokenizer.with_normalizer(Some(spaces)).map_err(failed)?;
    let pattern = SplitPattern::Regex(LINE_BREAKS.to_owned());
    let split = Split::new(pattern, SplitDelimiterBehavior::Isolated, false).map_err(failed)?;
    tokenizer.with_pre_tokenizer(Some(split));
    tokenizer
        .add_tokens(added_tokens(entries, metadata, as_typed, |_| false))
        .map_err(failed)?;
    Ok(tokenizer)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use candle_core::quantized::gguf_file::{Content, Value, VersionedMagic};

    use crate::decoding::TokenId;
    use crate::engine::gguf_tokenizer::{is_exact, tokenizer_of};

    const TOKENS: [&str; 17] = [
        "<pad>", "<eos>", "<bos>", "<unk>", "▁", "a", "b", "c", "▁a", "ab", "▁ab", "\n", "\n\n",
        "<0xC3>", "<0xA9>", "▁▁", "<|turn>",
    ];

    fn content() -> Content {
        let texts = |texts: &[&str]| {
            let texts = texts.iter().map(|text| Value::String((*text).to_owned()));
            Value::Array(texts.collect())
        };
        let kinds = [3, 3, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 6, 6, 1, 3].map(Value::I32);
        let merges = ["▁ a", "a b", "▁a b", "\n \n", "▁ ▁"];
        let metadata = [
            ("model", Value::String("gemma4".to_owned())),
            ("tokens", texts(&TOKENS)),
            ("token_type", Value::Array(kinds.to_vec())),
            ("merges", texts(&merges)),
            ("bos_token_id", Value::U32(2)),
            ("eos_token_id", Value::U32(1)),
            ("unknown_token_id", Value::U32(3)),
            ("add_bos_token", Value::Bool(true)),
        ];
        let metadata = metadata.into_iter();
        let metadata: HashMap<String, Value> = metadata
            .map(|(key, value)| (format!("tokenizer.ggml.{key}"), value))
            .collect();
        Content {
            magic: VersionedMagic::GgufV3,
            metadata,
            tensor_infos: HashMap::new(),
            tensor_data_offset: 0,
        }
    }

    /// The tokens are those of the tokenizers package for Python, with the settings of Gemma 4.
    #[test]
    fn merges_follow_their_order_and_unknown_characters_become_bytes() {
        let content = content();
        assert!(is_exact(&content));
        let tokenizer = tokenizer_of(&content, "model.gguf").unwrap();
        for (text, expected) in [
            ("ab ab", vec![9, 10]),
            ("  ab\n\n\nab", vec![4, 10, 12, 11, 9]),
            ("é c", vec![13, 14, 4, 7]),
            ("<|turn>a b<eos>", vec![16, 5, 4, 6, 1]),
            ("cabz", vec![7, 9, 3]),
            ("\n ab", vec![11, 10]),
        ] {
            let found = tokenizer.encode_continuation(text).unwrap();
            let expected: Vec<TokenId> = expected.into_iter().map(TokenId).collect();
            assert_eq!(found, expected, "{text:?}");
            assert_eq!(tokenizer.encode(text).unwrap().first(), Some(&TokenId(2)));
        }
    }
}
