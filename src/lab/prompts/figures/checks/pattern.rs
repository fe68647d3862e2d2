//! Regular expressions, with the place of a mistake.

use regex::{Regex, RegexBuilder};

use super::CheckError;

/// The maximum size of a compiled pattern, in bytes.
const MAX_COMPILED_BYTES: usize = 4 << 20;

/// The maximum memory for the states that a search visits, in bytes. Beyond it, a search is slower.
const MAX_STATE_BYTES: usize = 256 << 10;

/// What promptfoo's patterns can have and those that are matched in linear time can't.
const UNSUPPORTED: &[&str] = &["look-around", "backreferences"];

/// A regular expression that can be compiled.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    source: String,
    /// Clones share it. Without it, each search compiles the pattern.
    regex: Option<Regex>,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Pattern {
    /// Compiles a pattern that begins at a column of its check.
    pub(super) fn parse(source: &str, column: usize) -> Result<Self, CheckError> {
        match compiled(source) {
            Ok(regex) => Ok(Self {
                source: source.to_owned(),
                regex: Some(regex),
            }),
            Err(regex::Error::CompiledTooBig(_)) => Err(CheckError::PatternTooLarge { column }),
            Err(error) => Err(mistake(&error.to_string(), column)),
        }
    }

    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Frees the compiled pattern.
    pub(super) fn release(&mut self) {
        self.regex = None;
    }

    /// Returns the first match.
    pub(super) fn find<'a>(&self, text: &'a str) -> Option<&'a str> {
        let found = match &self.regex {
            Some(regex) => regex.find(text),
            // It was compiled before, so this doesn't fail.
            None => compiled(&self.source).ok()?.find(text),
        };
        found.map(|found| found.as_str())
    }
}

fn compiled(source: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(source)
        .size_limit(MAX_COMPILED_BYTES)
        .dfa_size_limit(MAX_STATE_BYTES)
        .build()
}

/// Reads the place and the reason from the crate's message: the pattern, indented by four, a caret
/// below the mistake, and `error: ` with the reason. A pattern of several lines has no caret.
fn mistake(message: &str, column: usize) -> CheckError {
    let reason = message
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("error: "))
        .unwrap_or("it can’t be read");
    if let Some(name) = UNSUPPORTED.iter().find(|name| reason.contains(**name)) {
        let name = format!("regex with {name}");
        return CheckError::NotJudged { name };
    }
    let caret = message
        .lines()
        .find(|line| line.contains('^') && line.trim_matches([' ', '^']).is_empty());
    let offset = caret.and_then(|line| line.find('^')?.checked_sub(4));
    CheckError::InvalidPattern {
        reason: reason.to_owned(),
        column: column + offset.unwrap_or(0),
    }
}
