//! Tokens that hold only a part of a character, which takes several bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::TokenId;

/// How many bytes a character takes at most in UTF-8.
const N_MAX_BYTES: usize = 4;

/// Which tokens of a model's vocabulary hold only a part of a character.
///
/// They follow from the model, so settings that differ in nothing else are equal, and files don't
/// store them.
#[derive(Debug, Clone, Default)]
pub struct CharacterParts(Option<Arc<BTreeMap<TokenId, Part>>>);

/// What a token holds of a character.
#[derive(Debug, Clone, Copy)]
enum Part {
    /// Its end is the beginning of a character that lacks this many bytes.
    Beginning { n_lacking: usize },
    /// All of it continues a character.
    Continuation { n_bytes: usize },
}

impl PartialEq for CharacterParts {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for CharacterParts {}

impl CharacterParts {
    /// Collects them from the bytes of all tokens.
    pub fn of<'a>(tokens: impl Iterator<Item = (TokenId, &'a [u8])>) -> Self {
        let parts = tokens.filter_map(|(token, bytes)| Some((token, Part::of(bytes)?)));
        Self(Some(Arc::new(parts.collect())))
    }

    /// Returns whether the vocabulary is known.
    pub const fn are_known(&self) -> bool {
        self.0.is_some()
    }

    /// Returns whether a text of these tokens ends within a character.
    pub fn end_within_character(&self, tokens: &[TokenId]) -> bool {
        let Some(parts) = self.0.as_ref().filter(|parts| !parts.is_empty()) else {
            return false;
        };
        // The beginning of the last character is not farther back.
        let start = tokens.len().saturating_sub(N_MAX_BYTES);
        let last = tokens.get(start..).unwrap_or_default().iter();
        let n_lacking = last.fold(0, |n_lacking: usize, token| match parts.get(token) {
            None => 0,
            Some(Part::Beginning { n_lacking }) => *n_lacking,
            Some(Part::Continuation { n_bytes }) => n_lacking.saturating_sub(*n_bytes),
        });
        n_lacking > 0
    }
}

impl Part {
    /// Returns what the bytes of a token hold of a character, or `None` if they end with a whole one.
    fn of(bytes: &[u8]) -> Option<Self> {
        let last = bytes.rchunks(N_MAX_BYTES).next()?;
        let is_continuation = |byte: &u8| byte & 0xC0 == 0x80;
        let n_after = last.iter().rev().take_while(|b| is_continuation(b)).count();
        let Some(first) = last.iter().rev().nth(n_after) else {
            let n_bytes = bytes.len();
            return bytes
                .iter()
                .all(is_continuation)
                .then_some(Self::Continuation { n_bytes });
        };
        let n_following: usize = match first {
            0xC0..=0xDF => 1,
            0xE0..=0xEF => 2,
            0xF0..=0xF7 => 3,
            _ => 0,
        };
        let n_lacking = n_following.saturating_sub(n_after);
        (n_lacking > 0).then_some(Self::Beginning { n_lacking })
    }
}

#[cfg(test)]
mod tests {
    use super::CharacterParts;
    use crate::decoding::TokenId;

    /// The tokens, by their ids from 0 on.
    const TOKENS: [&[u8]; 8] = [
        b"a",
        "é".as_bytes(),
        &[0xF0, 0x9F],
        &[0x98],
        &[0x80],
        &[0x98, 0x80],
        b"a\xE2\x82",
        &[0xAC],
    ];

    #[test]
    fn a_text_ends_within_a_character_until_all_its_bytes_are_there() {
        let tokens = (0..).map(TokenId).zip(TOKENS);
        let parts = CharacterParts::of(tokens);
        for (text, expected) in [
            (&[][..], false),
            (&[0], false),
            (&[1], false),
            (&[2], true),
            (&[0, 2, 3], true),
            (&[0, 2, 3, 4], false),
            (&[2, 5], false),
            (&[6], true),
            (&[6, 7], false),
            // What is no character at all does not wait for its end.
            (&[2, 0], false),
            (&[4], false),
        ] {
            let text: Vec<TokenId> = text.iter().copied().map(TokenId).collect();
            assert_eq!(parts.end_within_character(&text), expected, "{text:?}");
            assert!(!CharacterParts::default().end_within_character(&text));
        }
    }

    #[test]
    fn settings_for_different_models_are_equal() {
        let parts = CharacterParts::of([(TokenId(3), TOKENS[2])].into_iter());
        assert!(parts.are_known() && !CharacterParts::default().are_known());
        assert_eq!(parts, CharacterParts::default());
    }
}
