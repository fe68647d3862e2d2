//! DRY's sequence breakers: token sequences in Quartet, strings in llama.cpp, which breaks at every
//! token that contains one of the strings.

use std::collections::BTreeSet;

use crate::decoding::TokenId;
use crate::generation::Vocabulary;

/// llama.cpp's default sequence breakers.
pub(super) const DEFAULTS: [&str; 4] = ["\n", ":", "\"", "*"];

/// Sequence breakers as strings.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Texts {
    /// llama.cpp's defaults.
    Defaults,
    Named {
        /// No text contains another one.
        texts: Vec<String>,
        /// Whether llama.cpp breaks at exactly the same tokens.
        exact: bool,
    },
}

/// Returns every token that contains one of these texts as a breaker.
pub(super) fn tokens(texts: &[String], vocabulary: &Vocabulary) -> Vec<Vec<TokenId>> {
    let contains = |bytes: &[u8], text: &String| {
        let text = text.as_bytes();
        !text.is_empty() && bytes.windows(text.len()).any(|part| part == text)
    };
    vocabulary
        .iter()
        .filter(|(_, piece)| texts.iter().any(|text| contains(&piece.bytes, text)))
        .map(|(token, _)| vec![token])
        .collect()
}

/// Returns the tokens at which llama.cpp breaks by default.
pub fn default_breakers(vocabulary: &Vocabulary) -> Vec<Vec<TokenId>> {
    tokens(&defaults(), vocabulary)
}

pub(super) fn defaults() -> Vec<String> {
    DEFAULTS.map(String::from).to_vec()
}

/// Converts breakers from tokens to strings.
pub(super) fn texts(breakers: &[Vec<TokenId>], vocabulary: &Vocabulary) -> Texts {
    let expected: BTreeSet<&Vec<TokenId>> = breakers.iter().collect();
    let matches =
        |texts: &[String]| tokens(texts, vocabulary).iter().collect::<BTreeSet<_>>() == expected;
    if matches(&defaults()) {
        return Texts::Defaults;
    }
    let written: Vec<Option<String>> = breakers
        .iter()
        .map(|breaker| {
            let pieces = breaker.iter().map(|token| vocabulary.piece(*token).bytes);
            String::from_utf8(pieces.collect::<Vec<_>>().concat()).ok()
        })
        .collect();
    let is_complete = written.iter().all(Option::is_some);
    let texts = minimal(written.into_iter().flatten().collect());
    let exact = is_complete && matches(&texts);
    Texts::Named { texts, exact }
}

/// Removes texts that contain another one, because llama.cpp breaks at those tokens anyway.
fn minimal(mut texts: Vec<String>) -> Vec<String> {
    texts.sort_by_key(String::len);
    let mut kept: Vec<String> = Vec::new();
    for text in texts {
        if !text.is_empty() && !kept.iter().any(|kept| text.contains(kept.as_str())) {
            kept.push(text);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{Texts, defaults, texts, tokens};
    use crate::decoding::testing::token_ids;
    use crate::generation::{Piece, Vocabulary};

    fn vocabulary() -> Vocabulary {
        let pieces = ["a", "\n", ".\n", ":", "\"", "**", "User", "User:", "b."];
        Vocabulary::new(pieces.map(Piece::text).to_vec())
    }

    #[test]
    fn llama_cpp_breaks_at_every_token_that_contains_a_text() {
        let found = tokens(&defaults(), &vocabulary());
        let ids: Vec<u32> = found.iter().flatten().map(|token| token.0).collect();
        assert_eq!(ids, [1, 2, 3, 4, 5, 7]);
        assert_eq!(texts(&found, &vocabulary()), Texts::Defaults);
    }

    #[test]
    fn breakers_become_a_minimal_list_of_texts() {
        for (breakers, expected, exact) in [
            (&[&[1][..], &[2]][..], &["\n"][..], true),
            (&[&[8]], &["b."], true),
            (&[&[1]], &["\n"], false),
            (&[&[6, 3]], &["User:"], false),
        ] {
            let breakers: Vec<_> = breakers.iter().map(|ids| token_ids(ids)).collect();
            let texts = texts(&breakers, &vocabulary());
            let expected = expected.iter().map(ToString::to_string).collect();
            assert_eq!(
                texts,
                Texts::Named {
                    texts: expected,
                    exact
                }
            );
        }
    }
}
