//! Finding tokens by typed text, and spelling a text with tokens.

use super::{Piece, PieceKind, Vocabulary};
use crate::decoding::TokenId;

/// A search result's sort key: match quality (0 is best), then length, then id.
type Match = (u8, usize, TokenId);

impl Vocabulary {
    /// Finds up to `n_max` tokens that match the typed text, best first: the token with this id,
    /// then exact matches, then tokens that start with the text, then tokens that contain it. A
    /// token's leading space may be omitted.
    pub fn find(&self, typed: &str, n_max: usize) -> Vec<TokenId> {
        let lowercase = typed.to_lowercase();
        if lowercase.is_empty() || n_max == 0 {
            return Vec::new();
        }
        // "+5" is text, although it parses as a number.
        let is_id = typed.bytes().all(|byte| byte.is_ascii_digit());
        let typed_id = typed.parse::<u32>().ok().filter(|_| is_id);
        let found = self.iter().filter_map(|(token, piece)| {
            let text = piece.to_string();
            let quality = if typed_id == Some(token.0) {
                0
            } else {
                match_quality(&text, typed, &lowercase)?
            };
            Some((quality, text.len(), token))
        });
        let mut matches: Vec<Match> = found.collect();
        if matches.len() > n_max {
            matches.select_nth_unstable(n_max);
            matches.truncate(n_max);
        }
        matches.sort_unstable();
        matches.into_iter().map(|(.., token)| token).collect()
    }

    /// Spells a text with the fewest tokens, preferring a long first token. Returns `None` if the
    /// text is empty or can't be spelled. Special tokens are not used.
    pub fn spell(&self, text: &str) -> Option<Vec<TokenId>> {
        spelling(text, &self.parts_of(text.as_bytes(), false))
    }

    /// Spells a text like [`Self::spell`], but also with special tokens, as in `<|end|>`.
    pub fn spell_with_special(&self, text: &str) -> Option<Vec<TokenId>> {
        spelling(text, &self.parts_of(text.as_bytes(), true))
    }

    /// Finds every occurrence of every token in a text.
    fn parts_of(&self, text: &[u8], has_special: bool) -> Vec<Part> {
        let is_usable = |piece: &&Piece| {
            (has_special || piece.kind == PieceKind::Text) && !piece.bytes.is_empty()
        };
        let pieces = self.iter().filter(|(_, piece)| is_usable(piece));
        pieces
            .flat_map(|(token, piece)| {
                let n_bytes = piece.bytes.len();
                let places = text.windows(n_bytes).enumerate();
                places
                    .filter(|(_, part)| *part == piece.bytes.as_slice())
                    .map(move |(start, _)| Part {
                        start,
                        n_bytes,
                        token,
                    })
            })
            .collect()
    }
}

/// Returns the fewest parts that make up a text.
fn spelling(text: &str, parts: &[Part]) -> Option<Vec<TokenId>> {
    // Filled from the end. For each start: the number of tokens that the rest of the text
    // needs, the first of these tokens, and its length.
    let mut best: Vec<Option<(usize, TokenId, usize)>> = vec![None; text.len()];
    for start in (0..text.len()).rev() {
        let found = parts.iter().filter(|part| part.start == start);
        let steps = found.filter_map(|part| {
            let end = start + part.n_bytes;
            let n_rest = if end == text.len() {
                0
            } else {
                best.get(end)?.as_ref()?.0
            };
            Some((n_rest + 1, part.token, part.n_bytes))
        });
        let step = steps.min_by_key(|&(n, token, n_bytes)| (n, usize::MAX - n_bytes, token));
        *best.get_mut(start)? = step;
    }
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let (_, token, n_bytes) = (*best.get(at)?)?;
        tokens.push(token);
        at += n_bytes;
    }
    (!tokens.is_empty()).then_some(tokens)
}

/// An occurrence of a token in a text, measured in bytes.
struct Part {
    start: usize,
    n_bytes: usize,
    token: TokenId,
}

/// Ranks how well a token's text matches, from 1 (exact) to 5 (contained, ignoring case).
fn match_quality(text: &str, typed: &str, lowercase: &str) -> Option<u8> {
    let word = text.strip_prefix(' ').unwrap_or(text);
    if text == typed {
        return Some(1);
    }
    if word == typed {
        return Some(2);
    }
    let text = text.to_lowercase();
    let word = text.strip_prefix(' ').unwrap_or(&text);
    if text == lowercase || word == lowercase {
        Some(3)
    } else if text.starts_with(lowercase) || word.starts_with(lowercase) {
        Some(4)
    } else {
        text.contains(lowercase).then_some(5)
    }
}

#[cfg(test)]
mod tests {
    use super::{Piece, TokenId, Vocabulary};

    /// Tokens 0 to 9.
    fn vocabulary() -> Vocabulary {
        let mut pieces = [
            "</s>", " the", "The", "the", " then", "o", "other", "\n", "3",
        ]
        .map(Piece::text)
        .to_vec();
        pieces[0] = Piece::special("</s>");
        pieces.push(Piece::text([0xE2]));
        Vocabulary::new(pieces)
    }

    #[test]
    fn the_best_match_comes_first() {
        let vocabulary = vocabulary();
        for (typed, expected) in [
            ("the", &[3, 1, 2, 4, 6][..]),
            (" the", &[1, 4]),
            ("THEN", &[4]),
            ("3", &[3, 8]),
            ("+3", &[]),
            ("</s>", &[0]),
            ("\n", &[7]),
            ("e2", &[9]),
            ("zebra", &[]),
            ("", &[]),
        ] {
            let found = vocabulary.find(typed, 5);
            let expected: Vec<TokenId> = expected.iter().copied().map(TokenId).collect();
            assert_eq!(found, expected, "{typed:?}");
        }
        assert_eq!(vocabulary.find("the", 2), [TokenId(3), TokenId(1)]);
        assert_eq!(vocabulary.find("the", 0), []);
    }

    #[test]
    fn a_text_is_spelled_with_the_fewest_tokens() {
        let vocabulary = vocabulary();
        for (text, expected) in [
            ("other", Some(&[6][..])),
            ("othe", Some(&[5, 3])),
            (" the\nother", Some(&[1, 7, 6])),
            ("\n\n", Some(&[7, 7])),
            ("</s>", None),
            ("the cat", None),
            ("", None),
        ] {
            let expected = expected.map(|ids| ids.iter().copied().map(TokenId).collect::<Vec<_>>());
            assert_eq!(vocabulary.spell(text), expected, "{text:?}");
        }
    }
}
