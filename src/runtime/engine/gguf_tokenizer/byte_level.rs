//! Byte-level BPE: merges the bytes of each word in the order of a merge list.
//!
//! Radford et al. 2019, "Language Models are Unsupervised Multitask Learners".

use std::collections::HashSet;

use tokenizers::models::bpe::{BPE, Merges, Vocab};
use tokenizers::normalizers::NFC;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{PreTokenizerWrapper, SplitDelimiterBehavior, Tokenizer};

use super::added_tokens;
use super::metadata::{Entry, Kind, Metadata};
use super::splitting::Splitting;

pub(super) fn tokenizer(
    entries: &[Entry<'_>],
    metadata: &Metadata<'_>,
    splitting: &Splitting,
) -> Result<Tokenizer, String> {
    let vocab: Vocab = entries
        .iter()
        .zip(0..)
        .map(|(entry, id)| (entry.text.clone().into_owned(), id))
        .collect();
    let bpe = BPE::builder()
        .vocab_and_merges(vocab, merges(entries, metadata)?)
        .ignore_merges(splitting.whole_words)
        .build()
        .map_err(|error| error.to_string())?;
    let byte_level = ByteLevel::new(false, true, false);
    let mut tokenizer = Tokenizer::new(bpe);
    tokenizer
        .with_pre_tokenizer(Some(pre_tokenizer(splitting.rules, byte_level)?))
        .with_decoder(Some(byte_level));
    if splitting.normalizes {
        tokenizer
            .with_normalizer(Some(NFC))
            .map_err(|error| error.to_string())?;
    }
    let written = |entry: &Entry<'_>| entry.text.clone().into_owned();
    tokenizer
        .add_tokens(added_tokens(entries, metadata, written, |_| false))
        .map_err(|error| error.to_string())?;
    Ok(tokenizer)
}

/// Builds the pre-tokenizer. Each rule splits the pieces left by the rules before it.
fn pre_tokenizer(rules: &[&str], byte_level: ByteLevel) -> Result<Sequence, String> {
    let split = |rule: &&str| {
        let pattern = SplitPattern::Regex((*rule).to_owned());
        Split::new(pattern, SplitDelimiterBehavior::Isolated, false)
            .map(PreTokenizerWrapper::from)
            .map_err(|error| error.to_string())
    };
    let mut parts: Vec<_> = rules.iter().map(split).collect::<Result<_, _>>()?;
    parts.push(byte_level.into());
    Ok(Sequence::new(parts))
}

/// Returns the pairs to merge, in order. Fails if a half or the result is not a token.
pub(super) fn merges(entries: &[Entry<'_>], metadata: &Metadata<'_>) -> Result<Merges, String> {
    let known: HashSet<&str> = entries
        .iter()
        .filter(|entry| matches!(entry.kind, Kind::Normal | Kind::UserDefined))
        .map(|entry| &*entry.text)
        .collect();
    let merges = metadata.texts("tokenizer.ggml.merges")?;
    let pair = |(index, merge): (usize, &str)| {
        let (left, right) = halves(merge)
            .ok_or_else(|| format!("its merge {index}, {merge:?}, does not name two tokens"))?;
        for token in [left, right, &[left, right].concat()] {
            if !known.contains(token) {
                return Err(format!(
                    "its merge {index}, {merge:?}, needs the token {token:?}, which does not exist"
                ));
            }
        }
        Ok((left.to_owned(), right.to_owned()))
    };
    merges.into_iter().enumerate().map(pair).collect()
}

/// Splits a merge at the space between its halves. A leading space belongs to the first half.
fn halves(merge: &str) -> Option<(&str, &str)> {
    let n_first = merge.chars().next()?.len_utf8();
    let at = n_first + merge.get(n_first..)?.find(' ')?;
    let (left, right) = (merge.get(..at)?, merge.get(at + 1..)?);
    (!right.is_empty()).then_some((left, right))
}
