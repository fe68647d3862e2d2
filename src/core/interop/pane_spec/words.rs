//! A pane's description as words with their positions, and the errors that point at them.

use std::ops::Range;
use std::str::FromStr;

/// What is wrong with a pane's description, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PaneSpecError {
    /// What is wrong, and what to write instead.
    pub message: String,
    /// The range of bytes in the description that is wrong.
    pub span: Range<usize>,
}

impl PaneSpecError {
    /// Returns three lines for a terminal: the description, a mark under the wrong word, and the
    /// message.
    pub fn pointing_into(&self, description: &str) -> String {
        let n_chars = |range: Range<usize>| description.get(range).unwrap_or("").chars().count();
        let before = " ".repeat(n_chars(0..self.span.start));
        let mark = "^".repeat(n_chars(self.span.clone()).max(1));
        format!("{description}\n{before}{mark}\n{}", self.message)
    }
}

/// The largest whole numbers: seeds have 64 bits, and counts and tokens have 32.
const MAXIMA: [&str; 2] = ["18446744073709551615", "4294967295"];

/// A word and its range of bytes in the description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) span: Range<usize>,
}

impl Word {
    /// Whether it was written in quotes, which its span includes.
    pub(super) fn is_quoted(&self) -> bool {
        self.span.len() >= self.text.len() + 2
    }

    pub(super) fn wrong(&self, message: impl Into<String>) -> PaneSpecError {
        PaneSpecError {
            message: message.into(),
            span: self.span.clone(),
        }
    }
}

/// The words of one part, the text between two commas, taken from the left.
#[derive(Debug, Clone)]
pub(super) struct Words {
    words: std::collections::VecDeque<Word>,
    /// The word that was taken last; if a word is missing, the error points here.
    pub(super) last: Word,
}

impl Words {
    /// Takes the next word, if there is one.
    pub(super) fn next(&mut self) -> Option<Word> {
        let word = self.words.pop_front()?;
        self.last = word.clone();
        Some(word)
    }

    /// Returns the next word without taking it.
    pub(super) fn peek(&self) -> Option<&Word> {
        self.words.front()
    }

    /// Whether a list continues: there is a word, and it is not the "off" of the stage.
    pub(super) fn list_goes_on(&self) -> bool {
        self.peek().is_some_and(|word| plain(&word.text) != "off")
    }

    /// Returns the next `n_words` words as one keyword, in lower case and without hyphens, or
    /// `None` if there are too few. A number after a word is its value: "mirostat 2" is not
    /// "mirostat-2".
    pub(super) fn keyword(&self, n_words: usize) -> Option<String> {
        let words = || self.words.iter().take(n_words);
        let is_value = |word: &Word| word.text.parse::<f32>().is_ok();
        let is_keyword = self.words.len() >= n_words && !words().skip(1).any(is_value);
        is_keyword.then(|| words().map(|word| plain(&word.text)).collect())
    }

    /// Takes the next word if it is this one, and returns whether it was.
    pub(super) fn take(&mut self, keyword: &str) -> bool {
        let there = self.keyword(1).is_some_and(|next| next == keyword);
        if there {
            self.next();
        }
        there
    }

    /// Takes a value. An error says that it needs `kind`, as in `example`.
    pub(super) fn number<T: FromStr>(
        &mut self,
        kind: &str,
        example: &str,
    ) -> Result<T, PaneSpecError> {
        let before = self.last.clone();
        let Some(word) = self.next() else {
            let message = format!("{:?} needs {kind}, as in {example:?}", before.text);
            return Err(before.wrong(message));
        };
        word.text.parse().map_err(|_not_a_number: T::Err| {
            let is_whole = word.text.bytes().all(|byte| byte.is_ascii_digit());
            let most = MAXIMA.iter().find(|most| most.parse::<T>().is_ok());
            word.wrong(match most.filter(|_| is_whole && !word.text.is_empty()) {
                Some(most) => format!("{:?} is too large; the maximum is {most}", word.text),
                None => format!("{:?} is not {kind}, as in {example:?}", word.text),
            })
        })
    }

    /// Takes all remaining words, joined by spaces.
    pub(super) fn rest(&mut self) -> String {
        let mut texts = Vec::new();
        while let Some(word) = self.next() {
            texts.push(word.text);
        }
        texts.join(" ")
    }

    /// Returns an error if a word is left.
    pub(super) fn end(&mut self) -> Result<(), PaneSpecError> {
        match self.next() {
            None => Ok(()),
            Some(word) => {
                let message = format!("{:?} was not expected here", word.text);
                Err(word.wrong(message))
            }
        }
    }
}

