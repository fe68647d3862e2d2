//! Notices: messages about events whose cause is not visible in the window.

use super::Command;

/// Whether a notice reports success or failure, or gives a hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeKind {
    Done,
    /// Something the user may not know yet.
    Hint,
    Error,
}

/// A button on a notice.
#[derive(Debug, Clone, PartialEq)]
pub struct NoticeAction {
    pub label: &'static str,
    pub command: Command,
}

/// A message in the corner of the window. It disappears by itself unless it has an action.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    pub kind: NoticeKind,
    /// What happened.
    pub title: String,
    /// Why it happened and what is safe; empty if the title says it all.
    pub body: String,
    pub actions: Vec<NoticeAction>,
}

impl Notice {
    /// Creates a notice of success.
    pub fn done(title: impl Into<String>) -> Self {
        Self::titled(NoticeKind::Done, title.into())
    }

    /// Creates a hint.
    pub fn hint(title: impl Into<String>) -> Self {
        Self::titled(NoticeKind::Hint, title.into())
    }

    const fn titled(kind: NoticeKind, title: String) -> Self {
        Self {
            kind,
            title,
            body: String::new(),
            actions: Vec::new(),
        }
    }

    /// Creates a notice of failure. The body is capitalized.
    pub fn error(title: impl Into<String>, body: impl Into<String>) -> Self {
        Self {
            kind: NoticeKind::Error,
            title: title.into(),
            body: capitalize(&body.into()),
            actions: Vec::new(),
        }
    }

    /// Adds an action.
    #[must_use]
    pub fn with_action(mut self, label: &'static str, command: Command) -> Self {
        self.actions.push(NoticeAction { label, command });
        self
    }
}

/// Capitalizes the first letter of an error message, so that it can stand alone on screen.
pub fn capitalize(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}
