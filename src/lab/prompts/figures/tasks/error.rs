//! Why a list of tasks can't be read.

use super::super::checks::CheckError;
use super::columns::N_MAX_COLUMNS;
use super::{N_MAX_BYTES, N_MAX_TASKS, Place};

/// A mistake in a file of tasks, or in the template or the checks beside it, and its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}{mistake}")]
pub struct TaskError {
    pub place: Place,
    pub mistake: TaskMistake,
}

impl TaskError {
    pub(super) fn file(mistake: TaskMistake) -> Self {
        let place = Place::File;
        Self { place, mistake }
    }

    pub(super) fn line(line: usize, mistake: TaskMistake) -> Self {
        let column = None;
        let place = Place::Line { line, column };
        Self { place, mistake }
    }

    pub(super) fn at(text: &str, byte: usize, mistake: TaskMistake) -> Self {
        let place = Place::of_byte(text, byte);
        Self { place, mistake }
    }
}

/// What is wrong with a list of tasks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TaskMistake {
    #[error(transparent)]
    Check(#[from] CheckError),

    #[error("the column ‘{name}’ occurs twice")]
    DuplicateColumn { name: String },

    #[error("the file has no tasks")]
    Empty,

    #[error("{}, but the first line has {n_columns}; put texts with separators in double quotation marks", fields(*n_fields))]
    FieldCount { n_fields: usize, n_columns: usize },

    #[error("this isn’t JSON: {reason}")]
    InvalidJson { reason: String },

    #[error("‘{field}’ is missing here")]
    Missing { field: String },

    #[error("the task has no prompt")]
    NoPrompt,

    #[error("each task must be a JSON object")]
    NotAnObject,

    #[error("the closing quotation mark is missing")]
    QuoteOpen,

    #[error(
        "the file has no prompts; write a template with its columns{}",
        listed(columns)
    )]
    TemplateMissing { columns: Vec<String> },

    #[error("a separator or the end of the line belongs after the closing quotation mark")]
    TextAfterQuote,

    #[error("a file of tasks has at most {} MB", N_MAX_BYTES >> 20)]
    TooLarge,

    #[error("a file has at most {N_MAX_COLUMNS} columns")]
    TooManyColumns,

    #[error("a file has at most {N_MAX_TASKS} tasks")]
    TooManyTasks,

    #[error("a task has ‘{first}’ or ‘{second}’, not both")]
    TwoOf {
        first: &'static str,
        second: &'static str,
    },

    #[error("there is no column ‘{name}’{}", listed(columns))]
    UnknownColumn { name: String, columns: Vec<String> },

    #[error("‘{role}’ is no role; write ‘system’, ‘user’, ‘assistant’ or ‘tool’")]
    UnknownRole { role: String },

    #[error("‘{field}’ must be {expected}")]
    WrongType {
        field: String,
        expected: &'static str,
    },
}

fn fields(n_fields: usize) -> String {
    match n_fields {
        1 => "the record has 1 field".to_owned(),
        _ => format!("the record has {n_fields} fields"),
    }
}

/// Lists columns as they are written in a template.
fn listed(columns: &[String]) -> String {
    if columns.is_empty() {
        return "; the file has no columns".to_owned();
    }
    let shown = columns.iter().take(20).map(|name| format!("{{{name}}}"));
    let mut list = shown.collect::<Vec<String>>().join(", ");
    if columns.len() > 20 {
        list.push_str(", …");
    }
    format!(": {list}")
}