/// Returns a keyword in the form in which it is compared: "Top-P" and "`TOP_P`" become "topp".
pub(super) fn plain(word: &str) -> String {
    word.chars()
        .filter(|c| !matches!(c, '-' | '_'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Splits a description at commas, and each part at spaces and equals signs. Text in quotes is one
/// word, in which `\"` is a quote and `\\` a backslash. Any other backslash stays as it is, so that
/// a pattern such as `\d{3}` is written as anywhere else.
pub(super) fn split(description: &str) -> Result<Vec<Words>, PaneSpecError> {
    let mut parts = Vec::new();
    let mut words = Vec::new();
    let mut part_start = 0;
    let mut chars = description.char_indices().peekable();
    while let Some(&(start, c)) = chars.peek() {
        match c {
            ',' => {
                chars.next();
                parts.push(part(std::mem::take(&mut words), part_start..start)?);
                part_start = start + 1;
            }
            '"' => words.push(quoted(description, &mut chars)?),
            c if c.is_whitespace() || c == '=' => {
                chars.next();
            }
            _ => words.push(bare(description, &mut chars)),
        }
    }
    parts.push(part(words, part_start..description.len())?);
    Ok(parts)
}

type Chars<'a> = std::iter::Peekable<std::str::CharIndices<'a>>;

fn part(words: Vec<Word>, span: Range<usize>) -> Result<Words, PaneSpecError> {
    let Some(first) = words.first() else {
        return Err(PaneSpecError {
            message: "a setting is missing here".to_owned(),
            span,
        });
    };
    Ok(Words {
        last: first.clone(),
        words: words.into(),
    })
}

fn bare(description: &str, chars: &mut Chars<'_>) -> Word {
    let start = chars.peek().map_or(description.len(), |(at, _)| *at);
    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '=' | '"');
    while chars.next_if(|(_, c)| !ends(*c)).is_some() {}
    let end = chars.peek().map_or(description.len(), |(at, _)| *at);
    Word {
        text: description.get(start..end).unwrap_or_default().to_owned(),
        span: start..end,
    }
}

fn quoted(description: &str, chars: &mut Chars<'_>) -> Result<Word, PaneSpecError> {
    let start = chars.next().map_or(description.len(), |(at, _)| at);
    let mut text = String::new();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => {
                let span = start..at + 1;
                return Ok(Word { text, span });
            }
            '\\' => {
                let escaped = chars.next_if(|(_, c)| matches!(c, '"' | '\\'));
                text.push(escaped.map_or('\\', |(_, c)| c));
            }
            c => text.push(c),
        }
    }
    Err(PaneSpecError {
        message: "this quote is not closed".to_owned(),
        span: start..description.len(),
    })
}

/// Returns the known word closest to this one, or `None` if none is close enough to be meant.
pub(super) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = plain(word);
    known
        .map(|candidate| (edits(&word, &plain(candidate)), candidate))
        .filter(|(n_edits, candidate)| *n_edits <= 1 + candidate.len() / 5)
        .min_by_key(|(n_edits, _)| *n_edits)
        .map(|(_, candidate)| candidate)
}

