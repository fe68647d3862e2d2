//! The share of texts in which a word or pattern occurs, with its confidence interval.

use regex::{Regex, RegexBuilder};

/// The memory limit of a compiled pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// The 97.5th percentile of the standard normal distribution.
const Z: f64 = 1.959_963_985;

/// A word, or a regular expression between slashes.
#[derive(Debug, Clone)]
pub struct WordPattern(Regex);

impl PartialEq for WordPattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for WordPattern {}

impl WordPattern {
    /// Parses what the user typed: `/pattern/` is a regular expression, and anything else is
    /// matched literally as whole words. Case matters only if the word contains an uppercase
    /// letter. If a regular expression is invalid, the error says why.
    pub fn parse(typed: &str) -> Result<Self, String> {
        let inner = typed.strip_prefix('/').and_then(|t| t.strip_suffix('/'));
        let pattern = match inner.filter(|inner| !inner.is_empty()) {
            Some(inner) => inner.to_owned(),
            None => whole_words(typed),
        };
        let regex = RegexBuilder::new(&pattern)
            .size_limit(MAX_PATTERN_BYTES)
            .build();
        regex.map(Self).map_err(|error| match error {
            regex::Error::Syntax(message) => {
                let last = message.lines().last().unwrap_or_default();
                let reason = last.strip_prefix("error: ").unwrap_or(last);
                format!("invalid pattern: {reason}")
            }
            _ => "the pattern is too large".to_owned(),
        })
    }

    /// Returns whether the pattern occurs in a text.
    pub fn is_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// Returns how many of these texts the pattern occurs in.
    pub fn share_of<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Share {
        let mut share = Share { n_with: 0, n: 0 };
        for text in texts {
            share.n += 1;
            share.n_with += usize::from(self.is_in(text));
        }
        share
    }
}

/// Returns a pattern that matches these words, but not parts of longer ones. Caseless scripts such
/// as Chinese have no spaces between words, so their words match anywhere.
fn whole_words(words: &str) -> String {
    let has_bounds = |c: char| c.is_ascii_digit() || c.is_lowercase() || c.is_uppercase();
    let bound = |c: Option<char>| if c.is_some_and(has_bounds) { r"\b" } else { "" };
    let case = if words.chars().any(char::is_uppercase) {
        ""
    } else {
        "(?i)"
    };
    let start = bound(words.chars().next());
    let end = bound(words.chars().next_back());
    format!("{case}{start}{}{end}", regex::escape(words))
}

/// The number of texts in which something occurs, out of `n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    pub n_with: usize,
    pub n: usize,
}

impl Share {
    /// Returns the share, from 0 to 1, or 0 if there are no texts.
    pub fn value(self) -> f64 {
        self.n_with as f64 / self.n.max(1) as f64
    }

    /// Returns the 95 % confidence interval of the underlying probability: Wilson 1927, "Probable
    /// inference, the law of succession, and statistical inference".
    pub fn interval(self) -> (f64, f64) {
        if self.n == 0 {
            return (0.0, 1.0);
        }
        let (n, p) = (self.n as f64, self.value());
        let scale = 1.0 + Z * Z / n;
        let center = (p + Z * Z / (2.0 * n)) / scale;
        let half = Z / scale * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        ((center - half).max(0.0), (center + half).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::{Share, WordPattern};

    #[test]
    fn wilson_intervals_match_published_values() {
        // Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I.
        for (n_with, n, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let (found_low, found_high) = Share { n_with, n }.interval();
            assert!((found_low - low).abs() < 6e-5, "{n_with}/{n}: {found_low}");
            assert!(
                (found_high - high).abs() < 6e-5,
                "{n_with}/{n}: {found_high}"
            );
        }
        assert_eq!(Share { n_with: 0, n: 0 }.interval(), (0.0, 1.0));
    }

    #[test]
    fn a_word_is_not_part_of_another_and_a_pattern_is_a_regular_expression() {
        let texts = ["the tree fell", "Trees.", "a Tree", "street", "我有树", ""];
        for (typed, n_with) in [
            ("tree", 2),
            ("Tree", 1),
            ("/[Tt]rees?/", 4),
            ("/^a|^$/", 2),
            ("树", 1),
            ("tree fell", 1),
            (".", 1),
            ("/", 0),
        ] {
            let share = WordPattern::parse(typed).unwrap().share_of(texts);
            assert_eq!((share.n_with, share.n), (n_with, 6), "{typed}");
        }
        let error = WordPattern::parse("/(/").unwrap_err();
        assert_eq!(error, "invalid pattern: unclosed group");
        let error = WordPattern::parse("/(a{999}){999}/").unwrap_err();
        assert_eq!(error, "the pattern is too large");
    }
}
