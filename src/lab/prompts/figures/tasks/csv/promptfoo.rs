//! The columns that have a meaning for promptfoo, as in its `csv.ts`.

use super::super::super::checks::{Check, CheckError};
use super::super::Row;
use super::super::check_cache::CheckCache;
use super::super::columns::Columns;
use super::super::template;

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// An assertion of promptfoo.
    Assertion,
    /// A check of ours, which is also a variable.
    Expected,
    Ignored,
    /// What comes before the prompt.
    Prefix,
    /// What comes after the prompt.
    Suffix,
    Variable,
}

impl Meaning {
    /// Returns what a column means. In a file of promptfoo, `expected` is a variable like any other.
    pub(super) fn of(name: &str, is_promptfoo: bool) -> Self {
        match name {
            "" => Self::Ignored,
            "__prefix" => Self::Prefix,
            "__suffix" => Self::Suffix,
            "expected" if !is_promptfoo => Self::Expected,
            _ if name.starts_with("__expected") => Self::Assertion,
            _ if name.starts_with("__") => Self::Ignored,
            _ => Self::Variable,
        }
    }
}

/// Returns what the columns ask for that isn't done and would change the judgement.
pub(super) fn notes<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut notes = Vec::new();
    for name in names {
        let note = match name {
            "__providerOutput" => "isn’t read: the answers are generated here",
            "__threshold" => "isn’t read: all checks of a task must hold",
            _ if name.starts_with("__config:") => "isn’t read: no check has a threshold",
            _ if name.starts_with("_expected") => "is a variable; an assertion has two underscores",
            _ => continue,
        };
        notes.push(format!("‘{name}’ {note}"));
    }
    notes
}

/// Reads an assertion, in which promptfoo replaces `{{column}}`.
pub(super) fn assertion(
    spec: &str,
    row: &Row,
    columns: &Columns,
    checks: &mut CheckCache,
) -> Result<Check, CheckError> {
    if !spec.contains("{{") {
        return checks.read(spec);
    }
    let value = |name: &str| row.value(columns.find(name)?);
    checks.read_filled(spec, &|text| template::filled_doubled(text, &value))
}