/// Returns the number of insertions, deletions and substitutions that turn one word into the other.
///
/// Levenshtein 1966, "Binary codes capable of correcting deletions, insertions, and reversals".
fn edits(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (n_from, from) in from.chars().enumerate() {
        let mut next = vec![n_from + 1];
        for ((to, pair), n) in to.chars().zip(row.windows(2)).zip(0..) {
            if let ([diagonal, above], Some(&left)) = (pair, next.get(n)) {
                next.push(
                    (diagonal + usize::from(from != to))
                        .min(above + 1)
                        .min(left + 1),
                );
            }
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

/// Writes a text in quotes, so that [`split`] reads it back the same.
pub(super) fn quoted_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Writes a text in quotes and on one line, so that [`split`] and
/// [`unescape`](crate::generation::unescape) together read it back the same.
pub(super) fn quoted_line(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            // A backslash for each of the two that reads it.
            '\\' => quoted += r"\\\\",
            '"' => quoted += "\\\"",
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::{edits, nearest, quoted_line, quoted_text, split};
    use crate::generation::{PaneSettings, unescape};

    #[test]
    fn words_know_their_positions() {
        let mut parts = split("top-p=0.9, name \"a, \\\"b\\\"\"").unwrap();
        let words: Vec<_> = parts
            .iter_mut()
            .flat_map(|part| std::iter::from_fn(|| part.next()))
            .map(|word| (word.text, word.span))
            .collect();
        let expected = [
            ("top-p".to_owned(), 0..5),
            ("0.9".to_owned(), 6..9),
            ("name".to_owned(), 11..15),
            ("a, \"b\"".to_owned(), 16..26),
        ];
        assert_eq!(words, expected);
    }

    #[test]
    fn only_a_quote_and_a_backslash_are_escaped_in_quotes() {
        for (quoted, expected) in [
            (r#""\d{3}""#, r"\d{3}"),
            (r#""\w+\.\p{Lu}(a)\1""#, r"\w+\.\p{Lu}(a)\1"),
            (r#""A\nB""#, r"A\nB"),
            (r#""C:\new""#, r"C:\new"),
            (r#""\\d""#, r"\d"),
            (r#""a \"b\", c\\""#, r#"a "b", c\"#),
            (r#""\\\"""#, r#"\""#),
            (r#""\é""#, r"\é"),
        ] {
            let mut parts = split(quoted).unwrap();
            let word = parts[0].next().unwrap();
            assert_eq!(word.text, expected, "{quoted}");
            assert!(word.is_quoted() && parts[0].next().is_none(), "{quoted}");
        }
    }

    #[test]
    fn any_text_in_quotes_reads_back_the_same() {
        let alphabet = ['\\', '"', 'd', 'n', ',', '=', ' ', '\n', 'é'];
        let mut texts = vec![String::new()];
        for _ in 0..4 {
            let longer = |text: &String| alphabet.map(|c| format!("{text}{c}"));
            texts = texts.iter().flat_map(longer).collect();
            for text in &texts {
                let mut parts = split(&quoted_text(text)).unwrap();
                assert_eq!(parts.len(), 1, "{text:?}");
                assert_eq!(parts[0].next().map(|word| word.text).as_ref(), Some(text));
                assert!(parts[0].next().is_none(), "{text:?}");
            }
        }
        assert_eq!(texts.len(), 9_usize.pow(4));
    }

    #[test]
    fn any_text_on_one_line_reads_back_the_same() {
        let alphabet = ['\\', '"', 'n', 't', ',', ' ', '\n', '\t'];
        let mut texts = vec![String::new()];
        for _ in 0..4 {
            let longer = |text: &String| alphabet.map(|c| format!("{text}{c}"));
            texts = texts.iter().flat_map(longer).collect();
            for text in &texts {
                let quoted = quoted_line(text);
                assert!(!quoted.contains(['\n', '\t']), "{quoted}");
                let word = split(&quoted).unwrap()[0].next().unwrap();
                assert_eq!(unescape(&word.text), *text, "{quoted}");
            }
        }
    }

    #[test]
    fn an_error_points_at_the_number_that_is_out_of_range() {
        for (description, expected) in [
            ("dyn-temp -1 range 0.5", "-1"),
            ("dyn-temp 1 range -2 exponent 1", "-2"),
            ("dyn-temp 1 exponent 0", "0"),
            ("smooth 1 curve 4", "4"),
            ("xtc 0.5 threshold 2", "2"),
            ("dry 1 base 0 last 5", "0"),
            ("dry 1 breakers 13 x", "x"),
            ("bias 13 -2.5 14 inf", "inf"),
            ("mirostat -5 eta 1", "-5"),
            ("mirostat-1 5 eta -1", "-1"),
            ("adaptive-p 0.5 decay 2", "2"),
        ] {
            let error = description.parse::<PaneSettings>().unwrap_err();
            assert_eq!(&description[error.span], expected, "{description}");
        }
    }

    #[test]
    fn a_number_that_is_too_large_is_told_from_one_that_is_none() {
        for (description, expected) in [
            (
                "top-k 99999999999",
                "\"99999999999\" is too large; the maximum is 4294967295",
            ),
            (
                "ban 4294967296",
                "\"4294967296\" is too large; the maximum is 4294967295",
            ),
            (
                "seed 18446744073709551616",
                "\"18446744073709551616\" is too large; the maximum is 18446744073709551615",
            ),
            (
                "top-k -1",
                "\"-1\" is not a whole number of 0 or more, as in \"top-k 40\"",
            ),
        ] {
            let error = description.parse::<PaneSettings>().unwrap_err();
            assert_eq!(error.message, expected);
        }
    }

    #[test]
    fn the_nearest_word_is_the_one_with_the_fewest_edits() {
        assert_eq!(edits("kitten", "sitting"), 3);
        let known = ["top-p", "top-k", "temperature"];
        for (word, expected) in [
            ("top-q", Some("top-p")),
            ("TOPK", Some("top-k")),
            ("temperatur", Some("temperature")),
            ("banana", None),
        ] {
            assert_eq!(nearest(word, known.into_iter()), expected, "{word}");
        }
    }
}
