//! What is wrong with a lesson file, and where.

use std::ops::Range;

/// A mistake in a lesson file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct LessonProblem {
    /// The line, from 1.
    pub line: usize,
    pub message: String,
}

impl LessonProblem {
    /// Creates a problem at these bytes of a file.
    pub(super) fn at(source: &str, span: &Range<usize>, message: impl Into<String>) -> Self {
        let before = source.get(..span.start).unwrap_or(source);
        Self {
            line: before.matches('\n').count() + 1,
            message: message.into(),
        }
    }
}
