//! The kinds of checks, their names, and how they are written.

use super::json::Schema;
use super::number::NumberRule;
use super::pattern::Pattern;
use super::quoting::{written, written_list};

/// What an answer is compared with, and how.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Rule {
    /// The answer is this text.
    Equals(String),
    IEquals(String),
    /// The answer is one of these texts.
    Choice(Vec<String>),
    Contains(String),
    IContains(String),
    ContainsAny(Vec<String>),
    IContainsAny(Vec<String>),
    ContainsAll(Vec<String>),
    IContainsAll(Vec<String>),
    StartsWith(String),
    StartsWithAny(Vec<String>),
    EndsWith(String),
    Regex(Pattern),
    Number(NumberRule),
    Json,
    Schema(Schema),
    ContainsJson(Option<Schema>),
    MaxWords(usize),
    WordCount(usize),
}

impl Rule {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Equals(_) => "equals",
            Self::IEquals(_) => "iequals",
            Self::Choice(_) => "choice",
            Self::Contains(_) => "contains",
            Self::IContains(_) => "icontains",
            Self::ContainsAny(_) => "contains-any",
            Self::IContainsAny(_) => "icontains-any",
            Self::ContainsAll(_) => "contains-all",
            Self::IContainsAll(_) => "icontains-all",
            Self::StartsWith(_) => "starts-with",
            Self::StartsWithAny(_) => "starts-with-any",
            Self::EndsWith(_) => "ends-with",
            Self::Regex(_) => "regex",
            Self::Number(_) => "number",
            Self::Json => "json",
            Self::Schema(_) => "schema",
            Self::ContainsJson(_) => "contains-json",
            Self::MaxWords(_) => "max words",
            Self::WordCount(_) => "word-count",
        }
    }

    /// Returns the value as it is written in a check.
    pub(super) fn value(&self) -> String {
        match self {
            Self::Equals(text)
            | Self::IEquals(text)
            | Self::Contains(text)
            | Self::IContains(text)
            | Self::StartsWith(text)
            | Self::EndsWith(text) => written(text, None),
            Self::Choice(texts) => written_list(texts, '|'),
            Self::ContainsAny(texts)
            | Self::IContainsAny(texts)
            | Self::ContainsAll(texts)
            | Self::IContainsAll(texts)
            | Self::StartsWithAny(texts) => written_list(texts, ','),
            Self::Regex(pattern) => pattern.source().to_owned(),
            Self::Number(rule) => rule.written(),
            Self::Json | Self::ContainsJson(None) => String::new(),
            Self::Schema(schema) | Self::ContainsJson(Some(schema)) => schema.written(),
            Self::MaxWords(count) | Self::WordCount(count) => count.to_string(),
        }
    }

    /// Returns how the value is compared, for the line under it.
    pub(super) fn sentence(&self) -> &'static str {
        match self {
            Self::Equals(_) => "byte for byte, and nothing after it",
            Self::IEquals(_) => "case, spaces around it and a final full stop don’t matter",
            Self::Choice(_) => "one of these, byte for byte, and nothing after it",
            Self::Contains(_) => "anywhere in the answer, byte for byte",
            Self::IContains(_) => "anywhere in the answer; case doesn’t matter",
            Self::ContainsAny(_) => "at least one of these, byte for byte",
            Self::IContainsAny(_) => "at least one of these; case doesn’t matter",
            Self::ContainsAll(_) => "all of these, byte for byte",
            Self::IContainsAll(_) => "all of these; case doesn’t matter",
            Self::StartsWith(_) => "at the start of the answer, byte for byte",
            Self::StartsWithAny(_) => "one of these at the start of the answer, byte for byte",
            Self::EndsWith(_) => "at the end of the answer, byte for byte",
            Self::Regex(_) => "matches anywhere; ^ and $ are the ends of the answer",
            Self::Number(_) => "the last number in the answer",
            Self::Json => "the whole answer is one JSON value",
            Self::Schema(_) => "the whole answer is JSON that satisfies the schema",
            Self::ContainsJson(None) => "a JSON object or array anywhere in the answer",
            Self::ContainsJson(Some(_)) => "JSON anywhere in the answer that satisfies the schema",
            Self::MaxWords(_) => "words are separated by spaces or line breaks",
            Self::WordCount(_) => "exactly as many words, separated by spaces or line breaks",
        }
    }
}
