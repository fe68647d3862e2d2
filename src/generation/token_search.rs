//! Finding tokens: by what one types, and for a text that is to be made of them.

use super::{Piece, PieceKind, Vocabulary};
use crate::decoding::TokenId;

/// How well a token fits what was typed, the best first; of equals the shorter one, then the lower
/// id.
type Fit = (u8, usize, TokenId);

impl Vocabulary {
    /// The tokens that fit what was typed: the one of this id, then those of this very text, those
    /// that begin with it, and those that contain it. A space before a word may be left out.
    pub fn find(&self, typed: &str, most: usize) -> Vec<TokenId> {
        let wanted = typed.to_lowercase();
        if wanted.is_empty() || most == 0 {
            return Vec::new();
        }
        // "+5" is a text, and would be parsed as a number.
        let is_id = typed.bytes().all(|byte| byte.is_ascii_digit());
        let typed_id = typed.parse::<u32>().ok().filter(|_| is_id);
        let fits = self.iter().filter_map(|(token, piece)| {
            let text = piece.to_string();
            let fit = if typed_id == Some(token.0) {
                0
            } else {
                fit(&text, typed, &wanted)?
            };
            Some((fit, text.len(), token))
        });
        let mut fits: Vec<Fit> = fits.collect();
        if fits.len() > most {
            fits.select_nth_unstable(most);
            fits.truncate(most);
        }
        fits.sort_unstable();
        fits.into_iter().map(|(.., token)| token).collect()
    }

    /// The fewest tokens that make up this text, the first as long as can be; nothing where the text
    /// is empty or can't be made of tokens. Special tokens stand for no text.
    pub fn spell(&self, text: &str) -> Option<Vec<TokenId>> {
        let parts = self.parts_of(text.as_bytes());
        // From the end: how many tokens the rest takes, and the first of them with its length.
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

    /// Every place of a text at which a token could stand.
    fn parts_of(&self, text: &[u8]) -> Vec<Part> {
        let is_text = |piece: &&Piece| piece.kind == PieceKind::Text && !piece.bytes.is_empty();
        let pieces = self.iter().filter(|(_, piece)| is_text(piece));
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

/// A token at a place of a text, in bytes.
struct Part {
    start: usize,
    n_bytes: usize,
    token: TokenId,
}

fn fit(text: &str, typed: &str, wanted: &str) -> Option<u8> {
    let word = text.strip_prefix(' ').unwrap_or(text);
    if text == typed {
        return Some(1);
    }
    if word == typed {
        return Some(2);
    }
    let text = text.to_lowercase();
    let word = text.strip_prefix(' ').unwrap_or(&text);
    if text == wanted || word == wanted {
        Some(3)
    } else if text.starts_with(wanted) || word.starts_with(wanted) {
        Some(4)
    } else {
        text.contains(wanted).then_some(5)
    }
}

#[cfg(test)]
mod tests {
    use super::{Piece, TokenId, Vocabulary};

    /// Tokens 0 to 9.
    fn vocabulary() -> Vocabulary {
        let pieces = [
            "</s>", " the", "The", "the", " then", "o", "other", "\n", "3",
        ];
        let mut pieces = pieces.map(Piece::text).to_vec();
        pieces[0] = Piece::special("</s>");
        pieces.push(Piece::text([0xE2]));
        Vocabulary::new(pieces)
    }

    #[test]
    fn what_fits_best_is_found_first() {
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
    fn a_text_is_made_of_the_fewest_tokens() {
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
