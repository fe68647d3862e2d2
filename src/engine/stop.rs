//! Finds the strings that end a text, while the text arrives in pieces.

/// Watches a text for stop strings. It compares bytes, so that it does not matter where the tokens
/// part a string or a character.
#[derive(Debug, Clone)]
pub(super) struct StopMatcher {
    stops: Vec<String>,
    n_longest: usize,
    tail: Vec<u8>,
}

impl StopMatcher {
    /// Watches for these; empty ones are passed over.
    pub fn new(stops: &[String]) -> Self {
        let stops: Vec<String> = stops.iter().filter(|s| !s.is_empty()).cloned().collect();
        Self {
            n_longest: stops.iter().map(String::len).max().unwrap_or(0),
            stops,
            tail: Vec::new(),
        }
    }

    /// Reads on. Gives the stop string that is complete first; of several that are complete with the
    /// same byte the longest, because it begins first.
    pub fn push(&mut self, bytes: &[u8]) -> Option<&str> {
        for byte in bytes {
            self.tail.push(*byte);
            let found = self
                .stops
                .iter()
                .filter(|stop| self.tail.ends_with(stop.as_bytes()))
                .max_by_key(|stop| stop.len());
            if let Some(stop) = found {
                return Some(stop);
            }
        }
        let n_settled = self.tail.len().saturating_sub(self.n_longest);
        self.tail.drain(..n_settled);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::StopMatcher;

    #[test]
    fn the_string_that_is_complete_first_is_found_wherever_the_pieces_part() {
        let euro = "€".as_bytes();
        type Case<'a> = (&'a [&'a str], &'a [&'a [u8]], Option<&'a str>);
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
}
