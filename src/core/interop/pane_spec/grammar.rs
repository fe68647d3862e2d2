//! The grammar of a pane in the words of `--pane`: `grammar check regex "[a-z]+"`.

use std::ops::Range;

use super::words::{PaneSpecError, Word, Words, quoted_text, split};
use crate::decoding::{GrammarKind, GrammarMode, GrammarRule};

/// The word that a grammar's part begins with.
pub(super) const KEYS: &[&str] = &["grammar"];

/// Reads a grammar; its first word has already been taken.
pub(super) fn grammar(words: &mut Words) -> Result<GrammarRule, PaneSpecError> {
    let mut mode = GrammarMode::Mask;
    if words.take("check") {
        mode = GrammarMode::Check;
    } else {
        words.take("mask");
    }
    let before = words.last.clone();
    let Some(word) = words.next() else {
        return Err(before.wrong(format!(
            "{:?} needs a kind, as in {EXAMPLE}; use one of {}",
            before.text,
            kinds()
        )));
    };
    let Some(kind) = kind_of(&word.text) else {
        return Err(word.wrong(format!(
            "{:?} is not a kind of grammar; use one of {}",
            word.text,
            kinds()
        )));
    };
    if kind == GrammarKind::Json {
        return Ok(GrammarRule::new(kind, "").with_mode(mode));
    }
    let Some(text) = words.next() else {
        return Err(word.wrong(format!(
            "{:?} needs the grammar in quotes, as in {EXAMPLE}",
            word.text
        )));
    };
    if words.peek().is_some() && text.text == "file" {
        return Err(text.wrong("a grammar is read from a file on the command line only"));
    }
    let rule = GrammarRule::new(kind, &entered(kind, &text.text)).with_mode(mode);
    rule.validate()
        .map_err(|error| text.wrong(error.to_string()))?;
    Ok(rule)
}

const EXAMPLE: &str = "grammar regex \"[a-z]+\"";

/// Prints a grammar so that it reads back the same.
pub(super) fn grammar_words(rule: &GrammarRule) -> String {
    let check = match rule.mode() {
        GrammarMode::Mask => "",
        GrammarMode::Check => "check ",
    };
    let key = rule.kind().key();
    if rule.kind() == GrammarKind::Json {
        return format!("grammar {check}{key}");
    }
    format!("grammar {check}{key} {}", quoted_text(&printed(rule)))
}

/// Returns the description with every `file NAME` of a grammar replaced by the grammar in quotes,
/// which `read` reads.
pub fn with_grammar_files<E>(
    description: &str,
    read: impl Fn(&str) -> Result<String, E>,
) -> Result<String, E> {
    let mut expanded = description.to_owned();
    let parts = split(description).unwrap_or_default();
    // Last one first, so that the places of the others stay the same.
    for (span, name) in parts.into_iter().rev().filter_map(file_in) {
        expanded.replace_range(span, &quoted_text(&read(&name)?));
    }
    Ok(expanded)
}

/// Finds the words `file NAME` of a grammar's part.
fn file_in(mut words: Words) -> Option<(Range<usize>, String)> {
    if !words.take("grammar") {
        return None;
    }
    if !words.take("check") {
        words.take("mask");
    }
    let kind = kind_of(&words.next()?.text)?;
    let keyword: Word = words.next()?;
    let is_file = kind != GrammarKind::Json && keyword.text == "file";
    let name = words.next().filter(|_| is_file)?;
    Some((keyword.span.start..name.span.end, name.text))
}

fn kind_of(word: &str) -> Option<GrammarKind> {
    let mut kinds = GrammarKind::ALL.into_iter();
    kinds.find(|kind| kind.key().eq_ignore_ascii_case(word))
}

fn kinds() -> String {
    GrammarKind::ALL.map(GrammarKind::key).join(", ")
}

/// Choices in one line are separated by bars.
fn entered(kind: GrammarKind, text: &str) -> String {
    if kind == GrammarKind::Choices && !text.contains('\n') {
        text.replace('|', "\n")
    } else {
        text.to_owned()
    }
}

fn printed(rule: &GrammarRule) -> String {
    let text = rule.text();
    if rule.kind() != GrammarKind::Choices {
        return text.to_string();
    }
    if text.contains('|') {
        // A line break says that the bars are not separators.
        return if text.contains('\n') {
            text.to_string()
        } else {
            format!("{text}\n")
        };
    }
    text.trim_end_matches('\n').replace('\n', "|")
}

#[cfg(test)]
mod tests {
    use super::with_grammar_files;
    use crate::decoding::{Against, GrammarMode};
    use crate::generation::PaneSettings;

