//! Merges neighboring pieces of a text: the highest score first, and the leftmost on a tie.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;

/// The tokens that merges can produce, with their ids and scores.
#[derive(Debug, Clone, Default)]
pub(super) struct Merges(HashMap<String, (u32, f32)>);

impl Merges {
    /// Adds a token. Higher scores are merged earlier.
    pub(super) fn insert(&mut self, text: String, id: u32, score: f32) {
        self.0.insert(text, (id, score));
    }

    /// Returns the id of the token with exactly this text.
    pub(super) fn token(&self, text: &str) -> Option<u32> {
        self.0.get(text).map(|(id, _)| *id)
    }

    /// Merges until no pair is left, and returns the byte ranges of the remaining pieces in order.
    /// Each is a token or a single character.
    pub(super) fn apply(&self, text: &str) -> Vec<Range<usize>> {
        let mut pieces = Pieces::new(text);
        let mut pairs: BinaryHeap<Pair> = (0..pieces.spans.len())
            .filter_map(|left| self.pair(&pieces, left))
            .collect();
        while let Some(pair) = pairs.pop() {
            if pieces.merge(&pair) {
                let before = pieces.spans.get(pair.left).and_then(|span| span.before);
                pairs.extend(before.and_then(|before| self.pair(&pieces, before)));
                pairs.extend(self.pair(&pieces, pair.left));
            }
        }
        let spans = pieces.spans.into_iter().map(|span| span.bytes);
        spans.filter(|bytes| !bytes.is_empty()).collect()
    }

    /// Returns the pair of piece `left` and the next one, if together they form a token.
    fn pair(&self, pieces: &Pieces<'_>, left: usize) -> Option<Pair> {
        let first = pieces.spans.get(left)?;
        let right = first.after?;
        let bytes = first.bytes.start..pieces.spans.get(right)?.bytes.end;
        let (_, score) = *self.0.get(pieces.text.get(bytes.clone())?)?;
        Some(Pair {
            score,
            left,
            right,
            bytes,
        })
    }
}

/// Two neighbors that can be merged.
struct Pair {
    score: f32,
    left: usize,
    right: usize,
    bytes: Range<usize>,
}

impl Ord for Pair {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = self.score.total_cmp(&other.score);
        by_score.then(other.left.cmp(&self.left))
    }
}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Pair {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Pair {}

/// A text in pieces, as a linked list.
struct Pieces<'t> {
    text: &'t str,
    spans: Vec<Span>,
}

/// A piece of the text. Empty once it has been merged into its left neighbor.
struct Span {
    bytes: Range<usize>,
    before: Option<usize>,
    after: Option<usize>,
}

impl<'t> Pieces<'t> {
    /// Splits a text into characters.
    fn new(text: &'t str) -> Self {
        let mut spans: Vec<Span> = Vec::new();
        for (start, character) in text.char_indices() {
            let index = spans.len();
            if let Some(last) = spans.last_mut() {
                last.after = Some(index);
            }
            spans.push(Span {
                bytes: start..start + character.len_utf8(),
                before: index.checked_sub(1),
                after: None,
            });
        }
        Self { text, spans }
    }

    /// Merges a pair. Returns false if either piece has since been merged with another.
    fn merge(&mut self, pair: &Pair) -> bool {
        let left_is_unchanged = self
            .spans
            .get(pair.left)
            .is_some_and(|left| !left.bytes.is_empty() && left.after == Some(pair.right));
        let right = self.spans.get_mut(pair.right);
        let Some(right) =
            right.filter(|right| left_is_unchanged && right.bytes.end == pair.bytes.end)
        else {
            return false;
        };
        let after = right.after;
        right.bytes.end = right.bytes.start;
        if let Some(left) = self.spans.get_mut(pair.left) {
            left.bytes = pair.bytes.clone();
            left.after = after;
        }
        if let Some(after) = after.and_then(|after| self.spans.get_mut(after)) {
            after.before = Some(pair.left);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::Merges;

    fn pieces<'t>(scores: &[(&str, f32)], text: &'t str) -> Vec<&'t str> {
        let mut merges = Merges::default();
        for ((token, score), id) in scores.iter().zip(0..) {
            merges.insert((*token).to_owned(), id, *score);
        }
        merges
            .apply(text)
            .into_iter()
            .map(|span| &text[span])
            .collect()
    }

    /// Tokens with their scores, a text, and its expected pieces.
    type Case<'a> = (&'a [(&'a str, f32)], &'a str, &'a [&'a str]);

    #[test]
    fn the_highest_score_merges_first_and_the_leftmost_wins_a_tie() {
        let table: [Case<'_>; 8] = [
            (&[], "", &[]),
            (&[], "ab", &["a", "b"]),
            (&[("ab", -2.0), ("bc", -1.0)], "abc", &["a", "bc"]),
            (&[("ab", -1.0), ("bc", -1.0)], "abc", &["ab", "c"]),
            (&[("aa", -1.0)], "aaaaa", &["aa", "aa", "a"]),
            (&[("ab", -1.0), ("abab", -2.0)], "ababab", &["abab", "ab"]),
            (
                &[("bc", -1.0), ("abc", -3.0), ("cd", -2.0)],
                "abcd",
                &["abc", "d"],
            ),
            (&[("é€", 0.0)], "é€é", &["é€", "é"]),
        ];
        for (scores, text, expected) in table {
            assert_eq!(pieces(scores, text), expected, "{text:?} with {scores:?}");
        }
    }

    /// Two tokens can have the same score, so the position decides. No ranking of pairs could
    /// express this.
    #[test]
    fn the_position_decides_between_tokens_of_equal_score() {
        let scores = [("ab", -1.0), ("ba", -1.0), ("aba", -5.0)];
        assert_eq!(pieces(&scores, "abab"), ["ab", "ab"]);
        assert_eq!(pieces(&scores, "baba"), ["ba", "ba"]);
        assert_eq!(pieces(&scores, "cbabac"), ["c", "ba", "ba", "c"]);
    }
}
