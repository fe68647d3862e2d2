//! Finds stop strings in a text that arrives in pieces.

use std::sync::Arc;

/// Searches a stream of pieces for stop strings. It compares bytes, so a match may span tokens, and
/// a token may end in the middle of a character.
#[derive(Debug, Clone)]
pub struct StopMatcher {
    /// None of them is empty.
    stops: Arc<[String]>,
    /// The length of the longest stop string in bytes.
    n_longest: usize,
    /// The end of the text so far: enough bytes for any match to be completed.
    tail: Vec<u8>,
}

impl StopMatcher {
    /// Searches for these strings. Empty ones are ignored.
    pub fn new(stops: &[String]) -> Self {
        let stops: Arc<[String]> = stops.iter().filter(|s| !s.is_empty()).cloned().collect();
        Self {
            n_longest: stops.iter().map(String::len).max().unwrap_or(0),
            stops,
            tail: Vec::new(),
        }
    }

    /// Appends a piece of a text that already exists, in which stop strings no longer count.
    pub fn skip(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
        let n_expired = self.tail.len().saturating_sub(self.n_longest);
        self.tail.drain(..n_expired);
    }

    /// Appends a piece. Returns the stop string that is completed first; if several end with the
    /// same byte, the longest of them, because it begins first.
    pub fn push(&mut self, mut bytes: &[u8]) -> Option<&str> {
        while let Some(byte) = bytes.split_off_first() {
            self.tail.push(*byte);
            let stops = self.stops.iter().enumerate();
            let found = stops
                .filter(|(_, stop)| self.tail.ends_with(stop.as_bytes()))
                .max_by_key(|(_, stop)| stop.len());
            if let Some((index, _)) = found {
                self.skip(bytes);
                return self.stops.get(index).map(String::as_str);
            }
        }
        let n_expired = self.tail.len().saturating_sub(self.n_longest);
        self.tail.drain(..n_expired);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::StopMatcher;

    /// Stop strings, the pieces of the text, the expected match.
    type Case<'a> = (&'a [&'a str], &'a [&'a [u8]], Option<&'a str>);

    #[test]
    fn the_first_completed_stop_string_wins_wherever_the_pieces_split() {
        let euro = "€".as_bytes();
        let cases: [Case<'_>; 11] = [
            (&[], &[b"anything"], None),
            (&[""], &[b"anything"], None),
            (&["end"], &[b"the ", b"end", b"."], Some("end")),
            (&["end"], &[b"the e", b"n", b"d."], Some("end")),
            (&["end"], &[b"ende", b"nd"], Some("end")),
            (&["end"], &[b"en", b"en"], None),
            (&["aab"], &[b"aa", b"ab"], Some("aab")),
            (&["€"], &[&euro[..1], &euro[1..2], &euro[2..]], Some("€")),
            (&["abc", "b"], &[b"abc"], Some("b")),
            (&["b", "ab"], &[b"a", b"b"], Some("ab")),
            (&["\n\n", "x"], &[b"\n", b"\n"], Some("\n\n")),
        ];
        for (stops, pieces, expected) in cases {
            let stops: Vec<String> = stops.iter().map(ToString::to_string).collect();
            let mut matcher = StopMatcher::new(&stops);
            let found = pieces
                .iter()
                .find_map(|piece| matcher.push(piece).map(str::to_owned));
            assert_eq!(found.as_deref(), expected, "{stops:?} in {pieces:?}");
        }
    }

    #[test]
    fn a_text_that_goes_on_after_a_match_is_searched_from_the_end_of_its_piece() {
        let mut matcher = StopMatcher::new(&[".b".to_owned()]);
        let found = ["a.bx.", "b", ".", "c"].map(|piece| matcher.push(piece.as_bytes()).is_some());
        assert_eq!(found, [true, true, false, false]);
    }
}