    fn parsed(description: &str) -> PaneSettings {
        description
            .parse()
            .unwrap_or_else(|error| panic!("{description}: {error}"))
    }

    #[test]
    fn a_grammar_reads_back_the_same() {
        for description in [
            "grammar json, greedy",
            "grammar check json, T 0.8",
            "grammar regex \"[^eE]*\", T 0.8",
            "grammar regex \"\\\\d{2,3}, \\\"x\\\"\", top-p 0.9, seed 3",
            "grammar choices \"yes|no|maybe\", greedy",
            "grammar schema \"{\\\"type\\\": \\\"integer\\\"}\", greedy",
            "grammar lark \"start: /[a-z]+/\", greedy",
            "grammar check gbnf \"root ::= [a-z]+\", greedy, drafts 4 ngram 2",
        ] {
            let pane = parsed(description);
            assert_eq!(pane.to_string(), description);
            assert_eq!(parsed(&pane.to_string()), pane);
        }
        let pane = parsed("grammar choices \"a|b\nc\", greedy");
        assert_eq!(parsed(&pane.to_string()), pane);
        let pane = parsed("grammar choices \"a|b\n\", greedy");
        assert_eq!(parsed(&pane.to_string()), pane);
        let checked = parsed("grammar check json").chain.grammar.unwrap();
        assert_eq!(checked.mode(), GrammarMode::Check);
    }

    #[test]
    fn a_backslash_is_kept() {
        for (written, expected) in [
            (r#"grammar regex "\d{3}""#, r"\d{3}"),
            (r#"grammar check regex "[\w.]+@\S+""#, r"[\w.]+@\S+"),
            (r#"grammar regex "\"\d\"""#, r#""\d""#),
            (r#"grammar lark "start: /\d+/""#, r"start: /\d+/"),
            (
                r#"grammar gbnf "root ::= [a-z]+ [\t]""#,
                r"root ::= [a-z]+ [\t]",
            ),
            (r#"grammar choices "a\b|c""#, "a\\b\nc"),
            (
                r#"grammar schema "{\"type\": \"string\", \"pattern\": \"^\\\\d$\"}""#,
                r#"{"type": "string", "pattern": "^\\d$"}"#,
            ),
        ] {
            let pane = parsed(written);
            let rule = pane.chain.grammar.clone().unwrap();
            assert_eq!(&**rule.text(), expected, "{written}");
            assert_eq!(parsed(&pane.to_string()), pane, "{written}");
        }
        let pane = parsed(r#"greedy, guide 1.5 against "A\nB", name "C:\new""#);
        let against = pane.chain.guidance.clone().unwrap().against;
        assert_eq!(against, Against::Prompt(r"A\nB".to_owned()));
        assert_eq!(pane.name, r"C:\new");
        assert_eq!(parsed(&pane.to_string()), pane);
    }

    #[test]
    fn an_error_says_what_is_wrong_with_the_grammar() {
        for (description, word, message) in [
            (
                "grammar",
                "grammar",
                "\"grammar\" needs a kind, as in grammar regex \"[a-z]+\"; use one of json, schema, \
                 regex, choices, lark, gbnf",
            ),
            (
                "grammar xml",
                "xml",
                "\"xml\" is not a kind of grammar; use one of json, schema, regex, choices, lark, gbnf",
            ),
            (
                "greedy, grammar regex",
                "regex",
                "\"regex\" needs the grammar in quotes, as in grammar regex \"[a-z]+\"",
            ),
            (
                "grammar regex \"[a\"",
                "\"[a\"",
                "Line 1, column 1: unclosed character class",
            ),
            (
                "grammar schema file person.json",
                "file",
                "a grammar is read from a file on the command line only",
            ),
            ("grammar json x", "x", "\"x\" was not expected here"),
        ] {
            let error = description.parse::<PaneSettings>().unwrap_err();
            assert_eq!(error.message, message, "{description}");
            assert_eq!(&description[error.span], word, "{description}");
        }
    }

    #[test]
    fn a_file_takes_the_place_of_its_name() {
        let read = |name: &str| match name {
            "a b.json" => Ok("{\"type\": \"string\"}".to_owned()),
            other => Err(format!("no {other}")),
        };
        let description = "T 0.8, grammar check schema file \"a b.json\", name \"grammar file\"";
        assert_eq!(
            with_grammar_files(description, read).unwrap(),
            "T 0.8, grammar check schema \"{\\\"type\\\": \\\"string\\\"}\", name \"grammar file\"",
        );
        let missing = with_grammar_files("grammar lark file x.lark", read);
        assert_eq!(missing.unwrap_err(), "no x.lark");
    }
}
