//! What was typed into the palette, and which names it matches: every typed word must begin a word
//! of the name. Capitals and punctuation don’t count, so that `minp` and `min_p` find "Min-p".

use std::ops::Range;

/// The words that were typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Query {
    /// In lower case, without punctuation.
    words: Vec<String>,
}

/// How a name matches a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct QueryMatch {
    /// The bytes of the name that match, in the order of the query’s words.
    pub ranges: Vec<Range<usize>>,
    /// Whether the name begins with the whole query.
    pub at_start: bool,
    /// Whether a word of the query matches only elsewhere, not the name.
    pub elsewhere: bool,
}

impl Query {
    /// Reads what was typed.
    pub(super) fn new(typed: &str) -> Self {
        let words = typed.split_whitespace().map(plain);
        Self {
            words: words.filter(|word| !word.is_empty()).collect(),
        }
    }

    /// Returns whether nothing was typed.
    pub(super) const fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns whether this was typed as a word of its own.
    pub(super) fn names(&self, word: &str) -> bool {
        let word = plain(word);
        self.words.contains(&word)
    }

    /// Matches a name, or other words that stand for it. Returns `None` if a typed word begins no
    /// word of either.
    pub(super) fn find<'a>(
        &self,
        name: &str,
        others: impl Fn() -> Vec<&'a str>,
    ) -> Option<QueryMatch> {
        let mut found = QueryMatch::default();
        for word in &self.words {
            if let Some(range) = range_in(name, word) {
                found.ranges.push(range);
            } else if others().iter().any(|other| range_in(other, word).is_some()) {
                found.elsewhere = true;
            } else {
                return None;
            }
        }
        let whole: String = self.words.concat();
        found.at_start = !self.is_empty() && plain(name).starts_with(&whole);
        Some(found)
    }
}

/// Returns a text in lower case, without spaces and punctuation.
fn plain(text: &str) -> String {
    let letters = text.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Returns the part of the text that the word begins a word of. Punctuation inside it is skipped,
/// spaces are not.
fn range_in(text: &str, word: &str) -> Option<Range<usize>> {
    let mut before = ' ';
    for (start, letter) in text.char_indices() {
        let begins_word = letter.is_alphanumeric() && !before.is_alphanumeric();
        before = letter;
        if begins_word && let Some(len) = matched_len(text.get(start..)?, word) {
            return Some(start..start + len);
        }
    }
    None
}

/// Returns how many bytes at the beginning of the text spell the word.
fn matched_len(text: &str, word: &str) -> Option<usize> {
    let mut expected = word.chars().peekable();
    for (at, letter) in text.char_indices() {
        if letter.is_whitespace() {
            return None;
        }
        if !letter.is_alphanumeric() {
            continue;
        }
        for lower in letter.to_lowercase() {
            if expected.next() != Some(lower) {
                return None;
            }
            if expected.peek().is_none() {
                return Some(at + letter.len_utf8());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::Query;

    fn ranges(typed: &str, name: &str) -> Option<Vec<String>> {
        let found = Query::new(typed).find(name, Vec::new)?;
        let parts = found.ranges.into_iter();
        Some(parts.map(|range| name[range].to_owned()).collect())
    }

    #[test]
    fn typed_words_begin_words_of_the_name() {
        for (typed, name, expected) in [
            ("min-p", "Min-p 0.1 with temperature 1.5", &["Min-p"][..]),
            ("minp", "Min-p", &["Min-p"]),
            ("min_", "Min-p", &["Min"]),
            ("p", "Min-p", &["p"]),
            ("temp", "Dynamic temperature", &["temp"]),
            ("TEMP dyn", "Dynamic temperature", &["temp", "Dyn"]),
            ("json", "Grammar: any JSON", &["JSON"]),
            ("x-r", "X-ray", &["X-r"]),
            ("σ", "Top-nσ", &[]),
            ("größe", "Größe", &["Größe"]),
        ] {
            let expected: Vec<String> = expected.iter().map(|part| (*part).to_owned()).collect();
            let found = ranges(typed, name);
            assert_eq!(found.unwrap_or_default(), expected, "{typed} in {name}");
        }
    }

    #[test]
    fn scattered_letters_and_word_ends_do_not_match() {
        for (typed, name) in [
            ("chat", "Change the settings of A…"),
            ("ature", "Temperature"),
            ("thdark", "Theme: Dark"),
            ("topp", "Stop panes"),
        ] {
            assert_eq!(ranges(typed, name), None, "{typed} in {name}");
        }
    }

    #[test]
    fn other_words_can_stand_for_the_name() {
        let query = Query::new("repeat penalty");
        let others = || vec!["repeat_penalty"];
        let found = query.find("Repetition penalty", others).unwrap();
        assert!(found.elsewhere && !found.at_start);
        assert!(query.find("Top-k", Vec::new).is_none());
        assert!(
            Query::new("rep")
                .find("Repetition penalty", others)
                .unwrap()
                .at_start
        );
    }
}
