//! Messages whose cause is not on the screen.

use super::Command;

/// How grave a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeKind {
    /// Something worked.
    Done,
    /// Something failed.
    Error,
}

/// What a message offers to do.
#[derive(Debug, Clone, PartialEq)]
pub struct NoticeAction {
    /// The words on its button.
    pub label: &'static str,
    /// What is asked when it is pressed.
    pub command: Command,
}

/// A message in the corner of the window. One with an action stays until it is answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// How grave it is.
    pub kind: NoticeKind,
    /// What happened.
    pub title: String,
    /// Why, and what is safe; empty where the title says all.
    pub body: String,
    /// What can be done about it.
    pub actions: Vec<NoticeAction>,
}

impl Notice {
    /// Something worked.
    pub fn done(title: impl Into<String>) -> Self {
        Self {
            kind: NoticeKind::Done,
            title: title.into(),
            body: String::new(),
            actions: Vec::new(),
        }
    }

    /// Something failed.
    pub fn error(title: impl Into<String>, body: impl Into<String>) -> Self {
        Self {
            kind: NoticeKind::Error,
            title: title.into(),
            body: capital(&body.into()),
            actions: Vec::new(),
        }
    }

    /// The same with one more action.
    #[must_use]
    pub fn with_action(mut self, label: &'static str, command: Command) -> Self {
        self.actions.push(NoticeAction { label, command });
        self
    }
}

/// An error's message as a sentence of its own.
pub fn capital(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}
